"""Numbers as we take them, exact, and as the reference does, as doubles with a tolerance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tests.conformance.oracles import doubled
from tests.conformance.values import walk

_SAFE = 2**53
_TOLERANCE = 1e-10


def has_long_integers(value: Any) -> bool:
    """Whether some integer is beyond those that doubles tell apart."""
    return any(type(inner) is int and abs(inner) > _SAFE for inner in walk(value))


def _exactly(number: float) -> Fraction:
    """What a number stands for: a whole double for its very value, any other for its text."""
    whole = isinstance(number, int) or number.is_integer()
    return Fraction(number) if whole else Fraction(repr(number))


def is_multiple(number: float, divisor: float) -> bool:
    """Our rule: the exact quotient is whole."""
    return (_exactly(number) / _exactly(divisor)).denominator == 1


def is_nearly_multiple(number: float, divisor: float) -> bool:
    """The reference's rule: the remainder of the doubles is within 1e-10 of a multiple."""
    dividend, step = map(float, doubled([number, divisor]))
    if not math.isfinite(dividend):
        return True
    if dividend.is_integer() and (1 / step).is_integer():
        return True
    rest = math.fmod(dividend, step)
    return min(abs(rest), abs(rest - step), abs(rest + step)) < _TOLERANCE
