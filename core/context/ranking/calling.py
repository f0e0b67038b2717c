"""Definitions that the best units refer to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabricd.core.context.corpus import Corpus
from fabricd.core.context.ranking.wording import Scores


def best(scores: Scores, count: int) -> list[int]:
    """The indices of the highest scores above 0, the highest first, then by index."""
    taken = np.flatnonzero(scores > 0)
    if len(taken) > 4 * count:
        # Of few the order is cheap; of many only the best are put in order.
        some = scores[taken]
        floor = np.partition(some, len(some) - count)[len(some) - count]
        taken = taken[some >= floor]
    order = np.lexsort((taken, -scores[taken]))[:count]
    return [int(index) for index in taken[order]]


def referred(
    corpus: Corpus, scores: Scores, callers: Iterable[int], share: float, most: int
) -> Scores:
    """What each unit has because one of `callers` refers to it by name.

    A name that several define is shared among them; those of the caller's own file are meant
    before others.
    """
    found = np.zeros(len(scores), np.int64)
    for caller in callers:
        file = int(corpus.file_of[caller])
        mentions = corpus.analysed(file).parsed.mentions[caller - corpus.files[file].first_unit]
        for units in corpus.defining((*mentions.calls, *mentions.names)).values():
            if len(units) > 1:
                own = units[corpus.file_of[units] == file]
                units = own if len(own) else units
            if len(units) <= most:
                worth = round(int(scores[caller]) * share / len(units))
                others = units[units != caller]
                found[others] = np.maximum(found[others], worth)
    return found
