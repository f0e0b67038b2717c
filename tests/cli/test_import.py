from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.compiling.artifact import artifact_bytes, artifact_of
from fabricd.store import pilock, remote
from fabricd.store.pilock import PiLock
from tests.cli.running import SCHEMA, Cli, action, process, surface_of
from tests.core.compiling.test_artifact import OLD, SOUND
from tests.harness import ROOT

_fsspec: Any = importlib.import_module("fsspec")

REFS = ("mcp.a.find", "mcp.b.find", "mcp.c.find", "mcp.d.find")
DRIFTED = {**SCHEMA, "required": []}


@pytest.fixture
def entropy(place: Path) -> Path:
    """A home with a surface and nothing compiled."""
    folder = place / "home" / "entropy"
    folder.mkdir(parents=True)
    (folder / "surface.json").write_bytes(surface_of(*map(action, REFS)))
    return folder


def plans_of(cli: Cli, place: Path, *refs: str, schema: Any = SCHEMA) -> list[dict[str, Any]]:
    (place / "declared.json").write_bytes(surface_of(*(action(ref, schema) for ref in refs)))
    plans: list[dict[str, Any]] = cli("derive", place / "declared.json").json["plans"]
    return plans


def artifact(path: Path, *plans: dict[str, Any]) -> Path:
    """An artifact of somebody else, with plans that may be anything."""
    path.write_text(json.dumps(SOUND | {"normalizations": [*plans]}))
    return path


def refs_in(path: Path) -> list[str]:
    value = json.loads(path.read_bytes())
    return [plan["ref"] for plan in value["normalizations"]]


# --- what is imported


def test_proven_plans_are_imported_and_the_others_named(
    cli: Cli, place: Path, entropy: Path
) -> None:
    sound = plans_of(cli, place, *REFS[:3])
    (drifted,) = plans_of(cli, place, REFS[3], schema=DRIFTED)
    gone = sound[0] | {"ref": "mcp.gone"}
    source = artifact(place / "theirs.json", *sound, drifted, gone)
    found = cli("import", source)
    compiled = entropy / "compiled.json"
    assert (found.code, found.err) == (0, "")
    assert found.out.decode().splitlines() == [
        f"imported 3 of 5 plans into {compiled}; 2 dropped:",
        f"  plan {REFS[3]} from {source}: it was derived from another schema than the live one",
        f"  plan mcp.gone from {source}: the surface declares no such action",
    ]
    assert refs_in(compiled) == list(REFS[:3])
    written = artifact_of(json.loads(compiled.read_bytes()))
    assert written is not None and artifact_bytes(written) == compiled.read_bytes()
    assert os.listdir(entropy.parent) == ["entropy"]
    assert sorted(os.listdir(entropy)) == ["compiled.json", "surface.json"]


def test_an_import_joins_what_is_there_and_says_so(cli: Cli, place: Path, entropy: Path) -> None:
    a, b, c, d = plans_of(cli, place, *REFS)
    artifact(entropy / "compiled.json", a, d | {"rules": d["rules"][1:]})
    first, second = artifact(place / "1.json", a, b), artifact(place / "2.json", b, c)
    found = cli("import", first, second)
    assert found.out.decode().splitlines() == [
        f"imported 2 of 4 plans into {entropy / 'compiled.json'}, 2 were there already; 1 dropped:",
        f"  plan {REFS[3]} here: it holds 8 of the 9 rules that the live schema derives",
    ]
    assert refs_in(entropy / "compiled.json") == list(REFS[:3])


def test_importing_again_touches_nothing(cli: Cli, place: Path, entropy: Path) -> None:
    source = artifact(place / "1.json", *plans_of(cli, place, *REFS))
    assert cli("import", source, "--json").json["outcome"] == "written"
    os.utime(entropy / "compiled.json", ns=(1, 1))
    before = (entropy / "compiled.json").stat()
    again = cli("import", source, "--json").json
    assert (again["outcome"], again["imported"], again["alreadyThere"]) == ("already_written", 0, 4)
    after = (entropy / "compiled.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_whole_report_as_json(cli: Cli, place: Path, entropy: Path) -> None:
    a, b = plans_of(cli, place, *REFS[:2])
    (entropy / "compiled.json").write_text(json.dumps(OLD))
    source = artifact(place / "1.json", a, b | {"rules": b["rules"][::-1]})
    found = cli("import", source, "--json")
    written = json.loads((entropy / "compiled.json").read_bytes())
    assert (found.code, found.err) == (0, "")
    assert found.json == {
        "outcome": "written",
        "path": str(entropy / "compiled.json"),
        "plans": 1,
        "evidenceDigest": written["evidenceDigest"],
        "offered": 2,
        "imported": 1,
        "alreadyThere": 0,
        "droppedOverlays": 1,
        "droppedQuarantines": 2,
        "droppedNormalizations": 1,
        "beyondLimit": 0,
        "dropped": [
            *(
                {
                    "origin": "local",
                    "source": None,
                    "kind": kind,
                    "ref": ref,
                    "cause": "legacy",
                    "reason": "a restriction of the version 1 format, which has no effect any more",
                }
                for kind, ref in (("overlay", "a"), ("quarantine", "b"), ("quarantine", "b"))
            ),
            {
                "origin": "incoming",
                "source": str(source),
                "kind": "plan",
                "ref": REFS[1],
                "cause": "not-derived",
                "reason": "its rules are not in the order in which they are derived",
            },
        ],
    }


def test_a_dry_run_reports_the_same_and_writes_nothing(
    cli: Cli, place: Path, entropy: Path
) -> None:
    source = artifact(place / "1.json", *plans_of(cli, place, *REFS[:1]))
    found = cli("import", "--dry-run", source)
    assert found.out.decode().startswith("would import 1 of 1 plan into ")
    assert cli("import", "--dry-run", "--json", source).json["outcome"] == "would_write"
    assert os.listdir(entropy) == ["surface.json"]
    cli("import", source)
    assert cli("import", "--dry-run", "--json", source).json["outcome"] == "already_written"


def test_a_long_report_is_cut_for_people(cli: Cli, place: Path, entropy: Path) -> None:
    (plan,) = plans_of(cli, place, REFS[0])
    source = artifact(place / "1.json", *(plan | {"ref": f"\x1b[2J\n{n}"} for n in range(30)))
    found = cli("import", source)
    lines = found.out.decode().splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  and 10 more (--json lists them all)"
    assert all(line.isprintable() for line in lines)
    assert len(cli("import", source, "--json").json["dropped"]) == 30


def test_the_live_surface_may_be_named_and_a_missing_home_is_made(cli: Cli, place: Path) -> None:
    plans = plans_of(cli, place, *REFS[:2])
    source = artifact(place / "1.json", *plans)
    found = cli("import", source, "--surface", place / "declared.json")
    assert found.code == 0
    assert refs_in(place / "home" / "entropy" / "compiled.json") == list(REFS[:2])
    assert (place / "home").stat().st_mode & 0o777 == 0o700


def test_standard_input_is_a_source_too(cli: Cli, place: Path, entropy: Path) -> None:
    source = artifact(place / "1.json", *plans_of(cli, place, REFS[0]))
    found = cli("import", "-", stdin=source.read_bytes())
    assert found.code == 0
    assert refs_in(entropy / "compiled.json") == [REFS[0]]
    cli("import", "-", stdin=b"{").complains(2, "standard input is no artifact")


def test_an_export_imported_elsewhere_differs_from_a_compile_in_gate_and_digest_alone(
    cli: Cli, place: Path, sessions: Path, surface: Path
) -> None:
    entropy = place / "home" / "entropy"
    entropy.mkdir(parents=True)
    (entropy / "surface.json").write_bytes(surface.read_bytes())
    compiled = cli("compile", "--sessions", sessions, "--surface", surface)
    (entropy / "compiled.json").write_bytes(compiled.out)
    cli("export", place / "surface.json")
    cli("export-artifact", place / "shared.json")
    (entropy / "compiled.json").unlink()
    found = cli("import", place / "shared.json", "--surface", place / "surface.json", "--json")
    assert found.json["dropped"] == []
    here = json.loads((entropy / "compiled.json").read_bytes())
    assert {name for name in here if here[name] != compiled.json[name]} == {
        "gate",
        "evidenceDigest",
    }
    assert here["gate"] == {"passed": True, "beforeScore": 0, "afterScore": 0, "reasons": []}
    plans = json.dumps(here["normalizations"]).encode()
    assert here["evidenceDigest"] == cli("digest", stdin=plans).out.decode().strip()


# --- what is refused


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ("it is not JSON",)),
        (b"\xff", ("it is not UTF-8",)),
        (b"[" * 100_000, ("levels deep",)),
        (b"[]", ("expected an object", "found a list of 0")),
        (b'{"version": 3}', ("expected version 1 or 2", "found 3")),
        (json.dumps(SOUND | {"normalizations": [{}]}).encode(), ("normalizations[0]", "found {}")),
        (json.dumps(SOUND | {"metricVersion": 0}).encode(), ("metricVersion", "found 0")),
    ],
    ids=["empty", "no-text", "deep", "list", "version", "plan", "metric"],
)
def test_a_file_that_is_no_artifact_is_refused_whole(
    cli: Cli, place: Path, entropy: Path, data: bytes, words: tuple[str, ...]
) -> None:
    sound = artifact(place / "1.json", *plans_of(cli, place, REFS[0]))
    (place / "bad.json").write_bytes(data)
    found = cli("import", sound, place / "bad.json")
    found.complains(2, f"{place / 'bad.json'} is no artifact", *words)
    assert os.listdir(entropy) == ["surface.json"]


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_path_that_cannot_be_read_is_one_sentence(
    cli: Cli, place: Path, entropy: Path, name: str
) -> None:
    cli("import", place / name).complains(2, str(place))


def test_a_source_beyond_the_limit_is_refused(
    cli: Cli, place: Path, entropy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cli.import_._LIMIT", 1 << 20)
    (place / "big.json").write_bytes(b" " * ((1 << 20) + 1))
    cli("import", place / "big.json").complains(2, "larger than 1 MiB")


def test_without_a_source_it_is_wrong_usage(cli: Cli) -> None:
    cli("import").complains(2, "PATH|URL")


def test_without_a_live_surface_it_says_what_to_do(cli: Cli, place: Path) -> None:
    source = artifact(place / "1.json")
    cli("import", source).complains(1, "there is no surface", "--surface")
    cli("import", source, "--surface", place / "gone").complains(2, "does not exist")
    assert not (place / "home").exists()


@pytest.mark.parametrize("damage", [b"", b"{}", b"null"])
def test_a_damaged_artifact_here_blocks_and_stays(
    cli: Cli, place: Path, entropy: Path, damage: bytes
) -> None:
    (entropy / "compiled.json").write_bytes(damage)
    source = artifact(place / "1.json", *plans_of(cli, place, REFS[0]))
    for more in ((), ("--dry-run",), ("--json",)):
        cli("import", source, *more).complains(1, "compiled.json is damaged", "move", "aside")
    assert (entropy / "compiled.json").read_bytes() == damage
    assert sorted(os.listdir(entropy)) == ["compiled.json", "surface.json"]


def test_a_home_that_cannot_be_written_is_one_sentence(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "file").touch()
    monkeypatch.setenv("FABRICD_HOME", str(place / "file"))
    source = artifact(place / "1.json", *plans_of(cli, place, REFS[0]))
    found = cli("import", source, "--surface", place / "declared.json")
    found.complains(1, str(place / "file"))


def test_a_lock_that_is_not_given_back_is_one_sentence(
    cli: Cli, place: Path, entropy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cli.import_._ATTEMPTS", 2)
    source = artifact(place / "1.json", *plans_of(cli, place, REFS[0]))
    lock = PiLock(entropy / "compiled.lock")
    assert lock.try_acquire()
    cli("import", source).complains(1, "compiled.json is busy", "try again")
    assert cli("import", "--dry-run", source).code == 0
    assert sorted(os.listdir(entropy)) == ["compiled.lock", "surface.json"]
    lock.release()


# --- addresses


@pytest.fixture
def memory() -> Iterator[Any]:
    """The in-memory file system, empty before and after."""
    files = _fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


def test_artifacts_come_from_addresses_in_the_order_given(
    cli: Cli, place: Path, entropy: Path, memory: Any
) -> None:
    a, b = plans_of(cli, place, *REFS[:2])
    memory.pipe("/a.json", artifact(place / "1.json", a).read_bytes())
    artifact(place / "2.json", b, a | {"ref": "mcp.gone"})
    found = cli("import", "memory://a.json", f"file://{place}/2.json?key=secret#x")
    found.complains(2, f"file://{place}/2.json cannot be read", "it does not exist")
    assert "secret" not in found.err
    found = cli("import", "memory://a.json", f"file://{place}/2.json", "--json")
    assert (found.code, found.json["imported"]) == (0, 2)
    assert found.json["dropped"][0]["source"] == f"file://{place}/2.json"


def test_an_address_is_refused_like_a_file(cli: Cli, entropy: Path, memory: Any) -> None:
    memory.pipe("/a.json", b"[]")
    cli("import", "memory://a.json").complains(2, "memory://a.json is no artifact")
    cli("import", "memory://gone").complains(2, "memory://gone cannot be read")
    chained = cli("import", "simplecache::memory://a.json")
    chained.complains(2, "addresses with :: are not read")


def test_without_the_library_it_says_what_to_install(
    cli: Cli, place: Path, entropy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    found = cli("import", "https://host/a.json")
    found.complains(2, "https://host/a.json", "pip install 'fabricd[remote]'")
    source = artifact(place / "1.json", *plans_of(cli, place, REFS[0]))
    assert cli("import", source).code == 0


def test_paths_never_pay_for_the_library(place: Path, entropy: Path) -> None:
    source = artifact(place / "1.json")
    script = (
        "import sys; from fabricd.daemon.cli.root import run; run(sys.argv[1:]); "
        "sys.exit('fsspec' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "import", str(source)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_address_is_read_with_a_deadline(
    cli: Cli, place: Path, entropy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, float]] = []

    def fetched(address: str, limit: int, seconds: float) -> bytes:
        asked.append((address, limit, seconds))
        return artifact(place / "1.json").read_bytes()

    monkeypatch.setattr(remote, "fetch", fetched)
    assert cli("import", "https://host/a").code == 0
    assert asked == [("https://host/a", 64 * 1024 * 1024, 60.0)]


# --- other processes

KILLED = """
import os, signal, sys
from pathlib import Path
from fabricd.daemon.cli.root import run

left = int(sys.argv[1])

def watched(call):
    def wrapped(*args, **more):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **more)
    return wrapped

for name in ("mkdir", "open", "fsync", "replace", "rename", "unlink", "rmdir", "write"):
    setattr(os, name, watched(getattr(os, name)))
Path.write_text = watched(Path.write_text)
sys.exit(run(sys.argv[2:]))
"""


def test_a_kill_at_any_call_leaves_old_or_new_bytes_and_blocks_nobody(
    cli: Cli, place: Path, entropy: Path
) -> None:
    a, b = plans_of(cli, place, *REFS[:2])
    compiled = entropy / "compiled.json"
    cli("import", artifact(place / "1.json", a))
    old = compiled.read_bytes()
    second = artifact(place / "2.json", b)
    cli("import", second)
    new = compiled.read_bytes()
    seen: set[bytes] = set()
    for survive in range(60):
        compiled.write_bytes(old)
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(survive), "import", str(second)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            timeout=20,
        )
        seen.add(compiled.read_bytes())
        assert compiled.read_bytes() in (old, new)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        _aged(entropy / "compiled.lock")
        assert cli("import", second).code == 0
        assert compiled.read_bytes() == new
    else:
        raise AssertionError("it never came to its end")
    assert seen == {old, new}


def _aged(lock: Path) -> None:
    """Thirty seconds go by where only they tell that a lock is abandoned."""
    is_named = lock.is_dir() and os.listdir(lock) == ["owner"] and pilock._ours() is not None
    if lock.is_dir() and not (is_named and (lock / "owner").stat().st_size):
        os.utime(lock, (0, 0))


def test_imports_at_the_same_time_lose_nothing(cli: Cli, place: Path, entropy: Path) -> None:
    plans = plans_of(cli, place, *REFS)
    sources = [artifact(place / f"{index}.json", plan) for index, plan in enumerate(plans)]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "fabricd", "import", str(source)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.DEVNULL,
        )
        for source in sources
    ]
    assert [one.wait(timeout=30) for one in running] == [0] * len(sources)
    assert refs_in(entropy / "compiled.json") == list(REFS)
    assert sorted(os.listdir(entropy)) == ["compiled.json", "surface.json"]


def test_it_runs_as_a_command_of_its_own(cli: Cli, place: Path, entropy: Path) -> None:
    source = artifact(place / "1.json", *plans_of(cli, place, REFS[0]))
    found = process("import", source)
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith(b"imported 1 of 1 plan into ")
