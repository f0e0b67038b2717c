"""A choice as an answer but for its trailer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from fabricd.core.context.counting import Counter
from fabricd.core.context.receipt import Certificate
from fabricd.core.context.rendering.pieces import Counts, Piece, Shown, is_countable, renumbered
from fabricd.core.context.rendering.sources import Source, Wanted, piece_of
from fabricd.core.context.rendering.writing import parts_of
from fabricd.core.context.selecting.costs import opened
from fabricd.core.context.selecting.offering import FULL, REFERENCE, SKELETON, Offer, Selection

LinesOf: TypeAlias = Callable[[int], Sequence[str]]

# A line before which a token ends where a header stands there: `\s*[\r\n]+` would reach on.
_BEGUN = re.compile(r"[ \t]*\S")
_SHOWN: dict[int, Shown] = {REFERENCE: "reference", SKELETON: "skeleton", FULL: "full"}


class Chosen(NamedTuple):
    """An item of the answer: of which candidate, as shown, and its tokens with its header."""

    wanted: int
    piece: Piece
    tokens: int


class Draft(NamedTuple):
    """An answer but for its trailer, which names the receipt that is made of this.

    Attributes:
        body: the text without the trailer line.
        digest: its SHA-256 in UTF-8, hex.
        plain: its tokens in the counter's vocabulary.
        items: by number; opening lines are none.
    """

    body: str
    digest: str
    plain: int
    items: tuple[Chosen, ...]
    counts: Counts
    certificate: Certificate


class Uncountable(Exception):
    """The ends of these offers' skeletons cannot be told: lines of them read like gaps."""

    def __init__(self, offers: Sequence[int]) -> None:
        super().__init__(offers)
        self.offers = offers


def drafted(
    sources: Sequence[Source],
    wanted: Sequence[Wanted],
    offers: Sequence[Offer],
    selection: Selection,
    lines_of: LinesOf,
    counter: Counter,
    units: int,
    trusting: bool = True,
) -> Draft:
    """Write what was chosen, of `units` in all, and count it.

    Args:
        trusting: take the index's word for the lines of a unit, and count its header alone.

    Raises:
        Uncountable: skeletons cannot be given.
    """
    placed = _placed(sources, wanted, offers, selection, lines_of)
    texts: list[str] = []
    items: list[Chosen] = []
    plain = 0
    at = 0
    for text, piece in parts_of([piece for _, piece in placed]):
        if piece is None:
            count = counter.plain(text)
        else:
            index = placed[at][0]
            known = _known(sources, offers[index], piece) if trusting else 0
            count = counter.plain(_header(text) if known else text) + known
            if piece.n:
                items.append(Chosen(index, piece, counter.told(count)))
            at += 1
        plain += count
        texts.append(text)
    levels = selection.levels
    counts = Counts(
        levels.count(FULL), levels.count(SKELETON), levels.count(REFERENCE), units - len(items)
    )
    body = "".join(texts)
    digest = sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    return Draft(body, digest, plain, tuple(items), counts, selection.certificate)


def _known(sources: Sequence[Source], offer: Offer, piece: Piece) -> int:
    """The tokens of a piece's lines by the index, where they add up with its header's; else 0."""
    if piece.shown != "full" or not _BEGUN.match(piece.lines[0]):
        return 0
    return sources[offer.file].units[offer.unit].tokens[0]


def _header(text: str) -> str:
    return text[: text.index("\n") + 1]


def _placed(
    sources: Sequence[Source],
    wanted: Sequence[Wanted],
    offers: Sequence[Offer],
    selection: Selection,
    lines_of: LinesOf,
) -> list[tuple[int, Piece]]:
    """Which offers are shown as what: by file and line, references last, numbered."""
    shown: list[tuple[int, Shown]] = [
        (index, _SHOWN[level]) for index, level in enumerate(selection.levels) if level in _SHOWN
    ]
    openings: list[tuple[int, Shown]] = [
        (index, "opening") for index in opened(offers, selection.levels)
    ]
    shown = sorted(
        shown + openings,
        key=lambda one: (one[1] == "reference", offers[one[0]].file, offers[one[0]].unit),
    )
    placed: list[tuple[int, Piece]] = []
    uncountable: list[int] = []
    n = 0
    for index, how in shown:
        offer = offers[index]
        same_as = wanted[index].same_as if index < len(wanted) else None
        lines = () if how == "reference" else lines_of(offer.file)
        piece = piece_of(sources[offer.file], offer.unit, how, lines, same_as)
        if how == "skeleton" and not is_countable(piece.lines, piece.end - piece.start + 1):
            uncountable.append(index)
        if how != "opening":
            n += 1
            piece = renumbered(piece, n)
        placed.append((index, piece))
    if uncountable:
        raise Uncountable(uncountable)
    return placed
