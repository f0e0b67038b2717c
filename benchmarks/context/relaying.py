"""What an agent waits for that starts `fabricd mcp`: the first reply, and each one after it."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.harness import daemon

from benchmarks.measuring import Figure

_STARTS = 31
_PINGS = 400
_BARE = "import os; os.read(0, 65536); os.write(1, b'{}\\n'); os.read(0, 1)"


def _line(method: str, **params: object) -> bytes:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(body).encode() + b"\n"


_FIRST = _line("initialize", protocolVersion="2025-11-25", capabilities={})
_PING = _line("ping")


class _Agent:
    """Starts a program and talks to it in lines."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def ask(self, line: bytes) -> bytes:
        """The reply to a line."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line)
        reply = b""
        while not reply.endswith(b"\n"):
            piece = self.process.stdout.read(1 << 16)
            assert piece, "it has ended"
            reply += piece
        return reply

    def close(self) -> None:
        """Let it end."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def _first(command: list[str], env: dict[str, str]) -> float:
    started = time.perf_counter()
    agent = _Agent(command, env)
    agent.ask(_FIRST)
    seconds = time.perf_counter() - started
    agent.close()
    return seconds


def _each(ask: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(_PINGS):
        started = time.perf_counter()
        ask()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _direct(path: str) -> float:
    """A ping over an attached connection, without a relay."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        lines = client.makefile("rb")
        client.sendall(_line("mcp.attach", cwd="/", protocol=1))
        lines.readline()

        def ask() -> None:
            client.sendall(_PING)
            lines.readline()

        return _each(ask)


def relaying(folder: Path) -> list[Figure]:
    """First reply above a bare interpreter, in turns with it; each reply above a bare socket."""
    with daemon(folder) as subject:
        subject.start()
        relay = [sys.executable, "-m", "fabricd", "mcp"]
        bare = [sys.executable, "-c", _BARE]
        pairs = [(_first(bare, subject.env), _first(relay, subject.env)) for _ in range(_STARTS)]
        without, above = (
            statistics.median(one for one, _ in pairs),
            statistics.median(two - one for one, two in pairs),
        )
        agent = _Agent(relay, subject.env)
        through = _each(lambda: agent.ask(_PING))
        size = _resident(agent.process.pid)
        agent.close()
        direct = _direct(subject.socket)
    return [
        Figure(
            "`fabricd mcp`, first reply above the interpreter",
            above * 1000,
            "ms",
            25,
            baseline=f"the interpreter itself {without * 1000:.1f} ms",
        ),
        Figure(
            "`fabricd mcp`, a reply above the socket",
            (through - direct) * 1000,
            "ms",
            1,
            baseline=f"without a relay {direct * 1000:.2f} ms",
        ),
        Figure("`fabricd mcp`, resident memory", size, "MiB", 16),
    ]


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
