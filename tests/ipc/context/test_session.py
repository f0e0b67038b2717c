"""Attached agents over a real socket; the engine behind them is a coroutine of the test."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from fabricd.core.context.asking import Refused
from fabricd.ipc import connection as connections
from fabricd.ipc.connection import Connection
from fabricd.ipc.context.session import AT_ONCE, Attach, Session
from fabricd.ipc.places import MAX_ATTACHED, MAX_CONNECTIONS
from fabricd.ipc.server import Attached
from tests.ipc.serving import VERSION, Client, Served, frame, serving

pytestmark = pytest.mark.asyncio
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


class Engine:
    """Answers with what it was asked; `wait` waits to be let go, `gone` refuses, `bug` breaks."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.let_go = anyio.Event()
        self.begun = anyio.Event()
        self.cancelled = 0

    async def __call__(self, method: str, params: bytes) -> bytes:
        given = json.loads(params)
        self.asked.append((method, given))
        self.begun.set()
        word = given.get("query", "")
        try:
            if word == "wait":
                await self.let_go.wait()
        except BaseException:
            self.cancelled += 1
            raise
        if word == "gone":
            raise Refused("gone", "it is gone")
        if word == "bug":
            raise KeyError(word)
        size = int(word[4:]) if word.startswith("big:") else 0
        return json.dumps({"text": word + "é" * size, "more": 1}).encode()


@asynccontextmanager
async def attaching(place: Path) -> AsyncGenerator[tuple[Served, Engine]]:
    engine = Engine()

    async def converse(attach: Attach, connection: Connection) -> None:
        await Session(connection, engine, attach.cwd, VERSION).run()

    async with serving(place, attached={"mcp.attach": Attached(Attach, converse)}) as served:
        yield served, engine


class Agent(Client):
    """A client that speaks MCP."""

    async def attach(self) -> Agent:
        await self.send(frame("mcp.attach", id=0, params={"cwd": "/work", "protocol": 1}))
        assert (await self.answer())["result"] == {"attached": True}
        return self

    async def say(self, method: str, id: object = None, **params: object) -> None:
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        await self.send(json.dumps({**body, **({} if id is None else {"id": id})}).encode() + b"\n")

    async def request(self, method: str, id: object = 1, **params: object) -> dict[str, Any]:
        await self.say(method, id, **params)
        return await self.answer()

    async def select(self, query: str, id: object = 1) -> None:
        await self.say("tools/call", id, name="context_select", arguments={"query": query})


@asynccontextmanager
async def agent(served: Served) -> AsyncGenerator[Agent]:
    async with served.client() as client:
        yield await Agent(client.reader, client.writer).attach()


async def test_the_handshake_of_older_versions(place: Path) -> None:
    async with attaching(place) as (served, _), agent(served) as one:
        for wanted, agreed in (
            ("2025-11-25", "2025-11-25"),
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-06-18"),
            ("1999-01-01", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
        ):
            found = await one.request("initialize", protocolVersion=wanted, capabilities={})
            assert found["result"]["protocolVersion"] == agreed
            assert found["result"]["serverInfo"] == {"name": "fabricd", "version": VERSION}
        await one.say("notifications/initialized")
        assert (await one.request("ping"))["result"] == {}
        tools = (await one.request("tools/list"))["result"]
        assert len(tools["tools"]) == 6 and set(tools) == {"tools"}


async def test_requests_without_a_handshake(place: Path) -> None:
    async with attaching(place) as (served, engine), agent(served) as one:
        found = (await one.request("server/discover", _meta=MODERN))["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        tools = (await one.request("tools/list", _meta=MODERN))["result"]
        assert (tools["resultType"], tools["cacheScope"]) == ("complete", "public")
        call = {"name": "context_select", "arguments": {"query": "q"}, "_meta": MODERN}
        result = (await one.request("tools/call", **call))["result"]
        assert result["content"] == [{"type": "text", "text": "q"}]
        assert result["resultType"] == "complete"
        assert "structuredContent" not in result
        assert engine.asked == [("select", {"query": "q", "budget": 8000, "root": "/work"})]


async def test_a_version_that_is_not_spoken(place: Path) -> None:
    async with attaching(place) as (served, _), agent(served) as one:
        meta = {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
        error = (await one.request("tools/list", _meta=meta))["error"]
        assert error["code"] == -32022
        assert error["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}
        # What has no version of its own is of a handshake that is long past.
        assert "result" in await one.request("tools/list")


async def test_calls_of_every_tool(place: Path) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("context_select", {"query": "q"}),
        ("context_show", {"what": "w"}),
        ("context_recover", {"handle": "h"}),
        ("context_explain", {"receipt": "r", "what": "w"}),
        ("context_receipt", {"receipt": "r", "verify": True}),
        ("context_status", {}),
    ]
    async with attaching(place) as (served, engine), agent(served) as one:
        for name, arguments in calls:
            found = await one.request("tools/call", name=name, arguments=arguments)
            assert "isError" not in found["result"], found
        found = await one.request("tools/call", name="context_status", arguments=None)
        assert "isError" not in found["result"], found
        assert [method for method, _ in engine.asked] == [
            "select", "show", "recover", "explain", "receipt", "status", "status",
        ]  # fmt: skip


async def test_what_is_refused_is_a_result_and_what_is_no_call_an_error(place: Path) -> None:
    async with attaching(place) as (served, _), agent(served) as one:
        await one.select("gone")
        found = (await one.answer())["result"]
        assert found["isError"] is True
        assert found["content"][0]["text"] == "it is gone (reason: gone)"
        call = {"name": "context_select", "arguments": {"quarry": 1}}
        found = (await one.request("tools/call", **call))["result"]
        assert found["isError"] is True and "quarry" in found["content"][0]["text"]
        assert (await one.request("tools/call", name="no"))["error"]["code"] == -32602
        assert (await one.request("tools/call", nome="no"))["error"]["code"] == -32602
        assert (await one.request("prompts/list"))["error"]["code"] == -32601


async def test_lines_that_are_no_messages(place: Path) -> None:
    async with attaching(place) as (served, _), agent(served) as one:
        lines = (b"{", b"[]", b'[{"jsonrpc":"2.0"}]', b"7", b'{"id":{},"method":"ping"}', b"\xff")
        for line in (*lines, b"[" * 1000):
            await one.send(line + b"\n")
            found = await one.answer()
            assert found["id"] is None and found["error"]["code"] in (-32700, -32600), line
        await one.send(b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n')
        assert (await one.answer())["error"]["code"] == -32600
        await one.send(b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}\n')
        # Answers to questions nobody asked, and notifications nobody knows, are passed over.
        await one.send(b'\n{"jsonrpc":"2.0","id":5,"result":{}}\r\n')
        await one.say("notifications/nobody")
        assert (await one.request("ping", "x"))["id"] == "x"


async def test_who_speaks_another_language_is_cut(place: Path) -> None:
    async with attaching(place) as (served, _), agent(served) as one:
        await one.send(b"x\n" * 200)
        await one.rest()
        await served.until_connections(0)
        assert served.events.cut == ["garbage"]


async def test_ids_come_back_byte_for_byte(place: Path) -> None:
    async with attaching(place) as (served, _), agent(served) as one:
        for id in (b"12345678901234567890123", b'"\\u00e9 \\"x"', b"1.50", b"-0"):
            await one.send(b'{"jsonrpc":"2.0","method":"ping","id":%b}\n' % id)
            assert (await one.line()).startswith(b'{"jsonrpc":"2.0","id":%b,"result"' % id)


async def test_calls_are_answered_side_by_side(place: Path) -> None:
    async with attaching(place) as (served, engine), agent(served) as one:
        await one.select("wait", "slow")
        await one.select("quick", "quick")
        assert (await one.answer())["id"] == "quick"
        assert (await one.request("ping", "ping"))["id"] == "ping"
        engine.let_go.set()
        assert (await one.answer())["id"] == "slow"


async def test_a_call_that_is_called_off_gets_no_answer(place: Path) -> None:
    async with attaching(place) as (served, engine), agent(served) as one:
        await one.select("wait", 7)
        await engine.begun.wait()
        await one.say("notifications/cancelled", requestId=8)
        await one.say("notifications/cancelled")
        await one.say("notifications/cancelled", requestId=7, reason="enough")
        assert (await one.request("ping", 9))["id"] == 9
        assert engine.cancelled == 1
        # Its id is free again.
        await one.select("again", 7)
        assert (await one.answer())["result"]["content"][0]["text"] == "again"


async def test_more_calls_than_are_answered_at_once(place: Path) -> None:
    async with attaching(place) as (served, engine), agent(served) as one:
        for number in range(AT_ONCE):
            await one.select("wait", number)
        await one.select("one more", "more")
        found = await one.answer()
        assert found["id"] == "more" and "busy" in found["result"]["content"][0]["text"]
        await one.select("again", 0)
        assert (await one.answer())["error"]["code"] == -32600
        engine.let_go.set()
        ids = {(await one.answer())["id"] for _ in range(AT_ONCE)}
        assert ids == set(range(AT_ONCE))


async def test_who_leaves_is_not_answered(place: Path) -> None:
    async with attaching(place) as (served, engine):
        async with agent(served) as one:
            await one.select("wait")
            await engine.begun.wait()
        await served.until_connections(0)
        assert engine.cancelled == 1


async def test_who_only_stops_talking_gets_its_answers(place: Path) -> None:
    async with attaching(place) as (served, engine), agent(served) as one:
        await one.select("wait")
        one.writer.write_eof()
        await anyio.sleep(0.05)
        engine.let_go.set()
        assert json.loads(await one.rest())["result"]["content"][0]["text"] == "wait"
        await served.until_connections(0)


async def test_a_bug_ends_one_conversation_and_nothing_else(place: Path) -> None:
    async with attaching(place) as (served, _):
        async with agent(served) as one:
            await one.select("bug")
            await one.rest()
        assert [method for method, _ in served.events.failed] == ["attached"]
        assert await served.is_alive()


async def test_silence_is_no_reason_to_cut(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "FRAME_SECONDS", 0.2)
    async with attaching(place) as (served, _):
        async with agent(served) as one, served.client() as client:
            assert await client.rest() == b""
            await anyio.sleep(0.3)
            assert (await one.request("ping"))["result"] == {}
            # But a line that has begun has to end.
            await one.send(b'{"jsonrpc"')
            assert await one.rest() == b""
        assert served.events.cut == ["idle", "slow-frame"]


async def test_agents_do_not_crowd_out_others_nor_others_them(place: Path) -> None:
    async with attaching(place) as (served, _), anyio.create_task_group() as group:
        agents: list[Agent] = []
        ready = anyio.Event()

        async def stay() -> None:
            async with agent(served) as one:
                agents.append(one)
                if len(agents) == MAX_ATTACHED:
                    ready.set()
                await anyio.sleep_forever()

        for _ in range(MAX_ATTACHED):
            group.start_soon(stay)
        await ready.wait()
        async with served.client() as client:
            found = await client.ask("mcp.attach", params={"cwd": "/", "protocol": 1})
            assert found["error"]["data"]["reason"] == "busy"
            # It is a client like any other still.
            assert (await client.ask("status"))["result"] == {"ok": True}
        for _ in range(MAX_CONNECTIONS):
            assert await served.is_alive()
        assert (await agents[0].request("ping"))["result"] == {}
        group.cancel_scope.cancel()


async def test_an_attachment_that_does_not_fit(place: Path) -> None:
    async with attaching(place) as (served, _), served.client() as client:
        for params in ({}, {"cwd": 7}, []):
            assert (await client.ask("mcp.attach", params=params))["error"]["code"] == -32602
        assert (await client.ask("status"))["result"] == {"ok": True}


async def test_a_large_answer_arrives_whole(place: Path) -> None:
    async with attaching(place) as (served, _), agent(served) as one:
        await one.select("big:2000000")
        await one.select("small", 2)
        found = {}
        for _ in range(2):
            answer = await one.answer()
            found[answer["id"]] = answer["result"]["content"][0]["text"]
        assert found[2] == "small" and len(found[1]) == 2_000_000 + len("big:2000000")
