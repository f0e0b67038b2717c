"""How well the words of units, files and paths are those of a query: BM25 over weighted fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, sqrt
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from fabricd.core.context.corpus import Bytes, Corpus, Hits, Ints
from fabricd.core.context.ranking.tree import Tree
from fabricd.core.context.ranking.wanted import Term
from fabricd.core.context.ranking.weights import MILLION, Weights

Reals = npt.NDArray[np.float64]
# Whole numbers below 2^53: exact as reals, and eight times as fast as turned from and to integers.
Scores = Reals
Counts = npt.NDArray[np.int64]

# How much the length of a file counts, as b of BM25.
_FILE_SPREAD = 0.75


class Worded(NamedTuple):
    """Scores by words alone, in whole millionths of BM25, of each unit and of each file."""

    units: Scores
    files: Scores


def worded(corpus: Corpus, tree: Tree, terms: Iterable[Term], weights: Weights) -> Worded:
    """Score all units and files; sums are taken in the order of the terms."""
    counting = _Counting(corpus, tree, weights)
    k1 = weights.saturation
    units, files = np.zeros(len(corpus.file_of)), np.zeros(len(corpus.files))
    for term in terms:
        in_units, in_files = counting.counts(term)
        units += _saturated(in_units, term.weight, k1)
        files += _saturated(in_files, term.weight, k1)
    return Worded(units, files)


class Sizes:
    """How much longer than usual the fields of each unit are, and each file, as BM25 has it.

    Attributes:
        of_units: by field, of each unit; None where length counts for nothing.
        of_files: of each file.
        in_files: how many units each file has.
        filled: the files that have units.
        firsts: the first unit of each of those.
    """

    def __init__(self, corpus: Corpus, spreads: Sequence[float]) -> None:
        self.spreads = spreads
        lengths, files = corpus.lengths, len(corpus.files)
        number = max(1, len(lengths))
        # Column by column: rows of four are slow.
        usual = [max(int(column.sum()) / number, 1.0) for column in lengths.T]
        self.of_units = [
            1.0 - spread + spread * (lengths[:, field] / usual[field]) if spread else None
            for field, spread in enumerate(spreads)
        ]
        self.in_files: Counts = np.bincount(corpus.file_of, minlength=files)
        self.filled = np.flatnonzero(self.in_files)
        self.firsts: Counts = (np.cumsum(self.in_files) - self.in_files)[self.filled]
        size = np.bincount(corpus.file_of, _across(lengths), files)
        mean = max(1.0, float(size.sum()) / max(1, files))
        self.of_files = 1.0 - _FILE_SPREAD + _FILE_SPREAD * size / mean


# Of a corpus they stay the same, and a query takes longer to work them out than to use them.
_KNOWN: WeakKeyDictionary[Corpus, Sizes] = WeakKeyDictionary()


def sizes_of(corpus: Corpus, spreads: Sequence[float]) -> Sizes:
    """The sizes of a corpus, with how much the length of each field counts."""
    found = _KNOWN.get(corpus)
    if found is None or found.spreads != spreads:
        found = _KNOWN[corpus] = Sizes(corpus, spreads)
    return found


class _Counting:
    """Counts terms in units and files, weighted by field and for the fields' lengths."""

    def __init__(self, corpus: Corpus, tree: Tree, weights: Weights) -> None:
        self._corpus = corpus
        self._tree = tree
        self._weights = weights
        self._sizes = sizes_of(corpus, weights.spread)

    def counts(self, term: Term) -> tuple[Reals, Reals]:
        """Of each unit and of each file."""
        corpus, weights = self._corpus, self._weights
        units, files = np.zeros(len(corpus.file_of)), np.zeros(len(corpus.files))
        named = np.zeros(len(files))
        # What is to be done is no name: there it counts as anywhere.
        name = 1.0 if term.is_wish else weights.fields[0]
        factors = (name, *weights.fields[1:])
        for text, share in ((term.text, 1.0), *((form, weights.forms) for form in term.forms)):
            hits = corpus.hits(text)
            if len(hits.units):
                units[hits.units] += share * self._weighted(hits, factors)
                owners = corpus.file_of.take(hits.units)
                files += share * np.bincount(owners, _across(hits.counts), len(files))
            paths = self._tree.naming(text)
            named[paths] = np.maximum(named[paths], share)
        files /= self._sizes.of_files
        if named.any():
            units += weights.path * np.repeat(named, self._sizes.in_files)
            files += weights.path * named
        return units, files

    def _weighted(self, hits: Hits, factors: Sequence[float]) -> Reals:
        """The counts of a term in each of its units, as one."""
        # Field by field: the order of a sum must not depend on the machine.
        total = np.zeros(len(hits.units))
        for field, longer in enumerate(self._sizes.of_units):
            counts = hits.counts[:, field] * factors[field]
            total += counts if longer is None else counts / longer.take(hits.units)
        return total


def _across(fields: Ints | Bytes) -> Ints:
    """The sum of each row."""
    total: Ints = fields[:, 0].astype(np.int32)
    for field in range(1, fields.shape[1]):
        total += fields[:, field]
    return total


def _saturated(count: Reals, weight: float, k1: float) -> Scores:
    """What a term adds, rarer terms more."""
    found = int(np.count_nonzero(count))
    if not found:
        return np.zeros(len(count))
    factor = rarity(len(count), found, weight) * (k1 + 1)
    scores = count + k1
    np.divide(count, scores, out=scores)
    scores *= factor
    return np.rint(scores, out=scores)


def rarity(among: int, found: int, weight: float) -> int:
    """How much a term tells that `found` of `among` have, times its weight, in millionths.

    More than BM25 has it: the 1.5th power, for in source rare words are names.
    """
    plain = log(1 + (among - found + 0.5) / (found + 0.5))
    return round(plain * sqrt(plain) * weight * MILLION)
