from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.identity import canonical_line
from fabricd.core.value.own import receipts_of
from fabricd.core.value.receipt import receipt_identity
from fabricd.core.value.record import check_record
from fabricd.core.value.summary import summarize_records
from fabricd.store import value
from fabricd.store.locks import AlreadyHeld
from fabricd.store.value import DamagedReceipts, Ledger, load, receipts_path, record_path
from tests.core.value.making import turn
from tests.harness import ROOT


def receipt(session: str = "s-1", first: str = "c-1", calls: int = 1, at: str | None = None) -> Any:
    """A receipt of ours."""
    (made,) = receipts_of([turn(session, first, calls, at)], "extended", "1")
    return made


def add(home: Path, *receipts: Any) -> int:
    """Add receipts by a ledger of their own."""
    ledger = Ledger(home)
    try:
        return ledger.add(receipts)
    finally:
        ledger.close()


def record(home: Path, run_id: str) -> Any:
    """The record of a session as it is on disk."""
    return json.loads(record_path(home, run_id).read_bytes())


def test_receipts_are_appended_once(tmp_path: Path) -> None:
    early, late = receipt(at="2026-05-01T00:00:00Z"), receipt(at="2026-05-02T00:00:00Z")
    assert add(tmp_path, early, late, receipt(first="c-2")) == 2
    assert add(tmp_path, late, receipt("s-2")) == 1
    path = receipts_path(tmp_path)
    assert path.read_bytes() == b"".join(
        map(canonical_line, (early, receipt(first="c-2"), receipt("s-2")))
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(load(tmp_path).receipts) == [
        receipt_identity(one) for one in (early, receipt(first="c-2"), receipt("s-2"))
    ]


def test_each_session_has_a_record(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert ledger.add([receipt(), receipt("s-2")]) == 2
    assert ledger.add([receipt(first="c-2", calls=3)]) == 1
    ledger.close()
    assert check_record(record(tmp_path, "s-1")).violations == []
    assert len(record(tmp_path, "s-1")["value_receipts"]) == 2
    assert len(record(tmp_path, "s-2")["value_receipts"]) == 1
    assert sorted(map(canonical_line, load(tmp_path).records())) == sorted(
        record_path(tmp_path, run_id).read_bytes() for run_id in ("s-1", "s-2")
    )


def test_what_is_no_receipt_is_not_written(tmp_path: Path) -> None:
    assert add(tmp_path, {**receipt(), "schema": "x"}, None, receipt()) == 1
    assert len(load(tmp_path).receipts) == 1


@pytest.mark.parametrize("cut", [1, 2, 50, 10_000])
def test_an_unfinished_line_is_cut_off_by_the_next_writer(tmp_path: Path, cut: int) -> None:
    add(tmp_path, receipt(), receipt(first="c-2"))
    path = receipts_path(tmp_path)
    whole = path.read_bytes()
    first, last = whole.splitlines(keepends=True)
    os.truncate(path, max(len(whole) - cut, len(first) + 1))
    # Whoever only reads changes nothing: the line may still be being written.
    assert list(load(tmp_path).receipts.values()) == [json.loads(first)]
    assert path.stat().st_size > len(first)
    assert add(tmp_path) == 0
    assert path.read_bytes() == first
    assert record(tmp_path, "s-1")["value_receipts"] == [json.loads(first)]
    assert add(tmp_path, json.loads(last)) == 1
    assert path.read_bytes() == whole


def test_lines_that_are_no_receipts_are_left_and_counted(tmp_path: Path) -> None:
    add(tmp_path, receipt())
    path = receipts_path(tmp_path)
    damage = path.read_bytes() + b"\0\0\0\n{}\n" + b"[" * 5000 + b"\n\xff\n"
    path.write_bytes(damage)
    assert load(tmp_path).unreadable == 4
    assert add(tmp_path, receipt(first="c-2")) == 1
    assert path.read_bytes() == damage + canonical_line(receipt(first="c-2"))
    assert len(load(tmp_path).receipts) == 2


@pytest.mark.parametrize("damage", [b"", b"{", b"null", b"\0", b'{"run":{"id":"s-1"}}'])
def test_records_are_made_of_the_receipts_again(tmp_path: Path, damage: bytes) -> None:
    ledger = Ledger(tmp_path)
    ledger.add([receipt(), receipt(first="c-2")])
    record_path(tmp_path, "s-1").write_bytes(damage)
    ledger.add([receipt(first="c-3")])
    ledger.close()
    assert len(record(tmp_path, "s-1")["value_receipts"]) == 3
    record_path(tmp_path, "s-1").unlink()
    add(tmp_path)
    assert len(record(tmp_path, "s-1")["value_receipts"]) == 3


@pytest.mark.parametrize("run_id", ["../x", "a/b", ".", "a" * 300, "é", "\0", "\ud800", ".hidden"])
def test_a_session_cannot_choose_where_its_record_lies(tmp_path: Path, run_id: str) -> None:
    assert add(tmp_path, receipt(run_id)) == 1
    (path,) = (tmp_path / "value" / "runs").iterdir()
    assert path == record_path(tmp_path, run_id)
    assert path.name.startswith("sha256-")
    assert load(tmp_path).records()[0]["run"]["id"] == run_id


def test_since(tmp_path: Path) -> None:
    times = ["2026-05-01T00:00:00Z", "2026-05-02T02:00:00+02:00", "2026-02-31T00:00:00Z", None]
    add(tmp_path, *(receipt(first=f"c-{number}", at=at) for number, at in enumerate(times)))
    kept = load(tmp_path).since(datetime(2026, 5, 2, tzinfo=UTC))
    assert [one["operation"]["id"] for one in kept.receipts.values()] == ["s-1/c-1"]
    assert load(tmp_path / "nowhere").since(datetime.now(UTC)).records() == []


def test_one_writer_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value, "_WAIT", 0.05)
    ledger = Ledger(tmp_path)
    with pytest.raises(AlreadyHeld):
        Ledger(tmp_path)
    ledger.close()
    Ledger(tmp_path).close()


def test_what_is_no_file_is_damaged_and_left(tmp_path: Path) -> None:
    receipts_path(tmp_path).mkdir(parents=True)
    with pytest.raises(DamagedReceipts, match="is a directory"):
        load(tmp_path)
    with pytest.raises(DamagedReceipts):
        Ledger(tmp_path)
    receipts_path(tmp_path).rmdir()
    # The lock was given back.
    assert add(tmp_path, receipt()) == 1


def test_a_full_disk_leaves_no_part_of_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    ledger.add([receipt()])
    before = receipts_path(tmp_path).read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            ledger.add([receipt(first="c-2")])
    assert receipts_path(tmp_path).read_bytes() == before
    assert ledger.add([receipt(first="c-2")]) == 1
    ledger.close()
    assert len(record(tmp_path, "s-1")["value_receipts"]) == 2


_WRITER = """
import sys
from pathlib import Path
from fabricd.store.value import Ledger
from tests.store.test_value import receipt
start = int(sys.argv[2])
ledger = Ledger(Path(sys.argv[1]))
print("open", flush=True)
for number in range(start, start + 100_000):
    ledger.add([receipt(f"s-{number % 3}", f"c-{number}")])
"""


def test_a_killed_writer_leaves_whole_lines(tmp_path: Path) -> None:
    rng = random.Random(5)
    for kill in range(4):
        command = [sys.executable, "-c", _WRITER, str(tmp_path), str(kill * 100_000)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"open\n"
            time.sleep(rng.uniform(0.01, 0.08))
            writer.send_signal(signal.SIGKILL)
    assert add(tmp_path, receipt("last")) == 1
    data = receipts_path(tmp_path).read_bytes()
    assert data.endswith(b"\n")
    kept = load(tmp_path)
    assert kept.unreadable == 0
    assert len(kept.receipts) == data.count(b"\n")
    for made in kept.records():
        assert record(tmp_path, made["run"]["id"]) == made
    assert summarize_records(kept.records())["valid"]


def test_what_the_ledger_wrote_is_not_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    ledger.add([receipt()])
    checked: list[object] = []

    def check(given: object) -> Any:
        checked.append(given)
        return check_record(given)

    monkeypatch.setattr(value, "check_record", check)
    ledger.add([receipt(first="c-2")])
    assert checked == []
    # Somebody else's record of the run is no part of ours unless it is valid.
    path = record_path(tmp_path, "s-1")
    path.write_bytes(path.read_bytes().replace(b"fabricd", b"Fabricd"))
    ledger.add([receipt(first="c-3")])
    ledger.close()
    assert len(checked) == 1
