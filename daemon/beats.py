"""One wake for all that looks every few seconds: an idle process costs by its wakes."""

from __future__ import annotations


def until_beat(now: float, period: float) -> float:
    """Seconds to sleep until the next multiple of a period, at least half of it.

    Timers of one period that sleep so are due together, whenever each of them began.

    Args:
        now: on the monotonic clock, in seconds.
        period: seconds, more than 0.
    """
    left = period - now % period
    # A timer that came a little early would be due at once again.
    return left if left >= period / 2 else left + period
