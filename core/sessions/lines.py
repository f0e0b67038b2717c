"""A growing log as records: whole lines to the adapter, everything else counted.

The same cut-proof splitting as the trace scan. A glued line holds several records, each complete;
an unterminated last line counts at rest if it is complete, and is read anew once it has ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from fabricd.core.history.calls import CallTable, Losses
from fabricd.core.javascript import WHITE_SPACE
from fabricd.core.sessions.adapting import Adapter, TypedAdapter
from fabricd.core.sessions.records import Block, Malformed, Tail, split
from fabricd.core.steps import OPERATIONS, Steps

_DECODER = json.JSONDecoder()
_BLANK = re.compile(rb"[ \t\r\n\v\f]*\n")
# Lines that are decoded at once: few enough to stay in the processor's cache.
_WINDOW = 128 * 1024
_OPENER, _CLOSER = b"{}"


def read_lines(piece: bytes, tail: Tail, adapter: Adapter, losses: Losses) -> Steps[Tail]:
    """Read the records that end in a piece; gives the open end after it."""
    found = split(piece, tail)
    losses.overlong_lines += found.overlong
    for block in found.blocks:
        yield from _read_block(block, adapter, losses)
    return found.tail


def _read_block(block: Block, adapter: Adapter, losses: Losses) -> Steps[None]:
    data, low, high = block.data, block.low, block.high
    while low < high:
        # A window ends with a line, and holds a long one by itself.
        end = data.rfind(b"\n", low, low + _WINDOW) + 1 if high - low > _WINDOW else high
        if not end:
            end = data.find(b"\n", low, high) + 1
        window = Block(data, low, end, block.offset + low - block.low)
        if not _read_window(window, adapter, losses):
            yield from _read_singly(window, adapter, losses)
        yield
        low = end


def _read_window(window: Block, adapter: Adapter, losses: Losses) -> bool:
    """Read whole lines at once; without effect where one of them may be unsound."""
    ends = _ends(window.data, window.low, window.high)
    if not ends or not isinstance(adapter, TypedAdapter):
        return False
    # Nothing sound goes on over a line that ends with a brace, if the next one starts with one: so
    # no record has two lines, and by their number no line has two records.
    malformed = adapter.take_lines(window.data, window.low, ends)
    if malformed is None:
        return False
    for line in malformed:
        _read_glued(line, adapter.take, losses)
    return True


def _ends(data: bytes, position: int, high: int) -> list[int]:
    """Where lines end that all start and end with a brace; none where one of them does not."""
    ends: list[int] = []
    find = data.find
    while position < high:
        end = find(b"\n", position, high)
        if data[position] != _OPENER or data[end - 1] != _CLOSER:
            return []
        ends.append(end)
        position = end + 1
    return ends


def _read_singly(window: Block, adapter: Adapter, losses: Losses) -> Steps[None]:
    data, position, high = window.data, window.low, window.high
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
            _read_glued(line, take, losses)
        taken += 1
        if taken % OPERATIONS == 0:
            yield


def _after_blank(data: bytes, position: int, high: int) -> int:
    """Where the blank lines end that follow a blank one: there may be millions."""
    found = _BLANK.match(data, position, high)
    return position if found is None else found.end()


def _read_glued(line: bytes, take: Callable[[bytes], None], losses: Losses) -> None:
    records = _records_in(line)
    if records is None:
        losses.bad_lines += 1
        return
    losses.glued_lines += len(records) > 1
    for record in records:
        try:
            take(record)
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
