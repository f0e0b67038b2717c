"""The choices as paths: each state is a place in the walk over the trees, each edge a decision.

Beside the state in which all containers around a unit are open (their lines paid for) run those in
which only the outer ones are, or none, where nothing but references can be taken. So every path
from the first state to the last is one choice, and costs what the choice costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from fabricd.core.context.selecting.dual import Possible
from fabricd.core.context.selecting.forest import Flags, Forest
from fabricd.core.context.selecting.offering import FULL, NONE, REFERENCE, SKELETON


class Edge(Struct, frozen=True, gc=False):
    """A decision: from which state, at what cost, for what value.

    Attributes:
        node: the node it is about; -1 where it only opens a file, or decides nothing.
        level: the level the node is shown at.
    """

    source: int
    cost: int
    value: int
    node: int = -1
    level: int = NONE


class Graph(NamedTuple):
    """States in an order in which every edge leads forward; state 0 is the first, the last the end.

    Attributes:
        edges: for each state those that lead to it.
    """

    edges: list[list[Edge]]


class TooMany(Exception):
    """There are more decisions than were allowed."""


def graph_of(forest: Forest, able: Possible, most: int) -> Graph | None:
    """The choices among what is possible; None where there is no choice at all.

    Raises:
        TooMany: beside the first of each state more than `most` decisions are possible.
    """
    builder = _Builder(forest, able, most)
    state = 0
    for file in range(len(forest.files)):
        reached = builder.file(state, file)
        if reached is None:
            return None
        state = reached
    return Graph(builder.edges)


def _left_out(forest: Forest, able: Possible) -> Flags:
    """Which files nothing can be taken of: most of them, where little is in doubt."""
    found = able.files_shut & ~able.files_opened
    found[forest.file[able.levels[REFERENCE] | ~able.levels[NONE]]] = False
    return found


class _Builder:
    """Walks the trees file by file, each by line. Where no path leads there is no state."""

    def __init__(self, forest: Forest, able: Possible, most: int) -> None:
        self.edges: list[list[Edge]] = [[]]
        self._left = most
        # States that an edge begins at.
        self._left_from = {0}
        self._header: list[int] = forest.header.tolist()
        self._opening: list[int] = forest.opening.tolist()
        self._cost: list[list[int]] = forest.cost.T.tolist()
        self._value: list[list[int]] = forest.value.T.tolist()
        self._able: list[list[bool]] = able.levels.T.tolist()
        self._opened: list[bool] = able.opened.tolist()
        self._shut: list[bool] = able.shut.tolist()
        self._files_opened: list[bool] = able.files_opened.tolist()
        self._files_shut: list[bool] = able.files_shut.tolist()
        self._left_out: list[bool] = _left_out(forest, able).tolist()
        # What stands in a node; at the top of a file, by the file's complement.
        self._inside: dict[int, list[int]] = {}
        places = zip(forest.parent.tolist(), forest.file.tolist(), strict=True)
        for node, (parent, file) in enumerate(places):
            self._inside.setdefault(parent if parent >= 0 else ~file, []).append(node)

    def file(self, state: int, file: int) -> int | None:
        """All choices within a file."""
        if self._left_out[file]:
            return state
        opened = [Edge(state, self._header[file], 0)] if self._files_opened[file] else []
        shut = state if self._files_shut[file] else None
        return self._merged(self._walk([shut, self._state(opened)], file))

    def _walk(self, states: list[int | None], file: int) -> list[int | None]:
        """Take what stands in a file; `states` by how many containers are open, all last."""
        waiting = [iter(self._inside[~file])]
        while waiting:
            node = next(waiting[-1], None)
            if node is None:
                waiting.pop()
                if waiting:
                    opened = states.pop()
                    states[-1] = self._merged([states[-1], opened])
            elif (members := self._inside.get(node)) is None:
                last = self._taken(states[-1], node, (NONE, REFERENCE, SKELETON, FULL))
                states = [*self._outside(states[:-1], node), last]
            else:
                states = [*self._outside(states[:-1], node), *self._head(states[-1], node)]
                waiting.append(iter(members))
        return states

    def _outside(self, states: Iterable[int | None], node: int) -> list[int | None]:
        return [self._taken(state, node, (NONE, REFERENCE)) for state in states]

    def _head(self, state: int | None, node: int) -> list[int | None]:
        """The states in which it is shut, and open."""
        if state is None:
            return [None, None]
        shut = self._taken(state, node, (NONE, REFERENCE)) if self._shut[node] else None
        edges: list[Edge] = []
        if self._opened[node]:
            opening = self._opening[node]
            edges += self._decisions(state, node, (NONE, REFERENCE), opening)
            edges += self._decisions(state, node, (SKELETON, FULL))
        return [shut, self._state(edges)]

    def _taken(self, state: int | None, node: int, levels: Iterable[int]) -> int | None:
        if state is None:
            return None
        edges = self._decisions(state, node, levels)
        # Nothing is decided where a unit is left out for certain.
        return state if len(edges) == 1 and edges[0].level == NONE else self._state(edges)

    def _decisions(self, state: int, node: int, levels: Iterable[int], more: int = 0) -> list[Edge]:
        able, cost, value = self._able[node], self._cost[node], self._value[node]
        return [
            Edge(state, cost[level] + more, value[level], node, level)
            for level in levels
            if able[level]
        ]

    def _merged(self, states: Iterable[int | None]) -> int | None:
        """Where several states come together with nothing decided."""
        found = [state for state in states if state is not None]
        if len(found) < 2:
            return found[0] if found else None
        edges: list[Edge] = []
        for state in found:
            # What leads to a state that nothing else leaves leads here as well.
            edges += [Edge(state, 0, 0)] if state in self._left_from else self.edges[state]
        self._spend(len(found) - 1)
        while len(self.edges) - 1 in found and len(self.edges) - 1 not in self._left_from:
            self.edges.pop()
        return self._added(edges)

    def _state(self, edges: list[Edge]) -> int | None:
        if not edges:
            return None
        self._spend(len(edges) - 1)
        return self._added(edges)

    def _spend(self, decisions: int) -> None:
        self._left -= decisions
        if self._left < 0:
            raise TooMany

    def _added(self, edges: list[Edge]) -> int:
        self._left_from.update([edge.source for edge in edges])
        self.edges.append(edges)
        return len(self.edges) - 1
