"""What one client cannot do to the others."""

from __future__ import annotations

import json
import os
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from fabricd.ipc.places import MAX_CONNECTIONS, MAX_HELD, MAX_SUBSCRIBERS
from fabricd.ipc.protocol import MAX_FRAME, NoParams
from fabricd.ipc.server import MAX_GARBAGE, Method
from tests.ipc.serving import Client, Served, frame, serving

pytestmark = pytest.mark.asyncio


async def fill(served: Served, stack: AsyncExitStack) -> list[Client]:
    """Take every place."""
    clients = [await stack.enter_async_context(served.client()) for _ in range(MAX_CONNECTIONS)]
    await served.until_connections(MAX_CONNECTIONS)
    return clients


class Slow:
    """A method that answers when it is released."""

    def __init__(self) -> None:
        self.release = anyio.Event()

    async def answer(self, _: NoParams) -> bytes:
        await self.release.wait()
        return b"1"

    def methods(self) -> dict[str, Method]:
        return {"slow": Method(NoParams, self.answer)}


async def test_64_clients_are_served_and_the_next_is_told_why_not(place: Path) -> None:
    slow = Slow()
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place, slow.methods()))
        clients = await fill(served, stack)
        assert len(clients) == 64
        for client in clients:
            await client.send(frame("slow", id=1))
        await served.until_stage("answering", 64)
        async with served.client() as late:
            [line] = (await late.rest()).splitlines()
            answer = json.loads(line)
            assert answer["error"]["code"] == -32000
            assert answer["error"]["data"] == {"reason": "busy"}
            assert "64" in answer["error"]["message"]
            assert {"version", "protocol"} <= answer.keys()
        slow.release.set()
        for client in clients:
            assert (await client.answer())["result"] == 1
        assert [cause for cause, _ in served.events.refused] == ["busy"]
        assert await served.is_alive()


async def test_one_that_is_turned_away_and_already_gone_does_not_end_the_server(
    place: Path,
) -> None:
    slow = Slow()
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place, slow.methods()))
        clients = await fill(served, stack)
        for client in clients:
            await client.send(frame("slow", id=1))
        await served.until_stage("answering", 64)
        with socket.socket(socket.AF_UNIX) as hasty:
            hasty.connect(str(served.path))
        slow.release.set()
        assert (await clients[0].answer())["result"] == 1
        assert await served.is_alive()


async def test_a_slow_method_leaves_room_for_others(place: Path) -> None:
    slow = Slow()
    methods = {"slow": Method(NoParams, slow.answer, at_once=2)}
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place, methods))
        clients = [await stack.enter_async_context(served.client()) for _ in range(3)]
        for client in clients:
            await client.send(frame("slow", id=1))
        error = (await clients[2].answer())["error"]
        assert (error["code"], error["data"]) == (-32000, {"reason": "busy"})
        assert (await clients[2].ask("status"))["result"] == {"ok": True}
        slow.release.set()
        assert [(await client.answer())["result"] for client in clients[:2]] == [1, 1]
        assert (await clients[2].ask("slow"))["result"] == 1


async def test_where_all_places_are_taken_the_most_idle_client_makes_way(place: Path) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place))
        clients = await fill(served, stack)
        assert (await clients[0].ask("status"))["result"] == {"ok": True}
        assert await served.is_alive()
        assert await clients[1].rest() == b""
        assert served.events.cut == ["crowded"] and served.events.refused == []
        for client in (clients[0], *clients[2:]):
            assert (await client.ask("status"))["result"] == {"ok": True}


async def test_200_idle_clients_keep_nobody_waiting(place: Path) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place))
        for _ in range(200):
            idle = stack.enter_context(socket.socket(socket.AF_UNIX))
            # In a thread: the server has to accept meanwhile.
            await anyio.to_thread.run_sync(idle.connect, str(served.path))
        for _ in range(3):
            with anyio.fail_after(5):
                assert await served.is_alive()
        assert len(served.places) <= MAX_CONNECTIONS


async def test_subscribers_leave_room_for_others(place: Path) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place))
        for _ in range(MAX_SUBSCRIBERS):
            client = await stack.enter_async_context(served.client())
            assert "result" in await client.ask("subscribe")
        async with served.client() as late:
            error = (await late.ask("subscribe"))["error"]
            assert (error["code"], error["data"]) == (-32000, {"reason": "busy"})
            assert (await late.ask("status"))["result"] == {"ok": True}
        await served.until_connections(MAX_SUBSCRIBERS)


async def test_a_flood_of_notifications_and_garbage_holds_nobody_up(place: Path) -> None:
    garbage = (b"}{" * 20 + b"\n") * 20_000
    notes = frame("no_such") * 20_000
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place))
        for data in (garbage, notes):
            client = await stack.enter_async_context(served.client())
            client.writer.write(data)
        for _ in range(5):
            with anyio.fail_after(5):
                assert await served.is_alive()
        assert ("unknown", "refused") in served.events.ended


async def test_one_that_sends_nothing_but_garbage_is_cut_off_and_one_that_errs_is_not(
    place: Path,
) -> None:
    async with serving(place) as served:
        async with served.client() as client:
            await client.send(b"garbage\n" * 1000)
            lines = (await client.rest()).splitlines()
            assert len(lines) == MAX_GARBAGE
            assert {json.loads(line)["error"]["code"] for line in lines} == {-32700}
        await served.until_connections(0)
        assert served.events.cut == ["garbage"]
        async with served.client() as client:
            for _ in range(3):
                await client.send(b"garbage\n" * (MAX_GARBAGE - 1) + frame("status", id=1))
                for _ in range(MAX_GARBAGE - 1):
                    assert "error" in await client.answer()
                assert (await client.answer())["result"] == {"ok": True}


async def test_large_frames_that_never_end_take_no_more_memory_than_there_is_for_them(
    place: Path,
) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(place))
        clients = [await stack.enter_async_context(served.client()) for _ in range(20)]
        for client in clients:
            client.writer.write(b"x" * (MAX_FRAME - 1))
        with anyio.fail_after(5):
            while True:
                if len(served.events.cut) >= 20 - MAX_HELD // MAX_FRAME:
                    break
                await anyio.sleep(0.01)
        assert set(served.events.cut) == {"crowded"}
        assert served.places.held <= MAX_HELD
        with anyio.fail_after(5):
            assert await served.is_alive()


async def test_a_frame_that_never_ends_is_cut_off_while_others_are_served(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.ipc.connection.FRAME_SECONDS", 0.3)
    async with serving(place) as served, served.client() as slow:
        started = anyio.current_time()
        answers = 0
        await slow.send(b'{"jsonrpc":"2.0"')
        async with anyio.create_task_group() as group:
            group.start_soon(_drip, slow)
            while len(served.places):
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
    monkeypatch.setattr("fabricd.ipc.connection.FRAME_SECONDS", 1.5)
    async with serving(place) as served, served.client() as client:
        for number in range(4):
            await anyio.sleep(0.5)
            assert (await client.ask("status", number))["id"] == number


async def test_a_client_that_never_reads_holds_nobody_up_and_loses_its_place(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def large(_: NoParams) -> bytes:
        return b'"' + b"x" * (8 << 20) + b'"'

    monkeypatch.setattr("fabricd.ipc.connection.SEND_SECONDS", 1.5)
    async with serving(place, {"large": Method(NoParams, large)}) as served:
        with socket.socket(socket.AF_UNIX) as greedy:
            greedy.connect(str(served.path))
            greedy.sendall(frame("large", id=1) * 3)
            await served.until_connections(1)
            with anyio.fail_after(1.4):
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
        assert [cause for cause, _ in served.events.refused] == ["other-user", "other-user"]
        reasons = [reason for _, reason in served.events.refused]
        assert [str(os.getuid() + 1) in reason for reason in reasons] == [True, False]
        await served.until_connections(0)


async def test_a_slow_answer_delays_only_its_own_client(place: Path) -> None:
    slow = Slow()
    async with serving(place, slow.methods()) as served:
        async with served.client() as patient:
            await patient.send(frame("slow", id=1))
            assert await served.is_alive()
            slow.release.set()
            assert (await patient.answer())["result"] == 1


async def test_why_a_conversation_was_ended_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.ipc.connection.FRAME_SECONDS", 0.1)
    async with serving(place) as served:
        for data, cause in (
            (b"", "idle"),
            (b"{", "slow-frame"),
            (b"x" * (2 * MAX_FRAME), "large-frame"),
        ):
            async with served.client() as client:
                client.writer.write(data)
                await client.rest()
            await served.until_connections(0)
            assert served.events.cut.pop() == cause


async def test_each_frame_is_told_with_its_method_and_how_it_ended(place: Path) -> None:
    async def broken(_: NoParams) -> bytes:
        raise ValueError

    async with serving(place, {"broken": Method(NoParams, broken)}) as served:
        async with served.client() as client:
            await client.ask("status")
            await client.ask("broken")
            await client.ask("turn_end", params=[])
            await client.ask("nothing-of-ours")
            await client.send(b"garbage\n")
            await client.answer()
            await client.ask("subscribe")
    assert served.events.ended == [
        ("status", "answered"),
        ("broken", "failed"),
        ("turn_end", "refused"),
        ("unknown", "refused"),
        ("unknown", "refused"),
        ("subscribe", "answered"),
    ]
