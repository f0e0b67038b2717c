"""Definitions that the best units refer to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabricd.core.context.corpus import Corpus
from fabricd.core.context.ranking.wording import Scores

# Among so many scores one is looked at to tell which can be among the best.
_EVERY = 16


def best(scores: Scores, count: int) -> list[int]:
    """The indices of the highest scores above 0, the highest first, then by index."""
    # What `count` of some scores reach, as many of all scores reach: less is not among the best.
    floor = _reached(scores[::_EVERY], count)
    taken = np.flatnonzero(scores >= floor if floor > 0 else scores > 0)
    if len(taken) > 4 * count:
        # Of few the order is cheap; of many only the best are put in order.
        some = scores[taken]
        taken = taken[some >= _reached(some, count)]
    order = np.lexsort((taken, -scores[taken]))[:count]
    found: list[int] = taken[order].tolist()
    return found


def _reached(scores: Scores, count: int) -> float:
    """What `count` of the scores reach at least; 0 where they are fewer, or none is asked for."""
    others = len(scores) - count
    return float(np.partition(scores, others)[others]) if 0 < count <= len(scores) else 0.0


def referred(
    corpus: Corpus, scores: Scores, callers: Iterable[int], share: float, most: int
) -> Scores:
    """What each unit has because one of `callers` refers to it by name.

    A name that several define is shared among them; those of the caller's own file are meant
    before others.
    """
    found, file_of = np.zeros(len(scores)), corpus.file_of
    for caller in callers:
        file = int(file_of[caller])
        mentions = corpus.indexed(file).units[caller - corpus.files[file].first_unit].mentions
        for units in corpus.defining((*mentions.calls, *mentions.names)).values():
            if len(units) == 1:
                # Most names are one unit's, and arrays are slow for a single number.
                unit, worth = int(units[0]), round(int(scores[caller]) * share)
                if unit != caller and worth > found[unit]:
                    found[unit] = worth
                continue
            own = units[file_of[units] == file]
            units = own if len(own) else units
            if len(units) <= most:
                worth = round(int(scores[caller]) * share / len(units))
                others = units[units != caller]
                found[others] = np.maximum(found[others], worth)
    return found
