"""Lines are posted in their order, and what is unanswered is known.

Only so many requests are under way at once. Others wait for theirs; what is no request waits for
nobody, because the server may need it to answer: a cancellation, or what it has asked the client.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable

from fabricd.ipc.gateway.posted import Key, Posted

_AT_ONCE = 64
_HELD_BYTES = 32 * 1024 * 1024


class Turns:
    """Whose turn it is."""

    def __init__(self, send: Callable[[Posted], None]) -> None:
        """Nothing is posted yet.

        Args:
            send: posts a line, one at a time; `ended` is due when nothing more comes back for it.
        """
        self._send = send
        self._order = threading.Lock()
        self._state = threading.Condition()
        self._open: set[Posted] = set()
        self._held: deque[Posted] = deque()
        self._held_bytes = 0

    def post(self, line: Posted) -> None:
        """Post a line, or hold it until it may be; waits only where too much is held."""
        with self._state:
            self._state.wait_for(lambda: self._held_bytes <= _HELD_BYTES)
        with self._order:
            if not self._holds(line):
                self._send(line)

    def post_held(self) -> None:
        """Post what is held, when its turn comes. Never comes back."""
        while True:
            with self._state:
                self._state.wait_for(lambda: self._held and self._may_go(self._held[0]))
            with self._order:
                with self._state:
                    line = self._held.popleft()
                    self._held_bytes -= len(line.body)
                    self._enter(line)
                self._send(line)

    def settle(self, keys: Iterable[Key]) -> None:
        """These requests have their reply, whichever stream it came in."""
        with self._state:
            self._settle(keys)

    def ended(self, line: Posted) -> None:
        """Nothing more comes back for a line."""
        with self._state:
            self._open.discard(line)
            self._state.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until all is answered, for so long."""
        with self._state:
            self._state.wait_for(lambda: not self._open and not self._held, seconds)

    def _holds(self, line: Posted) -> bool:
        with self._state:
            if self._has_to_wait(line):
                self._held.append(line)
                self._held_bytes += len(line.body)
                self._state.notify_all()
                return True
            self._enter(line)
            return False

    def _has_to_wait(self, line: Posted) -> bool:
        if line.asks:
            return bool(self._held) or not self._may_go(line)
        # It must not be there before what it is about.
        return any(not line.cancels.isdisjoint(held.waiting) for held in self._held)

    def _may_go(self, line: Posted) -> bool:
        return not line.asks or sum(1 for each in self._open if each.waiting) < _AT_ONCE

    def _enter(self, line: Posted) -> None:
        self._open.add(line)
        self._settle(line.cancels)

    def _settle(self, keys: Iterable[Key]) -> None:
        for line in self._open:
            line.settle(keys)
        self._state.notify_all()
