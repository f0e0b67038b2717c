"""A clock that is turned by hand."""

from __future__ import annotations


class HandClock:
    """Both senses of time, and nothing moves by itself."""

    def __init__(self, wall_ns: int = 10**18, monotonic: float = 1000.0) -> None:
        self.wall = wall_ns
        self.now = monotonic

    def monotonic(self) -> float:
        return self.now

    def wall_ns(self) -> int:
        return self.wall

    def turn(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        self.wall += int(seconds * 1e9)
