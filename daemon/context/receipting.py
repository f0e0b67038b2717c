"""The receipt of an answer, made of what was ranked, chosen and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct, structs

from fabricd.core.context.asking import Tokenizer
from fabricd.core.context.explaining import RELEVANCE
from fabricd.core.context.guard.guarding import GUARD
from fabricd.core.context.model import INDEXER, Lines, Signal, Unit
from fabricd.core.context.receipt import (
    Item,
    Left,
    Omitted,
    Receipt,
    canonical,
    id_by,
)
from fabricd.core.context.rendering.drafting import Chosen, Draft

VERSION = 1
MOST_LEFT = 200
# A number that no answer uses, to be found and replaced in the receipt's text.
_UNUSED = 2**53 - 1


class Place(Struct, frozen=True):
    """A candidate as the receipt tells it: its path guarded, as its unit is.

    Attributes:
        features: with its relevance.
        reason: why it is left out, where it is.
    """

    path: str
    unit: Unit
    file: int
    features: Mapping[str, int]
    reason: str
    signals: Sequence[Signal]


class Census(NamedTuple):
    """What was looked at.

    Attributes:
        units: how many there are.
        reasons: of those that are no candidates: noMatch, rank, unstable → count.
        skipped: files that are not indexed, by reason.
    """

    units: int
    reasons: Mapping[str, int]
    skipped: Mapping[str, int]


class Writing(NamedTuple):
    """What a receipt is made of beside the draft.

    Attributes:
        lines_of: the guarded lines of a file by its index.
        source_of: the SHA-256 of that file's bytes, hex.
    """

    query: str
    budget: int
    tokenizer: Tokenizer
    places: Sequence[Place]
    census: Census
    warnings: tuple[str, ...]
    lines_of: Callable[[int], Sequence[str]]
    source_of: Callable[[int], str]

    def receipt(self, draft: Draft) -> tuple[Receipt, dict[int, str]]:
        """The receipt but for the number of tokens used, and each item's text by its number."""
        texts: dict[int, str] = {}
        items: list[Item] = []
        for chosen in draft.items:
            texts[chosen.piece.n] = text = self._text(chosen)
            items.append(self._item(chosen, text))
        receipt = Receipt(
            VERSION,
            self.query,
            self.budget,
            self.tokenizer,
            INDEXER,
            GUARD,
            draft.digest,
            _UNUSED,
            tuple(items),
            self._omitted(draft),
            dict(sorted(self.census.skipped.items())),
            draft.certificate,
            self.warnings,
        )
        return receipt, texts

    def _text(self, chosen: Chosen) -> str:
        """What a handle gives back: the lines as shown, of a reference all of the unit's lines."""
        piece = chosen.piece
        if piece.shown != "reference":
            return "".join(f"{line}\n" for line in piece.lines)
        place = self.places[chosen.wanted]
        start, end = place.unit.lines
        return "".join(f"{line}\n" for line in self.lines_of(place.file)[start - 1 : end])

    def _item(self, chosen: Chosen, text: str) -> Item:
        place, piece = self.places[chosen.wanted], chosen.piece
        assert piece.shown != "opening"
        return Item(
            piece.n,
            place.path,
            *place.unit.lines,
            place.unit.kind,
            place.unit.qualified,
            piece.shown,
            chosen.tokens,
            self.source_of(place.file),
            sha256(text.encode("utf-8", "replace")).hexdigest(),
            dict(place.features),
            _signals(place.signals, place.unit.lines),
        )

    def _omitted(self, draft: Draft) -> Omitted:
        chosen = {item.wanted for item in draft.items}
        left = [place for at, place in enumerate(self.places) if at not in chosen]
        reasons = dict(self.census.reasons)
        for place in left:
            reasons[place.reason] = reasons.get(place.reason, 0) + 1
        return Omitted(
            self.census.units - len(draft.items),
            {reason: count for reason, count in sorted(reasons.items()) if count},
            tuple(_left(place) for place in left[:MOST_LEFT]),
        )


class Numbered:
    """A receipt's canonical text by the number of tokens that are used.

    It is written once: a raw quote before a colon ends a name, in no query and no path does it
    stand, and no other member has the number that stands for it.
    """

    def __init__(self, receipt: Receipt) -> None:
        head, _, self._tail = canonical(receipt).partition(b'"used":%d' % _UNUSED)
        self._head = head + b'"used":'
        # Nearly all of the text stands before the number: that is digested once.
        self._digested = sha256(self._head)

    def data(self, used: int) -> bytes:
        """The canonical JSON."""
        return b"%b%d%b" % (self._head, used, self._tail)

    def name(self, used: int) -> str:
        """The receipt's id."""
        digested = self._digested.copy()
        digested.update(b"%d%b" % (used, self._tail))
        return id_by(digested.hexdigest())


def settled(receipt: Receipt, used: int) -> Receipt:
    """The receipt with the number of tokens used."""
    return structs.replace(receipt, used=used)


def features_of(features: Mapping[str, int], relevance: int) -> dict[str, int]:
    """The score parts as they stand in a receipt."""
    return {**features, RELEVANCE: relevance}


def _left(place: Place) -> Left:
    unit = place.unit
    return Left(
        place.path,
        *unit.lines,
        unit.kind,
        unit.qualified,
        place.reason,
        dict(place.features),
    )


def _signals(signals: Sequence[Signal], lines: Lines) -> tuple[str, ...]:
    first, last = lines
    return tuple(
        f"{signal.rule}:{signal.line}" for signal in signals if first <= signal.line <= last
    )
