"""A growing log as records: whole lines to the adapter, everything else counted.

The same cut-proof splitting as the trace scan. A glued line holds several records, each complete;
an unterminated last line counts at rest if it is complete, and is read anew once it has ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from fabricd.core.history.calls import CallTable, Losses
from fabricd.core.javascript import WHITE_SPACE
from fabricd.core.sessions.adapting import Adapter
from fabricd.core.sessions.records import Block, Malformed, Tail, split
from fabricd.core.steps import OPERATIONS, Steps

_DECODER = json.JSONDecoder()
_BLANK = re.compile(rb"[ \t\r\n\v\f]*\n")


def read_lines(piece: bytes, tail: Tail, adapter: Adapter, losses: Losses) -> Steps[Tail]:
    """Read the records that end in a piece; gives the open end after it."""
    found = split(piece, tail)
    losses.overlong_lines += found.overlong
    for block in found.blocks:
        yield from _read_block(block, adapter, losses)
    return found.tail


def _read_block(block: Block, adapter: Adapter, losses: Losses) -> Steps[None]:
    data, position, high = block.data, block.low, block.high
    taken = 0
    take = adapter.take
    while position < high:
        end = data.find(b"\n", position, high)
        line = data[position:end]
        position = end + 1
        if not line or line.isspace():
            position = _after_blank(data, position, high)
            continue
        try:
            take(line)
        except Malformed:
            _read_glued(line, adapter, losses)
        taken += 1
        if taken % OPERATIONS == 0:
            yield


def _after_blank(data: bytes, position: int, high: int) -> int:
    """Where the blank lines end that follow a blank one: there may be millions."""
    found = _BLANK.match(data, position, high)
    return position if found is None else found.end()


def _read_glued(line: bytes, adapter: Adapter, losses: Losses) -> None:
    records = _records_in(line)
    if records is None:
        losses.bad_lines += 1
        return
    losses.glued_lines += len(records) > 1
    for record in records:
        try:
            adapter.take(record)
        except Malformed:
            losses.bad_lines += 1


def _records_in(line: bytes) -> list[bytes] | None:
    """The JSON objects that a line is made of, or None where it is not made of such."""
    text = line.decode("utf-8", "replace").strip(WHITE_SPACE)
    records: list[bytes] = []
    position = 0
    while position < len(text):
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        records.append(text[position:end].encode())
        position = end
        while position < len(text) and text[position] in WHITE_SPACE:
            position += 1
    return records


def records_of_open_end(tail: Tail, losses: Losses) -> list[bytes]:
    """The records of an unterminated last line that is complete; says whether one was cut."""
    losses.cut_tails = 0
    if tail.skipping or not tail.data.strip():
        return []
    records = _records_in(tail.data)
    losses.cut_tails = int(records is None)
    return records or []


def read_records(records: Iterable[bytes], adapter: Adapter, table: CallTable) -> None:
    """Read the records of an open end into a table that nobody reads on from."""
    try:
        for record in records:
            adapter.take(record)
    except Malformed:
        table.losses.cut_tails = 1


def read_open_end(tail: Tail, adapter: Adapter, table: CallTable) -> None:
    """Read an unterminated last line into the table of a log that is read once, as a whole."""
    read_records(records_of_open_end(tail, table.losses), adapter, table)
