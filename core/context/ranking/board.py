"""The scores of all units of a corpus, part by part."""

from __future__ import annotations

import numpy as np

from fabricd.core.context.corpus import Corpus
from fabricd.core.context.ranking.calling import best, referred
from fabricd.core.context.ranking.naming import named_units, placed
from fabricd.core.context.ranking.past import by_subject, recent, together
from fabricd.core.context.ranking.tree import Tree
from fabricd.core.context.ranking.wanted import Wanted
from fabricd.core.context.ranking.weights import MILLION, Weights
from fabricd.core.context.ranking.wording import Counts, Reals, Scores, sizes_of, worded

# How many of the best units tell which files are the best.
_LEADING = 40

_OF_FILES = 2 * MILLION


class Board:
    """Scores of units in millionths of the best text score; those of files are of all their units.

    Attributes:
        total: of each unit, the sum of its parts.
        parts: by name, of each unit.
        kept: for each file, what is left of its scores for the kind of file it is.
    """

    def __init__(self, corpus: Corpus, tree: Tree, wants: Wanted, weights: Weights) -> None:
        self._corpus = corpus
        self._tree = tree
        self._wants = wants
        self._weights = weights
        self._file_of = corpus.file_of
        self._sizes = sizes_of(corpus, weights.spread)
        self.total: Scores = np.zeros(len(corpus.file_of))
        self.parts: dict[str, Scores] = {}
        by_path, by_line = placed(corpus, tree, wants, weights)
        self.kept = self._kept(by_path)
        text, of_files = self._add_text()
        self._add_named(by_line)
        leaders = self._leaders()
        self._add_files("path", by_path, 1.0)
        self._add_files("file", of_files, weights.file * self.kept)
        self._add_files("scope", self._scoped(), weights.scope * self.kept)
        self._add_past(leaders)
        self._add_referred(text)
        self._add("near", self._near())

    def best_of_files(self, scores: Scores) -> Scores:
        """Of each file the best of its units; 0 of one without units."""
        found = np.zeros(len(self._corpus.files))
        if len(scores):
            found[self._sizes.filled] = np.maximum.reduceat(scores, self._sizes.firsts)
        return found

    def features(self, unit: int) -> dict[str, int]:
        """What a unit's score is made of."""
        return {name: score for name, all_ in self.parts.items() if (score := int(all_[unit]))}

    def _kept(self, by_path: Scores) -> Reals:
        """A kind of file that the query asks for, and what it names, keep everything."""
        wants, weights = self._wants, self._weights
        of_kind = {kind: weights.demoted for kind in set(self._tree.kinds)}
        of_kind |= {"source": 1.0, "vendored": weights.vendored}
        of_kind |= dict.fromkeys(wants.kinds, 1.0)
        kept = np.array([of_kind[kind] for kind in self._tree.kinds])
        kept[by_path > 0] = 1.0
        if wants.folders:
            kept[[file.path.startswith(wants.folders) for file in self._corpus.files]] = 1.0
        return kept

    def _add_text(self) -> tuple[Scores, Scores]:
        """By words; gives the scores of units before anything is taken off, and of files."""
        words = worded(self._corpus, self._tree, self._wants.terms, self._weights)
        named = self._corpus.lengths[:, 0] > 0
        plain = np.where(named, words.units, shared(words.units, self._weights.unnamed))
        left = shared(plain, self._of_each(self.kept))
        scale = MILLION / max(1, int(left.max()))
        self._add("text", shared(left, scale))
        # A file in which everything matches must not drown what tells its units apart.
        return shared(plain, scale), np.minimum(shared(words.files, scale), _OF_FILES)

    def _add_named(self, by_line: dict[int, int]) -> None:
        wants = self._wants
        by_name = named_units(self._corpus, wants.symbols, wants.only, self._weights)
        for name, units in (("symbol", by_name), ("place", by_line)):
            scores = np.zeros(len(self.total))
            for unit, worth in units.items():
                scores[unit] = round(worth * float(self.kept[self._file_of[unit]]))
            self._add(name, scores)

    def _leaders(self) -> list[int]:
        found = dict.fromkeys(int(self._file_of[unit]) for unit in best(self.total, _LEADING))
        return list(found)[: self._weights.leaders]

    def _scoped(self) -> Scores:
        """How much of what a file's name says stands in the query's scope."""
        scope = self._wants.scope
        scores = np.zeros(len(self._tree.subjects))
        if scope:
            for file, terms in enumerate(self._tree.subjects):
                if terms & scope:
                    scores[file] = MILLION * len(terms & scope) // len(terms)
        return scores

    def _add_past(self, leaders: list[int]) -> None:
        weights, changes, files = self._weights, self._corpus.changes(), len(self._corpus.files)
        if changes.subjects:
            alike = by_subject(changes, self._wants.terms, files, weights.commits)
            self._add_files("history", alike, weights.history * self.kept)
            common = together(changes, leaders, files)
            self._add_files("together", common, weights.together * self.kept)
            # To be new is nothing by itself.
            last = recent(changes, files, weights.half)
            last[self.best_of_files(self.total) == 0] = 0
            self._add_files("recent", last, weights.recent * self.kept)

    def _add_referred(self, text: Scores) -> None:
        corpus, weights = self._corpus, self._weights
        kept = self._of_each(self.kept)
        in_test = self._tree.is_test.take(self._file_of)
        callers = best(self.total, weights.callers)
        called = referred(corpus, self.total, callers, weights.called, weights.shared)
        testing = np.where(in_test, text, 0)
        tests = best(testing, weights.callers)
        tested = referred(corpus, testing, tests, weights.tested, weights.shared)
        tested[in_test] = 0
        self._add("called", shared(called, kept))
        self._add("tested", shared(tested, kept))

    def _near(self) -> Scores:
        """What units have of those before and behind them in their file."""
        is_same = self._file_of[1:] == self._file_of[:-1]
        scores = np.zeros(len(self.total))
        scores[1:] += np.where(is_same, self.total[:-1], 0)
        scores[:-1] += np.where(is_same, self.total[1:], 0)
        return shared(scores, self._weights.near)

    def _of_each(self, files: Reals) -> Reals:
        """For each unit what its file has: three times as fast as to look it up."""
        return np.repeat(files, self._sizes.in_files)

    def _add_files(self, name: str, scores: Scores | Counts, factors: Reals | float) -> None:
        if scores.any():
            self._add(name, self._of_each(shared(scores, factors)))

    def _add(self, name: str, scores: Scores) -> None:
        if scores.any():
            self.parts[name] = scores
            self.total += scores


def shared(scores: Scores | Counts, factor: Reals | float) -> Scores:
    """Scores times a factor, whole again."""
    scaled: Scores = np.multiply(scores, factor, dtype=np.float64)
    return np.rint(scaled, out=scaled)
