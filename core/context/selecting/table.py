"""The best path within a budget: integer dynamic programming over tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from fabricd.core.context.selecting.forest import NEVER, Flags, Ints
from fabricd.core.context.selecting.graph import Edge, Graph


class _View(Struct, frozen=True, gc=False):
    """A state's best values by budget: those of the row of `state`, later and higher."""

    state: int
    cost: int
    value: int


class _Span(Struct, frozen=True, gc=False):
    """Budgets, the last of them included."""

    first: int
    last: int


class _Row(NamedTuple):
    """A state's best values from the budget `first` on.

    Below it nothing leads to the state, or nobody asks; above the last it is as good as there, or
    nobody asks.
    """

    first: int
    values: Ints


class _Choice(NamedTuple):
    """From the budget `first` on: for each decision but the first, where it is the better one.

    None: nowhere.
    """

    first: int
    beaten: list[Flags | None]


def best_path(graph: Graph, budget: int) -> list[Edge] | None:
    """The decisions of a best path that costs at most `budget`; None where no path does.

    Every state but the first has a decision that leads to it. Of several best paths always the
    same is taken.
    """
    spans = _spans(graph, budget)
    if spans[-1] is None:
        return None
    views = _views(graph)
    done = _last_uses(graph, views)
    rows = {0: _Row(0, np.zeros(1, np.int64))}
    choices: dict[int, _Choice] = {}
    for state, edges in enumerate(graph.edges):
        if len(edges) > 1:
            if (span := spans[state]) is not None:
                rows[state], choices[state] = _merged(edges, views, rows, span)
            for row in done.get(state, ()):
                rows.pop(row, None)
    return _followed(graph, choices, budget)


def _spans(graph: Graph, budget: int) -> list[_Span | None]:
    """For each state the budgets for which its best values are needed; None: it is of no use.

    Less than the cheapest way to it is too little, and more than the dearest is worth no more. The
    cheapest way on from it has to be paid yet, and the dearest never leaves less than it leaves.
    """
    count = len(graph.edges)
    least, most = [0] * count, [0] * count
    for state in range(1, count):
        edges = graph.edges[state]
        least[state] = min([least[edge.source] + edge.cost for edge in edges])
        most[state] = max([most[edge.source] + edge.cost for edge in edges])
    low, high = [budget] * count, [-1] * count
    high[-1] = budget
    for state in range(count - 1, 0, -1):
        lower, higher = low[state], high[state]
        for edge in graph.edges[state]:
            source, cost = edge.source, edge.cost
            if lower - cost < low[source]:
                low[source] = lower - cost
            if higher - cost > high[source]:
                high[source] = higher - cost
    bounds = zip(least, most, low, high, strict=True)
    return [
        _Span(min(max(cheap, lower), dear), min(dear, higher)) if cheap <= higher else None
        for cheap, dear, lower, higher in bounds
    ]


def _views(graph: Graph) -> list[_View]:
    """States that one decision leads to need no row: they see that of the state before."""
    views = [_View(0, 0, 0)]
    for state in range(1, len(graph.edges)):
        edges = graph.edges[state]
        if len(edges) > 1:
            views.append(_View(state, 0, 0))
        else:
            views.append(_behind(views[edges[0].source], edges[0]))
    return views


def _last_uses(graph: Graph, views: Sequence[_View]) -> dict[int, list[int]]:
    """After which state which rows are needed no more; the end's is never among them."""
    last: dict[int, int] = {}
    for state, edges in enumerate(graph.edges):
        if len(edges) > 1:
            last.update((views[edge.source].state, state) for edge in edges)
    last.pop(views[-1].state, None)
    done: dict[int, list[int]] = {}
    for row, state in last.items():
        done.setdefault(state, []).append(row)
    return done


def _merged(
    edges: Sequence[Edge], views: Sequence[_View], rows: Mapping[int, _Row], span: _Span
) -> tuple[_Row, _Choice]:
    """The best value at each budget, and for each decision but the first where it is taken."""
    first, *others = [_behind(views[edge.source], edge) for edge in edges]
    best = _seen(first, rows, span)
    beaten: list[Flags | None] = []
    tried = [first]
    for way in others:
        is_vain = any([_is_no_better(way, before) for before in tried])
        tried.append(way)
        if is_vain:
            beaten.append(None)
            continue
        with_it = _seen(way, rows, span)
        beaten.append(with_it > best)
        np.maximum(best, with_it, out=best)
    return _Row(span.first, best), _Choice(span.first, beaten)


def _behind(view: _View, edge: Edge) -> _View:
    """What is seen by a decision."""
    return _View(view.state, view.cost + edge.cost, view.value + edge.value)


def _is_no_better(view: _View, before: _View) -> bool:
    return view.state == before.state and view.cost >= before.cost and view.value <= before.value


def _seen(view: _View, rows: Mapping[int, _Row], span: _Span) -> Ints:
    """A state's best values by one decision alone."""
    width = span.last + 1 - span.first
    row = rows.get(view.state)
    if row is None:
        return np.full(width, NEVER, np.int64)
    begin = row.first + view.cost - span.first
    if begin <= 0 and begin + len(row.values) >= width:
        return row.values[-begin : width - begin] + view.value
    start = min(max(begin, 0), width)
    stop = min(max(begin + len(row.values), 0), width)
    seen = np.empty(width, np.int64)
    if start:
        seen[:start] = NEVER
    if start < stop:
        np.add(row.values[start - begin : stop - begin], view.value, out=seen[start:stop])
    if stop < width:
        seen[stop:] = row.values[-1] + view.value
    return seen


def _followed(graph: Graph, choices: Mapping[int, _Choice], budget: int) -> list[Edge]:
    path: list[Edge] = []
    state = len(graph.edges) - 1
    while state:
        taken = 0
        if (choice := choices.get(state)) is not None:
            for number, beaten in enumerate(choice.beaten, start=1):
                if beaten is not None and beaten[min(budget - choice.first, len(beaten) - 1)]:
                    taken = number
        edge = graph.edges[state][taken]
        path.append(edge)
        budget -= edge.cost
        state = edge.source
    return path[::-1]
