"""Attached agents and watched calls, with the server cancelled at every await of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from msgspec import Raw

from fabricd.ipc.connection import Connection
from fabricd.ipc.context.session import Attach, Session
from fabricd.ipc.server import Attached, Method, Server
from tests.cancelling import cancelled_at, descriptors
from tests.ipc.context.test_session import Agent, Engine
from tests.ipc.serving import VERSION, Client, frame
from tests.ipc.test_server_cancelled import Session as Conversation

pytestmark = pytest.mark.asyncio


class Attaching(Conversation):
    """An agent that calls and calls off, and a client that leaves while it is answered."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.engine = Engine()

        async def converse(attach: Attach, connection: Connection) -> None:
            await Session(connection, self.engine, attach.cwd, VERSION).run()

        async def slow(params: Raw) -> bytes:
            return await self.engine("select", bytes(params))

        self.server = Server(
            self.bound,
            VERSION,
            {"slow": Method(Raw, slow, watches=True)},
            self.broadcast,
            self.events,
            self.places,
            {"mcp.attach": Attached(Attach, converse)},
        )

    async def _converse(self, client: Client, listener: Client) -> None:
        one = await Agent(client.reader, client.writer).attach()
        await one.select("wait", 1)
        await one.select("quick", 2)
        assert (await one.answer())["id"] == 2
        await one.say("notifications/cancelled", requestId=1)
        assert (await one.request("ping", 3))["id"] == 3
        await one.select("wait", 4)
        assert (await listener.ask("slow", params={"query": "quick"}))["result"]["text"] == "quick"
        await listener.send(frame("slow", id=5, params={"query": "wait"}))
        self.answered += 1


async def one_session(place: Path, at: int) -> bool:
    session = Attaching(place)
    talking = asyncio.create_task(session.talk())
    reached = await cancelled_at(at, session.serve)
    session.ended()
    await asyncio.wait_for(talking, 8.0)
    assert len(session.places) == 0
    assert session.events.failed == []
    if not reached:
        assert session.answered == 1
    return reached


async def test_a_server_cancelled_anywhere_leaves_nothing(place: Path) -> None:
    assert not await one_session(place, 10_000)
    before = descriptors()
    at = 1
    while await one_session(place, at):
        assert Counter(descriptors()) - Counter(before) == Counter(), at
        at += 1
    assert at > 25
