"""Why a unit was given, or was not: what its rank is made of, and what stands in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, structs

from fabricd.core.context.asking import Refused
from fabricd.core.context.counting import counter
from fabricd.core.context.model import Level
from fabricd.core.context.offered import Offered, including_steps, ranks
from fabricd.core.context.receipt import Item, Left, Receipt, handle_of
from fabricd.core.context.selecting.offering import LEVELS, TENTHS
from fabricd.core.steps import Steps

# Of a file, or of lines, with more units than this the others are left out.
MOST_UNITS = 20
DISPLACERS = 5
MOST_CHOICES = 12

# The feature in which ranking tells a unit's relevance, in millionths.
RELEVANCE = "relevance"

_RANGE = re.compile(r"(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?")


class Displacer(Struct, frozen=True, rename="camel"):
    """A selected item, and its value per token: relevance (millionths) x tenths of its level."""

    n: int
    path: str
    start: int
    end: int
    name: str
    level: Level
    tokens: int
    density: int


class Explanation(Struct, frozen=True, rename="camel"):
    """What is known of one unit.

    Attributes:
        n: its number in the answer; None where it was left out.
        reason: why it was left out; None where it was given.
        rank: by relevance, from 1; None where it is not known.
        displaced: the selected items of least value per token, the least first.
        budget: the least budget tried that gives it whole; None where none does, or `searched` is
            false.
        searched: whether budgets were tried: what selection chose from is kept as long as texts.
        recomputed: features are of a ranking made now, not of the receipt.
    """

    path: str
    start: int
    end: int
    kind: str
    name: str
    n: int | None
    level: Level | None
    reason: str | None
    rank: int | None
    features: dict[str, int]
    displaced: tuple[Displacer, ...]
    budget: int | None
    searched: bool
    recomputed: bool = False


class Subject(Struct, frozen=True):
    """A unit to explain, from the receipt or ranked again."""

    unit: Item | Left
    rank: int | None = None
    recomputed: bool = False

    @property
    def told(self) -> str:
        """The unit in a list of several."""
        unit = self.unit
        return f"{unit.path}:{unit.start}-{unit.end} {unit.kind} {unit.name}".rstrip()


def subjects(receipt: Receipt, name: str, what: str) -> list[Subject]:
    """The units of a receipt, whose id is `name`, that are meant: none where it tells of none.

    Args:
        what: a handle, `path`, `path:a-b` or a symbol.

    Raises:
        Refused: `unknown`: the handle is of no item; `ambiguous`: several units have this name.
    """
    handle = handle_of(what)
    if handle is not None:
        items = [item for item in receipt.items if handle == (name, item.n)]
        if not items:
            raise Refused("unknown", f"{what} is no item of {name}")
        return [Subject(items[0])]
    units: list[Item | Left] = [*receipt.items, *receipt.omitted.top]
    named = [Subject(unit) for unit in units if _is_named(unit.name, what)]
    placed = [Subject(unit) for unit in units if _is_at(unit, what)]
    if placed:
        return placed[:MOST_UNITS]
    return only(named, what)


def only(named: Sequence[Subject], symbol: str) -> list[Subject]:
    """The one unit with a name, if there is one.

    Raises:
        Refused: `ambiguous`: there are several; the message lists them.
    """
    if len(named) < 2:
        return list(named)
    listed = "; ".join(subject.told for subject in named[:MOST_CHOICES])
    more = f"; and {len(named) - MOST_CHOICES} more" if len(named) > MOST_CHOICES else ""
    raise Refused("ambiguous", f"{len(named)} units are called {symbol}: {listed}{more}")


def explain_steps(
    receipt: Receipt, subject: Subject, offered: Offered | None
) -> Steps[Explanation]:
    """Everything that is known of one unit.

    Args:
        offered: what the selection chose from, where it is still kept.
    """
    unit = subject.unit
    index = None if offered is None else offered.at(unit.path, unit.start, unit.end)
    item = unit if isinstance(unit, Item) else None
    found = Explanation(
        unit.path,
        unit.start,
        unit.end,
        unit.kind,
        unit.name,
        None if item is None else item.n,
        None if item is None else item.level,
        unit.reason if isinstance(unit, Left) else None,
        subject.rank or _rank(receipt, unit, offered, index),
        unit.features,
        () if item is not None and item.level == "full" else displacers(receipt, offered),
        None,
        False,
        subject.recomputed,
    )
    if offered is None or index is None:
        return found
    # Only an estimate tells other tokens than those that offers cost.
    within = counter("claude").within if receipt.tokenizer == "claude" else int
    budget = yield from including_steps(offered, index, receipt.budget, within)
    return structs.replace(found, budget=budget, searched=True)


def displacers(receipt: Receipt, offered: Offered | None) -> tuple[Displacer, ...]:
    """The selected items of least value per token."""
    found = [_displacer(item, offered) for item in receipt.items]
    return tuple(sorted(found, key=lambda item: (item.density, item.n))[:DISPLACERS])


def _displacer(item: Item, offered: Offered | None) -> Displacer:
    index = None if offered is None else offered.at(item.path, item.start, item.end)
    relevance = _relevance(item)
    if offered is not None and index is not None:
        relevance = offered.offers[index].relevance
    density = relevance * TENTHS[LEVELS.index(item.level)]
    return Displacer(
        item.n, item.path, item.start, item.end, item.name, item.level, item.tokens, density
    )


def _rank(
    receipt: Receipt, unit: Item | Left, offered: Offered | None, index: int | None
) -> int | None:
    if offered is not None and index is not None:
        return ranks(offered.offers)[index]
    units: list[Item | Left] = [*receipt.items, *receipt.omitted.top]
    if unit not in units:
        return None
    # Units that were not among the best are behind all of these.
    return 1 + sum(_relevance(other) > _relevance(unit) for other in units)


def _relevance(unit: Item | Left) -> int:
    found = unit.features.get(RELEVANCE)
    return sum(unit.features.values()) if found is None else found


def _is_named(name: str, symbol: str) -> bool:
    return bool(symbol) and (name == symbol or name.endswith(f".{symbol}"))


def _is_at(unit: Item | Left, what: str) -> bool:
    if unit.path == what:
        return True
    found = _RANGE.fullmatch(what)
    if found is None or found[1] != unit.path:
        return False
    return unit.start <= int(found[3] or found[2]) and int(found[2]) <= unit.end
