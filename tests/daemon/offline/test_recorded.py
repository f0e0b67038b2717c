"""The walk over a log gives the recordings of its trace lines, however it is cut into blocks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.model import AuditCall
from fabricd.core.sessions import records
from fabricd.core.sessions.samples import Recording, recordings
from fabricd.daemon.offline import recorded as walking
from fabricd.daemon.offline.recorded import recorded
from tests.core.making import Json, assistant, line, log, operation, record, trace
from tests.core.strategies import logs

CALL: Json = {"ref": "a", "args": {"n": 1}}
TRACED = line(record(trace(operation()), [CALL]))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each log is written anew."""
    return tmp_path_factory.mktemp("recorded") / "s.jsonl"


def walked(path: Path, data: bytes, block: int) -> list[Recording]:
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walking, "BLOCK", block)
        return list(recorded(bytes(path)))


@settings(max_examples=60)
@given(data=logs(), block=st.sampled_from([7, 100, 1000, 1 << 20]))
def test_every_trace_line_is_read_once_and_in_order(path: Path, data: bytes, block: int) -> None:
    lines = [text for text in data.split(b"\n") if walking.MARK in text]
    assert walked(path, data, block) == [each for text in lines for each in recordings(text)]


def test_a_complete_open_end_counts_and_any_other_does_not(path: Path) -> None:
    for cut in range(0, len(TRACED), 7):
        found = walked(path, log(TRACED) + TRACED[: len(TRACED) - cut], 64)
        assert len(found) == 1 + (cut == 0)


@pytest.mark.parametrize("block", [10, 200])
def test_an_overlong_record_is_dropped_and_its_neighbours_are_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(records, "MAX_RECORD", len(TRACED))
    long = TRACED[:-1] + b"," + b" " * 300 + b'"x":1}'
    found = walked(path, log(TRACED, long, TRACED) + long, block)
    assert [each.audits for each in found] == [(AuditCall("a", {"n": 1}),)] * 2


def test_every_byte_is_told_to_the_progress(path: Path) -> None:
    data = log(assistant("p", "m"), *[TRACED] * 5)
    path.write_bytes(data)
    told: list[int] = []
    assert len(list(recorded(bytes(path), told.append))) == 5
    assert sum(told) == len(data)


def test_a_log_without_bytes_has_no_recordings(path: Path) -> None:
    assert walked(path, b"", 10) == []


def test_a_log_that_cannot_be_read_raises(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(recorded(bytes(path) + b".gone"))
    with pytest.raises(IsADirectoryError):
        next(recorded(bytes(path.parent)))


def test_an_abandoned_walk_closes_its_file(path: Path) -> None:
    path.write_bytes(log(TRACED, TRACED))
    before = len(os.listdir("/dev/fd"))
    walk = recorded(bytes(path))
    next(walk)
    assert len(os.listdir("/dev/fd")) == before + 1
    del walk
    assert len(os.listdir("/dev/fd")) == before
