"""What the relay does about lines that are too long, and about ids that are none, in a process."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.context.test_in_daemon import WithFake, faked
from tests.ipc.context.test_relay import SECONDS, Agent, agent, call, line

_WELCOME = b'{"version":"1","protocol":1,"jsonrpc":"2.0","id":0,"result":{"attached":true}}\n'


@pytest.fixture(scope="module")
def running() -> Iterator[WithFake]:
    with faked() as subject:
        subject.start()
        yield subject


@pytest.mark.parametrize(
    ("id", "is_one"),
    [
        (b"true", False),
        (b"[1]", False),
        (b"null", False),
        (b'"\\ud800"', False),
        (b'"' + b"q" * 1100 + b'"', True),
        (b"1" * 5000, True),
    ],
)
def test_it_ends_whatever_the_id(running: WithFake, id: bytes, is_one: bool) -> None:
    with agent(running) as one:
        one.say(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}\n' % id)
        assert one.process.stdout is not None
        found = one.process.stdout.readline()
        began = time.monotonic()
        assert one.leave() == (0, b"") and time.monotonic() - began < 15
        told = id if is_one else b"null"
        assert found.startswith(b'{"jsonrpc":"2.0","id":%b,' % told)


def test_a_line_that_is_too_long_costs_no_other_call(running: WithFake) -> None:
    with agent(running) as one:
        one.say(call("slow:0.5", 1) + call("a" * 1_200_000, "long") + line("ping", 2))
        answers = [one.hear() for _ in range(3)]
        found: dict[Any, Any] = {answer["id"]: answer for answer in answers}
        assert set(found) == {1, 2, "long"}
        assert found["long"]["error"]["code"] == -32600
        assert found["long"]["error"]["data"] == {"reason": "usage"}
        assert "result" in found[1] and "result" in found[2]
        assert one.leave() == (0, b"")


def test_the_longest_line_that_is_passed_on(running: WithFake) -> None:
    def padded(size: int, id: int) -> bytes:
        body = line("ping", id).rstrip(b"\n")
        return body + b" " * (size - len(body)) + b"\n"

    with agent(running) as one:
        assert one.ask(padded(2**20 - 1, 1))["result"] == {}
        found = one.ask(padded(2**20, 2))
        assert (found["id"], found["error"]["code"]) == (2, -32600)
        assert one.ask(line("ping", 3))["result"] == {}


@pytest.mark.parametrize("size", [3_000_000, 20_000_000])
def test_a_long_line_without_an_id(running: WithFake, size: int) -> None:
    with agent(running) as one:
        found = one.ask(b"x" * size + b"\n")
        assert (found["id"], found["error"]["code"]) == (None, -32600)
        assert one.ask(line("ping", 1))["id"] == 1
        one.say(b"x" * size)
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert one.hear()["id"] is None
        assert one.process.wait(SECONDS) == 0


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Generator[Agent]:
    """A relay, and somebody at the socket who does as he likes with whoever comes."""
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    path = folder / "s"

    def taken(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65536)
            serve(client)

    def accept(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=taken, args=(client,), daemon=True).start()

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=accept, args=(server,), daemon=True)
        thread.start()
        env = {**os.environ, "FABRICD_SOCKET": str(path), "PYTHONPATH": os.pathsep.join(sys.path)}
        one = Agent(env)
        try:
            yield one
        finally:
            one.close()
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
    shutil.rmtree(folder)


def _drip(client: socket.socket) -> None:
    while True:
        client.sendall(b"{")
        time.sleep(0.2)


def _flood(client: socket.socket) -> None:
    while True:
        client.sendall(b"x" * 65536)


def _flood_later(client: socket.socket) -> None:
    client.sendall(_WELCOME)
    client.recv(65536)
    _flood(client)


def _nested(client: socket.socket) -> None:
    client.sendall(b"[" * 30_000 + b"\n")
    client.recv(1)


def test_an_answer_in_drops_is_none(tmp_path: Path) -> None:
    with listening(_drip) as one:
        began = time.monotonic()
        found = one.ask(line("ping", 1))
        assert (found["id"], found["error"]["data"]) == (1, {"reason": "not-running"})
        assert time.monotonic() - began < 30
        assert one.leave() == (0, b"")


@pytest.mark.parametrize("serve", [_flood, _nested])
def test_a_greeting_without_an_end(serve: Callable[[socket.socket], None]) -> None:
    with listening(serve) as one:
        found = one.ask(line("ping", 1))
        assert (found["id"], found["error"]["data"]) == (1, {"reason": "stale"})
        assert one.leave() == (0, b"")


def test_an_answer_without_an_end() -> None:
    with listening(_flood_later) as one:
        one.say(line("ping", 1))
        assert one.process.stdout is not None
        found = one.process.stdout.read().splitlines()
        assert [json.loads(answer)["error"]["data"]["reason"] for answer in found] == ["stale"]
        assert one.process.wait(SECONDS) == 1
        assert one.process.stderr is not None
        assert (
            one.process.stderr.read() == b"fabricd: whoever listens at the socket is no fabricd\n"
        )


def test_who_takes_back_what_was_never_answered_is_not_waited_for() -> None:
    def closing(client: socket.socket) -> None:
        client.sendall(_WELCOME)
        # Reads until nothing more is asked, and answers nothing.
        while client.recv(65536):
            pass

    with listening(closing) as one:
        one.say(line("ping", 1))
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert one.hear()["error"]["data"] == {"reason": "failed"}
        assert one.process.wait(SECONDS) == 0


def test_the_imports_are_what_they_were() -> None:
    code = "import sys, fabricd.ipc.context.relay; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "fabricd.core.nesting" not in done.stdout.split()
