"""All that is kept of a blob: its guarded text in units, counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabricd.core.context.model import Analysed, Guarded, Lines, Unit
from fabricd.core.context.parsing import mentions, sketches
from fabricd.core.context.parsing.parser import lines_of, parse_lines
from fabricd.core.context.parsing.skeletons import skeleton_text
from fabricd.core.context.terms import KNOWN

Count = Callable[[str], int]


def _never() -> bool:
    return False


def analyse(
    guarded: Guarded, language: str, count: Count, stop: Callable[[], bool] = _never
) -> Analysed:
    """A guarded text in its units with their sizes.

    Args:
        language: as `language_of` tells.
        count: o200k tokens of a text.
        stop: as of `parse`.
    """
    lines = lines_of(guarded.text)
    parsed = parse_lines(guarded.text, lines, language, count, stop)
    tokens = tuple(unit_tokens(lines, unit, count) for unit in parsed.units)
    return Analysed(language, parsed, guarded.spans, guarded.signals, tokens)


def forget_words() -> None:
    """Let go of what is remembered of words: much of what indexing takes, and soon made again."""
    KNOWN.clear()
    mentions.forget()
    sketches.forget()


def unit_tokens(lines: Sequence[str], unit: Unit, count: Count) -> tuple[int, int, int]:
    """The tokens of a unit in full, as a skeleton, and of its opening; 0 where it has none."""
    skeleton = count(skeleton_text(lines, unit)) if unit.skeleton else 0
    opening = count(_text(lines, unit.opening)) if unit.opening[0] else 0
    return count(_text(lines, unit.lines)), skeleton, opening


def _text(lines: Sequence[str], shown: Lines) -> str:
    first, last = shown
    return "\n".join(lines[first - 1 : last]) + "\n" if first else ""
