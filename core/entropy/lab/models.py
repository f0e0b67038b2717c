"""Evidence by model: the traces of each model alone, which metric 2 is measured over.

The scan adds up a whole session and keeps but counts of its models. Here the session is cut behind
each trace line, so that every piece holds one trace and names its model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from fabricd.core.evidence import Evidence
from fabricd.core.javascript import WHITE_SPACE, trim
from fabricd.core.sessions.pi import MARK, ScanState, scan_steps
from fabricd.core.sessions.records import Block, Tail, split
from fabricd.core.steps import Steps

# Integers as doubles: of a number that is only passed over, no digits have to be kept.
_DECODER = json.JSONDecoder(parse_int=float)


def model_steps(found: dict[str, Evidence], pieces: Iterable[bytes]) -> Steps[None]:
    """Add what a session log says of each model; the log comes in pieces, cut anywhere."""
    tail = Tail()
    model: str | None = None
    for piece in pieces:
        cut = split(piece, tail)
        tail = cut.tail
        for stretch in (part for block in cut.blocks for part in _stretches(block)):
            model = yield from _stretch(found, stretch, model)
    if MARK in tail.data:
        # An open end counts if it is complete; if not, it does not parse and says nothing.
        yield from _stretch(found, tail.data + b"\n", model)


def _stretches(block: Block) -> Iterator[bytes]:
    """Whole lines of a block, cut behind each trace line."""
    position = block.low
    while (hit := block.data.find(MARK, position, block.high)) >= 0:
        end = block.data.find(b"\n", hit) + 1
        yield block.data[position:end]
        position = end
    if position < block.high:
        yield block.data[position : block.high]


def _stretch(found: dict[str, Evidence], data: bytes, model: str | None) -> Steps[str | None]:
    evidence, after = yield from scan_steps(data, ScanState(Tail(), model))
    if evidence.losses.glued_lines:
        start = data.rfind(b"\n", 0, len(data) - 1) + 1
        _, before = yield from scan_steps(data[:start], ScanState(Tail(), model))
        return (yield from _records(found, data[start:], before.model))
    for name in evidence.models:
        # Places in a stretch say nothing of the session.
        evidence.audit_spans.clear()
        found.setdefault(name, Evidence()).add(evidence)
    return after.model


def _records(found: dict[str, Evidence], line: bytes, model: str | None) -> Steps[str | None]:
    """The records of a glued line one by one: each may be of another model."""
    for record in _cut(trim(line.decode("utf-8", "replace"))):
        model = yield from _stretch(found, record.encode() + b"\n", model)
    return model


def _cut(written: str) -> Iterator[str]:
    """The texts of the values that stand one behind the other in a line that parses."""
    position = 0
    while position < len(written):
        start = position
        _, position = _DECODER.raw_decode(written, start)
        yield written[start:position]
        while position < len(written) and written[position] in WHITE_SPACE:
            position += 1
