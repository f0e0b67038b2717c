"""The relay as a process: an agent on one side, a daemon, or none, on the other."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fabricd.store.locks import holder
from tests.daemon.context.test_in_daemon import WithFake, faked

SECONDS = 20.0


def line(method: str, id: object = None, **params: object) -> bytes:
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps({**body, **({} if id is None else {"id": id})}).encode() + b"\n"


def call(query: str, id: object) -> bytes:
    return line("tools/call", id, name="context_select", arguments={"query": query})


class Agent:
    """Somebody who has started a relay."""

    def __init__(
        self, env: dict[str, str], cwd: Path | None = None, arguments: Sequence[str] = ()
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fabricd", "mcp", *arguments],
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def say(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, data: bytes) -> Any:
        self.say(data)
        return self.hear()

    def is_starting(self) -> bool:
        """Whether a command of its own that starts a daemon runs still."""
        if shutil.which("ps") is None:
            return False
        found = subprocess.run(
            ["ps", "-A", "-o", "ppid=", "-o", "stat="], capture_output=True, text=True, check=True
        )
        rows = (row.split() for row in found.stdout.splitlines())
        return any(row[0] == str(self.process.pid) and row[1][0] != "Z" for row in rows)

    def settle(self) -> None:
        """Whoever starts a daemon after the end of a test would leave it behind."""
        ends = time.monotonic() + SECONDS
        while self.is_starting() and time.monotonic() < ends:
            time.sleep(0.02)

    def leave(self) -> tuple[int, bytes]:
        self.settle()
        assert self.process.stdin is not None and self.process.stderr is not None
        self.process.stdin.close()
        return self.process.wait(SECONDS), self.process.stderr.read()

    def close(self) -> None:
        self.settle()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue


@contextmanager
def agent(subject: WithFake, cwd: Path | None = None, *arguments: str) -> Generator[Agent]:
    one = Agent(subject.env, cwd, arguments)
    try:
        yield one
    finally:
        one.close()


@pytest.fixture(scope="module")
def running() -> Iterator[WithFake]:
    with faked() as subject:
        subject.start()
        yield subject


@pytest.fixture
def own() -> Iterator[WithFake]:
    with faked() as subject:
        yield subject
        ended(subject)


def ended(subject: WithFake) -> None:
    """End whatever daemon a relay has started."""
    held = holder(subject.home / "fabricd.lock")
    if held is not None and held.pid is not None:
        os.kill(held.pid, signal.SIGKILL)
        subject.until(lambda: holder(subject.home / "fabricd.lock") is None)


def test_an_agent_is_answered_and_leaves(running: WithFake, tmp_path: Path) -> None:
    with agent(running, tmp_path) as one:
        found = one.ask(line("initialize", 1, protocolVersion="2025-11-25"))
        assert found["result"]["serverInfo"]["name"] == "fabricd"
        one.say(line("notifications/initialized"))
        assert len(one.ask(line("tools/list", 2))["result"]["tools"]) == 6
        found = one.ask(call("echo", "three"))
        assert found["result"]["content"] == [{"type": "text", "text": "echo\n"}]
        assert one.leave() == (0, b"")


def test_the_root_is_where_the_agent_works(running: WithFake, tmp_path: Path) -> None:
    odd = tmp_path / 'a "tree" \\ é'
    odd.mkdir()
    with agent(running, odd) as one:
        found = one.ask(call("root", 1))
        assert found["result"]["content"][0]["text"] == str(odd)


def test_another_root_is_named(running: WithFake, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    with agent(running, tmp_path, "--root", "inner") as one:
        found = one.ask(call("root", 1))
        assert found["result"]["content"][0]["text"] == str(tmp_path / "inner")
    with agent(running, tmp_path, "--root", "none") as one:
        code, words = one.leave()
        assert code == 2 and words.startswith(b"fabricd: ")


def test_what_was_asked_is_answered_after_the_agent_has_said_all(running: WithFake) -> None:
    with agent(running) as one:
        one.say(call("slow:0.5", 1) + line("ping", 2).rstrip(b"\n"))
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert {one.hear()["id"], one.hear()["id"]} == {1, 2}
        assert one.process.wait(SECONDS) == 0


def test_an_agent_that_dies_takes_its_calls_with_it(running: WithFake) -> None:
    with agent(running) as one:
        one.say(call("slow:60", 1))
        running.until(lambda: running.requests == 1)
    running.until(lambda: running.requests == 0)


def test_large_answers_to_a_slow_reader(running: WithFake) -> None:
    with agent(running) as one:
        one.say(b"".join(call("big:5000000", n) for n in range(4)))
        time.sleep(0.3)
        found = [one.hear() for _ in range(4)]
        assert {answer["id"] for answer in found} == {0, 1, 2, 3}
        assert all(len(answer["result"]["content"][0]["text"]) == 5_000_000 for answer in found)


def test_an_interrupt_ends_it_without_a_word(running: WithFake) -> None:
    with agent(running) as one:
        one.ask(line("ping", 1))
        one.process.send_signal(signal.SIGINT)
        assert one.leave() == (0, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_without_streams_it_ends_with_a_word(running: WithFake, closed: str) -> None:
    command = f'"{sys.executable}" -m fabricd mcp {closed}'
    done = subprocess.run(
        ["sh", "-c", command], env=running.env, capture_output=True, input=b"{}\n", timeout=SECONDS
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 1


def test_two_agents_at_the_same_moment_start_one_daemon(own: WithFake) -> None:
    with agent(own) as one, agent(own) as two:
        for each in (one, two):
            each.say(line("initialize", 1, protocolVersion="2025-11-25"))
        assert "result" in one.hear() and "result" in two.hear()
        held = holder(own.home / "fabricd.lock")
        assert held is not None
        log = own.home / "state" / "fabricd.log"
        # Whoever is attached is answered before all sessions are read.
        own.until(lambda: "daemon_started" in log.read_text())
        own.until(lambda: own.status()["state"] == "ready")
        assert log.read_text().count("daemon_started") == 1
        assert one.leave() == two.leave() == (0, b"")
        assert holder(own.home / "fabricd.lock") is not None


def test_a_call_survives_the_death_of_the_daemon(own: WithFake, tmp_path: Path) -> None:
    own.start()
    with agent(own, tmp_path) as one:
        assert "result" in one.ask(line("initialize", 1, protocolVersion="2025-11-25"))
        one.say(call("slow:60", "lost"))
        own.until(lambda: own.requests == 1)
        one.say(line("notifications/cancelled", requestId="lost"))
        own.until(lambda: own.requests == 0)
        one.say(call("slow:60", "kept"))
        own.until(lambda: own.requests == 1)
        own.kill()
        # Another daemon is started, which has the engine itself, and is asked the same.
        assert one.hear()["id"] == "kept"
        assert one.ask(line("ping", 2))["id"] == 2
        assert one.leave() == (0, b"")


def test_a_daemon_that_has_gone_is_started_again(own: WithFake) -> None:
    own.start()
    with agent(own) as one:
        assert "result" in one.ask(line("ping", 1))
        own.stop()
        assert "result" in one.ask(line("tools/list", 2))
        held = holder(own.home / "fabricd.lock")
        assert held is not None


def test_no_daemon_can_be_started(own: WithFake) -> None:
    Path(own.env["FABRICD_CONFIG"]).write_text("no toml at all")
    with agent(own) as one:
        one.say(line("notifications/initialized"))
        found = one.ask(line("initialize", 'a "1"', protocolVersion="2025-11-25"))
        assert (found["id"], found["error"]["code"]) == ('a "1"', -32000)
        assert found["error"]["data"] == {"reason": "not-running"}
        assert "TOML" in found["error"]["message"]
        # It is not tried for each request anew: that would find another fault.
        Path(own.env["FABRICD_CONFIG"]).write_text("nobody = 1\n")
        again = one.ask(line("ping", 2))["error"]
        assert (again["code"], again["message"]) == (-32000, found["error"]["message"])
        # Somebody else may have cured it.
        Path(own.env["FABRICD_CONFIG"]).unlink()
        own.start()
        assert one.ask(line("ping", 3))["result"] == {}
        assert one.leave() == (0, b"")


@contextmanager
def listening(reply: bytes) -> Generator[dict[str, str]]:
    """Somebody at the socket who answers the first line, whatever it is."""
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    path = folder / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    taken, _ = server.accept()
                except OSError:
                    return
                with taken:
                    taken.recv(65536)
                    taken.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield {**os.environ, "FABRICD_SOCKET": str(path)}
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"version": "9", "protocol": 99, "result": {"attached": True}}, "stale"),
        ({"version": "0", "protocol": 1, "error": {"code": -32601, "message": "no"}}, "stale"),
        (
            {
                "protocol": 1,
                "error": {"code": -32000, "message": "full", "data": {"reason": "busy"}},
            },
            "busy",
        ),
        ([], "stale"),
        ("HTTP/1.1 400", "stale"),
    ],
)
def test_whoever_listens_is_not_our_daemon(reply: object, reason: str) -> None:
    with listening(json.dumps(reply).encode() + b"\n") as env:
        one = Agent({**env, "PYTHONPATH": os.pathsep.join(sys.path)})
        try:
            found = one.ask(line("ping", 1))
            assert found["error"]["data"]["reason"] == reason
            assert one.leave() == (0, b"")
        finally:
            one.close()
