"""What git's history says of files: commits on the same subject, files that change together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import isqrt
from typing import TypeAlias

import numpy as np

from fabricd.core.context.corpus import Changes
from fabricd.core.context.ranking.wanted import Term
from fabricd.core.context.ranking.weights import MILLION
from fabricd.core.context.ranking.wording import Counts, rarity
from fabricd.core.context.terms import query_terms

_Commits: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


class _Past:
    """Commits by the terms of their subjects and by the files they touched."""

    def __init__(self, commits: _Commits) -> None:
        self.commits = commits
        self.lengths: list[int] = []
        self.by_term: dict[str, list[int]] = {}
        self.by_file: dict[int, list[int]] = {}
        for number, (subject, files) in enumerate(commits):
            terms = _subject_terms(subject)
            self.lengths.append(len(terms))
            for term in terms:
                self.by_term.setdefault(term, []).append(number)
            for file in files:
                self.by_file.setdefault(file, []).append(number)
        self.words = max(1, sum(self.lengths))


@lru_cache(maxsize=1 << 13)
def _subject_terms(subject: str) -> tuple[str, ...]:
    return tuple(query_terms(subject))


@lru_cache(maxsize=4)
def _past_of(commits: _Commits) -> _Past:
    return _Past(commits)


def _past(changes: Changes) -> _Past:
    return _past_of(tuple(changes.subjects))


def by_subject(changes: Changes, terms: Iterable[Term], files: int, most: int) -> Counts:
    """Files that commits of a subject like the query touched; the best has a million.

    The `most` like it count. A commit's worth is shared by the root of the number of its files.
    """
    past = _past(changes)
    count = len(past.commits)
    common: Counter[int] = Counter()
    for term in terms:
        numbers = past.by_term.get(term.text, ())
        worth = rarity(count, len(numbers), term.weight)
        for number in numbers:
            common[number] += worth
    # Half of a subject's length counts, compared with the usual one.
    alike = sorted(
        (-(worth * 2 * past.words // (past.words + past.lengths[number] * count)), number)
        for number, worth in common.items()
    )
    scores = np.zeros(files, np.int64)
    for worth, number in alike[:most]:
        touched = past.commits[number][1]
        scores[list(touched)] += -worth * 1000 // isqrt(MILLION * len(touched))
    return _scaled(scores)


def together(changes: Changes, leaders: Sequence[int], files: int) -> Counts:
    """Files that changed in the same commits as `leaders`; the best has a million."""
    past = _past(changes)
    common = Counter(number for leader in leaders for number in past.by_file.get(leader, ()))
    scores = np.zeros(files, np.int64)
    for number, found in sorted(common.items()):
        touched = past.commits[number][1]
        scores[list(touched)] += found * MILLION // len(touched)
    return _scaled(scores)


def recent(changes: Changes, files: int, half: int) -> Counts:
    """Files by how many commits ago they last changed: half of a million after `half`."""
    scores = np.zeros(files, np.int64)
    for file, age in changes.age.items():
        scores[file] = MILLION * half // (half + age)
    return scores


def _scaled(scores: Counts) -> Counts:
    most = int(scores.max()) if len(scores) else 0
    return scores * MILLION // most if most else scores
