"""Streams of events: whatever the line ends and the pieces, the same messages come out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.ipc.gateway import events
from fabricd.ipc.gateway.events import Events, TooLong, one_line


def read(*pieces: bytes) -> list[bytes]:
    """What a stream that comes in these pieces says."""
    subject = Events()
    return [line for piece in pieces for line in subject.take(piece)]


@given(
    st.lists(st.dictionaries(st.text(), st.text(), min_size=1), max_size=3),
    st.sampled_from([None, 1]),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.integers(1, 40),
    st.booleans(),
)
def test_messages_of_a_stream_are_lines(
    values: list[dict[str, str]], indent: int | None, end: bytes, size: int, has_mark: bool
) -> None:
    lines: list[bytes] = []
    for value in values:
        text = json.dumps(value, indent=indent).encode()
        lines += [b"id: 1", *(b"data: " + line for line in text.split(b"\n")), b""]
        lines += [b"event: other", b"data: x", b"", b": remark", b"event:"]
    stream = b"\xef\xbb\xbf" * has_mark + b"".join(line + end for line in lines)
    found = read(*(stream[at : at + size] for at in range(0, len(stream), size)))
    assert [json.loads(line) for line in found] == values
    assert all(line.count(b"\n") == 1 for line in found)


def test_blank_data_are_no_message_but_count() -> None:
    subject = Events()
    assert list(subject.take(b"id: 1\nretry: 1500\ndata: \n\n")) == []
    assert (subject.last, subject.retry, subject.count) == (b"1", 1.5, 1)
    assert list(subject.take(b"id: 2\ndata: {}\n")) == []
    assert subject.last == b"1"
    subject.begin()
    assert list(subject.take(b"retry: soon\nid: a\0b\n\n")) == []
    assert (subject.last, subject.retry, subject.count) == (b"1", 1.5, 1)
    assert list(subject.take(b"id\n\n")) == [] and subject.last == b""


def test_a_message_is_there_with_the_first_half_of_its_last_line_end() -> None:
    subject = Events()
    assert list(subject.take(b"data: {}\r\n\r")) == [b"{}\n"]
    assert list(subject.take(b"")) == []
    assert list(subject.take(b"\ndata: []\r\n\r")) == [b"[]\n"]


def test_one_event_is_bounded_and_remarks_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LIMIT", 100)
    assert read(*[b": still here\n"] * 50, b"data: {}\n\n") == [b"{}\n"]
    with pytest.raises(TooLong):
        read(*[b"data: 12345\n"] * 20)
    with pytest.raises(TooLong):
        read(b"data: ", b"x" * 100)


def test_line_breaks_between_tokens_are_spaces() -> None:
    assert one_line(b" [1,\r\n2] \n") == b"[1,  2]\n"
