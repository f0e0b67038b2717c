"""The relaxation with a price on tokens: a bound on every choice, and what it rules out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabricd.core.context.selecting.forest import Flags, Forest, Ints
from fabricd.core.context.selecting.offering import FULL, REFERENCE, SKELETON

_MOST_PRICES = 64


class Priced(NamedTuple):
    """The best choice where each token has a price, budget or not.

    Attributes:
        gain: value less price of the tokens; the most that any choice has.
        levels: for each node.
    """

    price: int
    gain: int
    cost: int
    value: int
    levels: Ints


class Relaxed(NamedTuple):
    """What the relaxation tells.

    Attributes:
        bound: no choice within the budget is worth more.
        price: of a token, at which the bound was found.
        levels: of a choice within the budget, for each node.
    """

    bound: int
    price: int
    levels: Ints


def relaxed(forest: Forest, budget: int, hint: int = 0) -> Relaxed:
    """The least bound over integer prices, as far as tangents lead to it.

    The bound is convex in the price, and each choice met is a tangent of it: where those of a
    choice too dear and of one that fits cross, either another is better, or this is the minimum.
    `hint` is a price to begin with.
    """
    dear = priced(forest, 0)
    if dear.cost <= budget:
        return Relaxed(dear.value, 0, dear.levels)
    cheap = Priced(forest.dearest, 0, 0, 0, np.zeros(len(forest.nodes), np.int64))
    bound, at = dear.value, 0
    for number in range(_MOST_PRICES):
        is_hint = number == 0 and hint > 0
        price = hint if is_hint else (dear.value - cheap.value) // (dear.cost - cheap.cost)
        met = priced(forest, price)
        if met.gain + price * budget < bound:
            bound, at = met.gain + price * budget, price
        known = max(one.value - price * one.cost for one in (dear, cheap))
        if met.cost > budget:
            dear = met
        else:
            cheap = met
        if met.gain <= known and not is_hint:
            break
    return Relaxed(bound, at, cheap.levels)


class _Gains(NamedTuple):
    """At one price, what is gained at most.

    Attributes:
        levels: by each level of each node, for itself.
        lines: by opening a node, for itself: shown, or by its opening lines.
        shut: with a node and what stands in it, while it is not open.
        opened: the same while it is; of a node without members, where it is shown.
        free: the better of both.
        files_shut, files_opened: of each file.
    """

    levels: Ints
    lines: Ints
    shut: Ints
    opened: Ints
    free: Ints
    files_shut: Ints
    files_opened: Ints


def _gains(forest: Forest, price: int) -> _Gains:
    levels = forest.value - price * forest.cost
    shut = np.maximum(levels[REFERENCE], 0)
    shown = np.maximum(levels[SKELETON], levels[FULL])
    lines = shown.copy()
    np.maximum(shown, shut - price * forest.opening, out=lines, where=forest.members)
    opened = lines.copy()
    free = np.empty_like(opened)
    files_shut = np.zeros(len(forest.files), np.int64)
    files_opened = -price * forest.header
    for depth in range(len(forest.depths) - 1, -1, -1):
        nodes = forest.depths[depth]
        free[nodes] = np.maximum(shut[nodes], opened[nodes])
        if depth:
            above = forest.parent[nodes]
            np.add.at(shut, above, shut[nodes])
            np.add.at(opened, above, free[nodes])
        else:
            files = forest.file[nodes]
            np.add.at(files_shut, files, shut[nodes])
            np.add.at(files_opened, files, free[nodes])
    return _Gains(levels, lines, shut, opened, free, files_shut, files_opened)


def priced(forest: Forest, price: int) -> Priced:
    """The best choice at a price; of several that of the lower levels."""
    gains = _gains(forest, price)
    files = gains.files_opened > gains.files_shut
    around = np.empty(len(forest.nodes), np.bool_)
    opens = np.empty(len(forest.nodes), np.bool_)
    for depth, nodes in enumerate(forest.depths):
        around[nodes] = opens[forest.parent[nodes]] if depth else files[forest.file[nodes]]
        opens[nodes] = around[nodes] & (gains.opened[nodes] > gains.shut[nodes])
    shown = np.where(gains.levels[FULL] > gains.levels[SKELETON], FULL, SKELETON)
    referred = np.where(gains.levels[REFERENCE] > 0, REFERENCE, 0)
    itself = np.maximum(gains.levels[SKELETON], gains.levels[FULL])
    levels = np.where(opens & (itself >= gains.lines), shown, referred)
    every = np.arange(len(levels))
    cost = int(forest.cost[levels, every].sum() + forest.header[files].sum())
    cost += int(forest.opening[opens & forest.members & (levels < SKELETON)].sum())
    value = int(forest.value[levels, every].sum())
    return Priced(price, value - price * cost, cost, value, levels)


class Possible(NamedTuple):
    """What a choice that is worth more than so much can still have.

    Attributes:
        levels: which levels (rows) a node (column) can have.
        opened, shut: whether a node can be open, or not, where all around it is open.
        files_opened, files_shut: whether a file can.
    """

    levels: Flags
    opened: Flags
    shut: Flags
    files_opened: Flags
    files_shut: Flags


def possible(forest: Forest, price: int, room: int) -> Possible:
    """What costs less than `room` of the bound at a price."""
    gains = _gains(forest, price)
    files = np.maximum(gains.files_opened, gains.files_shut)
    # What is lost at least where all around a node is open, and where something is not.
    inside = np.empty(len(forest.nodes), np.int64)
    outside = np.empty(len(forest.nodes), np.int64)
    lost_opened = np.empty(len(forest.nodes), np.int64)
    lost_shut = np.empty(len(forest.nodes), np.int64)
    for depth, nodes in enumerate(forest.depths):
        if depth:
            above = forest.parent[nodes]
            inside[nodes] = lost_opened[above]
            outside[nodes] = np.minimum(lost_shut[above], outside[above])
        else:
            at = forest.file[nodes]
            inside[nodes] = (files - gains.files_opened)[at]
            outside[nodes] = (files - gains.files_shut)[at]
        lost_opened[nodes] = inside[nodes] + gains.free[nodes] - gains.opened[nodes]
        lost_shut[nodes] = inside[nodes] + gains.free[nodes] - gains.shut[nodes]
    levels = np.empty((4, len(forest.nodes)), np.bool_)
    for level in (SKELETON, FULL):
        levels[level] = lost_opened + gains.lines - gains.levels[level] < room
    # Not shown: somewhere outside, or not open itself, or open by its opening lines.
    referred = np.maximum(gains.levels[REFERENCE], 0)
    unseen = np.minimum(lost_shut, outside)
    by_lines = lost_opened + gains.lines - (referred - price * forest.opening)
    unseen = np.where(forest.members, np.minimum(unseen, by_lines), unseen)
    for level in (0, REFERENCE):
        levels[level] = unseen + referred - gains.levels[level] < room
    return Possible(
        levels,
        lost_opened < room,
        lost_shut < room,
        files - gains.files_opened < room,
        files - gains.files_shut < room,
    )
