"""How often each term stands in each field of a unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from fabricd.core.context.parsing.layout import Piece
from fabricd.core.context.parsing.skeletons import is_comment
from fabricd.core.context.terms import KNOWN, words_of

Fields: TypeAlias = tuple[int, int, int, int]
Counts: TypeAlias = dict[str, Fields]

MOST = 255  # a term that occurs more often is counted so often
_BITS = 30  # no text has so many words
_MASK = (1 << _BITS) - 1
_NAMED, _SIGNED, _DOCUMENTED = 1 << 3 * _BITS, 1 << 2 * _BITS, 1 << _BITS
_REMEMBERED = 5_000


class _Told(dict[int, Fields]):
    """The counts in each field from all four in one number, `_BITS` for each, the body's lowest.

    Most are of few kinds: made once, they cost no memory.
    """

    def __missing__(self, number: int) -> Fields:
        if len(self) >= _REMEMBERED:
            self.clear()
        counts = self[number] = (
            min(number >> 3 * _BITS, MOST),
            min(number >> 2 * _BITS & _MASK, MOST),
            min(number >> _BITS & _MASK, MOST),
            min(number & _MASK, MOST),
        )
        return counts


_TOLD = _Told()


class Words(NamedTuple):
    """A unit's words as they stand."""

    signature: list[str]
    doc: list[str]
    body: list[str]


def words_in(piece: Piece, text: str, lines: Sequence[str]) -> Words:
    """The words of a unit; those of decorators count as its signature's.

    Args:
        text: the unit's.
    """
    if piece.signature[1] < 0 and piece.documented[1] < 0:
        return Words([], [], words_of(text))
    begun = max(piece.row, piece.signature[1] + 1)
    first, last = piece.documented
    first = max(first, begun) if first <= last else begun
    last = max(last, first - 1)
    attached = lines[piece.first : piece.row]
    signature = [line for line in attached if not is_comment(line)]
    doc = [line for line in attached if is_comment(line)]
    return Words(
        words_of("\n".join([*signature, *lines[piece.row : begun]])),
        words_of("\n".join([*doc, *lines[first : last + 1]])),
        words_of("\n".join([*lines[begun:first], *lines[last + 1 : piece.last + 1]])),
    )


def counts_of(name: str, words: Words) -> Counts:
    """A unit's terms with their counts in `FIELDS`, each at most `MOST`."""
    counted: dict[str, int] = Counter(_terms(words.body))
    get = counted.get
    for field, one in (
        (words_of(name), _NAMED),
        (words.signature, _SIGNED),
        (words.doc, _DOCUMENTED),
    ):
        for term in _terms(field):
            counted[term] = get(term, 0) + one
    told = _TOLD
    return {term: told[number] for term, number in counted.items()}


def _terms(words: Sequence[str]) -> Iterator[str]:
    return chain.from_iterable(map(KNOWN.__getitem__, words))
