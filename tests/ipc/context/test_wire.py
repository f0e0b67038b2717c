from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from fabricd.core.context.asking import REASONS, Refused
from fabricd.ipc.context.wire import (
    Asked,
    BadFrame,
    Beat,
    Hello,
    Lines,
    Progress,
    Told,
    asked_of,
    frame,
    refusal_of,
    told_of,
)

_LINE = st.binary(max_size=20).map(lambda data: data.replace(b"\n", b""))


@given(st.lists(_LINE, max_size=8), st.lists(st.integers(0, 200), max_size=8))
def test_lines_are_the_same_whatever_the_cuts(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    at = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    reader = Lines(1000)
    found: list[bytes] = []
    for start, end in pairwise(at):
        found += reader.take(data[start:end])
    assert found == lines


def test_a_line_without_an_end_is_bounded() -> None:
    reader = Lines(10)
    assert reader.take(b"12345") == []
    with pytest.raises(BadFrame):
        reader.take(b"6789012")


def test_frames_come_back_as_they_were() -> None:
    asked = Asked(7, "select", Raw(b'{"query":"x"}'))
    assert asked_of(frame(asked).rstrip()) == asked
    for told in (
        Told(hello=Hello(3, "1.2")),
        Told(id=1, result=Raw(b'{"text":"x"}')),
        Told(id=1, failed="KeyError"),
        Told(beat=Beat(2, (Progress("/r", 1, 3),))),
    ):
        line = frame(told)
        assert line.count(b"\n") == 1
        assert told_of(line.rstrip()) == told
        json.loads(line)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_refusals_come_back_as_they_were(reason: str) -> None:
    error = Refused(REASONS[reason], "a sentence", 5)
    found = told_of(frame(Told(id=1, refused=refusal_of(error))).rstrip()).refused
    assert found is not None
    again = found.error()
    assert (again.reason, again.message, again.smallest) == (reason, "a sentence", 5)


@pytest.mark.parametrize("line", [b"", b"x", b"[]", b'{"id":"x"}', b'{"refused":{}}', b"\xff"])
def test_what_is_no_frame(line: bytes) -> None:
    with pytest.raises(BadFrame):
        told_of(line)


@pytest.mark.parametrize("line", [b"", b"x", b"[]", b"{}", b'{"id":"x"}', b"\xff"])
def test_what_is_no_request(line: bytes) -> None:
    with pytest.raises(BadFrame):
        asked_of(line)
