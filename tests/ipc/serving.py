"""The server under test on a real socket, and a client that speaks plain frames to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from fabricd.ipc.broadcast import Broadcast
from fabricd.ipc.places import Places, Stage
from fabricd.ipc.protocol import NoParams, TurnEnd
from fabricd.ipc.server import Attached, Method, Server
from fabricd.ipc.socket_file import bind

VERSION = "9.8.7"
SECONDS = 8.0


class Events:
    """What the server told."""

    def __init__(self) -> None:
        self.refused: list[tuple[str, str]] = []
        self.cut: list[str] = []
        self.ended: list[tuple[str, str]] = []
        self.failed: list[tuple[str, BaseException]] = []

    def client_refused(self, cause: str, reason: str) -> None:
        self.refused.append((cause, reason))

    def client_cut(self, cause: str) -> None:
        self.cut.append(cause)

    def request_ended(self, method: str, ending: str) -> None:
        self.ended.append((method, ending))

    def request_failed(self, method: str, error: BaseException) -> None:
        self.failed.append((method, error))


class Served:
    """A running server and what is around it."""

    def __init__(self, path: Path, places: Places, broadcast: Broadcast, events: Events) -> None:
        self.path = path
        self.places = places
        self.broadcast = broadcast
        self.events = events

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client, None]:
        """A connected client, closed afterwards."""
        reader, writer = await asyncio.open_unix_connection(str(self.path), limit=64 << 20)
        client = Client(reader, writer)
        try:
            yield client
        finally:
            await client.close()

    async def is_alive(self) -> bool:
        """Whether a newcomer is served."""
        async with self.client() as client:
            answer = await client.ask("status")
            return bool(answer["result"] == {"ok": True})

    async def until_connections(self, count: int) -> None:
        """Wait until so many clients have a place."""
        with anyio.fail_after(SECONDS):
            while True:
                if len(self.places) == count:
                    return
                await anyio.sleep(0.005)

    async def until_stage(self, stage: Stage, count: int) -> None:
        """Wait until so many clients are in a stage."""
        with anyio.fail_after(SECONDS):
            while True:
                if self.places.in_stage(stage) == count:
                    return
                await anyio.sleep(0.005)


class Client:
    """One connection. Whatever is awaited here fails after `SECONDS`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await asyncio.wait_for(self.writer.drain(), SECONDS)

    async def line(self) -> bytes:
        return await asyncio.wait_for(self.reader.readline(), SECONDS)

    async def answer(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await self.line())
        return found

    async def ask(self, method: str, request_id: object = 1, **more: object) -> dict[str, Any]:
        await self.send(frame(method, id=request_id, **more))
        return await self.answer()

    async def rest(self) -> bytes:
        """Everything up to the end of the stream, however the server ended it."""
        data = b""
        with suppress(ConnectionError):
            while part := await asyncio.wait_for(self.reader.read(1 << 16), SECONDS):
                data += part
        return data

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


def frame(method: str, **members: object) -> bytes:
    """A request, or without an id a notification."""
    return json.dumps({"jsonrpc": "2.0", "method": method, **members}).encode() + b"\n"


async def _status(_: NoParams) -> bytes:
    return b'{"ok":true}'


async def _turn_end(params: TurnEnd) -> bytes:
    return json.dumps({"agent": params.agent, "cwd": params.cwd}).encode()


@asynccontextmanager
async def serving(
    place: Path,
    methods: Mapping[str, Method] | None = None,
    attached: Mapping[str, Attached] | None = None,
) -> AsyncGenerator[Served, None]:
    """Serve `status`, `turn_end` and more. Leaving raises whatever ended the server early."""
    bound = bind(place / "s")
    events, broadcast, places = Events(), Broadcast(VERSION), Places()
    known = {"status": Method(NoParams, _status), "turn_end": Method(TurnEnd, _turn_end)}
    methods = {**known, **(methods or {})}
    server = Server(bound, VERSION, methods, broadcast, events, places, attached)
    async with anyio.create_task_group() as group:
        await group.start(server.run)
        yield Served(bound.path, places, broadcast, events)
        group.cancel_scope.cancel()
    bound.unlink()
