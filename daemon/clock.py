"""The one clock seam. Intervals are monotonic; wall time is for marks, logs and people."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What time it is, in the two senses the daemon needs."""

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch: comparable with file time stamps."""
        ...


class SystemClock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch."""
        return time.time_ns()
