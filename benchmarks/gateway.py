"""The gateway beside a bare pipe: latency of a call, time to the first reply, memory."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measuring import Figure, clean_env

_SERVER = """\
import json, sys
read, write = sys.stdin.buffer.readline, sys.stdout.buffer
schema = {"type": "object", "additionalProperties": False, "required": ["query"], "properties": {
    "query": {"type": "string"}, "maxResults": {"type": "integer"},
    "tags": {"type": "array", "items": {"type": "string"}}}}
while line := read():
    asked = json.loads(line)
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": "search", "inputSchema": schema}]}
    else:
        result = {"content": [{"type": "text", "text": "found"}]}
    write.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())
    write.write(b"\\n")
    write.flush()
"""
_CANONICAL = {"query": "words " * 20, "maxResults": 5, "tags": ["a", "b"]}
_STRINGIFIED = {"query": "words " * 20, "maxResults": "5", "tags": '["a", "b"]'}
_ROUNDS = 10


class _Client:
    """A client that waits for each reply before it asks again."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._next = 0

    def ask(self, method: str, params: dict[str, Any]) -> float:
        """Seconds from the request to the reply."""
        self._next += 1
        asked = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        line = json.dumps(asked).encode() + b"\n"
        pipe, replies = self.process.stdin, self.process.stdout
        assert pipe is not None and replies is not None
        started = time.perf_counter()
        pipe.write(line)
        got = replies.read(1 << 16)
        while got is not None and not got.endswith(b"\n"):
            got = replies.read(1 << 16)
        return time.perf_counter() - started

    def call(self, arguments: dict[str, Any]) -> float:
        """Seconds of one call."""
        return self.ask("tools/call", {"name": "search", "arguments": arguments})

    def memory(self) -> tuple[float, float]:
        """Resident memory now and at its most, in MiB; nothing where the system does not tell."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0.0, 0.0
        told = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        now, most = (int(told[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
        return now, most

    def close(self) -> None:
        """End the server, and with it whatever is around it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def _p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98]


def _added(
    folder: Path, arguments: dict[str, Any], calls: int
) -> tuple[list[list[float]], list[list[float]]]:
    """Seconds of calls through the gateway and through a bare pipe, in turns, round by round."""
    through, bare = _client(folder, True), _client(folder, False)
    for client in (through, bare):
        client.ask("tools/list", {})
        for _ in range(200):
            client.call(arguments)
    found: tuple[list[list[float]], list[list[float]]] = ([], [])
    for _ in range(_ROUNDS):
        for client, seconds in ((through, found[0]), (bare, found[1])):
            seconds.append([client.call(arguments) for _ in range(calls // _ROUNDS)])
    through.close()
    bare.close()
    return found


def _client(folder: Path, through: bool) -> _Client:
    server = folder / "server.py"
    folder.mkdir(parents=True, exist_ok=True)
    server.write_text(_SERVER)
    command = [sys.executable, "-S", str(server)]
    if through:
        script = str(Path(sys.executable).with_name("fabricd"))
        command = [script, "wrap", "--name", "bench", "--", *command]
    return _Client(command, clean_env(FABRICD_HOME=str(folder / "home")))


def _first_reply(folder: Path, through: bool) -> float:
    client = _client(folder, through)
    client.ask("initialize", {})
    seconds = time.perf_counter() - client.started
    client.close()
    return seconds


def _memory(folder: Path, size: int, messages: int) -> tuple[float, float]:
    client = _client(folder, True)
    client.ask("tools/list", {})
    for number in range(messages):
        client.call({"query": "x" * size, "maxResults": str(number)})
    found = client.memory()
    client.close()
    return found


def gateway(folder: Path, calls: int = 8000) -> list[Figure]:
    """Every figure of the gateway."""
    figures: list[Figure] = []
    for words, arguments in (("canonical", _CANONICAL), ("repaired", _STRINGIFIED)):
        through, bare = _added(folder, arguments, calls)
        for word, of, budget in (("p50", statistics.median, 0.15), ("p99", _p99, 0.5)):
            figures.append(
                _figure(
                    f"added by the gateway to a {words} call, {word}", of, through, bare, budget
                )
            )
    first = statistics.median(_first_reply(folder, True) for _ in range(9)) * 1000
    alone = statistics.median(_first_reply(folder, False) for _ in range(9)) * 1000
    told = f"without it: {alone:.0f} ms"
    figures.append(
        Figure("added by the gateway to the first reply", first - alone, "ms", 150.0, False, told)
    )
    now, _ = _memory(folder, 250_000, 400)
    figures.append(Figure("gateway memory, messages of 250 kB", now, "MiB", 45.0))
    size = 16
    _, most = _memory(folder, size << 20, 3)
    budget = 45.0 + 5 * size
    figures.append(Figure(f"gateway peak memory, messages of {size} MiB", most, "MiB", budget))
    return figures


def _figure(
    name: str,
    of: Callable[[list[float]], float],
    through: list[list[float]],
    bare: list[list[float]],
    budget: float,
) -> Figure:
    # The least of the rounds: a neighbour on the machine only adds to them.
    base = min(map(of, bare)) * 1000
    added = min(map(of, through)) * 1000 - base
    return Figure(name, added, "ms", budget, False, f"a bare pipe: {base:.3f} ms")
