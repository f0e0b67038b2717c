"""The choice of most value within a budget, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence, Set

from fabricd.core.context.receipt import Certificate
from fabricd.core.context.selecting.costs import total
from fabricd.core.context.selecting.dual import possible, relaxed
from fabricd.core.context.selecting.filling import filled
from fabricd.core.context.selecting.forest import Forest
from fabricd.core.context.selecting.graph import Edge, TooMany, graph_of
from fabricd.core.context.selecting.offering import (
    MOST_UNITS,
    NONE,
    OBJECTIVE,
    REFERENCE,
    Offer,
    Selection,
)
from fabricd.core.context.selecting.table import best_path

# Up to so many cells (units x tokens) a choice is exact.
CELLS = 2_400_000

# How many flags the table may have for each of them: there a unit has several, one for every
# decision in every state of what is around it. Ten are never needed where containers nest less
# than six deep; above, five let nearly all choices be exact still, in 12 MB.
_FLAGS = 10
_FLAGS_ABOVE = 5

# More decisions than this are no source's: they come of containers nested by the hundred.
_DECISIONS = 12_000

# Percent of the budget for references to files that are not present.
_SHARE = 8

# How far below the bound, in tokens' worth, the best choice is looked for first: it mostly is
# there, and where not, so many times further.
_GUESS = 8
_FURTHER = 3


def choose(
    offers: Sequence[Offer],
    headers: Sequence[int],
    budget: int,
    best: Sequence[int] = (),
    cells: int = CELLS,
) -> Selection:
    """What to show at which level, worth as much as can be within `budget` tokens.

    Of more than 300 units with options those of most relevance take part. `headers` are the costs
    of the files' header lines, by file. `best` are offers, the best of each file, by rank: 8 % of
    the budget first go to references to those whose file would not be present otherwise; the
    certificate is about the rest. The same offers in the same order give the same choice.

    Raises:
        ValueError: a head that an offer stands in is not among the offers.
    """
    forest = Forest(offers, headers, participants(offers))
    given, price = _references(forest, budget, best)
    if given:
        forest = Forest(offers, headers, participants(offers, frozenset(given)))
    rest = budget - sum(offers[index].reference for index in given)
    solved, certificate = _Solving(forest, rest, cells).solved(price)
    levels = [NONE] * len(offers)
    for node, index in enumerate(forest.nodes):
        levels[index] = solved[node]
    for index in given:
        levels[index] = REFERENCE
    return Selection(tuple(levels), total(offers, headers, levels), certificate, given)


def _references(forest: Forest, budget: int, best: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """References to the best files that the relaxation would leave out of the rest; its price."""
    room = budget * _SHARE // 100
    if not best or not room:
        return (), 0
    offers = forest.offers
    rough = relaxed(forest, budget - room)
    shown: list[int] = forest.file[rough.levels > NONE].tolist()
    present = {forest.files[file] for file in shown}
    given: list[int] = []
    for index in best:
        offer = offers[index]
        if 0 < offer.reference <= room and offer.file not in present:
            given.append(index)
            present.add(offer.file)
            room -= offer.reference
    return tuple(given), rough.price


class _Solving:
    """Closes in on the best choice from both sides."""

    def __init__(self, forest: Forest, budget: int, cells: int) -> None:
        self._forest = forest
        self._budget = budget
        self._units = int((forest.value[1:] > 0).any(axis=0).sum())
        flags = cells * (_FLAGS if self._units * budget <= cells else _FLAGS_ABOVE)
        self._most = min(flags // (budget + 1), _DECISIONS)
        self._levels: list[int] = []
        self._value = 0

    def solved(self, price: int) -> tuple[list[int], Certificate]:
        """Levels of the nodes. `price` is one to begin with, 0 where none is known."""
        rough = relaxed(self._forest, self._budget, price)
        self._take(filled(self._forest, rough.levels.tolist(), self._budget))
        bound = rough.bound
        searched, tokens, too_many = 0, _GUESS, 0
        while self._value < bound and tokens > searched:
            # Choices within so many tokens' worth of the bound: is the best of all among them?
            least = max(self._value, rough.bound - tokens * max(rough.price, 1))
            if self._is_searched(rough.price, rough.bound - least):
                # Whatever is worth more than `least` was among them.
                bound = max(self._value, least)
                searched = tokens
                tokens = (searched + too_many) // 2 if too_many else tokens * _FURTHER
            else:
                too_many = tokens
                tokens = (searched + too_many) // 2
        exact = self._value >= bound
        return self._levels, Certificate(
            OBJECTIVE, exact, self._value, bound, bound - self._value, self._units
        )

    def _is_searched(self, price: int, room: int) -> bool:
        """Take the best of what loses less than `room` of the bound; false: it is too much."""
        try:
            graph = graph_of(self._forest, possible(self._forest, price, room), self._most)
        except TooMany:
            return False
        if graph is not None:
            self._follow(best_path(graph, self._budget))
        return True

    def _follow(self, path: Sequence[Edge] | None) -> None:
        if path is not None:
            levels = [NONE] * len(self._forest.nodes)
            for edge in path:
                if edge.node >= 0:
                    levels[edge.node] = edge.level
            self._take(levels)

    def _take(self, levels: list[int]) -> None:
        value = sum(int(self._forest.value[level, node]) for node, level in enumerate(levels))
        if value > self._value or not self._levels:
            self._levels, self._value = levels, value


def participants(offers: Sequence[Offer], without: Set[int] = frozenset()) -> list[int]:
    """The offers that take part, by relevance."""
    ordered = sorted(
        (
            index
            for index, offer in enumerate(offers)
            if offer.has_options and offer.relevance > 0 and index not in without
        ),
        key=lambda index: (-offers[index].relevance, offers[index].file, offers[index].unit),
    )
    return ordered[:MOST_UNITS]
