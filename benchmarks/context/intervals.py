"""Means and differences of paired samples, each with an interval from resampling."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

_SAMPLES = 4000
_SEED = 20_261_130


class Interval(NamedTuple):
    """A mean, and between what the middle 95 % of resampled means lie."""

    mean: float
    low: float
    high: float
    size: int


def interval(values: Sequence[float]) -> Interval:
    """The same for the same values: the draw is seeded."""
    if not values:
        return Interval(0.0, 0.0, 0.0, 0)
    rng = random.Random(_SEED)
    size = len(values)
    means = sorted(sum(rng.choices(values, k=size)) / size for _ in range(_SAMPLES))
    cut = _SAMPLES // 40
    return Interval(sum(values) / size, means[cut], means[-cut - 1], size)


def mean(values: Sequence[float | None]) -> Interval:
    """Of those that are there."""
    return interval([value for value in values if value is not None])


def difference(ours: Sequence[float | None], theirs: Sequence[float | None]) -> Interval:
    """Ours less theirs, question by question, where both are there."""
    return interval(
        [a - b for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
    )
