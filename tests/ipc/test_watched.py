"""Methods whose answers take long are given up when their client leaves, and not before."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from msgspec import Raw

from fabricd.ipc.protocol import OURS, RpcError
from fabricd.ipc.server import Method
from tests.ipc.serving import Served, frame, serving

pytestmark = pytest.mark.asyncio


class Slow:
    """A method that waits to be let go."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0
        self.let_go = anyio.Event()

    async def answer(self, params: Raw) -> bytes:
        self.begun += 1
        try:
            await self.let_go.wait()
        except BaseException:
            self.cancelled += 1
            raise
        if bytes(params) == b'"refuse"':
            raise RpcError(OURS, "no", "gone", {"smallest": 7})
        if bytes(params) == b'"break"':
            raise KeyError("x")
        return bytes(params) or b"null"

    async def until_begun(self, count: int = 1) -> None:
        with anyio.fail_after(8):
            while True:
                if self.begun == count:
                    return
                await anyio.sleep(0.005)


@asynccontextmanager
async def slow_serving(place: Path) -> AsyncGenerator[tuple[Served, Slow]]:
    slow = Slow()
    methods = {"slow": Method(Raw, slow.answer, 2, watches=True)}
    async with serving(place, methods) as served:
        yield served, slow


async def test_the_answer_is_given_up_when_the_client_leaves(place: Path) -> None:
    async with slow_serving(place) as (served, slow):
        async with served.client() as client:
            await client.send(frame("slow", id=1))
            await slow.until_begun()
        await served.until_connections(0)
        assert slow.cancelled == 1
        assert served.events.failed == []
        assert await served.is_alive()


async def test_a_client_that_only_stops_talking_is_answered(place: Path) -> None:
    async with slow_serving(place) as (served, slow), served.client() as client:
        await client.send(frame("slow", id=1, params="x"))
        client.writer.write_eof()
        await slow.until_begun()
        await anyio.sleep(0.1)
        slow.let_go.set()
        assert json.loads(await client.rest())["result"] == "x"
        assert slow.cancelled == 0


async def test_what_is_said_meanwhile_is_answered_afterwards(place: Path) -> None:
    async with slow_serving(place) as (served, slow), served.client() as client:
        await client.send(frame("slow", id=1, params="x"))
        await slow.until_begun()
        await client.send(frame("status", id=2) + frame("status", id=3)[:9])
        await anyio.sleep(0.05)
        slow.let_go.set()
        await client.send(frame("status", id=3)[9:])
        assert [(await client.answer())["id"] for _ in range(3)] == [1, 2, 3]


async def test_who_floods_meanwhile_is_held_back_and_served(place: Path) -> None:
    async with slow_serving(place) as (served, slow), served.client() as client:
        await client.send(frame("slow", id=1))
        await slow.until_begun()
        flood = frame("status", id="x" * 1000) * 2000

        async def write() -> None:
            client.writer.write(flood)
            await client.writer.drain()

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            await anyio.sleep(0.2)
            assert served.places.held < 2 * 1024 * 1024
            slow.let_go.set()
            for _ in range(2001):
                await client.line()


async def test_errors_are_what_they_are_without_watching(place: Path) -> None:
    async with slow_serving(place) as (served, slow), served.client() as client:
        slow.let_go.set()
        found = (await client.ask("slow", params="refuse"))["error"]
        assert found["data"] == {"reason": "gone", "smallest": 7}
        found = (await client.ask("slow", params="break"))["error"]
        assert found["data"] == {"reason": "failed"}
        assert [type(error) for _, error in served.events.failed] == [KeyError]


async def test_so_many_at_once(place: Path) -> None:
    async with slow_serving(place) as (served, slow):
        async with served.client() as one, served.client() as two, served.client() as three:
            for client in (one, two):
                await client.send(frame("slow", id=1))
            await slow.until_begun(2)
            assert (await three.ask("slow"))["error"]["data"]["reason"] == "busy"
        await served.until_connections(0)
        slow.let_go.set()
        async with served.client() as client:
            assert (await client.ask("slow"))["result"] is None
