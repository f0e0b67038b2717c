from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.repairs import KeyAlias, Row, row_value, table_bytes
from fabricd.core.settling import Learned
from fabricd.store import pilock, repairs
from fabricd.store.durable import Damaged, Loaded, Missing
from fabricd.store.homes import Homes
from fabricd.store.pilock import PiLockBusy
from fabricd.store.repairs import DamagedRepairs, load, load_learned, save, standing
from tests.core.repairing import table
from tests.harness import ROOT

OURS = KeyAlias("a.b", "LIMIT", "limit")
MORE = KeyAlias("a.b", "Query", "query")
PIS = KeyAlias("a.b", "sessionId", "session")
OLD, NEW, FOREIGN = "old" * 8, "new" * 8, "pi" * 8
DAMAGE = [b"", b"{", b"{}", b"null", b"\xff", b"[" * 100_000, b'{"version":1,"catalogDigest":"c"}']


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path / "home", tmp_path / "state", tmp_path / "agent", is_pi_home=True)


def foreign(homes: Homes, *entries: Any, **more: Any) -> bytes:
    """A table as Pi may have written it."""
    rows = [row_value(entry) if isinstance(entry, KeyAlias) else entry for entry in entries]
    value = {"version": 1, "catalogDigest": FOREIGN, "repairs": rows, **more}
    homes.repairs.parent.mkdir(parents=True, exist_ok=True)
    homes.repairs.write_text(json.dumps(value))
    return homes.repairs.read_bytes()


def rows_of(homes: Homes) -> tuple[Row, ...]:
    found = load(homes.repairs)
    assert isinstance(found, Loaded)
    return found.value.rows


def names(homes: Homes) -> list[str]:
    return sorted(os.listdir(homes.repairs.parent))


def test_what_was_saved_is_loaded(homes: Homes) -> None:
    assert load(homes.repairs) == Missing()
    saved = save(homes, NEW, [OURS], 7)
    assert (saved.outcome, saved.added, saved.dropped) == ("written", (OURS,), ())
    assert saved.table == table(OURS, catalog=NEW)
    data = homes.repairs.read_bytes()
    assert data == table_bytes(table(OURS, catalog=NEW), 7)
    assert json.loads(data)["createdAt"] == json.loads(data)["updatedAt"] == 7
    assert load_learned(homes.repairs_learned) == Loaded(
        Learned((NEW,), {OURS: NEW}), homes.repairs_learned.read_bytes()
    )
    assert names(homes) == ["current.json", "learned.json"]
    for path in (homes.repairs, homes.repairs_learned):
        assert path.stat().st_mode & 0o777 == 0o600


def test_equal_content_touches_nothing_whatever_the_time(homes: Homes) -> None:
    save(homes, NEW, [OURS], 7)
    before = [path.stat() for path in sorted(homes.repairs.parent.iterdir())]
    folder = homes.repairs.parent.stat()
    assert save(homes, NEW, [OURS], 8).outcome == "already_written"
    assert save(homes, NEW, [], 9).outcome == "already_written"
    assert [path.stat() for path in sorted(homes.repairs.parent.iterdir())] == before
    assert homes.repairs.parent.stat() == folder


def test_nothing_to_say_makes_no_file(homes: Homes) -> None:
    assert save(homes, NEW, [], 7).table is None
    assert not homes.home.exists()


def test_a_new_row_leaves_the_time_of_creation(homes: Homes) -> None:
    save(homes, NEW, [OURS], 7)
    save(homes, NEW, [MORE], 9)
    found = json.loads(homes.repairs.read_bytes())
    assert (found["createdAt"], found["updatedAt"]) == (7, 9)


def test_a_foreign_table_keeps_its_rows_its_digest_and_its_manner(homes: Homes) -> None:
    strange = {"kind": "later", "x": [1]}
    foreign(homes, PIS, strange, createdAt="then", updatedAt="then", by="pi")
    save(homes, NEW, [OURS], 0)
    assert json.loads(homes.repairs.read_bytes()) == {
        "version": 1,
        "catalogDigest": FOREIGN,
        "repairs": [row_value(PIS), strange, row_value(OURS)],
        "createdAt": "then",
        "updatedAt": "1970-01-01T00:00:00.000Z",
        "by": "pi",
    }
    save(homes, OLD, [], 1)
    assert rows_of(homes) == (PIS,)


def test_a_foreign_table_is_left_alone_to_the_byte_while_there_is_nothing_to_add(
    homes: Homes,
) -> None:
    data = foreign(homes, PIS, {**row_value(OURS), "ref": " a.b "})
    assert save(homes, NEW, [PIS, OURS], 7).outcome == "already_written"
    assert homes.repairs.read_bytes() == data
    assert names(homes) == ["current.json"]


def test_our_rows_leave_with_their_catalog(homes: Homes) -> None:
    save(homes, OLD, [OURS], 7)
    assert standing(homes, OLD) == load(homes.repairs)
    seen = standing(homes, NEW)
    assert isinstance(seen, Loaded) and seen.value == table(catalog=NEW, createdAt=7, updatedAt=7)
    assert rows_of(homes) == (OURS,)
    assert standing(homes, None) == load(homes.repairs)
    saved = save(homes, NEW, [], 8)
    assert (saved.outcome, saved.dropped) == ("written", (OURS,))
    assert rows_of(homes) == ()
    assert load_learned(homes.repairs_learned) == Loaded(
        Learned((OLD, NEW)), homes.repairs_learned.read_bytes()
    )


def test_what_was_written_meanwhile_is_merged_first(
    homes: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire = pilock.PiLock.try_acquire

    def slowly(self: pilock.PiLock, *arguments: Any) -> bool:
        foreign(homes, PIS)
        return acquire(self, *arguments)

    monkeypatch.setattr(pilock.PiLock, "try_acquire", slowly)
    save(homes, NEW, [OURS], 7)
    assert rows_of(homes) == (PIS, OURS)


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("which", ["repairs", "repairs_learned"])
def test_a_damaged_file_is_never_overwritten(homes: Homes, damage: bytes, which: str) -> None:
    save(homes, OLD, [OURS], 7)
    path: Path = getattr(homes, which)
    path.write_bytes(damage)
    before = [file.read_bytes() for file in sorted(homes.repairs.parent.iterdir())]
    for new in ([], [MORE]):
        with pytest.raises(DamagedRepairs) as caught:
            save(homes, NEW, new, 8)
        assert caught.value.damage.path == path
        assert caught.value.damage.reason in str(caught.value)
    assert [file.read_bytes() for file in sorted(homes.repairs.parent.iterdir())] == before
    assert isinstance(standing(homes, NEW), Damaged if which == "repairs" else Loaded)


def test_a_directory_in_its_place_is_never_overwritten(homes: Homes) -> None:
    homes.repairs.mkdir(parents=True)
    with pytest.raises(DamagedRepairs, match="it is a directory"):
        save(homes, NEW, [OURS], 7)


def test_a_table_beyond_a_mebibyte_is_damaged_and_none_is_ever_written(homes: Homes) -> None:
    filler = {"kind": "later", "x": "x" * (repairs.MAX_BYTES - 160)}
    data = foreign(homes, filler)
    assert isinstance(load(homes.repairs), Loaded)
    assert save(homes, NEW, [OURS], 7).outcome == "already_written"
    assert homes.repairs.read_bytes() == data
    foreign(homes, filler | {"y": "y" * 300})
    assert load(homes.repairs) == Damaged(homes.repairs, "it is larger than 1 MiB")


def test_a_lock_that_somebody_holds_is_left_alone(homes: Homes) -> None:
    data = foreign(homes, PIS)
    homes.repairs_lock.mkdir()
    (homes.repairs_lock / "owner").write_text(f"token\n{os.getpid()}\n0\n")
    with pytest.raises(PiLockBusy):
        save(homes, NEW, [OURS], 7)
    assert homes.repairs.read_bytes() == data
    assert names(homes) == ["current.json", "current.lock"]


@pytest.mark.parametrize("fails_at", [1, 3, 5])
def test_a_full_disk_leaves_the_old_table(
    homes: Homes, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    save(homes, OLD, [OURS], 7)
    calls = 0
    sync = os.fsync

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            save(homes, NEW, [MORE], 8)
    assert rows_of(homes) == ((OURS,) if fails_at < 5 else (MORE,))
    assert names(homes) == ["current.json", "learned.json"]
    save(homes, NEW, [MORE], 9)
    assert rows_of(homes) == (MORE,)


WRITER = """
import sys
from pathlib import Path
from fabricd.core.repairs import KeyAlias
from fabricd.store.homes import Homes
from fabricd.store.pilock import PiLockBusy
from fabricd.store.repairs import save

homes = Homes(Path(sys.argv[1]), Path("/"), Path("/"), True)
name, catalogs, count = sys.argv[2], sys.argv[3].split(","), int(sys.argv[4])
print("ready", flush=True)
for number in range(count):
    row = KeyAlias("a.b", f"{name}{number % 20}", "x")
    while True:
        try:
            save(homes, catalogs[number % len(catalogs)], [row], number)
            break
        except PiLockBusy:
            pass
"""


def writer(homes: Homes, name: str, catalogs: str, count: int) -> subprocess.Popen[bytes]:
    started = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(homes.home), name, catalogs, str(count)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None and started.stdout.readline() == b"ready\n"
    started.stdout.close()
    return started


def test_two_processes_lose_nothing_of_each_other(homes: Homes) -> None:
    foreign(homes, PIS)
    both = [writer(homes, name, NEW, 20) for name in ("a", "b")]
    assert [process.wait(30) for process in both] == [0, 0]
    expected = {KeyAlias("a.b", f"{name}{number}", "x") for name in "ab" for number in range(20)}
    assert set(rows_of(homes)) == {PIS, *expected}
    assert names(homes) == ["current.json", "learned.json"]
    save(homes, OLD, [], 0)
    assert rows_of(homes) == (PIS,)


def test_a_killed_writer_leaves_whole_files_and_no_row_that_nobody_owns(homes: Homes) -> None:
    foreign(homes, PIS)
    rng = random.Random(5)
    for _ in range(6):
        killed = writer(homes, "k", f"{OLD},{NEW}", 1_000_000)
        time.sleep(rng.uniform(0.0, 0.06))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        learned = load_learned(homes.repairs_learned)
        ours = learned.value.rows if isinstance(learned, Loaded) else {}
        assert set(rows_of(homes)) - set(ours) == {PIS}
        # What a killed owner left is reaped in time; the test does not wait for it.
        shutil.rmtree(homes.repairs_lock, ignore_errors=True)
    save(homes, OLD, [], 1)
    save(homes, NEW, [], 2)
    assert rows_of(homes) == (PIS,)
