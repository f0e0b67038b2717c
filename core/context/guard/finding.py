"""What the rules find, and what the placeholders make of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fabricd.core.context.model import Span

PLACEHOLDER = re.compile("‹secret:[a-z0-9-]{1,40}:[0-9]{1,9}›")


class Found(NamedTuple):
    """A secret in a text.

    Attributes:
        start: of its first character; `end` is behind its last. Of a secret in several lines the
            whole from the first line's part to the last line's.
        rank: of overlapping finds the one of lower rank gives the name.
        parts: of a secret in several lines, what each line holds of it; else empty.
    """

    start: int
    end: int
    kind: str
    rank: int
    parts: tuple[tuple[int, int], ...] = ()


def settled(found: Iterable[Found], text: str) -> list[Found]:
    """Finds in order, none overlapping: overlapping ones become one that covers them all.

    What touches a placeholder that stands in the text already is left out.
    """
    kept: list[Found] = []
    taken = [match.span() for match in PLACEHOLDER.finditer(text)] if "‹secret:" in text else []
    for one in sorted(found, key=lambda one: (one.start, one.rank, -one.end, one.kind)):
        if taken and _touches(one, taken):
            continue
        if kept and one.start < kept[-1].end:
            kept[-1] = _joined(kept[-1], one)
        else:
            kept.append(one)
    return kept


def _touches(one: Found, taken: Sequence[tuple[int, int]]) -> bool:
    low, high = 0, len(taken)
    while low < high:
        middle = (low + high) // 2
        if taken[middle][1] <= one.start:
            low = middle + 1
        else:
            high = middle
    if low == len(taken):
        return False
    if one.parts:
        return any(start < taken[low][1] and taken[low][0] < end for start, end in one.parts)
    return taken[low][0] < one.end


def _joined(first: Found, second: Found) -> Found:
    better = min(first, second, key=lambda one: one.rank)
    if not (first.parts or second.parts):
        return Found(
            first.start, max(first.end, second.end), better.kind, min(first.rank, second.rank)
        )
    parts: list[tuple[int, int]] = []
    both = (first.parts or ((first.start, first.end),)) + (
        second.parts or ((second.start, second.end),)
    )
    for start, end in sorted(both):
        if parts and start <= parts[-1][1]:
            parts[-1] = (parts[-1][0], max(parts[-1][1], end))
        else:
            parts.append((start, end))
    return Found(parts[0][0], parts[-1][1], better.kind, better.rank, tuple(parts))


def spans_of(found: Sequence[Found]) -> tuple[Span, ...]:
    """The spans of settled finds: the k-th secret of the text is called k, in each of its lines."""
    return tuple(
        Span(start, end, f"‹secret:{one.kind}:{number}›")
        for number, one in enumerate(found, 1)
        for start, end in one.parts or ((one.start, one.end),)
    )


def replaced(text: str, spans: Sequence[Span]) -> str:
    """The text with each span's placeholder in its place."""
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], span.placeholder)
        done = span.end
    pieces.append(text[done:])
    return "".join(pieces)
