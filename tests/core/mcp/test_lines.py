"""The gate: all bytes, in order, however they were cut; lines are decided on whole."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.mcp.limits import HEAD, MAX_LINE
from fabricd.core.mcp.lines import Copies, Gate
from fabricd.core.mcp.requests import may_be_call

PIECES = st.lists(
    st.sampled_from(
        [
            b"\n",
            b"\r\n",
            b"{",
            b"}",
            b'{"method":"tools/call"',
            b'{"method":"ping",',
            b"x",
            b"\0\xff",
        ]
    )
    | st.binary(max_size=5),
    max_size=30,
)


@given(PIECES, st.randoms(use_true_random=False))
def test_nothing_is_lost_or_moved(pieces: list[bytes], rng: random.Random) -> None:
    data = b"".join(pieces)
    decided: list[bytes] = []

    def decide(line: bytes) -> bytes:
        decided.append(line)
        return line

    gate, given_on, at = Gate(decide, may_be_call), b"", 0
    while at < len(data):
        size = rng.randrange(1, 9)
        given_on += b"".join(gate.take(data[at : at + size]))
        at += size
        assert data.startswith(given_on)
    assert given_on + gate.rest() == data
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in decided)


@given(PIECES, st.integers(0, 6), st.randoms(use_true_random=False))
def test_nothing_is_lost_where_deciding_fails(
    pieces: list[bytes], fails_at: int, rng: random.Random
) -> None:
    data = b"".join(pieces)
    left = fails_at

    def decide(line: bytes) -> bytes:
        nonlocal left
        left -= 1
        if left < 0:
            raise ZeroDivisionError
        return line

    gate, given_on, at = Gate(decide, may_be_call), b"", 0
    while at < len(data):
        piece = data[at : at + rng.randrange(1, 40)]
        at += len(piece)
        try:
            for part in gate.take(piece):
                given_on += part
        except ZeroDivisionError:
            break
    assert given_on + gate.rest() + data[at:] == data


def test_only_what_may_be_a_call_is_held() -> None:
    gate = Gate(lambda line: line, may_be_call)
    assert b"".join(gate.take(b"x")) == b"x"
    assert (
        b"".join(gate.take(b'{"method":"tools/call","params":{'))
        == b'{"method":"tools/call","params":{'
    )
    assert b"".join(gate.take(b"\n")) == b"\n"
    assert b"".join(gate.take(b'{"method":"tools/call","params":{')) == b""
    assert b"".join(gate.take(b"x" * HEAD)) == b""
    assert len(b"".join(gate.take(b"}}\n"))) == HEAD + 36
    head = b'{"method":"resources/subscribe","params":{"uri":"'
    given_on = b"".join(gate.take(head + b"x" * 64))
    assert given_on == head + b"x" * 64


def test_a_line_of_more_than_32_mib_passes_undecided() -> None:
    def never(line: bytes) -> bytes:
        raise AssertionError(len(line))

    gate = Gate(never, may_be_call)
    chunk = b"x" * (1 << 20)
    total = len(b"".join(gate.take(b'{"method":"tools/call","a":"')))
    for _ in range(33):
        total += sum(map(len, gate.take(chunk)))
    assert total > MAX_LINE
    assert b"".join(gate.take(b'"}\n')) == b'"}\n'


@given(st.lists(st.binary(max_size=8) | st.just(b"\n"), max_size=20), st.randoms())
def test_copies_are_whole_lines(pieces: list[bytes], rng: random.Random) -> None:
    copies = Copies()
    lines: list[bytes] = []
    for piece in filter(None, pieces):
        lines += copies.lines(piece)
    data = b"".join(pieces)
    whole = data[: data.rfind(b"\n") + 1]
    assert b"".join(lines) == whole and len(lines) == whole.count(b"\n")


def test_a_line_whose_start_was_passed_over_is_no_copy() -> None:
    copies = Copies()
    copies.skip(b"abc")
    assert list(copies.lines(b"def\nghi\n")) == [b"ghi\n"]
    copies.skip(b"x\n")
    assert list(copies.lines(b"y\n")) == [b"y\n"]
    assert copies.is_skipping is False


@pytest.mark.parametrize("size", [MAX_LINE + 2])
def test_a_copy_that_is_too_long_is_dropped(size: int) -> None:
    copies = Copies()
    found: list[bytes] = []
    for _ in range(size // (1 << 20) + 1):
        found += copies.lines(b"x" * (1 << 20))
    found += copies.lines(b"\nshort\n")
    assert found == [b"short\n"]
