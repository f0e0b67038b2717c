"""What a choice costs: its items, a header for each file, and the opening lines of containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from fabricd.core.context.selecting.offering import SKELETON, Levels, Offer

Place: TypeAlias = tuple[int, int]


def places(offers: Sequence[Offer]) -> dict[Place, int]:
    """Where the offer of each (file, unit) is."""
    return {(offer.file, offer.unit): index for index, offer in enumerate(offers)}


def ancestors(offers: Sequence[Offer]) -> list[tuple[int, ...]]:
    """For each offer the offers of the heads it stands in, the innermost first.

    Raises:
        ValueError: a head is missing among the offers, or stands in itself.
    """
    at = places(offers)
    found: list[tuple[int, ...]] = []
    for offer in offers:
        if offer.parent < 0:
            found.append(())
            continue
        chain: list[int] = []
        parent = offer.parent
        while parent >= 0:
            index = at.get((offer.file, parent))
            if index is None or index in chain:
                raise ValueError(f"no offer for head {parent} of file {offer.file}")
            chain.append(index)
            parent = offers[index].parent
        found.append(tuple(chain))
    return found


def opened(offers: Sequence[Offer], levels: Levels) -> list[int]:
    """The offers whose opening lines have to be shown, ascending."""
    heads: set[int] = set()
    for index, chain in enumerate(ancestors(offers)):
        if levels[index] >= SKELETON:
            heads.update(chain)
    return sorted(index for index in heads if levels[index] < SKELETON)


def total(offers: Sequence[Offer], headers: Sequence[int], levels: Levels) -> int:
    """What a choice costs in tokens, as a sum of its pieces."""
    files = {offer.file for offer, level in zip(offers, levels, strict=True) if level >= SKELETON}
    return (
        sum(offer.cost(level) for offer, level in zip(offers, levels, strict=True))
        + sum(headers[file] for file in files)
        + sum(offers[index].opening for index in opened(offers, levels))
    )


def smallest(offers: Sequence[Offer], headers: Sequence[int]) -> int:
    """What the cheapest item costs with what it needs around it; 0 where there is none."""
    chains = ancestors(offers)
    costs: list[int] = []
    for offer, chain in zip(offers, chains, strict=True):
        around = headers[offer.file] + sum(offers[head].opening for head in chain)
        costs.append(offer.reference)
        costs += [cost + around for cost in (offer.skeleton, offer.full) if cost]
    return min(filter(None, costs), default=0)


def worth(offers: Sequence[Offer], levels: Levels) -> int:
    """What a choice is worth in the objective's unit."""
    return sum(offer.value(level) for offer, level in zip(offers, levels, strict=True))
