"""Frames against a real server: whatever is sent, each line gets an answer or the end."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from hypothesis import given

from tests.fuzz.hostile import bounded, few, hostile
from tests.ipc.serving import Events, frame, serving

SEEDS = [
    frame("status", id=1),
    frame("turn_end", id="a", params={"agent": "pi", "transcript_path": "/x", "cwd": "/y"}),
    frame("turn_end", params={"session": "s"}) + frame("status", id=2) + frame("nothing", id=3),
    frame("subscribe", id=1.5),
    b'[{"jsonrpc":"2.0","method":"status","id":1}]\n',
]


class Running:
    """A server in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events = Events()
        self._ready = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: anyio.run(self._serve))

    async def _serve(self) -> None:
        async with serving(self.path) as served:
            self.events = served.events
            self._ready.set()
            await anyio.to_thread.run_sync(self._stop.wait)

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def say(self, data: bytes) -> bytes:
        """Send everything, then take everything until the server has said all."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5)
            client.connect(str(self.path / "s"))
            taken = bytearray()
            reader = threading.Thread(target=_take, args=(client, taken))
            reader.start()
            with suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
            reader.join(10)
            assert not reader.is_alive()
            return bytes(taken)


def _take(client: socket.socket, into: bytearray) -> None:
    with suppress(ConnectionResetError):
        while part := client.recv(1 << 16):
            into += part


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    with Running(folder) as server:
        yield server
    shutil.rmtree(folder)


def test_every_reply_is_sound_and_the_server_lives_on(running: Running) -> None:
    @few(2)
    @given(hostile(SEEDS))
    def check(data: bytes) -> None:
        with bounded():
            replies = running.say(data)
        for line in replies.splitlines():
            reply = json.loads(line)
            assert {"jsonrpc", "version", "protocol"} <= reply.keys()
            assert "error" not in reply or reply["error"]["code"] in (
                -32700, -32600, -32601, -32602, -32000,
            )  # fmt: skip
        assert running.events.failed == []
        assert json.loads(running.say(frame("status", id=7)))["result"] == {"ok": True}

    check()
