"""Bytes into records: lines end at 0x0A and nowhere else.

JSON text may hold raw U+2028 and lone carriage returns, so no other character may break a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from fabricd.core.javascript import WHITE_SPACE, trim
from fabricd.core.plain import is_object

BOM = b"\xef\xbb\xbf"
MAX_RECORD = 32 * 1024 * 1024
BLOCK = 1 << 20


class Tail(Struct, frozen=True, gc=False):
    """The open end of a stream: where the unfinished record starts and what is there of it.

    `skipping` means that the record grew beyond the cap and its bytes are dropped up to the next
    line feed; `offset` is then the first byte not yet dropped.
    """

    offset: int = 0
    data: bytes = b""
    skipping: bool = False


class Block(Struct, frozen=True, gc=False):
    """Whole lines: `data[low:high]`, whose first byte is at `offset` of the stream.

    A window on the piece instead of a copy of it: most of a scan is one search through it.
    """

    data: bytes
    low: int
    high: int
    offset: int


class Split(Struct, frozen=True, gc=False):
    """The whole lines of a piece, how many overlong records were dropped, and the new open end."""

    blocks: tuple[Block, ...]
    overlong: int
    tail: Tail


class Malformed(ValueError):
    """Raised by `values_of`: a record that is not JSON."""


def split(piece: bytes, tail: Tail) -> Split:
    """Append a piece to the open end; give back the whole lines and the new open end.

    A record longer than `MAX_RECORD` (without its line feed) is dropped and counted once,
    however the bytes were cut.
    """
    start = 0
    if tail.skipping:
        start = piece.find(b"\n") + 1
        if start == 0:
            return Split((), 0, Tail(tail.offset + len(piece), b"", True))
        tail = Tail(tail.offset + start)
    first = piece.find(b"\n", start)
    if first < 0:
        data = tail.data + piece[start:]
        if len(data) <= MAX_RECORD:
            return Split((), 0, Tail(tail.offset, data))
        return Split((), 1, Tail(tail.offset + len(data), b"", True))
    blocks: list[Block] = []
    overlong = len(tail.data) + first - start > MAX_RECORD
    offset = tail.offset + len(tail.data) + first + 1 - start
    if tail.data and not overlong:
        record = tail.data + piece[start : first + 1]
        blocks.append(Block(record, 0, len(record), tail.offset))
    if tail.data or overlong:
        start = first + 1
    else:
        offset = tail.offset
    last = piece.rfind(b"\n", start) + 1
    if last > start:
        blocks.append(Block(piece, start, last, offset))
        offset += last - start
        start = last
    return Split(tuple(blocks), int(overlong), Tail(offset, piece[start:]))


def _refuse_constant(name: str) -> Any:
    raise Malformed(f"{name} is not JSON")


# Like the host's reader: integers become doubles, and one beyond their range becomes infinite,
# which the trace guard refuses where it matters.
_DECODER = json.JSONDecoder(parse_int=float, parse_constant=_refuse_constant)


def values_of(line: bytes) -> list[Any]:
    """All JSON values of a line, in order, as a JavaScript reader holds them.

    The tolerant way: UTF-8 with replacement, JavaScript white space trimmed, integers as doubles.
    A sound line has one value; a glued one has several. The caller has bounded the nesting.

    Raises:
        Malformed: the line is not made of complete JSON values.
    """
    text = trim(line.decode("utf-8", "replace"))
    values: list[Any] = []
    position = 0
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except ValueError as error:
            raise Malformed(str(error)) from None
        values.append(value)
        while position < len(text) and text[position] in WHITE_SPACE:
            position += 1
    return values


def _exact_int(digits: str) -> float:
    # As a double first: what is infinite stays so, and Python reads no integer of any length.
    value = float(digits)
    return int(digits) if value - value == 0 else value


_EXACT = json.JSONDecoder(parse_int=_exact_int)


def exact_values_of(line: bytes) -> Iterator[Any]:
    """The values of a line that `values_of` has read, with the integers as they stand there."""
    text = trim(line.decode("utf-8", "replace"))
    position = 0
    while position < len(text):
        value, position = _EXACT.raw_decode(text, position)
        yield value
        while position < len(text) and text[position] in WHITE_SPACE:
            position += 1


def records_of(line: bytes) -> list[Any]:
    """The records of a line: one JSON value, or several that are all objects.

    Raises:
        Malformed: it is neither.
    """
    values = values_of(line)
    if len(values) > 1 and not all(map(is_object, values)):
        raise Malformed("several values on a line, and not all of them objects")
    return values
