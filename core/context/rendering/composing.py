"""An answer within a budget: chosen by counts, written from the files' lines, and recounted."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from fabricd.core.context.asking import SMALLEST_BUDGET, Refused, Tokenizer
from fabricd.core.context.counting import Counter
from fabricd.core.context.rendering.drafting import Draft, LinesOf, Uncountable, drafted
from fabricd.core.context.rendering.pieces import Counts, Trailer
from fabricd.core.context.rendering.sources import Source, Wanted, header_tokens, offers_of
from fabricd.core.context.rendering.writing import (
    REFERENCES,
    trailer_line,
    warning,
)
from fabricd.core.context.selecting.choosing import choose
from fabricd.core.context.selecting.costs import smallest
from fabricd.core.context.selecting.offering import Offer, Selection, best_of_files

# An id that takes as many tokens as one can: each of its digits is one.
_LONGEST_ID = "cr_0a1b2c3d4e5f6a7b"

# How many tokens less than the longest an id may be.
_SPREAD = 16

# Of budgets below 1,000 tokens; above it is 5 %.
_LONGEST_TRAILER = 40

ReceiptOf: TypeAlias = Callable[[Draft], Callable[[int], str]]


class Asked(NamedTuple):
    """What an answer is made for.

    Attributes:
        units: how many units there are in all; those that are not given are omitted.
    """

    budget: int
    tokenizer: Tokenizer
    counter: Counter
    units: int


class Composed(NamedTuple):
    """A finished answer.

    Attributes:
        used: what the trailer and the receipt say: the tokens of `text`, or seldom a few more.
        receipt: the id.
        offers: what was chosen from: the candidates in their order, then heads.
        headers: what the header line of each source costs.
        fixed: the tokens that are kept for the trailer and the first lines.
    """

    text: str
    used: int
    receipt: str
    draft: Draft
    offers: tuple[Offer, ...]
    headers: tuple[int, ...]
    fixed: int


def compose(
    asked: Asked,
    sources: Sequence[Source],
    wanted: Sequence[Wanted],
    lines_of: LinesOf,
    receipt_of: ReceiptOf,
) -> Composed:
    """Choose, write and recount until the answer is within its budget. Nothing is ever cut.

    `sources` by rank of their files, `wanted` by rank. `lines_of` gives the guarded lines of a
    source, and is asked for those alone that are shown; what it raises ends the call. `receipt_of`
    gives for a draft what makes the receipt's id of the number of tokens used: the receipt holds
    that number, and the text that is counted names the id. It is asked for a dozen numbers.

    Raises:
        Refused: the budget is below 100, or too small for the smallest item.
    """
    return _Composing(asked, sources, wanted, lines_of).composed(receipt_of)


class _Composing:
    def __init__(
        self,
        asked: Asked,
        sources: Sequence[Source],
        wanted: Sequence[Wanted],
        lines_of: LinesOf,
    ) -> None:
        self._asked = asked
        self._sources = sources
        self._wanted = wanted
        self._lines_of = lines_of
        count = asked.counter.plain
        self._offers = offers_of(sources, wanted, asked.counter)
        self._headers = [header_tokens(asked.counter, source.path) for source in sources]
        self._best = best_of_files(self._offers)
        self._trusting = True
        counts = Counts(len(wanted), len(wanted), len(wanted), asked.units)
        # Numbers up to 999 are one token each: those of the answer take no more.
        self._end = count(trailer_line(self._trailer(_LONGEST_ID, asked.budget, counts)))
        around = count(f"{REFERENCES}\n")
        if any(source.signals for source in sources):
            around += count(warning(len(wanted)))
        self._fixed = self._end + around

    def composed(self, receipt_of: ReceiptOf) -> Composed:
        limit = self._asked.counter.within(self._asked.budget)
        room = limit - self._fixed
        while True:
            selection = self._selection(room)
            try:
                draft = self._drafted(selection)
            except Uncountable as found:
                self._forget_skeletons({self._offers[index].file for index in found.offers})
                continue
            over = draft.plain + self._end - limit
            if over <= 0:
                if (done := self._settled(draft, receipt_of(draft))) is not None:
                    return done
                if self._trusting:
                    # It may be the index that counted otherwise: from here on all is counted.
                    self._trusting = False
                    continue
            # Counts of the index said less than the text does: once more with that taken off.
            room -= max(over, 1)

    def _selection(self, room: int) -> Selection:
        asked = self._asked
        if asked.budget >= SMALLEST_BUDGET and room > 0:
            selection = choose(self._offers, self._headers, room, self._best)
            if any(selection.levels):
                return selection
        least = asked.counter.told(smallest(self._offers, self._headers) + self._fixed)
        least = max(SMALLEST_BUDGET, least)
        if asked.budget >= least:
            # What the text is more than the index said is not known before it is written.
            least = asked.budget + 1
        raise Refused(
            "budget-too-small",
            f"a budget of {asked.budget} tokens is too small: it takes at least {least}",
            least,
        )

    def _forget_skeletons(self, files: Set[int]) -> None:
        """Of whole files, lest one that forges gaps is found out one skeleton after another."""
        self._offers = [
            replace(offer, skeleton=0) if offer.file in files else offer for offer in self._offers
        ]

    def _drafted(self, selection: Selection) -> Draft:
        asked = self._asked
        return drafted(
            self._sources,
            self._wanted,
            self._offers,
            selection,
            self._lines_of,
            asked.counter,
            asked.units,
            self._trusting,
        )

    def _settled(self, draft: Draft, receipt: Callable[[int], str]) -> Composed | None:
        """The answer with the trailer whose number agrees with itself.

        The id depends on the number used, and the tokens of the id are part of that number. So
        each number that may be is tried, from the least: the first that is the count of the text
        that it leads to is taken. Digits of an id fall as dice do, and for one draft in three there
        is none: then the one that is least above the count of its text. A trailer that is longer
        than it should be is taken only where no other is.
        """
        asked = self._asked
        told = asked.counter.told
        longest = asked.budget // 20 if asked.budget >= 1000 else _LONGEST_TRAILER
        found: list[tuple[bool, int, int, str, str, int]] = []
        least = told(draft.plain + self._end - _SPREAD)
        for used in range(least, min(asked.budget, told(draft.plain + self._end)) + 1):
            name = receipt(used)
            line = trailer_line(self._trailer(name, used, draft.counts))
            tokens = asked.counter.plain(line)
            spare = used - told(draft.plain + tokens)
            if spare >= 0:
                found.append((told(tokens) > longest, spare, used, name, line, tokens))
            if found and found[-1][:2] == (False, 0):
                break
        if not found:
            return None
        _, _, used, name, line, tokens = min(found)
        text = draft.body + line
        # The parts add up to the whole; the budget is law all the same.
        plain = asked.counter.plain(text)
        if told(plain) > used or (self._trusting and plain != draft.plain + tokens):
            return None
        offers, headers = tuple(self._offers), tuple(self._headers)
        return Composed(text, used, name, draft, offers, headers, self._fixed)

    def _trailer(self, receipt: str, used: int, counts: Counts) -> Trailer:
        return Trailer(receipt, used, self._asked.budget, self._asked.tokenizer, counts)
