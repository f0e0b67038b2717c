"""One connection: frames in, frames out, each with a deadline that bytes in between do not move."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Literal, TypeAlias

import anyio
from anyio.abc import SocketAttribute, SocketStream

from fabricd.ipc.places import Place, Places
from fabricd.ipc.protocol import MAX_FRAME

FRAME_SECONDS = 30.0
SEND_SECONDS = 5.0
_DRAIN_SECONDS = 1.0
_LOOK_SECONDS = 0.25
_CHUNK = 1 << 16
# A client may leave at any moment, in the middle of a frame or of a reply.
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)

# Stages that a client is in for longer than one answer.
_STAYING = ("subscribed", "attached")

# Why a conversation was ended by us: no frame began, one did not end or grew too large, too many
# were no requests, a frame of ours was not taken, a subscriber fell behind, others needed the room.
Cut: TypeAlias = Literal[
    "idle",
    "slow-frame",
    "large-frame",
    "garbage",
    "slow-reader",
    "lagging-subscriber",
    "crowded",
]


class FrameTooLarge(ValueError):
    """Raised by `frame`: there is no line feed within 1 MiB."""

    def __init__(self) -> None:
        super().__init__("the frame is larger than 1 MiB")


class Connection:
    """A client's stream together with its place. `cut` says why we ended it, if we did."""

    def __init__(self, stream: SocketStream, places: Places, place: Place) -> None:
        self._stream = stream
        self._places = places
        self._place = place
        self._buffer = bytearray()
        self.cut: Cut | None = None

    async def frame(self) -> bytes | None:
        """The next frame without its line feed; None where the client left or took too long.

        Raises:
            FrameTooLarge: then only `drain` is left to do.
        """
        self._places.enter(self._place, "listening")
        self._places.hold(self._place, len(self._buffer))
        with anyio.move_on_after(FRAME_SECONDS) as deadline:
            try:
                found = await self._until_line_feed()
            except (anyio.EndOfStream, *GONE):
                return None
            self._places.enter(self._place, "answering")
            return found
        if deadline.cancelled_caught:
            self.cut = "slow-frame" if self._buffer else "idle"
        return None

    async def _until_line_feed(self) -> bytes:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched >= MAX_FRAME:
                raise FrameTooLarge
            self._buffer += await self._stream.receive(_CHUNK)
            self._places.hold(self._place, len(self._buffer))
        frame = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        # The frame is held until it is answered.
        self._places.hold(self._place, len(self._buffer) + end)
        return frame

    async def send(self, frame: bytes) -> bool:
        """Send a frame; False where the client has gone or did not take it in time."""
        stage = self._place.stage
        self._places.enter(self._place, stage if stage in _STAYING else "sending")
        self._places.hold(self._place, len(self._buffer) + len(frame))
        try:
            with anyio.move_on_after(SEND_SECONDS):
                await self._stream.send(frame)
                return True
        except GONE:
            return False
        finally:
            self._places.hold(self._place, len(self._buffer))
        self.cut = "slow-reader"
        return False

    async def line(self) -> bytes | None:
        """As `frame` for a client that is attached: only a line that has begun must end in time.

        Raises:
            FrameTooLarge: then only `drain` is left to do.
        """
        try:
            if not self._buffer:
                self._buffer += await self._stream.receive(_CHUNK)
            with anyio.move_on_after(FRAME_SECONDS):
                return await self._until_line_feed()
        except (anyio.EndOfStream, *GONE):
            return None
        self.cut = "slow-frame"
        return None

    def attach(self) -> None:
        """From now on the client stays for as long as it likes."""
        self._places.enter(self._place, "attached")

    async def until_left(self) -> None:
        """Wait until the client has gone for good; what it says meanwhile is kept for later."""
        try:
            while len(self._buffer) < MAX_FRAME:
                self._buffer += await self._stream.receive(_CHUNK)
                self._places.hold(self._place, len(self._buffer))
        except anyio.EndOfStream:
            pass
        except GONE:
            return
        # It may have closed one direction alone, and wait for the answer.
        await self.until_hung_up()

    async def until_hung_up(self, or_else: Callable[[], bool] = lambda: False) -> None:
        """Wait until the client has closed its end, and not the one direction alone."""
        poll = select.poll()
        poll.register(self._stream.extra(SocketAttribute.raw_socket), 0)
        # Nothing wakes us: a direction that is closed is always ready to be read.
        while True:
            if or_else() or poll.poll(0):
                return
            await anyio.sleep(_LOOK_SECONDS)

    def subscribe(self) -> None:
        """From now on the client is there for events."""
        self._places.enter(self._place, "subscribed")

    async def until_gone(self) -> None:
        """Wait until the client leaves; whatever it still says is dropped."""
        try:
            while True:
                await self._stream.receive(_CHUNK)
        except (anyio.EndOfStream, *GONE):
            return

    async def drain(self) -> None:
        """Take what a client still sends for a moment: closing at once would lose it our reply."""
        with anyio.move_on_after(_DRAIN_SECONDS):
            try:
                await self._stream.send_eof()
                await self.until_gone()
            except GONE:
                return
