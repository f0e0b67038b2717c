"""The best units of a root for a query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from fabricd.core.context.corpus import Corpus
from fabricd.core.context.ranking.board import Board
from fabricd.core.context.ranking.calling import best
from fabricd.core.context.ranking.likeness import first_alike, nearly_alike
from fabricd.core.context.ranking.tree import tree_of
from fabricd.core.context.ranking.wanted import wanted
from fabricd.core.context.ranking.weights import MILLION, WEIGHTS, Weights
from fabricd.core.context.ranking.wording import Scores

CANDIDATES = 300
# Of so many of the best files the best unit is a candidate, whatever its rank: for references.
FILES = 80

_TOP = 5_600_000


class Candidate(Struct, frozen=True, array_like=True):
    """A unit that has to do with the query.

    Attributes:
        unit: its index in the corpus.
        file: the index of its file.
        relevance: in millionths, above 0.
        features: what it is made of, by name. `relevance` is the fourth power of the sum of the
            others, each in millionths of the best text score, but for `kind` and `similar`, which
            tell what was left of it because of its file's kind, and of a better unit like it.
        same_as: the candidate's unit before it in rank that has the same text, else -1.
    """

    unit: int
    file: int
    relevance: int
    features: dict[str, int]
    same_as: int = -1


class Ranked(Struct, frozen=True, array_like=True):
    """Candidates by relevance, the best first, then by unit.

    Attributes:
        candidates: at most 300: the best unit of each of the best 80 files, and the best others.
        files: indices of all files that have a candidate, the best first.
        no_match: how many units have nothing to do with the query.
        scored: how many have.
    """

    candidates: tuple[Candidate, ...]
    files: tuple[int, ...]
    no_match: int
    scored: int


def rank(
    corpus: Corpus, query: str, paths: Sequence[str] = (), weights: Weights = WEIGHTS
) -> Ranked:
    """Rank a root's units for a query, within `paths` (prefixes) if there are any."""
    if not len(corpus.file_of):
        return Ranked((), (), 0, 0)
    tree = tree_of(tuple(file.path for file in corpus.files))
    board = Board(corpus, tree, wanted(query, weights), weights)
    return _Ranking(corpus, board, paths, weights).ranked()


class _Ranking:
    def __init__(
        self, corpus: Corpus, board: Board, paths: Sequence[str], weights: Weights
    ) -> None:
        self._corpus = corpus
        self._board = board
        self._weights = weights
        self._total = board.total
        if (is_within := _within(corpus, paths)) is not None:
            self._total = np.where(is_within[corpus.file_of], board.total, 0.0)
        # A certificate adds up relevance times tokens, and is told in numbers that every reader of
        # JSON takes for the same: the fourth power of this is at most a thousand millions.
        top = int(self._total.max())
        if top > _TOP:
            exact = self._total.astype(np.int64) * _TOP // top
            self._total = np.where(self._total > 0, np.maximum(exact, 1), 0).astype(np.float64)

    def ranked(self) -> Ranked:
        total = self._total
        scored = int(np.count_nonzero(total))
        tops = self._board.best_of_files(total)
        order = self._chosen(tops)
        self._corpus.prepare({int(self._corpus.file_of[unit]) for unit in order})
        candidates = self._told_apart([self._candidate(unit) for unit in order])
        present = {candidate.file for candidate in candidates}
        files = sorted(present, key=lambda file: (-int(tops[file]), file))
        return Ranked(candidates, tuple(files), len(total) - scored, scored)

    def _chosen(self, tops: Scores) -> list[int]:
        """The units that are candidates, the best first."""
        leads = dict.fromkeys(map(self._lead, best(tops, FILES)))
        others = [unit for unit in best(self._total, CANDIDATES) if unit not in leads]
        chosen = [*leads, *others[: CANDIDATES - len(leads)]]
        return sorted(chosen, key=lambda unit: (-int(self._total[unit]), unit))

    def _lead(self, file: int) -> int:
        facts = self._corpus.files[file]
        own = self._total[facts.first_unit : facts.first_unit + facts.units]
        return facts.first_unit + int(own.argmax())

    def _candidate(self, unit: int) -> Candidate:
        file = int(self._corpus.file_of[unit])
        relevance = _relevance(self._total, unit)
        features = {"relevance": relevance, **self._board.features(unit)}
        if (kept := float(self._board.kept[file])) != 1.0:
            features["kind"] = round(kept * MILLION)
        return Candidate(unit, file, relevance, features)

    def _told_apart(self, ranked: list[Candidate]) -> tuple[Candidate, ...]:
        """Of nearly the same units only the first keeps all its relevance; none is left out."""
        corpus, left = self._corpus, self._weights.similar
        inside = {file: corpus.indexed(file).units for file in {one.file for one in ranked}}
        units = [inside[one.file][one.unit - corpus.files[one.file].first_unit] for one in ranked]
        same = first_alike([unit.digest for unit in units])
        near = nearly_alike([_hashes(unit.sketch) for unit in units])
        found: list[Candidate] = []
        for index, one in enumerate(ranked):
            if same[index] >= 0:
                one = structs.replace(one, same_as=ranked[same[index]].unit)
            elif near[index]:
                relevance = max(1, round(one.relevance * left))
                features = {
                    **one.features,
                    "relevance": relevance,
                    "similar": round(left * MILLION),
                }
                one = structs.replace(one, relevance=relevance, features=features)
            found.append(one)
        return tuple(sorted(found, key=lambda one: (-one.relevance, one.unit)))


def _hashes(sketch: bytes) -> Sequence[int]:
    return memoryview(sketch).cast("I")


def _relevance(total: Scores, unit: int) -> int:
    """A score's fourth power: many units of middling worth must not outdo the best few."""
    square = int(total[unit]) ** 2 // MILLION
    return max(1, square**2 // MILLION)


def _within(corpus: Corpus, paths: Sequence[str]) -> npt.NDArray[np.bool_] | None:
    prefixes = [folder for path in paths if (folder := path.removeprefix("./").rstrip("/")) != "."]
    if not prefixes or "" in prefixes:
        return None
    return np.array(
        [
            any(file.path == one or file.path.startswith(f"{one}/") for one in prefixes)
            for file in corpus.files
        ]
    )
