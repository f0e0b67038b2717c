"""Equal and nearly equal texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.context.ranking.likeness import first_alike, nearly_alike


def test_the_first_of_equal_ones() -> None:
    assert first_alike([b"a", b"b", b"a", b"a", b"c", b"b"]) == [-1, -1, 0, 0, -1, 1]


def test_nearly_alike_is_nine_of_ten() -> None:
    sketch = tuple(range(100, 132))
    assert nearly_alike([sketch, sketch]) == [False, True]
    two_others = (1, 2, *sketch[:30])
    assert nearly_alike([sketch, two_others]) == [False, True]
    four_others = (1, 2, 3, 4, *sketch[:28])
    assert nearly_alike([sketch, four_others]) == [False, False]


def test_short_texts_are_never_nearly_alike() -> None:
    assert nearly_alike([(1, 2, 3), (1, 2, 3)]) == [False, False]


@given(st.lists(st.lists(st.integers(0, 50), max_size=32, unique=True).map(sorted), max_size=12))
def test_the_best_is_like_nothing_before_it(sketches: list[list[int]]) -> None:
    found = nearly_alike(sketches)
    assert len(found) == len(sketches)
    assert not any(found[:1])
