"""A choice within the budget made better step by step, where room is left."""

from __future__ import annotations

from collections.abc import Sequence

from fabricd.core.context.selecting.forest import Forest
from fabricd.core.context.selecting.offering import FULL, SKELETON


def filled(forest: Forest, levels: Sequence[int], budget: int) -> list[int]:
    """Take what still fits, the most relevant first, each at the level that is worth most.

    What a unit needs around it (header, opening lines) counts with it.
    """
    filling = _Filling(forest, levels)
    room = budget - filling.cost()
    for node in filling.order():
        before = filling.levels[node]
        most, added, taken = filling.value[node][before], 0, before
        for level in range(before + 1, FULL + 1):
            if filling.value[node][level] > most and (cost := filling.added(node, level)) <= room:
                most, added, taken = filling.value[node][level], cost, level
        if taken != before:
            filling.take(node, taken)
            room -= added
    return filling.levels


class _Filling:
    """Which files and containers are open, and what a step would add."""

    def __init__(self, forest: Forest, levels: Sequence[int]) -> None:
        self.levels = list(levels)
        self.value: list[list[int]] = forest.value.T.tolist()
        self._cost: list[list[int]] = forest.cost.T.tolist()
        self._opening: list[int] = forest.opening.tolist()
        self._header: list[int] = forest.header.tolist()
        self._parent: list[int] = forest.parent.tolist()
        self._file: list[int] = forest.file.tolist()
        self._relevance = [forest.offers[index].relevance for index in forest.nodes]
        self._files: set[int] = set()
        self._open: set[int] = set()
        for node, level in enumerate(levels):
            if level >= SKELETON:
                self._around(node)

    def order(self) -> list[int]:
        """The nodes by relevance."""
        return sorted(range(len(self.levels)), key=lambda node: (-self._relevance[node], node))

    def cost(self) -> int:
        """What all of it costs."""
        return (
            sum(self._cost[node][level] for node, level in enumerate(self.levels))
            + sum(self._header[file] for file in self._files)
            + sum(self._opening[node] for node in self._open if self.levels[node] < SKELETON)
        )

    def added(self, node: int, level: int) -> int:
        """How many tokens more a node at a higher level costs."""
        before = self.levels[node]
        cost = self._cost[node][level] - self._cost[node][before]
        if level < SKELETON or before >= SKELETON:
            return cost
        if self._file[node] not in self._files:
            cost += self._header[self._file[node]]
        if node in self._open:
            # Its own lines now show what its opening lines were shown for.
            cost -= self._opening[node]
        head = self._parent[node]
        while head >= 0 and head not in self._open:
            if self.levels[head] < SKELETON:
                cost += self._opening[head]
            head = self._parent[head]
        return cost

    def take(self, node: int, level: int) -> None:
        """Show a node at a level."""
        self.levels[node] = level
        if level >= SKELETON:
            self._around(node)

    def _around(self, node: int) -> None:
        self._files.add(self._file[node])
        head = self._parent[node]
        while head >= 0 and head not in self._open:
            self._open.add(head)
            head = self._parent[head]
