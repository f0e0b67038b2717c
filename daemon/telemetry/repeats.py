"""Warnings that repeat: told once, counted, and told again with their number after a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any, TypeAlias

import structlog

SECONDS = 60.0
_MOST = 256
_LEVELS = ("warning", "error")

Event: TypeAlias = MutableMapping[str, Any]
Render: TypeAlias = Callable[[Any, str, Event], str | bytes]


class _Known:
    """A warning that was told at `since`, and those equal to it that were not."""

    def __init__(self, since: float) -> None:
        self.since = since
        self.count = 0
        self.latest: Event = {}


class Repeats:
    """The last step of the chain: renders an event, or counts it and lets it go."""

    def __init__(self, render: Render, clock: Callable[[], float] = time.monotonic) -> None:
        self._render = render
        self._clock = clock
        self._known: dict[str, _Known] = {}

    def __call__(self, logger: Any, method: str, event: Event) -> str:
        """The event in a line, behind lines for those whose minute is over.

        Raises:
            structlog.DropEvent: there is nothing to write now.
        """
        now = self._clock()
        told = event if event.get("level") not in _LEVELS else self._news(event, now)
        lines = self._due(now)
        if told is not None:
            lines.append(self._line(method, told))
        if not lines:
            raise structlog.DropEvent
        return "\n".join(lines)

    def rest(self) -> str:
        """What was counted and not told yet, each in a line with its end."""
        lines = [self._line("", _counted(known)) for known in self._known.values() if known.count]
        self._known.clear()
        return "".join(f"{line}\n" for line in lines)

    def _news(self, event: Event, now: float) -> Event | None:
        key = repr(sorted((name, repr(value)) for name, value in event.items() if name != _WHEN))
        known = self._known.get(key)
        if known is None:
            self._known[key] = _Known(now)
            return event
        known.count += 1
        known.latest = dict(event)
        if now - known.since < SECONDS:
            return None
        # Later than all others, and with a minute of its own.
        del self._known[key]
        self._known[key] = _Known(now)
        return _counted(known)

    def _due(self, now: float) -> list[str]:
        """Those whose minute is over, and the oldest where there are too many."""
        lines: list[str] = []
        for key, known in list(self._known.items()):
            if now - known.since < SECONDS and len(self._known) <= _MOST:
                break
            del self._known[key]
            if known.count:
                lines.append(self._line("", _counted(known)))
        return lines

    def _line(self, method: str, event: Event) -> str:
        # Renderers take apart what they are given.
        found = self._render(None, method, dict(event))
        return found if isinstance(found, str) else found.decode()


_WHEN = "timestamp"


def _counted(known: _Known) -> Event:
    return {**known.latest, "repeated": known.count}
