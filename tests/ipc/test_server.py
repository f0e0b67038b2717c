"""What one client sees: requests, replies, and every error on the wire."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from fabricd.ipc import PROTOCOL
from fabricd.ipc.protocol import MAX_FRAME, NoParams, RpcError
from fabricd.ipc.server import Method
from tests.ipc.serving import VERSION, frame, serving

pytestmark = pytest.mark.asyncio


async def test_a_request_is_answered_with_its_id_version_and_protocol(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        assert await client.ask("status", "seven") == {
            "jsonrpc": "2.0",
            "version": VERSION,
            "protocol": PROTOCOL,
            "id": "seven",
            "result": {"ok": True},
        }


async def test_several_requests_on_one_connection_are_answered_in_order(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        await client.send(b"".join(frame("status", id=number) for number in range(50)))
        assert [(await client.answer())["id"] for _ in range(50)] == [*range(50)]
        assert (await client.ask("turn_end", 51, params={"agent": "a"}))["result"]["agent"] == "a"


async def test_a_frame_may_come_in_pieces(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        for byte in frame("status", id=1):
            await client.send(bytes([byte]))
        assert (await client.answer())["result"] == {"ok": True}


async def test_a_client_that_has_said_all_still_gets_its_answer(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        await client.send(frame("status", id=1))
        client.writer.write_eof()
        assert json.loads(await client.rest())["result"] == {"ok": True}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"hello\n", -32700),
        (b"\n", -32700),
        (b"\xff\n", -32700),
        (b"[]\n", -32600),
        (b"[" * 9_000 + b"\n", -32700),
        (b'{"jsonrpc":"2.0","id":9}\n', -32600),
        (b'{"jsonrpc":"1.0","id":9,"method":"status"}\n', -32600),
    ],
)
async def test_a_bad_frame_is_answered_without_id_and_the_talk_goes_on(
    place: Path, data: bytes, code: int
) -> None:
    async with serving(place) as served, served.client() as client:
        await client.send(data)
        answer = await client.answer()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
        assert (answer["version"], answer["protocol"]) == (VERSION, PROTOCOL)
        assert (await client.ask("status"))["result"] == {"ok": True}


async def test_an_unknown_method_and_params_that_do_not_fit_are_named(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        missing = await client.ask("no_such" + "x" * 1000, 1)
        assert missing["error"]["code"] == -32601
        assert "no_such" in missing["error"]["message"] and len(missing["error"]["message"]) < 200
        positional = await client.ask("turn_end", 2, params=["claude"])
        assert (positional["id"], positional["error"]["code"]) == (2, -32602)
        assert (await client.ask("turn_end", 3, params={"cwd": 5}))["error"]["code"] == -32602


async def test_a_notification_is_never_answered_however_bad(place: Path) -> None:
    async def broken(_: NoParams) -> bytes:
        raise ValueError("broken")

    async with serving(place, {"broken": Method(NoParams, broken)}) as served:
        async with served.client() as client:
            await client.send(frame("status") + frame("no_such") + frame("broken"))
            await client.send(frame("turn_end", params=["positional"]))
            assert (await client.ask("status", "first answer"))["id"] == "first answer"
        assert [method for method, _ in served.events.failed] == ["broken"]


async def test_a_subscription_without_id_is_not_answered(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        await client.send(frame("subscribe"))
        with anyio.move_on_after(0.2):
            assert b'"result"' not in await client.line()


async def test_an_answer_that_raises_is_an_error_of_ours_and_the_server_lives(
    place: Path,
) -> None:
    async def broken(_: NoParams) -> bytes:
        raise KeyError("secret detail")

    async with serving(place, {"broken": Method(NoParams, broken)}) as served:
        async with served.client() as client:
            answer = await client.ask("broken")
            assert answer["error"]["code"] == -32000
            assert answer["error"]["data"] == {"reason": "failed"}
            assert "secret" not in json.dumps(answer)
            assert (await client.ask("status"))["result"] == {"ok": True}
        assert await served.is_alive()
        [(method, error)] = served.events.failed
        assert method == "broken" and isinstance(error, KeyError)


async def test_an_answer_may_refuse_with_an_error_of_its_own(place: Path) -> None:
    async def refusing(_: NoParams) -> bytes:
        raise RpcError(-32000, "not yet", "starting")

    async with serving(place, {"refusing": Method(NoParams, refusing)}) as served:
        async with served.client() as client:
            answer = await client.ask("refusing")
        assert answer["error"] == {
            "code": -32000,
            "message": "not yet",
            "data": {"reason": "starting"},
        }
        assert served.events.failed == []


async def test_a_frame_of_almost_a_mebibyte_is_served(place: Path) -> None:
    async with serving(place) as served, served.client() as client:
        long = "x" * (MAX_FRAME - 200)
        answer = await client.ask("turn_end", params={"agent": long})
        assert answer["result"]["agent"] == long


@pytest.mark.parametrize("ends", [True, False])
async def test_a_frame_over_a_mebibyte_gets_one_error_and_the_end(place: Path, ends: bool) -> None:
    async with serving(place) as served:
        async with served.client() as client:
            client.writer.write(b"x" * (3 * MAX_FRAME) + b"\n" * ends)
            [line] = (await client.rest()).splitlines()
            error = json.loads(line)["error"]
            assert error["code"] == -32600 and error["data"] == {"reason": "too-large"}
            assert "1 MiB" in error["message"]
        assert await served.is_alive()


async def test_a_client_that_leaves_amid_a_frame_or_a_reply_harms_nobody(place: Path) -> None:
    async def large(_: NoParams) -> bytes:
        return b'"' + b"x" * (4 << 20) + b'"'

    async with serving(place, {"large": Method(NoParams, large)}) as served:
        for data in (b'{"jsonrpc"', frame("large", id=1), frame("status", id=1) * 2000):
            async with served.client() as client:
                client.writer.write(data)
                await anyio.lowlevel.checkpoint()
                client.writer.transport.abort()
        await served.until_connections(0)
        assert await served.is_alive()
