"""Definitions, files and lines that a query names outright."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabricd.core.context.corpus import Corpus
from fabricd.core.context.model import Unit
from fabricd.core.context.ranking.tree import Tree
from fabricd.core.context.ranking.wanted import Symbol, Wanted
from fabricd.core.context.ranking.weights import MILLION, Weights
from fabricd.core.context.ranking.wording import Scores

# A name that so many define is no name.
_COMMON = 200
# A path that more files than these may be meant by is no answer by itself.
_FEW_FILES = 2


def unit_at(corpus: Corpus, unit: int) -> Unit:
    """A unit itself."""
    file = int(corpus.file_of[unit])
    return corpus.indexed(file).units[unit - corpus.files[file].first_unit].unit


def named_units(
    corpus: Corpus, symbols: Iterable[Symbol], is_alone: bool, weights: Weights
) -> dict[int, int]:
    """Units whose name the query has, in millionths; more where it is all of the query."""
    found: dict[int, int] = {}
    symbols = tuple(symbols)
    defined = corpus.defining(symbol.name for symbol in symbols)
    for symbol in symbols:
        units = defined.get(symbol.name)
        if units is None or len(units) > _COMMON:
            continue
        is_sure = symbol.is_quoted or len(units) <= weights.few
        named = weights.quoted if is_sure else weights.symbol
        plain = round((1.0 if is_alone else named) * MILLION)
        member = round((2.0 if is_alone else weights.member) * MILLION)
        for unit in map(int, units):
            worth = plain
            if symbol.container:
                worth = member if _is_within(corpus, unit, symbol.container) else plain // 2
            found[unit] = max(found.get(unit, 0), worth)
    return found


def _is_within(corpus: Corpus, unit: int, container: str) -> bool:
    """Whether a unit stands in a type of this name, or at the top of a module of it."""
    within = unit_at(corpus, unit).container
    if within:
        return within.rpartition(".")[2] == container
    path = corpus.files[int(corpus.file_of[unit])].path
    return container in path.rpartition(".")[0].split("/")


def placed(
    corpus: Corpus, tree: Tree, wants: Wanted, weights: Weights
) -> tuple[Scores, dict[int, int]]:
    """What each file has because the query names it, and what the units at its lines have."""
    files = np.zeros(len(corpus.files))
    units: dict[int, int] = {}
    told = [(place, tree.meant(place.path)) for place in wants.places]
    told += [(place, tree.called(place.path)) for place in wants.names]
    for place, meant in told:
        is_alone = wants.one_file and not place.line and len(meant) <= _FEW_FILES
        worth = round((weights.alone if is_alone else weights.named) * MILLION)
        for index in meant:
            files[index] = max(int(files[index]), worth)
            if place.line and (unit := _at_line(corpus, index, place.line)) is not None:
                units[unit] = round(weights.place * MILLION)
    return files, units


def _at_line(corpus: Corpus, file: int, line: int) -> int | None:
    """The unit at a line; of a blank one between units the next."""
    first = corpus.files[file].first_unit
    for number, one in enumerate(corpus.indexed(file).units):
        if line <= one.unit.lines[1]:
            return first + number
    return None
