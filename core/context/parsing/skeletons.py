"""What stays of a definition when only its shape is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fabricd.core.context.model import Lines, Unit
from fabricd.core.context.parsing.blocks import is_blank
from fabricd.core.context.parsing.layout import Piece, Rows

_TINY = 12  # characters: a line that is no longer than the words that would stand for it
_COMMENT = ("#", "//", "/*", "*", "--")


def skeleton_text(lines: Sequence[str], unit: Unit) -> str:
    """A unit's skeleton as it is shown; each line ends with a line feed. Empty without one.

    Args:
        lines: those of the whole file.
    """
    if not unit.skeleton:
        return ""
    shown: list[str] = []
    next_line = unit.skeleton[0][0]
    for first, last in unit.skeleton:
        shown += _gap(lines, next_line, first - 1)
        shown += lines[first - 1 : last]
        next_line = last + 1
    shown += _gap(lines, next_line, unit.lines[1])
    return "\n".join(shown) + "\n"


def skeleton_of(piece: Piece, lines: Sequence[str]) -> tuple[Lines, ...]:
    """The runs of lines (1-based) that stay; none where they would save less than a quarter."""
    if piece.kind == "block" or piece.last - piece.first < 3:
        return ()
    runs = list(_joined(_wanted(piece, lines), lines))
    if not runs:
        return ()
    shown = sum(_size(lines, first, last) for first, last in runs)
    gaps = len(runs) - 1 + (runs[-1][1] < piece.last)
    whole = _size(lines, piece.first, piece.last)
    if (shown + 16 * gaps) * 4 > whole * 3:
        return ()
    return tuple((first + 1, last + 1) for first, last in runs)


def _size(lines: Sequence[str], first: int, last: int) -> int:
    """The characters of some rows with their line feeds."""
    return sum(map(len, lines[first : last + 1])) + last + 1 - first


def is_comment(line: str) -> bool:
    """Whether an attached line is a comment and no decorator."""
    text = line.lstrip()
    return text.startswith(_COMMENT) and not text.startswith("#[")


def _wanted(piece: Piece, lines: Sequence[str]) -> Iterator[Rows]:
    told = False
    for row in range(piece.first, piece.row):
        if not is_comment(lines[row]):
            yield row, row
        elif not told and any(map(str.isalpha, lines[row])):
            told = True
            yield row, row
    if piece.signature[1] >= piece.signature[0]:
        yield piece.signature
    for row in range(piece.documented[0], piece.documented[1] + 1):
        if any(map(str.isalpha, lines[row])):
            yield row, row
            break
    yield from piece.inner


def _joined(runs: Iterable[Rows], lines: Sequence[str]) -> Iterator[Rows]:
    """Runs in order, those joined that nothing but a tiny line parts."""
    first, last = -1, -1
    for start, end in sorted(runs):
        if first < 0:
            first, last = start, end
        elif start <= last + 1 or (start == last + 2 and len(lines[last + 1].strip()) <= _TINY):
            last = max(last, end)
        else:
            yield first, last
            first, last = start, end
    if first >= 0:
        yield first, last


def _gap(lines: Sequence[str], first: int, last: int) -> list[str]:
    if last < first:
        return []
    shown = next((one for one in lines[first - 1 : last] if not is_blank(one)), "")
    indent = shown[: len(shown) - len(shown.lstrip())]
    number = last - first + 1
    return [f"{indent}… {number} line{'s' if number > 1 else ''}"]
