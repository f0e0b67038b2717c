"""Small containment trees by a seed, and what is best in them by trying everything."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fabricd.core.context.selecting.choosing import choose
from fabricd.core.context.selecting.costs import total, worth
from fabricd.core.context.selecting.offering import FULL, SKELETON, Levels, Offer

MOST_CHOICES = 2_000


class Tree(NamedTuple):
    """At most ten units in at most three levels, in a few files."""

    offers: list[Offer]
    headers: list[int]
    budget: int


def tree(seed: int) -> Tree:
    """The tree of a seed: its units may stand in heads that are no candidates themselves."""
    rng = Random(seed)
    files = rng.randint(1, 3)
    offers: list[Offer] = []
    depth: dict[tuple[int, int], int] = {}
    choices = 1
    for unit in range(rng.randint(1, 10)):
        file = rng.randrange(files)
        heads = [offer for offer in offers if offer.file == file and depth[file, offer.unit] < 2]
        parent = rng.choice(heads).unit if heads and rng.random() < 0.6 else -1
        depth[file, unit] = depth[file, parent] + 1 if parent >= 0 else 0
        offer = _unit(rng, file, unit, parent)
        ways = sum(map(bool, (offer.reference, offer.skeleton, offer.full))) + 1
        if choices * ways > MOST_CHOICES:
            offer = replace(offer, reference=0, skeleton=0)
            ways = 2 if offer.full else 1
        choices *= ways
        offers.append(offer)
    offers = _opening(rng, offers)
    headers = [rng.randint(0, 9) for _ in range(files)]
    most = total(offers, headers, [FULL] * len(offers))
    return Tree(offers, headers, rng.randint(0, rng.choice([20, 80, most + 20])))


def _unit(rng: Random, file: int, unit: int, parent: int) -> Offer:
    if rng.random() < 0.15:
        return Offer(file, unit, 0, parent)
    # Few different numbers, so that ties are frequent.
    full = rng.choice([0, 8, 8, 12, rng.randint(5, 60)])
    skeleton = rng.choice([0, 5, rng.randint(1, max(full, 6))])
    reference = rng.choice([0, 4, 4, rng.randint(1, 9)])
    relevance = rng.choice([1, 1000, 1000, rng.randint(0, 1_000_000)])
    return Offer(file, unit, relevance, parent, 0, reference, skeleton, full)


def _opening(rng: Random, offers: list[Offer]) -> list[Offer]:
    heads = {(offer.file, offer.parent) for offer in offers}
    return [
        replace(offer, opening=rng.choice([3, rng.randint(1, 12)]))
        if (offer.file, offer.unit) in heads or rng.random() < 0.1
        else offer
        for offer in offers
    ]


def best(asked: Tree) -> int:
    """The most that any choice within the budget is worth: each one is tried."""
    offers = asked.offers
    ways = [[level for level in range(4) if not level or offer.cost(level)] for offer in offers]
    grid = np.indices([len(way) for way in ways]).reshape(len(ways), -1)
    levels = [np.array(way)[row] for way, row in zip(ways, grid, strict=True)]
    cost = np.zeros(grid.shape[1], np.int64)
    value = np.zeros(grid.shape[1], np.int64)
    for offer, level in zip(offers, levels, strict=True):
        cost += np.array([offer.cost(one) for one in range(4)])[level]
        value += np.array([offer.value(one) for one in range(4)])[level]
    for file, header in enumerate(asked.headers):
        cost += header * _any(
            level >= SKELETON
            for offer, level in zip(offers, levels, strict=True)
            if offer.file == file
        )
    for head, level in zip(offers, levels, strict=True):
        inside = (
            other >= SKELETON
            for offer, other in zip(offers, levels, strict=True)
            if _stands_in(offers, offer, head)
        )
        cost += head.opening * (_any(inside) & (level < SKELETON))
    return int(value[cost <= asked.budget].max())


def _any(flags: Iterable[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    found = np.zeros(1, np.bool_)
    for flag in flags:
        found = found | flag
    return found


def _stands_in(offers: list[Offer], offer: Offer, head: Offer) -> bool:
    while offer.parent >= 0:
        offer = next(one for one in offers if (one.file, one.unit) == (offer.file, offer.parent))
        if offer is head:
            return True
    return False


def check(asked: Tree, cells: Iterable[int]) -> list[bool]:
    """Hold selections against everything that can be chosen; for each whether it is exact."""
    optimum = best(asked)
    exact: list[bool] = []
    for allowed in cells:
        found = choose(asked.offers, asked.headers, asked.budget, cells=allowed)
        told = found.certificate
        assert found.cost == total(asked.offers, asked.headers, found.levels) <= asked.budget
        assert told.value == worth(asked.offers, found.levels)
        assert told.regret == told.bound - told.value
        assert _has_options(asked.offers, found.levels)
        assert told.value <= optimum <= told.bound
        assert not told.exact or told.value == told.bound
        exact.append(told.exact)
    return exact


def _has_options(offers: list[Offer], levels: Levels) -> bool:
    return all(offer.cost(level) for offer, level in zip(offers, levels, strict=True) if level)
