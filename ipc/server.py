"""The server: bounded connections, each with its own deadline, none able to hold up another."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from fabricd.ipc.protocol import (
    INVALID_REQUEST,
    MAX_FRAME,
    METHOD_NOT_FOUND,
    OURS,
    Request,
    RpcError,
    decode_params,
    decode_request,
    error_reply,
    event_frame,
    reply,
)
from fabricd.ipc.socket_file import BoundSocket, peer_uid

MAX_CONNECTIONS = 64
FRAME_SECONDS = 30.0
SEND_SECONDS = 5.0
ACCEPT_PAUSE = 0.1
_EVENTS_HELD = 256
# A client may leave at any moment, in the middle of a frame or of a reply.
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)

Answer = Callable[[Any], Awaitable[bytes]]


@dataclass(frozen=True)
class Method:
    """A method by the shape of its parameters and what answers it with JSON bytes."""

    shape: type[Any]
    answer: Answer


class ServerEvents(Protocol):
    """What the server tells."""

    def client_refused(self, reason: str) -> None:
        """A connection was turned away."""

    def request_failed(self, method: str, error: BaseException) -> None:
        """A method raised something it should not have."""


class Broadcast:
    """Events to every subscriber. One that falls 256 behind is cut off, never skipped over."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._streams: set[MemoryObjectSendStream[bytes]] = set()

    def publish(self, name: str, fields: dict[str, object]) -> None:
        """Hand an event to all subscribers without waiting for any."""
        if not self._streams:
            return
        frame = event_frame(self._version, name, fields)
        for stream in tuple(self._streams):
            try:
                stream.send_nowait(frame)
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._streams.discard(stream)
                stream.close()

    @asynccontextmanager
    async def subscription(self) -> AsyncGenerator[MemoryObjectReceiveStream[bytes], None]:
        """The frames published from now on; the stream ends where the subscriber lagged."""
        send, receive = anyio.create_memory_object_stream[bytes](_EVENTS_HELD)
        self._streams.add(send)
        try:
            with receive:
                yield receive
        finally:
            self._streams.discard(send)
            send.close()


class Server:
    """Serves one bound socket until it is cancelled. `subscribe` is answered here."""

    def __init__(
        self,
        bound: BoundSocket,
        version: str,
        methods: Mapping[str, Method],
        broadcast: Broadcast,
        events: ServerEvents,
    ) -> None:
        self._bound = bound
        self._version = version
        self._methods = methods
        self._broadcast = broadcast
        self._events = events
        self._connections = 0

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return self._connections

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Accept and serve."""
        listener = await SocketListener.from_socket(self._bound.raw)
        async with listener, anyio.create_task_group() as group:
            task_status.started()
            while True:
                try:
                    stream = await listener.accept()
                except _GONE as error:
                    # Out of descriptors, or the client left before it was accepted.
                    self._events.client_refused(f"it could not be accepted: {error}")
                    await anyio.sleep(ACCEPT_PAUSE)
                    continue
                group.start_soon(self._serve, stream)

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            uid = peer_uid(stream.extra(SocketAttribute.raw_socket))
            if uid != os.getuid():
                self._events.client_refused(f"the peer's uid is {uid}")
                return
            if self._connections >= MAX_CONNECTIONS:
                self._events.client_refused(f"{MAX_CONNECTIONS} clients are connected")
                busy = RpcError(OURS, f"{MAX_CONNECTIONS} clients are connected", "busy")
                await self._send(stream, error_reply(self._version, None, busy))
                return
            self._connections += 1
            try:
                await self._converse(stream)
            finally:
                self._connections -= 1

    async def _converse(self, stream: SocketStream) -> None:
        frames = BufferedByteReceiveStream(stream)
        while True:
            frame: bytes | None = None
            with anyio.move_on_after(FRAME_SECONDS):
                try:
                    frame = await frames.receive_until(b"\n", MAX_FRAME)
                except anyio.DelimiterNotFound:
                    error = RpcError(INVALID_REQUEST, "the frame is larger than 1 MiB", "too-large")
                    await self._send(stream, error_reply(self._version, None, error))
                    await self._drain(stream)
                    return
                except (anyio.IncompleteRead, anyio.EndOfStream, *_GONE):
                    return
            if frame is None or not await self._answer(stream, frame):
                return

    async def _answer(self, stream: SocketStream, frame: bytes) -> bool:
        """Answer one frame; False ends the conversation."""
        request: Request | None = None
        try:
            request = decode_request(frame)
            if request.method == "subscribe":
                await self._stream_events(stream, request)
                return False
            result = await self._result(request)
        except RpcError as error:
            if request is None or not request.is_notification:
                return await self._send(stream, error_reply(self._version, request, error))
            return True
        if request.is_notification:
            return True
        return await self._send(stream, reply(self._version, request, result))

    async def _result(self, request: Request) -> bytes:
        method = self._methods.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method[:64]}")
        params = decode_params(request, method.shape)
        try:
            return await method.answer(params)
        except RpcError:
            raise
        except Exception as error:
            # The border of the process: one broken answer must not end the daemon.
            self._events.request_failed(request.method, error)
            raise RpcError(
                OURS, "the daemon failed to answer; its log says why", "failed"
            ) from None

    async def _stream_events(self, stream: SocketStream, request: Request) -> None:
        async with self._broadcast.subscription() as events:
            answer = reply(self._version, request, b'{"subscribed":true}')
            if not request.is_notification and not await self._send(stream, answer):
                return
            async with anyio.create_task_group() as group:
                group.start_soon(self._until_gone, stream, group.cancel_scope)
                async for frame in events:
                    if not await self._send(stream, frame):
                        break
                group.cancel_scope.cancel()

    async def _until_gone(self, stream: SocketStream, scope: anyio.CancelScope) -> None:
        try:
            while True:
                await stream.receive(4096)
        except (anyio.EndOfStream, *_GONE):
            scope.cancel()

    async def _drain(self, stream: SocketStream) -> None:
        """Take what a client still sends for a moment: closing at once would lose it our reply."""
        with anyio.move_on_after(1.0):
            try:
                await stream.send_eof()
                while True:
                    await stream.receive(MAX_FRAME)
            except (anyio.EndOfStream, *_GONE):
                return

    async def _send(self, stream: SocketStream, frame: bytes) -> bool:
        """Send a frame; False where the client has gone or did not take it in time."""
        with anyio.move_on_after(SEND_SECONDS):
            try:
                await stream.send(frame)
            except _GONE:
                return False
            return True
        return False
