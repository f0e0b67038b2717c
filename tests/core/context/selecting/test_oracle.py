"""Selections against everything that could be chosen."""

from __future__ import annotations

import pytest

from fabricd.core.context.selecting.choosing import CELLS
from tests.core.context.selecting.trees import check, tree

_TREES = 2_500
_CHUNK = 250


@pytest.mark.parametrize("first", range(0, _TREES, _CHUNK))
def test_small_trees_are_chosen_from_exactly_and_bounded_truly(first: int) -> None:
    for seed in range(first, first + _CHUNK):
        exact, _ = check(tree(seed), (CELLS, 0))
        assert exact, f"seed {seed}"
