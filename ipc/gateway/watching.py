"""What the two directions of a pipe share: one conversation, read by both, one at a time.

Every part may fail without the pipe: it is then off for the rest of the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from fabricd.core.mcp.limits import CHANGED_MARK, may_be_read
from fabricd.core.mcp.lines import Copies

if TYPE_CHECKING:
    from fabricd.core.mcp.conversation import Conversation

_KEPT = len(CHANGED_MARK) - 1
_SETTLED_SECONDS = 0.05


class Watch:
    """Lines of the client are decided on, copies of the server's bytes are read."""

    def __init__(
        self,
        make: Callable[[], Conversation],
        failed: Callable[[str], None],
        afterwards: Callable[[], None] = lambda: None,
    ) -> None:
        """Nothing is made yet.

        Args:
            make: makes the conversation; called once, by the first who needs it.
            failed: is told once that nothing is read any more, and why.
            afterwards: called when replies were read, and nobody waits for anything.
        """
        self._make = make
        self._failed = failed
        self._afterwards = afterwards
        self._made: Conversation | None = None
        self._lock = threading.Lock()
        self._copies = Copies()
        self._kept = b""
        self._settled = threading.Event()
        self._settled.set()
        self._chunk = 0
        self._waited_for = 0
        self._is_reading = False
        self._is_on = True

    def prepare(self) -> None:
        """Make the conversation, if nobody has needed it yet."""
        try:
            with self._lock:
                self._conversation()
        except Exception as error:
            self._off(error)

    def asked(self, line: bytes) -> bytes:
        """Decide on a client's line; gives the line to forward."""
        if not self._is_on or not may_be_read(line):
            return line
        if not self._settled.is_set() and b"call" in line:
            self._settle()
        try:
            with self._lock:
                return self._conversation().asked(line)
        except Exception as error:
            self._off(error)
            return line

    def _settle(self) -> None:
        """Wait a moment for what was forwarded and is not read here yet.

        The client may answer to it: to a page, or that the list has changed. But where it does not
        read, forwarding takes as long as it likes: that is waited for once.
        """
        chunk = self._chunk
        if self._is_reading or self._waited_for != chunk:
            if not self._settled.wait(_SETTLED_SECONDS) and not self._is_reading:
                self._waited_for = chunk

    def talking(self) -> None:
        """Bytes of the server are about to be forwarded."""
        made = self._made
        if made is not None and (made.is_listing or made.has_pages):
            self._chunk += 1
            self._settled.clear()

    def heard(self, chunk: bytes) -> None:
        """Read a copy of bytes that were forwarded."""
        if not self._is_on:
            return
        self._is_reading = True
        made = self._made
        try:
            if made is not None and made.is_expecting:
                with self._lock:
                    self._read(made, chunk)
                self._done()
                self._afterwards()
            else:
                self._pass(made, chunk)
        except Exception as error:
            self._off(error)
        self._done()

    def _done(self) -> None:
        self._is_reading = False
        if not self._settled.is_set():
            self._settled.set()

    def close(self) -> None:
        """The run has ended."""
        try:
            with self._lock:
                if self._is_on and self._made is not None:
                    self._made.close()
        except Exception as error:
            self._off(error)

    def _conversation(self) -> Conversation:
        if self._made is None:
            self._made = self._make()
        return self._made

    def _read(self, made: Conversation, chunk: bytes) -> None:
        if self._copies.is_skipping:
            self._look(made, chunk[: chunk.find(b"\n") + 1 or len(chunk)])
        for line in self._copies.lines(chunk):
            made.heard(line)
        self._kept = chunk[-_KEPT:]

    def _pass(self, made: Conversation | None, chunk: bytes) -> None:
        self._copies.skip(chunk)
        if made is None or not made.has_pages:
            self._kept = chunk[-_KEPT:]
            return
        with self._lock:
            self._look(made, chunk)

    def _look(self, made: Conversation, chunk: bytes) -> None:
        piece = self._kept + chunk
        self._kept = piece[-_KEPT:]
        if CHANGED_MARK in piece:
            made.changed(piece)

    def _off(self, error: Exception) -> None:
        self._is_on = False
        self._settled.set()
        self._failed(f"reading is off for this run: {type(error).__name__}: {error}")
