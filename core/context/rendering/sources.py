"""The files that an answer may be made of, and what their units cost in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Protocol

from msgspec import Struct

from fabricd.core.context.corpus import UnitFacts
from fabricd.core.context.counting import Counter
from fabricd.core.context.model import Lines, Signal, Unit
from fabricd.core.context.parsing.skeletons import skeleton_text
from fabricd.core.context.rendering.pieces import Piece, Shown
from fabricd.core.context.rendering.spelling import spelled
from fabricd.core.context.rendering.writing import (
    SIGNAL,
    file_header,
    part_of,
    qualified,
    same,
    text_of,
)
from fabricd.core.context.selecting.offering import Offer

# Words of headers whose tokens are remembered: later answers have them again.
_WORDS = 1 << 13


class Known(Protocol):
    """What is known of a file's units, by their number."""

    def __getitem__(self, number: int, /) -> UnitFacts:
        """One that may be shown."""
        ...


class Source(Struct, frozen=True):
    """A file as it is indexed."""

    path: str
    units: Known
    signals: Sequence[Signal] = ()


class Wanted(Struct, frozen=True, gc=False):
    """A candidate for the answer.

    Attributes:
        file: the index of its source.
        unit: its index in the file.
        relevance: in millionths.
        same_as: of a duplicate, path and lines of what has the same text: it is referred to only.
    """

    file: int
    unit: int
    relevance: int
    same_as: tuple[str, Lines] | None = None


def piece_of(
    source: Source,
    unit: int,
    shown: Shown,
    lines: Sequence[str] | None = None,
    same_as: tuple[str, Lines] | None = None,
) -> Piece:
    """A unit as it is shown, as item 1; its header alone where the file's `lines` are not given."""
    one = source.units[unit].unit
    start, end = one.opening if shown == "opening" else one.lines
    return Piece(
        source.path,
        start,
        end,
        one.kind,
        one.name,
        shown,
        "" if shown in ("skeleton", "reference") else one.container,
        one.part,
        0 if shown == "opening" else 1,
        _signals(source.signals, _kept(one, shown)),
        () if lines is None else _text(one, shown, lines),
        same_as,
    )


def _kept(unit: Unit, shown: Shown) -> tuple[Lines, ...]:
    """The runs of lines that are shown verbatim."""
    match shown:
        case "full":
            return (unit.lines,)
        case "opening":
            return (unit.opening,)
        case "skeleton":
            return unit.skeleton
        case "reference":
            return ()


def _signals(signals: Sequence[Signal], runs: Sequence[Lines]) -> bool:
    return any(start <= signal.line <= end for signal in signals for start, end in runs)


def _text(unit: Unit, shown: Shown, lines: Sequence[str]) -> tuple[str, ...]:
    if shown == "skeleton":
        return (*_ahead(unit), *skeleton_text(lines, unit).removesuffix("\n").split("\n"))
    return tuple(line for start, end in _kept(unit, shown) for line in lines[start - 1 : end])


def _ahead(unit: Unit) -> tuple[str, ...]:
    """What a skeleton leaves out before its first line: told as other gaps are, to be counted."""
    number = unit.skeleton[0][0] - unit.lines[0] if unit.skeleton else 0
    return (f"… {number} line{'s' if number > 1 else ''}",) if number else ()


def offers_of(sources: Sequence[Source], wanted: Sequence[Wanted], counter: Counter) -> list[Offer]:
    """What the candidates cost, in their order; behind them the heads that only open containers.

    From the counts of the index, in tokens of the counter's vocabulary; the text decides later.
    """
    pricing = _Pricing(sources, counter)
    offers = [pricing.offer(one) for one in wanted]
    known = {(offer.file, offer.unit) for offer in offers}
    waiting = [(offer.file, offer.parent) for offer in offers]
    for file, unit in waiting:
        if unit >= 0 and (file, unit) not in known:
            known.add((file, unit))
            offers.append(pricing.head(file, unit))
            waiting.append((file, offers[-1].parent))
    return offers


@lru_cache(maxsize=_WORDS)
def _tokens_of(counter: Counter, words: str) -> int:
    return counter.plain(words)


@lru_cache(maxsize=_WORDS)
def _tokens_of_number(counter: Counter, number: int) -> int:
    return counter.plain(f"{number}")


@lru_cache(maxsize=_WORDS)
def _tokens_of_word(counter: Counter, word: str) -> int:
    """With the blank before it, and spelled as headers spell names."""
    return counter.plain(f" {spelled(word)}")


def header_tokens(counter: Counter, path: str) -> int:
    """What the line before the items of a file costs."""
    return _tokens_of(counter, file_header(path))


class _Pricing:
    """Counts headers word by word, for words are met again and whole headers are not.

    No token reaches from one word to the next, nor over the sign between two numbers.
    """

    def __init__(self, sources: Sequence[Source], counter: Counter) -> None:
        self._sources = sources
        self._count = partial(_tokens_of, counter)
        self._ahead = self._count("@@ ")
        self._behind = self._count(" #1\n")
        self._between = self._count("-")
        self._number = partial(_tokens_of_number, counter)
        self._word = partial(_tokens_of_word, counter)
        self._places: dict[int, int] = {}

    def offer(self, wanted: Wanted) -> Offer:
        source = self._sources[wanted.file]
        known = source.units[wanted.unit]
        unit = known.unit
        full, skeleton, opening = known.tokens
        title = self._title(unit)
        reference = self._place(wanted.file) + title + self._behind
        relevance = wanted.relevance
        opening = self._opening(source, wanted.unit, opening)
        if wanted.same_as is not None:
            reference += self._count(same(wanted.same_as))
            return Offer(wanted.file, wanted.unit, relevance, unit.parent, opening, reference)
        item = self._ahead + title + self._behind
        signals = source.signals
        if skeleton and unit.skeleton:
            skeleton += item + self._count(qualified("skeleton", ""))
            skeleton += sum(self._count(f"{line}\n") for line in _ahead(unit))
            skeleton += self._signal(signals, unit.skeleton)
        if full:
            if unit.container:
                item += self._count(qualified("full", unit.container))
            full += item + self._signal(signals, (unit.lines,))
        skeleton = skeleton if unit.skeleton else 0
        place = wanted.file, wanted.unit, relevance, unit.parent, opening
        return Offer(*place, reference, skeleton, full)

    def head(self, file: int, unit: int) -> Offer:
        """A unit that can be opened at most."""
        source = self._sources[file]
        known = source.units[unit]
        opening = self._opening(source, unit, known.tokens[2])
        return Offer(file, unit, 0, known.unit.parent, opening)

    def _opening(self, source: Source, unit: int, opening: int) -> int:
        if opening:
            opening += self._count(text_of(piece_of(source, unit, "opening")))
        return opening

    def _place(self, file: int) -> int:
        """What a reference says before its unit."""
        found = self._places.get(file)
        if found is None:
            found = self._places[file] = self._count(f"{spelled(self._sources[file].path)}:")
        return found

    def _title(self, unit: Unit) -> int:
        start, end = unit.lines
        title = self._number(start) + self._between + self._number(end) + self._word(unit.kind)
        if unit.name:
            title += self._word(unit.name)
        return title if unit.part == (0, 0) else title + self._count(part_of(unit.part))

    def _signal(self, signals: Sequence[Signal], runs: Sequence[Lines]) -> int:
        return self._count(SIGNAL) if signals and _signals(signals, runs) else 0
