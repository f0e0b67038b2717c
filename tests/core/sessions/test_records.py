from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fabricd.core.sessions import records
from fabricd.core.sessions.records import Malformed, Split, Tail, records_of, split, values_of
from tests.core.making import line
from tests.core.strategies import json_values, pieces

CAP = 9


@st.composite
def short_and_long_lines(draw: DrawFn) -> bytes:
    """Lines at and around the cap, the last one open or not."""
    lengths = st.one_of(st.integers(0, 3), st.integers(CAP - 1, CAP + 2), st.integers(0, 3 * CAP))
    found = [bytes([65 + i % 26]) * n for i, n in enumerate(draw(st.lists(lengths, max_size=7)))]
    return b"\n".join(found)


@st.composite
def cut_streams(draw: DrawFn) -> tuple[bytes, list[bytes]]:
    """Bytes, and the same in pieces no longer than one record may be."""
    data = draw(st.one_of(short_and_long_lines(), st.binary(max_size=40)))
    cut = draw(pieces(data))
    return data, [short for part in cut for short in in_pieces(part)]


def expected(data: bytes) -> tuple[list[tuple[int, bytes]], int]:
    """Every whole line that is short enough, with its offset, and the number of longer records."""
    found: list[tuple[int, bytes]] = []
    offset = overlong = 0
    *whole, tail = data.split(b"\n")
    for each in whole:
        if len(each) > CAP:
            overlong += 1
        else:
            found.append((offset, each))
        offset += len(each) + 1
    return found, overlong + (len(tail) > CAP)


def lines_of(found: Split) -> list[tuple[int, bytes]]:
    """The whole lines of a split, with their offsets."""
    listed: list[tuple[int, bytes]] = []
    for block in found.blocks:
        *whole, rest = block.data[block.low : block.high].split(b"\n")
        assert rest == b""
        offset = block.offset
        for each in whole:
            listed.append((offset, each))
            offset += len(each) + 1
    return listed


def fed(parts: Iterable[bytes], tail: Tail) -> tuple[list[tuple[int, bytes]], int, Tail]:
    """Lines, overlong records and open end, as `split` finds them piece by piece."""
    listed: list[tuple[int, bytes]] = []
    overlong = 0
    for part in parts:
        found = split(part, tail)
        tail = found.tail
        overlong += found.overlong
        listed += lines_of(found)
    return listed, overlong, tail


def in_pieces(data: bytes) -> list[bytes]:
    """The longest pieces that `split` takes."""
    return [data[at : at + CAP] for at in range(0, len(data) or 1, CAP)]


@given(cut_streams())
def test_any_cut_gives_the_same_lines_offsets_and_overlong_count(
    stream: tuple[bytes, list[bytes]],
) -> None:
    data, parts = stream
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "MAX_RECORD", CAP)
        lines, overlong, _ = fed(parts, Tail())
    assert (lines, overlong) == expected(data)


@given(cut_streams())
def test_the_open_end_is_what_follows_the_last_line_feed(
    stream: tuple[bytes, list[bytes]],
) -> None:
    data, parts = stream
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "MAX_RECORD", CAP)
        *_, tail = fed(parts, Tail())
    rest = data[data.rfind(b"\n") + 1 :]
    if len(rest) > CAP:
        assert tail == Tail(len(data), b"", skipping=True)
    else:
        assert tail == Tail(len(data) - len(rest), rest)


@given(cut_streams(), st.integers(0, 40))
def test_a_tail_alone_is_enough_to_go_on(stream: tuple[bytes, list[bytes]], pause: int) -> None:
    # What a checkpoint keeps: the offset and whether bytes are being dropped, not the bytes.
    data, _ = stream
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "MAX_RECORD", CAP)
        lines, overlong, tail = fed(in_pieces(data[:pause]), Tail())
        kept = Tail(tail.offset, b"", tail.skipping)
        more, others, _ = fed(in_pieces(data[kept.offset :]), kept)
    assert (lines + more, overlong + others) == expected(data)


def test_lines_end_at_line_feeds_and_nowhere_else() -> None:
    data = "a\u2028b\rc\x0b\x85d\n".encode()
    found = split(data, Tail())
    assert lines_of(found) == [(0, data[:-1])]
    assert found.tail == Tail(len(data))


def test_a_whole_piece_is_passed_on_without_a_copy() -> None:
    data = b"one\ntwo\n"
    assert [block.data is data for block in split(data, Tail()).blocks] == [True]


@given(st.lists(json_values(4), max_size=4), st.sampled_from([b"", b" ", b"\r", "\ufeff".encode()]))
def test_values_of_a_line_come_in_order(values: list[object], blank: bytes) -> None:
    glued = blank.join([b"", *(line([value]) for value in values), b""])
    assert values_of(glued) == [[_as_read(value)] for value in values]


def _as_read(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list):
        return [_as_read(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_read(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    "bad",
    [b"{", b"[1,]", b"NaN", b"[Infinity]", b"[-Infinity]", b"{} x", b"'a'", b'"\x01"', b"{}]"],
)
def test_what_is_not_json_is_malformed(bad: bytes) -> None:
    with pytest.raises(Malformed):
        values_of(bad)


def test_a_line_is_one_value_or_several_objects() -> None:
    for sound, count in [(b"", 0), (b"5", 1), (b"[1]", 1), (b"{}", 1), (b"{}{} {}", 3)]:
        assert len(records_of(sound)) == count
    for glued in (b"{}5", b"null{}", b"[][]", b"5 5", b"{}[]{}"):
        with pytest.raises(Malformed, match="not all of them objects"):
            records_of(glued)


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert values_of(b'"a\xff\xe2\x82"') == ["a\ufffd\ufffd"]


def test_integers_are_doubles_and_huge_ones_infinite() -> None:
    assert values_of(b"[12345678901234567890]") == [[12345678901234567000.0]]
    assert values_of(b"9" * 400) == [float("inf")]


def test_lone_surrogate_escapes_are_kept() -> None:
    assert values_of(b'"\\ud800x"') == ["\ud800x"]
    assert values_of(b'"\\ud83d\\ude00"') == ["😀"]
