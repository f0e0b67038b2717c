"""The server: bounded connections, each with its own deadline, none able to hold up another."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import anyio
import anyio.lowlevel
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskGroup, TaskStatus

from fabricd.ipc.broadcast import Broadcast
from fabricd.ipc.connection import GONE, SEND_SECONDS, Connection, Cut, FrameTooLarge
from fabricd.ipc.places import MAX_ATTACHED, MAX_CONNECTIONS, MAX_SUBSCRIBERS, Places
from fabricd.ipc.protocol import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    OURS,
    Request,
    RpcError,
    decode_params,
    decode_request,
    error_reply,
    reply,
)
from fabricd.ipc.socket_file import BoundSocket, peer_uid

ACCEPT_PAUSE = 0.1
# Whoever sends so many frames in a row that are no requests does not speak our language.
MAX_GARBAGE = 100

Answer = Callable[[Any], Awaitable[bytes]]
Refusal: TypeAlias = Literal["not-accepted", "other-user", "busy"]
Ending: TypeAlias = Literal["answered", "refused", "failed"]


@dataclass(frozen=True)
class Method:
    """A method by the shape of its parameters and what answers it with JSON bytes.

    `at_once` bounds how many may wait for a slow answer: they must leave room for others. One that
    `watches` is cancelled when its client leaves.
    """

    shape: type[Any]
    answer: Answer
    at_once: int = MAX_CONNECTIONS
    watches: bool = False


@dataclass(frozen=True)
class Attached:
    """A method after which the connection speaks another language, to whom and for how long."""

    shape: type[Any]
    converse: Callable[[Any, Connection], Awaitable[None]]


class _ClientLeft(Exception):
    """Raised where nobody waits for the answer any more."""


class _Reaction(NamedTuple):
    """What a frame leads to: perhaps a reply, and after it perhaps something else than frames."""

    reply: bytes | None
    subscribes: bool = False
    is_request: bool = True
    converse: Callable[[Connection], Awaitable[None]] | None = None


class ServerEvents(Protocol):
    """What the server tells."""

    def client_refused(self, cause: Refusal, reason: str) -> None:
        """A connection was turned away."""

    def client_cut(self, cause: Cut) -> None:
        """A conversation was ended by us."""

    def request_ended(self, method: str, ending: Ending) -> None:
        """A frame was dealt with; `method` is one of those there are, else `unknown`."""

    def request_failed(self, method: str, error: BaseException) -> None:
        """A method raised something it should not have."""


class Server:
    """Serves one bound socket until it is cancelled. `subscribe` is answered here."""

    def __init__(
        self,
        bound: BoundSocket,
        version: str,
        methods: Mapping[str, Method],
        broadcast: Broadcast,
        events: ServerEvents,
        places: Places,
        attached: Mapping[str, Attached] | None = None,
    ) -> None:
        self._bound = bound
        self._version = version
        self._methods = methods
        self._broadcast = broadcast
        self._events = events
        self._places = places
        self._attached = attached or {}
        self._running: dict[str, int] = {}
        self._listening = anyio.CancelScope()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Accept and serve."""
        async with anyio.create_task_group() as group:
            listener = await SocketListener.from_socket(self._bound.raw)
            task_status.started()
            while True:
                async with listener:
                    await self._accept(listener, group)
                listener = await SocketListener.from_socket(self._bound.raw)

    def listen_again(self) -> None:
        """The bound socket is another one now; clients that are connected stay."""
        self._listening.cancel()

    async def _accept(self, listener: SocketListener, group: TaskGroup) -> None:
        with anyio.CancelScope() as self._listening:
            while True:
                try:
                    stream = await listener.accept()
                except GONE as error:
                    # Out of descriptors, or the client left before it was accepted.
                    self._events.client_refused("not-accepted", f"{error.__cause__ or error}")
                    await anyio.sleep(ACCEPT_PAUSE)
                    continue
                group.start_soon(self._serve, stream)

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            uid = peer_uid(stream.extra(SocketAttribute.raw_socket))
            if uid != os.getuid():
                self._events.client_refused("other-user", f"the peer's uid is {uid}")
                return
            cut: Cut | None = None
            with anyio.CancelScope() as scope:
                place = self._places.take(scope.cancel)
                if place is None:
                    await self._turn_away(stream)
                    return
                try:
                    cut = await self._converse(Connection(stream, self._places, place))
                finally:
                    self._places.give_back(place)
            if scope.cancelled_caught:
                self._events.client_cut("crowded")
            elif cut is not None:
                self._events.client_cut(cut)

    async def _turn_away(self, stream: SocketStream) -> None:
        reason = f"{MAX_CONNECTIONS} clients are being served"
        self._events.client_refused("busy", reason)
        frame = error_reply(self._version, None, RpcError(OURS, reason, "busy"))
        with anyio.move_on_after(SEND_SECONDS):
            try:
                await stream.send(frame)
            except GONE:
                return

    async def _converse(self, connection: Connection) -> Cut | None:
        """Answer frame after frame; gives why it was we who ended it, if it was."""
        garbage = 0
        while True:
            try:
                frame = await connection.frame()
            except FrameTooLarge as error:
                self._events.request_ended("unknown", "refused")
                refusal = RpcError(INVALID_REQUEST, str(error), "too-large")
                await connection.send(error_reply(self._version, None, refusal))
                await connection.drain()
                return "large-frame"
            if frame is None:
                return connection.cut
            try:
                reaction = await self._react(frame, connection)
            except _ClientLeft:
                return None
            # What was said and answered is let go before the client is waited for again.
            del frame
            if reaction.subscribes:
                await self._stream_events(connection, reaction.reply)
                return connection.cut
            if reaction.reply is not None and not await connection.send(reaction.reply):
                return connection.cut
            if reaction.converse is not None:
                try:
                    await reaction.converse(connection)
                except Exception as error:
                    self._events.request_failed("attached", error)
                return connection.cut
            garbage = 0 if reaction.is_request else garbage + 1
            if garbage >= MAX_GARBAGE:
                return "garbage"
            del reaction
            # A client may have sent thousands of notifications at once; others come between them.
            await anyio.lowlevel.checkpoint()

    async def _react(self, frame: bytes, connection: Connection) -> _Reaction:
        request: Request | None = None
        converse = None
        try:
            request = decode_request(frame)
            if request.method == "subscribe":
                result = self._subscribed()
            elif (attached := self._attached.get(request.method)) is not None:
                converse = partial(attached.converse, decode_params(request, attached.shape))
                result = self._attach(connection)
            else:
                result = await self._result(request, connection)
        except RpcError as error:
            self._tell_ended(request, "failed" if error.reason == "failed" else "refused")
            if request is not None and request.is_notification:
                return _Reaction(None)
            refusal = error_reply(self._version, request, error)
            return _Reaction(refusal, is_request=request is not None)
        self._tell_ended(request, "answered")
        answer = None if request.is_notification else reply(self._version, request, result)
        return _Reaction(answer, request.method == "subscribe", converse=converse)

    def _tell_ended(self, request: Request | None, ending: Ending) -> None:
        methods = (*self._methods, *self._attached, "subscribe")
        known = request is not None and request.method in methods
        self._events.request_ended(request.method if request and known else "unknown", ending)

    async def _result(self, request: Request, connection: Connection) -> bytes:
        method = self._methods.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method[:64]}")
        params = decode_params(request, method.shape)
        running = self._running.get(request.method, 0)
        if running >= method.at_once:
            reason = f"{running} clients wait for {request.method}"
            raise RpcError(OURS, reason, "busy")
        self._running[request.method] = running + 1
        try:
            if method.watches:
                return await _while_there(connection, partial(method.answer, params))
            return await method.answer(params)
        except (RpcError, _ClientLeft):
            raise
        except Exception as error:
            # The border of the process: one broken answer must not end the daemon.
            self._events.request_failed(request.method, error)
            raise RpcError(
                OURS, "the daemon failed to answer; its log says why", "failed"
            ) from None
        finally:
            self._running[request.method] -= 1

    def _subscribed(self) -> bytes:
        if self._places.in_stage("subscribed") >= MAX_SUBSCRIBERS:
            raise RpcError(OURS, f"{MAX_SUBSCRIBERS} clients are subscribed", "busy")
        return b'{"subscribed":true}'

    def _attach(self, connection: Connection) -> bytes:
        if self._places.in_stage("attached") >= MAX_ATTACHED:
            raise RpcError(OURS, f"{MAX_ATTACHED} agents are attached", "busy")
        connection.attach()
        return b'{"attached":true}'

    async def _stream_events(self, connection: Connection, answer: bytes | None) -> None:
        connection.subscribe()
        with self._broadcast.subscription() as subscription:
            if answer is not None and not await connection.send(answer):
                return
            async with anyio.create_task_group() as group:
                group.start_soon(self._until_gone, connection, group.cancel_scope)
                while (frame := await subscription.next()) is not None:
                    if not await connection.send(frame):
                        break
                else:
                    connection.cut = "lagging-subscriber"
                group.cancel_scope.cancel()

    async def _until_gone(self, connection: Connection, scope: anyio.CancelScope) -> None:
        await connection.until_gone()
        scope.cancel()


async def _while_there(connection: Connection, answer: Callable[[], Awaitable[bytes]]) -> bytes:
    """An answer, unless the client leaves before.

    Raises:
        _ClientLeft: it did.
    """
    found: list[bytes | Exception] = []

    async def answering(scope: anyio.CancelScope) -> None:
        try:
            found.append(await answer())
        except Exception as error:
            # Handed on as a value: the task group would wrap it.
            found.append(error)
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(answering, group.cancel_scope)
        await connection.until_left()
        group.cancel_scope.cancel()
    match found:
        case [bytes() as result]:
            return result
        case [Exception() as error]:
            raise error
        case _:
            raise _ClientLeft
