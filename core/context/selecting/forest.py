"""The offers as arrays: containment trees by file, ready for arithmetic over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import numpy as np
import numpy.typing as npt

from fabricd.core.context.selecting.costs import ancestors
from fabricd.core.context.selecting.offering import TENTHS, Offer

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# Less than any sum of values, and far enough from the least integer to add values to it.
NEVER = -(1 << 61)

_NO_OPTIONS = (0, 0, 0, 0)
_TENTHS = np.array(TENTHS, np.int64)[:, np.newaxis]


class Forest:
    """The units that take part with the heads they stand in, by file and line.

    Attributes:
        nodes: for each node its offer.
        files: the files that take part; a node's is `files[file[node]]`.
        parent: for each node that of its head; -1 at the top.
        members: for each node whether units stand in it.
        cost, value: of each level (row) of each node (column); the value `NEVER` of a level that
            it cannot have. Level 0 is none at all.
        opening: what the opening lines of a node cost.
        header: what the header of each file costs.
        depths: the nodes at each depth, those at the top first.
    """

    def __init__(
        self, offers: Sequence[Offer], headers: Sequence[int], taking: Iterable[int]
    ) -> None:
        taken = frozenset(taking)
        chains = ancestors(offers)
        chosen = taken.union(*(chains[index] for index in taken))
        self.offers = offers
        self.nodes: list[int] = sorted(
            chosen, key=lambda index: (offers[index].file, offers[index].unit)
        )
        at = {index: node for node, index in enumerate(self.nodes)}
        self.parent = np.array(
            [at[chains[index][0]] if chains[index] else -1 for index in self.nodes], np.int64
        )
        self.files: list[int] = sorted({offers[index].file for index in self.nodes})
        rank = {file: number for number, file in enumerate(self.files)}
        self.file = np.array([rank[offers[index].file] for index in self.nodes], np.int64)
        self.header = np.array([headers[file] for file in self.files], np.int64)
        self.opening = np.array([offers[index].opening for index in self.nodes], np.int64)
        self.cost, self.value = self._options(taken)
        self.members = np.zeros(len(self.nodes), np.bool_)
        self.members[self.parent[self.parent >= 0]] = True
        depth = np.array([len(chains[index]) for index in self.nodes], np.int64)
        self.depths = [
            np.flatnonzero(depth == level) for level in range(int(depth.max(initial=-1)) + 1)
        ]

    def _options(self, taken: Set[int]) -> tuple[Ints, Ints]:
        """Of each level of each node, which a head that only opens its container has none of."""
        offers = [self.offers[index] for index in self.nodes]
        costs = [
            (0, offer.reference, offer.skeleton, offer.full) if index in taken else _NO_OPTIONS
            for index, offer in zip(self.nodes, offers, strict=True)
        ]
        cost = np.array(costs, np.int64).reshape(-1, 4).T.copy()
        value = cost * np.array([offer.relevance for offer in offers], np.int64) * _TENTHS
        cost[value <= 0] = 0
        value[value <= 0] = NEVER
        value[0] = 0
        return cost, value

    @property
    def dearest(self) -> int:
        """A price of a token at which nothing is worth its tokens."""
        return max((10 * self.offers[index].relevance for index in self.nodes), default=0) + 1
