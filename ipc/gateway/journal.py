"""The log of a run: records are made where there is a moment, and written by their own thread."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from fabricd.core.mcp.conversation import Called, Event, Surfaced
from fabricd.core.mcp.records import Audits, call_record, lost_record, surface_record

_DELAY_SECONDS = 0.1
_WAITING = 5000
_WAITING_BYTES = 8 * 1024 * 1024
_FLUSH = 1024 * 1024
# What is left to the writer must not keep the copying threads from the interpreter.
_PAUSE_SECONDS = 2e-4
_HURRIED = 1000


class Journal:
    """Takes events from the pipe's threads and writes them a moment later, many at once."""

    def __init__(
        self,
        server: str,
        audits: Audits,
        write: Callable[[bytes], None],
        failed: Callable[[str], None],
    ) -> None:
        """Start the thread; where that cannot be, nothing is logged.

        Args:
            write: appends whole records to the log.
            failed: is told once that nothing is logged any more, and why.
        """
        self._server = server
        self._audits: Audits = audits
        self._write = write
        self._failed = failed
        self._events: deque[Event] = deque()
        self._lines: deque[bytes] = deque()
        # What waits, as values or as lines: counted where it comes and where it goes.
        self._bytes = 0
        self._counting = threading.Lock()
        self._surface: Surfaced | None = None
        self._lost = 0
        self._is_on = True
        self._woken = threading.Event()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._off(error)

    @property
    def surface(self) -> bytes:
        """The record of the last listing, for a log that begins anew; nothing without one."""
        return b"" if self._surface is None else surface_record(self._surface)

    def note(self, event: Event) -> None:
        """Take an event; too many at once are counted and dropped."""
        if not self._is_on:
            return
        size = event.asked.size if isinstance(event, Called) else 0
        waiting = len(self._events) + len(self._lines)
        if waiting >= _WAITING or self._bytes + size > _WAITING_BYTES:
            self._lost += 1
            return
        self._count(size)
        self._events.append(event)
        if not self._woken.is_set():
            self._woken.set()

    def work(self, events: int) -> None:
        """Make so many records: for a thread that has just forwarded what they are about."""
        try:
            for _ in range(min(events, len(self._events))):
                self._make()
        except Exception as error:
            self._off(error)

    def close(self, seconds: float) -> None:
        """Write what is left, for so long."""
        self._ends.set()
        self._woken.set()
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while not (self._ends.is_set() and not self._events and not self._lines):
                self._woken.wait()
                self._ends.wait(_DELAY_SECONDS)
                self._woken.clear()
                self._drain()
        except Exception as error:
            self._off(error)

    def _off(self, error: Exception) -> None:
        if self._is_on:
            self._is_on = False
            self._events.clear()
            self._lines.clear()
            self._failed(f"nothing is logged any more: {type(error).__name__}: {error}")

    def _make(self) -> None:
        try:
            event = self._events.popleft()
        except IndexError:
            # Another thread was faster.
            return
        match event:
            case Called():
                line = call_record(event, self._server, self._audits)
                self._count(len(line) - event.asked.size)
            case Surfaced():
                line = surface_record(event)
                self._surface = event
                self._count(len(line))
        self._lines.append(line)

    def _count(self, size: int) -> None:
        with self._counting:
            self._bytes += size

    def _drain(self) -> None:
        while self._events:
            self._make()
            if len(self._events) < _HURRIED:
                time.sleep(_PAUSE_SECONDS)
            if len(self._lines) >= _HURRIED or self._bytes > _FLUSH:
                self._flush()
        self._flush()

    def _flush(self) -> None:
        while self._lines or self._lost:
            lines: list[bytes] = []
            size = 0
            while self._lines and size < _FLUSH:
                lines.append(self._lines.popleft())
                size += len(lines[-1])
            if self._lost:
                lost, self._lost = self._lost, 0
                lines.append(lost_record(lost))
            self._write(b"".join(lines))
            self._count(-size)
