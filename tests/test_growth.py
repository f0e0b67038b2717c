from __future__ import annotations

from tests.growth import grows_with_length


def test_a_square_is_told_from_a_line() -> None:
    assert grows_with_length(lambda length: range(length), sum, 2_000_000)
    assert not grows_with_length(lambda length: range(length), _pairs, 2_000)


def _pairs(numbers: range) -> int:
    return sum(1 for _ in numbers for _ in numbers)
