"""Lines of a stream: those that must be read whole, and bytes that pass as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabricd.core.mcp.limits import HEAD, MAX_LINE

# A line that trickles in is looked at each time it has doubled.
_FIRST_LOOK = 1
_BLOCK = 1 << 20


class Parts:
    """Pieces of one long line. Small ones are joined as they come: they would litter the memory."""

    def __init__(self) -> None:
        self.size = 0
        self._blocks: list[bytes] = []
        self._small: list[bytes] = []
        self._small_size = 0

    def add(self, part: bytes) -> None:
        """Take the next piece."""
        self.size += len(part)
        self._small.append(part)
        self._small_size += len(part)
        if self._small_size >= _BLOCK:
            self._blocks.append(b"".join(self._small))
            self._small, self._small_size = [], 0

    def all(self) -> list[bytes]:
        """All pieces, in order."""
        return [*self._blocks, *self._small]


class Gate:
    """Holds a client's line only while it may still be one that is read.

    Whatever happens, `rest` and what was given before it are all bytes that came in, in order.
    """

    def __init__(
        self, decide: Callable[[bytes], bytes], may_be_call: Callable[[bytes], bool]
    ) -> None:
        """Nothing is held yet.

        Args:
            decide: gives the line to forward for a whole line.
            may_be_call: whether a line that starts so may have to be decided on.
        """
        self._decide = decide
        self._may = may_be_call
        self._held = Parts()
        self._look = _FIRST_LOOK
        self._passes = False
        self._ready: list[bytes] = []
        self._chunk = b""
        self._at = 0

    def take(self, chunk: bytes) -> Iterator[bytes]:
        """Take bytes; gives those that may go on."""
        self._chunk, self._at = chunk, 0
        while self._at < len(chunk):
            end = chunk.find(b"\n", self._at) + 1
            if self._passes:
                self._pass(chunk, end or len(chunk))
                self._passes = not end
            elif end:
                line = self._whole(chunk[self._at : end])
                self._at = end
                decided = self._decide(line) if len(line) <= MAX_LINE else line
                self._ready.append(decided)
                self._forget()
                if decided is not line or b"tools/" in decided:
                    # Nobody waits for what stands behind it.
                    yield self._flush()
            else:
                self._hold(chunk[self._at :])
        self._chunk, self._at = b"", 0
        if self._ready:
            yield self._flush()

    def rest(self) -> bytes:
        """What came in and was not given yet. The gate is of no use any more."""
        found = b"".join((*self._ready, *self._held.all(), self._chunk[self._at :]))
        self._chunk, self._at, self._ready = b"", 0, []
        self._forget()
        return found

    def _pass(self, chunk: bytes, end: int) -> None:
        self._ready.append(chunk[self._at : end])
        self._at = end

    def _hold(self, part: bytes) -> None:
        self._held.add(part)
        self._at += len(part)
        if self._held.size > MAX_LINE or (self._is_due() and not self._may_be_call()):
            self._ready += self._held.all()
            self._forget()
            self._passes = True

    def _is_due(self) -> bool:
        return self._look <= HEAD and self._held.size >= min(self._look, HEAD)

    def _may_be_call(self) -> bool:
        while self._look <= self._held.size:
            self._look *= 2
        return self._may(b"".join(self._held.all())[:HEAD])

    def _forget(self) -> None:
        self._held, self._look = Parts(), _FIRST_LOOK

    def _whole(self, end: bytes) -> bytes:
        if not self._held.size:
            self._held.add(end)
            return end
        line = b"".join((*self._held.all(), end))
        # A long line is not held twice.
        self._held = Parts()
        self._held.add(line)
        return line

    def _flush(self) -> bytes:
        found = b"".join(self._ready)
        self._ready = []
        return found


class Copies:
    """Lines of a stream of which only some bytes are looked at, from the next line on."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._skips = False

    @property
    def is_skipping(self) -> bool:
        """Whether the rest of the line that has begun is passed over."""
        return self._skips

    def skip(self, chunk: bytes) -> None:
        """Pass over bytes."""
        self._drop()
        self._skips = not chunk.endswith(b"\n")

    def lines(self, chunk: bytes) -> Iterator[bytes]:
        """Take bytes; gives whole lines, none that is too long or whose start was passed over."""
        at = 0
        while at < len(chunk):
            end = chunk.find(b"\n", at) + 1
            part = chunk[at : end or len(chunk)]
            at += len(part)
            if not self._skips:
                self._parts.add(part)
                self._skips = self._parts.size > MAX_LINE
            if self._skips:
                self._drop()
            if end:
                line = b"".join(self._parts.all())
                self._drop()
                self._skips = False
                if line:
                    yield line

    def _drop(self) -> None:
        self._parts = Parts()
