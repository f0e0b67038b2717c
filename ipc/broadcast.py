"""Events to every subscriber, without waiting for any. One that lags is cut off, never skipped."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from fabricd.ipc.protocol import event_frame

_EVENTS_HELD = 256
_BYTES_HELD = 1024 * 1024


class Subscription:
    """The frames that one subscriber has still to be sent."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._news = anyio.Event()
        self.has_lagged = False

    @property
    def waiting(self) -> int:
        """How many frames wait."""
        return len(self._frames)

    def offer(self, frame: bytes) -> bool:
        """Take a frame; False where the subscriber has fallen too far behind for it."""
        # One frame alone may be of any size: whoever takes frames as they come is never cut off.
        full = self._frames and self._size + len(frame) > _BYTES_HELD
        if full or len(self._frames) >= _EVENTS_HELD:
            self.has_lagged = True
        else:
            self._frames.append(frame)
            self._size += len(frame)
        self._news.set()
        return not self.has_lagged

    async def next(self) -> bytes | None:
        """The next frame; None after the last one of a subscriber that lagged."""
        while not self._frames:
            if self.has_lagged:
                return None
            self._news = anyio.Event()
            await self._news.wait()
        frame = self._frames.popleft()
        self._size -= len(frame)
        return frame


class Broadcast:
    """Events to every subscriber. One that falls 256 frames or 1 MiB behind is cut off."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._subscriptions: set[Subscription] = set()

    @property
    def subscribers(self) -> int:
        """How many there are."""
        return len(self._subscriptions)

    @property
    def longest_queue(self) -> int:
        """The frames that the slowest subscriber has still to be sent."""
        return max((each.waiting for each in self._subscriptions), default=0)

    def publish(self, name: str, fields: dict[str, object]) -> None:
        """Hand an event to all subscribers without waiting for any."""
        if not self._subscriptions:
            return
        frame = event_frame(self._version, name, fields)
        for subscription in tuple(self._subscriptions):
            if not subscription.offer(frame):
                self._subscriptions.discard(subscription)

    @contextmanager
    def subscription(self) -> Generator[Subscription, None, None]:
        """What is published from now on."""
        subscription = Subscription()
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
