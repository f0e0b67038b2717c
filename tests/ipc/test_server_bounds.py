"""What one client cannot do to the others."""

from __future__ import annotations

import json
import os
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from fabricd.ipc.protocol import NoParams
from fabricd.ipc.server import MAX_CONNECTIONS, Method
from tests.ipc.serving import Client, Served, frame, serving

pytestmark = pytest.mark.asyncio


async def fill(served: Served, stack: AsyncExitStack) -> list[Client]:
    """Take every place."""
    clients = [await stack.enter_async_context(served.client()) for _ in range(MAX_CONNECTIONS)]
    await served.until_connections(MAX_CONNECTIONS)
    return clients


async def test_64_clients_are_served_and_the_next_is_told_why_not(place: Path) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place))
        clients = await fill(served, stack)
        assert len(clients) == 64
        async with served.client() as late:
            [line] = (await late.rest()).splitlines()
            answer = json.loads(line)
            assert answer["error"]["code"] == -32000
            assert answer["error"]["data"] == {"reason": "busy"}
            assert "64" in answer["error"]["message"]
            assert {"version", "protocol"} <= answer.keys()
        for client in clients:
            assert (await client.ask("status"))["result"] == {"ok": True}
        assert len(served.events.refused) == 1
        await clients.pop().close()
        await served.until_connections(63)
        assert await served.is_alive()


async def test_one_that_is_turned_away_and_already_gone_does_not_end_the_server(
    place: Path,
) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place))
        [first, *_] = await fill(served, stack)
        with socket.socket(socket.AF_UNIX) as hasty:
            hasty.connect(str(served.path))
        assert (await first.ask("status"))["result"] == {"ok": True}
        await first.close()
        await served.until_connections(63)
        assert await served.is_alive()


async def test_a_frame_that_never_ends_is_cut_off_while_others_are_served(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.ipc.server.FRAME_SECONDS", 0.3)
    async with serving(place) as served, served.client() as slow:
        started = anyio.current_time()
        answers = 0
        await slow.send(b'{"jsonrpc":"2.0"')
        async with anyio.create_task_group() as group:
            group.start_soon(_drip, slow)
            while served.server.connections:
                answers += await served.is_alive()
                await anyio.sleep(0.02)
            assert await slow.rest() == b""
            group.cancel_scope.cancel()
        assert 0.25 < anyio.current_time() - started < 3
        assert answers >= 3


async def _drip(client: Client) -> None:
    # Bytes that keep coming must not move the deadline.
    while True:
        client.writer.write(b" ")
        await anyio.sleep(0.02)


async def test_a_client_between_two_frames_has_the_whole_deadline_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.ipc.server.FRAME_SECONDS", 0.5)
    async with serving(place) as served, served.client() as client:
        for number in range(4):
            await anyio.sleep(0.2)
            assert (await client.ask("status", number))["id"] == number


async def test_a_client_that_never_reads_holds_nobody_up_and_loses_its_place(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def large(_: NoParams) -> bytes:
        return b'"' + b"x" * (8 << 20) + b'"'

    monkeypatch.setattr("fabricd.ipc.server.SEND_SECONDS", 0.3)
    async with serving(place, {"large": Method(NoParams, large)}) as served:
        with socket.socket(socket.AF_UNIX) as greedy:
            greedy.connect(str(served.path))
            greedy.sendall(frame("large", id=1) * 3)
            await served.until_connections(1)
            with anyio.fail_after(0.25):
                assert await served.is_alive()
            await served.until_connections(0)
        assert await served.is_alive()


async def test_another_user_is_refused_without_a_word(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(place) as served:
        for uid in (os.getuid() + 1, None):
            monkeypatch.setattr("fabricd.ipc.server.peer_uid", lambda _, uid=uid: uid)
            async with served.client() as stranger:
                assert await stranger.rest() == b""
        monkeypatch.undo()
        assert await served.is_alive()
        assert [str(os.getuid() + 1) in reason for reason in served.events.refused] == [True, False]
        await served.until_connections(0)


async def test_a_slow_answer_delays_only_its_own_client(place: Path) -> None:
    release = anyio.Event()

    async def slow(_: NoParams) -> bytes:
        await release.wait()
        return b"1"

    async with serving(place, {"slow": Method(NoParams, slow)}) as served:
        async with served.client() as patient:
            await patient.send(frame("slow", id=1))
            assert await served.is_alive()
            release.set()
            assert (await patient.answer())["result"] == 1
