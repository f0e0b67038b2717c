"""Numbers of untrusted JSON as doubles."""

from __future__ import annotations

import math

from fabricd.core.trajectory.values import double


def finite(value: object) -> float | None:
    """A finite number as a double; None for anything else."""
    if value is None or isinstance(value, (str, bool)) or not isinstance(value, (int, float)):
        return None
    number = double(value)
    return number if math.isfinite(number) else None
