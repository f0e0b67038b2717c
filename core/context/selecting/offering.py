"""What can be chosen from, and what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from fabricd.core.context.model import Level
from fabricd.core.context.receipt import Certificate

MOST_UNITS = 300
OBJECTIVE = "sum of relevance x tokens x {full 10, skeleton 8, reference 6}"

# Levels by number, in the order in which they are tried: of two that are worth the same for the
# same tokens, the first is taken.
NONE, REFERENCE, SKELETON, FULL = range(4)
TENTHS = (0, 6, 8, 10)
LEVELS: tuple[Level | None, ...] = (None, "reference", "skeleton", "full")

Levels: TypeAlias = Sequence[int]


class Offer(Struct, frozen=True, array_like=True, gc=False):
    """A unit that can be shown, or a head that only opens its container.

    Attributes:
        file: the index of its file, by rank.
        unit: the index of the unit in its file.
        relevance: in millionths.
        parent: the unit index of the head it stands in; -1 at the top. That head is an offer too,
            perhaps one without options.
        opening: of a head, what its opening lines cost as an item; 0 of any other unit.
        reference, skeleton, full: what the unit costs at that level, header included; 0 where it
            cannot be shown so.
    """

    file: int
    unit: int
    relevance: int
    parent: int = -1
    opening: int = 0
    reference: int = 0
    skeleton: int = 0
    full: int = 0

    def cost(self, level: int) -> int:
        """What the item itself costs at a level."""
        return (0, self.reference, self.skeleton, self.full)[level]

    def value(self, level: int) -> int:
        """What it is worth, in the objective's integer unit."""
        return self.relevance * self.cost(level) * TENTHS[level]

    @property
    def has_options(self) -> bool:
        """Whether it takes part in the selection."""
        return bool(self.reference or self.skeleton or self.full)


class Selection(NamedTuple):
    """What was chosen.

    Attributes:
        levels: for each offer `NONE` … `FULL`.
        cost: of all items, headers and opening lines, as a sum of the pieces.
        certificate: of what was not given beforehand, within what was left.
        given: references that were taken beforehand, into files not yet present.
    """

    levels: tuple[int, ...]
    cost: int
    certificate: Certificate
    given: tuple[int, ...] = ()


def best_of_files(offers: Sequence[Offer]) -> list[int]:
    """The most relevant offer of each file that can be referred to, by rank of the files."""
    best: dict[int, int] = {}
    for index, offer in enumerate(offers):
        if offer.reference:
            known = best.get(offer.file)
            if known is None or offer.relevance > offers[known].relevance:
                best[offer.file] = index
    return [best[file] for file in sorted(best)]
