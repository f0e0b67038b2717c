"""How long the event loop keeps others waiting: a timer that compares when it runs with its due."""

from __future__ import annotations

from collections import deque

import anyio

from fabricd.daemon.beats import until_beat
from fabricd.daemon.clock import Clock

BEAT_SECONDS = 4.0
_BEATS = 15


class Heartbeat:
    """Looks every four seconds, so that it costs nothing: a sample, good for what stalls often."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lags: deque[float] = deque(maxlen=_BEATS)

    @property
    def largest_lag(self) -> float:
        """The largest lag of the last minute's looks, in seconds."""
        return max(self._lags, default=0.0)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            now = self._clock.monotonic()
            pause = until_beat(now, BEAT_SECONDS)
            await anyio.sleep(pause)
            self._lags.append(max(0.0, self._clock.monotonic() - now - pause))
