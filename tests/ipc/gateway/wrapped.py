"""A server behind the gateway, as a client sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.harness import ROOT

SERVERS = str(Path(__file__).with_name("servers.py"))


class Wrapped:
    """A process `fabricd wrap … -- servers.py …`."""

    def __init__(self, place: Path, *server: str, options: tuple[str, ...] = ()) -> None:
        self.place = place
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("FABRICD_", "XDG_"))},
            "FABRICD_HOME": str(place / "home"),
            "HOME": str(place / "user"),
            "PYTHONPATH": str(ROOT / "src"),
        }
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "fabricd", "wrap", "--name", "demo", *options, "--"),
                *(sys.executable, "-S", SERVERS, *server),
            ],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._next = 0

    def send(self, data: bytes) -> None:
        """Write bytes."""
        rest = memoryview(data)
        while rest:
            rest = rest[self.stdin.write(rest) or 0 :]

    def line(self) -> bytes:
        """The next line of the server."""
        return self.stdout.readline()

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """One request and its reply; what the server says of itself meanwhile is passed over."""
        self._next += 1
        asked: dict[str, Any] = {"jsonrpc": "2.0", "id": self._next, "method": method}
        if params is not None:
            asked["params"] = params
        self.send(json.dumps(asked).encode() + b"\n")
        while True:
            reply = json.loads(self.line())
            if reply.get("id") == self._next:
                return reply

    def call(self, arguments: object, tool: str = "search") -> Any:
        """One call of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def end(self) -> int:
        """Close the input and wait; gives the exit code."""
        self.stdin.close()
        return self.process.wait(timeout=15)

    def logs(self) -> list[Path]:
        """The logs of the server, oldest first."""
        return sorted((self.place / "home" / "state" / "gateway" / "demo").glob("*.jsonl"))

    def records(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What stands in them."""
        lines = [line for log in self.logs() for line in log.read_bytes().splitlines()]
        found = [json.loads(line) for line in lines]
        return [each for each in found if kind is None or each["type"] == kind]

    def until(self, condition: Any, seconds: float = 10.0) -> None:
        """Wait for something."""
        ends = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < ends
            time.sleep(0.02)


@contextmanager
def wrapped(
    place: Path, *server: str, options: tuple[str, ...] = ()
) -> Generator[Wrapped, None, None]:
    """A wrapped server that is gone afterwards, whatever happened."""
    subject = Wrapped(place, *server, options=options)
    try:
        yield subject
    finally:
        subject.process.kill()
        subject.process.wait()
        for pipe in (subject.process.stdin, subject.process.stdout, subject.process.stderr):
            if pipe is not None:
                pipe.close()
