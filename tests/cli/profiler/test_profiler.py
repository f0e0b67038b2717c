"""The program of the opsle protocols as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.identity import canonical_line
from fabricd.core.trajectory.measurement import Measurement
from fabricd.daemon.cli.profiler.command import answer, main
from tests.core.trajectory.making import asked, packet, raw, shown, trajectory, written
from tests.harness import ROOT


def ran(
    folder: Path, *words: str, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """A command line in a folder, in a locale that knows ASCII alone."""
    return subprocess.run(
        [sys.executable, "-m", "fabricd.daemon.cli.profiler.command", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "LC_ALL": "C", "PYTHONUTF8": "0"},
        input=stdin,
        capture_output=True,
        timeout=20,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a sound trajectory, one with a fault, and no JSON."""
    sound = trajectory(packet("a"), asked("a"), shown("a"))
    sound["run"]["run_id"] = "läuft"
    (tmp_path / "t.json").write_bytes(written(sound))
    (tmp_path / "bad.json").write_bytes(written(trajectory(5)))
    (tmp_path / "no.json").write_bytes(b"{")
    return tmp_path


def test_one_line_of_data_and_one_for_a_person(folder: Path) -> None:
    done = ran(folder, "profile", "t.json")
    line = "[Trajectory Profiler] läuft | 300 B initially visible | 310 B final | "
    assert done.stderr.decode() == f"{line}1 escalation fulfilled\n"
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1)
    assert json.loads(done.stdout)["measurements"]["final_model_visible_bytes"] == 310
    quiet = ran(folder, "profile", "--summary", "t.json", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, done.stdout, b"")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("validate t.json", 0),
        ("validate bad.json", 1),
        ("profile bad.json", 1),
        ("compare t.json t.json", 0),
        ("compare t.json bad.json", 1),
    ],
)
def test_exit_codes(folder: Path, words: str, code: int) -> None:
    done = ran(folder, *words.split())
    assert done.returncode == code
    assert done.stdout.endswith(b"}\n") and done.stderr.startswith(b"[Trajectory Profiler] ")


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--help",
        "profile",
        "profile -",
        "profile --help",
        "profile no.json",
        "profile . --quiet",
        "profile missing.json",
        "profile t.json t.json",
        "profile t.json --pretty",
        "compare t.json",
        "conformance",
        "conformance missing",
        "conformance . .",
        "conformance .",
        "--quiet profile t.json",
    ],
)
def test_whatever_is_no_command_line_is_one_line_of_json_on_stderr(
    folder: Path, words: str
) -> None:
    done = ran(folder, *words.split(), stdin=b"{}")
    assert (done.returncode, done.stdout) == (2, b"")
    told = json.loads(done.stderr)
    assert sorted(told) == ["code", "message"]
    assert told["code"] == "INVALID_INVOCATION" and told["message"]
    assert done.stderr.count(b"\n") == 1


def test_a_closed_pipe_is_no_traceback(folder: Path) -> None:
    events = [raw(f"op{number}") for number in range(2000)]
    (folder / "large.json").write_bytes(written(trajectory(*events)))
    command = (
        f"{sys.executable} -m fabricd.daemon.cli.profiler.command profile large.json | head -c 10"
    )
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert b"Traceback" not in done.stderr


def test_a_document_can_be_answered_and_refused_at_once() -> None:
    found = answer(["validate-record", "r.json"], lambda _: b"null")
    assert found.code == 2 and json.loads(found.err)["code"] == "INVALID_INVOCATION"
    assert json.loads(b"".join(found.out))["valid"] is False
    quiet = answer(["validate-record", "r.json", "--quiet"], lambda _: b"null")
    assert (quiet.code, quiet.err) == (1, b"")


def test_it_is_installed_under_its_name() -> None:
    import tomllib

    project: Any = tomllib.loads((ROOT / "pyproject.toml").read_text())
    scripts = project["project"]["scripts"]
    assert scripts["agent-trajectory-profiler"] == "fabricd.daemon.cli.profiler.command:main"


@pytest.mark.parametrize("name", ["source", "validation", "raw_evidence"])
def test_what_is_passed_through_may_nest_deep(folder: Path, name: str) -> None:
    deep: Any = []
    for _ in range(1000):
        deep = [deep]
    event = raw("a")
    event[name] = {**event[name], "locator_present": deep} if name in event else deep
    (folder / "deep.json").write_bytes(canonical_line(trajectory(event)))
    for words in (("profile",), ("compare", "t.json")):
        done = ran(folder, *words, "deep.json")
        assert (done.returncode, done.stdout[-2:]) == (0, b"}\n")
        assert done.stdout.count(b"[") == done.stdout.count(b"]") > 1000


def test_a_result_that_cannot_be_written_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def pieces(measurement: Measurement) -> Iterator[bytes]:
        raise RecursionError("too deep")
        yield b""

    monkeypatch.setattr(Measurement, "pieces", pieces)
    monkeypatch.setattr(sys, "argv", ["x", "profile", "--quiet", str(folder / "t.json")])
    assert main() == 2
    refusal = '{"code":"INVALID_INVOCATION","message":"too deep"}\n'
    assert capfd.readouterr() == ("", refusal)
