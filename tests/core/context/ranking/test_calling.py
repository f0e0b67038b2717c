"""The best of many scores are those that a sort would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.context.ranking.board import Board
from fabricd.core.context.ranking.calling import best
from fabricd.core.context.ranking.tree import tree_of
from fabricd.core.context.ranking.wanted import wanted
from fabricd.core.context.ranking.weights import WEIGHTS
from tests.core.context.ranking.corpora import MemoryCorpus


@given(st.integers(0, 400), st.integers(0, 60), st.sampled_from([2, 5, 1000]), st.integers(0, 99))
def test_the_best_are_those_of_a_sort(size: int, count: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, most, size).astype(np.float64)
    scores[rng.random(size) < seed / 100] = 0
    sure = sorted(np.flatnonzero(scores).tolist(), key=lambda at: (-scores[at], at))
    assert best(scores, count) == sure[:count]


@pytest.mark.parametrize(
    "texts", [{"a.py": "x = 1\n", "b.py": ""}, {"a.py": "", "b.py": "x = 1\n", "c.py": ""}]
)
def test_files_without_units_have_no_score(texts: dict[str, str]) -> None:
    corpus = MemoryCorpus(texts)
    board = Board(corpus, tree_of(tuple(texts)), wanted("x", WEIGHTS), WEIGHTS)
    scores = np.arange(1.0, len(corpus.file_of) + 1)
    expected = [scores[corpus.file_of == file].max(initial=0) for file in range(len(texts))]
    assert board.best_of_files(scores).tolist() == expected
