"""The server, cancelled at every await of a conversation: nobody is left half-served for ever."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from fabricd.ipc.broadcast import Broadcast
from fabricd.ipc.places import Places
from fabricd.ipc.protocol import NoParams, TurnEnd
from fabricd.ipc.server import Method, Server
from fabricd.ipc.socket_file import BoundSocket, bind
from tests.cancelling import cancelled_at, descriptors
from tests.ipc.serving import VERSION, Client, Events, Served, frame

pytestmark = pytest.mark.asyncio

_LARGE = b'"' + b"x" * (1 << 20) + b'"'


async def _status(_: NoParams) -> bytes:
    await anyio.lowlevel.checkpoint()
    return b'{"ok":true}'


async def _large(_: NoParams) -> bytes:
    return _LARGE


async def _turn_end(_: TurnEnd) -> bytes:
    return b'{"queued":true}'


METHODS = {
    "status": Method(NoParams, _status),
    "large": Method(NoParams, _large),
    "turn_end": Method(TurnEnd, _turn_end),
}


class Session:
    """A server on a socket, and clients who talk to it until it goes away."""

    def __init__(self, place: Path) -> None:
        self.bound: BoundSocket = bind(place / "s")
        self.events = Events()
        self.broadcast = Broadcast(VERSION)
        self.places = Places()
        self.server = Server(self.bound, VERSION, METHODS, self.broadcast, self.events, self.places)
        self.talked = asyncio.Event()
        self.answered = 0

    async def serve(self) -> None:
        async with anyio.create_task_group() as group:
            await group.start(self.server.run)
            await self.talked.wait()
            group.cancel_scope.cancel()

    async def talk(self) -> None:
        served = Served(self.bound.path, self.places, self.broadcast, self.events)
        with suppress(ConnectionError, FileNotFoundError, ValueError):
            async with served.client() as client, served.client() as listener:
                await self._converse(client, listener)
        self.talked.set()

    async def _converse(self, client: Client, listener: Client) -> None:
        await client.ask("status")
        await listener.ask("subscribe")
        self.broadcast.publish("news", {"n": 1})
        await client.send(frame("turn_end") + frame("status", id=2)[:20])
        await client.send(frame("status", id=2)[20:])
        await client.answer()
        await listener.line()
        await client.ask("large")
        await client.send(b"nonsense\n")
        await client.answer()
        self.answered += 1

    def ended(self) -> None:
        """What remains to be done by whoever owns the socket."""
        self.bound.unlink()
        self.bound.raw.close()


async def one_session(place: Path, at: int) -> bool:
    """Cancel at one suspension; False if there was none so late."""
    session = Session(place)
    talking = asyncio.create_task(session.talk())
    reached = await cancelled_at(at, session.serve)
    session.ended()
    await asyncio.wait_for(talking, 8.0)
    assert len(session.places) == 0
    assert session.broadcast.subscribers == 0
    assert session.events.failed == []
    assert not session.bound.path.exists()
    if not reached:
        assert session.answered == 1
    return reached


async def test_a_server_cancelled_anywhere_leaves_nothing_and_can_be_started_again(
    place: Path,
) -> None:
    assert not await one_session(place, 10_000)
    before = descriptors()
    at = 1
    while await one_session(place, at):
        assert Counter(descriptors()) - Counter(before) == Counter(), at
        if at % 10 == 0:
            assert not await one_session(place, 10_000)
        at += 1
    assert at > 25
