"""Notices that the machine slept, that somebody set the time, or that the process was stopped.

Timers and events of the time in between may be lost or late: everything is looked at at once.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from fabricd.core.clocks import Reading, jump_between
from fabricd.daemon.beats import until_beat
from fabricd.daemon.clock import Clock
from fabricd.daemon.telemetry.events import Telemetry

TICK_SECONDS = 4.0


class ClockWatch:
    """Compares the progress of both clocks once a tick."""

    def __init__(self, clock: Clock, telemetry: Telemetry, jumped: Callable[[], None]) -> None:
        self._clock = clock
        self._telemetry = telemetry
        self._jumped = jumped
        self._last = self._now()

    def _now(self) -> Reading:
        return Reading(self._clock.wall_ns(), self._clock.monotonic())

    async def run(self) -> None:
        """Look until cancelled."""
        self._last = self._now()
        while True:
            pause = until_beat(self._clock.monotonic(), TICK_SECONDS)
            await anyio.sleep(pause)
            self.tick(pause)

    def tick(self, pause: float = TICK_SECONDS) -> None:
        """Look once: `pause` seconds should have passed since the last time."""
        before, self._last = self._last, self._now()
        jump = jump_between(before, self._last, pause)
        if jump is not None:
            self._telemetry.clock_jumped(jump.kind, jump.seconds)
            self._jumped()
