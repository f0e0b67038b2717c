from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.book import SessionBook
from fabricd.core.evidence import Evidence
from fabricd.core.resume import ANCHOR, HEAD, MIDDLE, Restart, Resume, Unchanged, middle_of
from fabricd.core.sessions import pi, records
from fabricd.core.sessions.records import BLOCK
from fabricd.core.steps import finish
from fabricd.store import reading
from fabricd.store.reading import Pass, Want, commit_steps, fetch, in_place, read_steps
from fabricd.store.sessions import OpenLog
from tests.core.making import assistant, everything, line, operation, record, trace

LATER = 10**19


def rec(number: int, **more: Any) -> bytes:
    """A trace record like no other."""
    return line(record(trace(operation()), id=f"{number:08}", **more)) + b"\n"


class Reader:
    """One session file, and its book after each pass."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.book = SessionBook()
        self._clock = 10**18

    def put(self, data: bytes, mode: str = "ab") -> None:
        """Write, and let a second pass."""
        with self.path.open(mode) as file:
            file.write(data)
        self.tick()

    def tick(self) -> None:
        self._clock += 10**9
        os.utime(self.path, ns=(self._clock, self._clock))

    def read(self, now_ns: int = LATER) -> Pass:
        with OpenLog(os.fsencode(self.path)) as opened:
            found = in_place(opened, read_steps(opened, self.book, now_ns))
        self.book = finish(commit_steps(found))
        return found

    @property
    def said(self) -> Evidence:
        total = Evidence()
        total.add(self.book.evidence)
        total.add(self.book.open_end)
        return total

    @property
    def clean(self) -> Evidence:
        return everything(self.path.read_bytes())


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path / "a.jsonl")


def test_a_new_file_is_read_from_its_start(reader: Reader) -> None:
    data = rec(1) + rec(2)
    reader.put(data)
    found = reader.read()
    assert (found.decision, found.bytes_read, found.fresh.traces) == (
        Restart("new-file"),
        len(data),
        2,
    )
    assert reader.said == reader.clean


def test_only_what_was_appended_is_read(reader: Reader) -> None:
    reader.put(rec(1) + line(assistant("p", "m")) + b"\n")
    reader.read()
    reader.put(rec(2))
    found = reader.read()
    assert isinstance(found.decision, Resume)
    assert found.bytes_read == len(rec(2))
    assert found.fresh.models["p/m"].operations == 1
    assert reader.said == reader.clean


@pytest.mark.parametrize("now_ns", [LATER, 0], ids=["old", "young"])
def test_an_unchanged_file_is_left_alone(reader: Reader, now_ns: int) -> None:
    reader.put(rec(1))
    reader.read(now_ns)
    for _ in range(2):
        found = reader.read(now_ns)
        assert (found.decision, found.bytes_read, found.fresh) == (Unchanged(), 0, Evidence())
    assert reader.said == reader.clean


def test_a_young_file_grows_old(reader: Reader) -> None:
    reader.put(rec(1))
    reader.read(now_ns=0)
    assert reader.book.mark is not None
    assert reader.book.mark.young
    reader.read()
    assert not reader.book.mark.young


def test_a_complete_open_end_counts_until_it_is_ended(reader: Reader) -> None:
    reader.put(rec(1) + rec(2)[:-1])
    reader.read()
    assert (reader.book.evidence.traces, reader.book.open_end.traces) == (1, 1)
    reader.put(b"\n")
    reader.read()
    assert (reader.book.evidence.traces, reader.book.open_end.traces) == (2, 0)


def test_an_open_end_that_grows_into_something_else_no_longer_counts(reader: Reader) -> None:
    reader.put(rec(1)[:-1])
    reader.read()
    assert reader.said.traces == 1
    reader.put(b" x\n")
    reader.read()
    assert (reader.said.traces, reader.said.losses.bad_lines) == (0, 1)


def test_a_file_rewritten_longer_in_place_is_read_anew(reader: Reader) -> None:
    # Longer than the head that is remembered, so that only the bytes before the cursor differ.
    head = line({"type": "session", "id": "one and the same", "text": "x" * 1024}) + b"\n"
    reader.put(head + rec(1))
    reader.read()
    reader.put(head + rec(2) + rec(3) + rec(4), "wb")
    found = reader.read()
    assert found.decision == Restart("anchor-changed")
    assert reader.said == reader.clean
    assert reader.said.traces == 3


def test_a_long_file_is_known_by_its_head_its_end_and_a_stretch_between(reader: Reader) -> None:
    data = b"".join(map(rec, range(400)))
    reader.put(data)
    reader.read()
    assert reader.book.mark is not None
    mark = reader.book.mark
    assert (mark.head.length, mark.anchor.length, mark.middle.length) == (HEAD, ANCHOR, MIDDLE)
    changed = spoiled(data, 500)
    reader.put(changed + rec(990), "wb")
    assert reader.read().decision == Restart("head-changed")
    data = changed + rec(990)
    changed = spoiled(data, len(data) - ANCHOR + 5)
    reader.put(changed + rec(991), "wb")
    assert reader.read().decision == Restart("anchor-changed")
    data = changed + rec(991)
    changed = spoiled(data, middle_of(len(data))[0])
    reader.put(changed + rec(992), "wb")
    assert reader.read().decision == Restart("middle-changed")
    assert reader.said == reader.clean


@pytest.mark.parametrize("place", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_of_a_short_file_every_byte_is_looked_at(reader: Reader, place: float) -> None:
    data = b""
    while len(data) < HEAD + MIDDLE + ANCHOR - 400:
        data += rec(len(data))
    reader.put(data)
    reader.read()
    reader.put(spoiled(data, int(len(data) * place)) + rec(990), "wb")
    found = reader.read()
    assert isinstance(found.decision, Restart) and found.decision.reason != "rewritten"
    assert reader.said == reader.clean


def spoiled(data: bytes, at: int) -> bytes:
    return data[:at] + b"#" + data[at + 1 :]


@pytest.mark.parametrize("size", [1, 7, 300, 5000])
def test_marks_do_not_depend_on_how_the_bytes_came(reader: Reader, size: int) -> None:
    data = b"".join(map(rec, range(20))) + rec(99)[:50]
    reader.put(data)
    reader.read()
    whole = reader.book
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", size)
        reader.book = SessionBook()
        reader.read()
    assert reader.book == whole


def test_a_file_that_grows_while_it_is_read_is_read_to_its_new_end(reader: Reader) -> None:
    reader.put(rec(1))
    with OpenLog(os.fsencode(reader.path)) as opened:
        steps = read_steps(opened, SessionBook(), LATER)
        want = next(steps)
        grown = False
        try:
            while True:
                data = b"" if want is None else fetch(opened, want)
                if not grown:
                    grown = True
                    reader.put(rec(2))
                want = next(steps) if want is None else steps.send(data)
        except StopIteration as end:
            reader.book = finish(commit_steps(end.value))
    assert grown
    assert reader.said == reader.clean
    assert reader.read().decision == Unchanged()


def test_a_file_cut_while_it_is_read_is_read_anew_next_time(reader: Reader) -> None:
    reader.put(rec(1) + rec(2))
    with OpenLog(os.fsencode(reader.path)) as opened:
        steps = read_steps(opened, SessionBook(), LATER)
        want = next(steps)
        assert want == Want(0, BLOCK)
        data = opened.read(0)
        reader.put(rec(3), "wb")
        try:
            want = steps.send(data)
            while True:
                want = next(steps) if want is None else steps.send(opened.read(want.offset))
        except StopIteration as end:
            reader.book = finish(commit_steps(end.value))
    assert reader.read().decision == Restart("truncated")
    assert reader.said == reader.clean


@pytest.mark.parametrize("kept", [0, 20, 60])
def test_an_open_end_cut_while_it_is_read_no_longer_counts(reader: Reader, kept: int) -> None:
    data = rec(1) + rec(2)[:-1]
    reader.put(data)
    with OpenLog(os.fsencode(reader.path)) as opened:
        steps = read_steps(opened, SessionBook(), LATER)
        next(steps)
        os.truncate(reader.path, len(rec(1)) + kept)
        reader.tick()
        want = steps.send(data)
        try:
            while True:
                want = next(steps) if want is None else steps.send(opened.read(want.offset))
        except StopIteration as end:
            reader.book = finish(commit_steps(end.value))
    reader.read()
    assert reader.said == reader.clean
    assert reader.said.traces == 1


@pytest.mark.parametrize("tail", [b"", rec(2)[:-1], rec(2)[:40]])
@pytest.mark.parametrize("now_ns", [LATER, 0], ids=["old", "young"])
def test_after_a_restart_only_the_open_end_is_read_again(
    reader: Reader, tail: bytes, now_ns: int
) -> None:
    reader.put(rec(1) + tail)
    reader.read(now_ns)
    reader.book = reader.book.durable()
    found = reader.read(now_ns)
    assert found.bytes_read == len(tail)
    assert not isinstance(found.decision, Restart)
    assert reader.said == reader.clean


def test_a_pass_given_up_changes_nothing(reader: Reader) -> None:
    reader.put(rec(1))
    reader.read()
    before = reader.said
    reader.put(rec(2) + rec(3))
    with OpenLog(os.fsencode(reader.path)) as opened:
        steps = read_steps(opened, reader.book, LATER)
        want = next(steps)
        # The look, the bytes that are new, and half of what is to be done with them.
        for _ in range(2):
            assert want is not None
            want = steps.send(fetch(opened, want))
        steps.close()
    assert reader.said == before
    reader.read()
    assert reader.said == reader.clean


def test_a_log_that_cannot_be_read_leaves_its_book(reader: Reader) -> None:
    reader.put(rec(1))
    reader.read()
    before = reader.said
    reader.put(rec(2))

    class Failing(OpenLog):
        def read(self, offset: int, size: int = 0) -> bytes:
            raise OSError("Input/output error")

    with Failing(os.fsencode(reader.path)) as opened, pytest.raises(OSError, match="Input"):
        in_place(opened, read_steps(opened, reader.book, LATER))
    assert reader.said == before


def test_an_overlong_record_is_dropped_across_passes(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_RECORD", 1000)
    monkeypatch.setattr(pi, "BLOCK", 500)
    reader.put(rec(1) + b"x" * 1500)
    reader.read()
    assert reader.book.skipping
    reader.put(b"y" * 1500)
    assert reader.read().bytes_read == 1500
    reader.put(b"z\n" + rec(2))
    reader.read()
    assert not reader.book.skipping
    assert (reader.said.traces, reader.said.losses.overlong_lines) == (2, 1)
    assert reader.said == reader.clean


def test_a_file_system_that_promises_more_than_it_has_holds_nobody_up(reader: Reader) -> None:
    data = rec(1) + rec(2)
    reader.put(data + rec(3))

    class Short(OpenLog):
        def read(self, offset: int, size: int = BLOCK) -> bytes:
            return super().read(offset, max(0, min(size, len(data) - offset)))

    with Short(os.fsencode(reader.path)) as opened:
        found = in_place(opened, read_steps(opened, reader.book, LATER))
    reader.book = finish(commit_steps(found))
    assert reader.said.traces == 2
    assert isinstance(reader.read().decision, Resume)
    assert reader.said == reader.clean
