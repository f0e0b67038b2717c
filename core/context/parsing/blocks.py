"""Lines that no definition claims, in blocks cut at blank lines. Rows are 0-based."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

LONGEST_BLOCK = 80
_LEAST = 20  # a cut that leaves less is no better than none


def is_blank(line: str) -> bool:
    """Whether a line shows nothing."""
    return not line or line.isspace()


def trimmed(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """The rows without blank ones at the ends; last < first where there is nothing else."""
    while first <= last and is_blank(lines[first]):
        first += 1
    while last > first and is_blank(lines[last]):
        last -= 1
    return first, last


def blocks_of(
    lines: Sequence[str], first: int, last: int, heaviest: int
) -> Iterator[tuple[int, int]]:
    """Runs of at most `LONGEST_BLOCK` rows and `heaviest` bytes that hold all that shows.

    A row of more bytes is a block of its own.
    """
    first, last = trimmed(lines, first, last)
    while first <= last:
        until = _fitting(lines, first, last, heaviest)
        if until < last:
            until = _cut(lines, first, until)
        yield trimmed(lines, first, until)
        first, last = trimmed(lines, until + 1, last)


def _fitting(lines: Sequence[str], first: int, last: int, heaviest: int) -> int:
    last = min(last, first + LONGEST_BLOCK - 1)
    whole = "\n".join(lines[first : last + 1])
    if whole.isascii() and len(whole) < heaviest:
        return last
    weight = 0
    for row in range(first, last + 1):
        line = lines[row]
        weight += len(line) * (1 if line.isascii() else 4) + 1
        if weight > heaviest and row > first:
            return row - 1
    return last


def _cut(lines: Sequence[str], first: int, until: int) -> int:
    """The last row before the best gap: the least indented line after a blank one, the latest."""
    best, least = until, -1
    for row in range(until, first + _LEAST - 1, -1):
        if not is_blank(lines[row]) or row + 1 >= len(lines) or is_blank(lines[row + 1]):
            continue
        below = lines[row + 1]
        indent = len(below) - len(below.lstrip())
        if least < 0 or indent < least:
            best, least = row, indent
        if not indent:
            break
    return best
