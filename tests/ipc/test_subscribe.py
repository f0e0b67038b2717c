"""Events: in order, all of them, or none from here on."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from fabricd.ipc import PROTOCOL
from tests.ipc.serving import VERSION, Client, Served, frame, serving

pytestmark = pytest.mark.asyncio

# Events a lagging subscriber may hold; from the design, not from the code.
HELD = 256


async def subscribe(client: Client) -> None:
    assert (await client.ask("subscribe", "s"))["result"] == {"subscribed": True}


async def numbers(client: Client, count: int) -> list[int]:
    return [(await client.answer())["params"]["number"] for _ in range(count)]


def numbers_in(data: bytes) -> list[int]:
    """The numbers of the whole frames in bytes that may end within one."""
    return [json.loads(line)["params"]["number"] for line in data.split(b"\n")[:-1]]


async def test_events_come_as_notifications_in_order(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        await subscribe(client)
        served.broadcast.publish("compiled", {"number": 0, "plans": 3})
        assert await client.answer() == {
            "jsonrpc": "2.0",
            "version": VERSION,
            "protocol": PROTOCOL,
            "method": "event",
            "params": {"event": "compiled", "number": 0, "plans": 3},
        }
        for number in range(1, 1001):
            served.broadcast.publish("read", {"number": number})
            if number % 100 == 0:
                await anyio.sleep(0.01)
        assert await numbers(client, 1000) == [*range(1, 1001)]


async def test_only_what_comes_after_the_subscription_is_delivered(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        served.broadcast.publish("read", {"number": 1})
        await subscribe(client)
        served.broadcast.publish("read", {"number": 2})
        assert await numbers(client, 1) == [2]


async def test_a_subscriber_that_lags_is_cut_off_and_never_skipped(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        await subscribe(client)
        for number in range(HELD + 50):
            served.broadcast.publish("read", {"number": number})
        got = numbers_in(await client.rest())
        assert got == [*range(len(got))]
        assert HELD <= len(got) < HELD + 50
        await served.until_connections(0)


async def test_a_queue_is_bounded_in_bytes_too_and_one_frame_is_always_taken(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.ipc.broadcast._BYTES_HELD", 10_000)
    async with serving(place) as served, served.client() as client:
        await subscribe(client)
        served.broadcast.publish("read", {"number": 0, "text": "x" * 50_000})
        assert await numbers(client, 1) == [0]
        for number in range(1, 10):
            served.broadcast.publish("read", {"number": number, "text": "x" * 4_000})
        assert served.broadcast.longest_queue == 0 and served.broadcast.subscribers == 0
        assert numbers_in(await client.rest()) == [1, 2]
        await served.until_connections(0)
        assert served.events.cut == ["lagging-subscriber"]


async def test_one_that_does_not_read_is_cut_off_and_the_other_misses_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.ipc.connection.SEND_SECONDS", 0.2)
    async with serving(place) as served, served.client() as idle, served.client() as eager:
        # Unread, the transport stops taking bytes and the socket fills.
        await subscribe(idle)
        idle.writer.transport.pause_reading()  # type: ignore[attr-defined] # it can read too
        await subscribe(eager)
        seen: list[int] = []
        for number in range(80):
            served.broadcast.publish("read", {"number": number, "text": "x" * 65536})
            seen += await numbers(eager, 1)
        assert seen == [*range(80)]
        await served.until_connections(1)
        idle.writer.transport.resume_reading()  # type: ignore[attr-defined]
        got = numbers_in(await idle.rest())
        assert got == [*range(len(got))] and 0 < len(got) < 80


async def test_a_subscriber_that_leaves_frees_its_place(place: Path) -> None:
    async with serving(place) as served:
        for _ in range(3):
            async with served.client() as client:
                await subscribe(client)
                await served.until_connections(1)
            await served.until_connections(0)
        served.broadcast.publish("read", {"number": 1})
        assert await served.is_alive()


async def test_an_event_that_meets_a_subscriber_just_leaving_does_not_end_the_server(
    place: Path,
) -> None:
    async with serving(place) as served:
        async with served.client() as client:
            await subscribe(client)
            client.writer.transport.abort()
            await _closed(client)
            served.broadcast.publish("read", {"number": 1})
            served.broadcast.publish("read", {"number": 2})
            await served.until_connections(0)
        assert await served.is_alive()


async def _closed(client: Client) -> None:
    # One turn of the loop closes the descriptor; the server has not yet looked at its own.
    while True:
        if client.writer.get_extra_info("socket").fileno() < 0:
            return
        await anyio.lowlevel.checkpoint()


async def test_what_a_subscriber_says_is_ignored(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        await subscribe(client)
        await client.send(frame("status", id=1) + b"not json\n")
        await _settle(served)
        served.broadcast.publish("read", {"number": 7})
        assert await numbers(client, 1) == [7]


async def _settle(served: Served) -> None:
    assert await served.is_alive()
