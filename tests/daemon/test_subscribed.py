"""What a subscriber of a real daemon hears while sessions grow."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.core.making import line, operation, record, trace
from tests.harness import Daemon, daemon


class Listener:
    """One subscription, read frame by frame."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(10)
        self._socket.connect(path)
        self._file = self._socket.makefile("rb")
        request = {"jsonrpc": "2.0", "id": 1, "method": "subscribe"}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        assert json.loads(self._file.readline())["result"] == {"subscribed": True}

    def until(self, name: str) -> list[dict[str, Any]]:
        """The events up to the next one of this name."""
        found: list[dict[str, Any]] = []
        while not found or found[-1]["event"] != name:
            found.append(json.loads(self._file.readline())["params"])
        return found

    def rest(self) -> list[str]:
        """The names of the events until the daemon is gone."""
        return [json.loads(frame)["params"]["event"] for frame in self._file]

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@contextmanager
def listening(subject: Daemon) -> Generator[Listener, None, None]:
    listener = Listener(subject.socket)
    try:
        yield listener
    finally:
        listener.close()


def calls(*outcomes: str, ref: str) -> bytes:
    made = [
        operation(
            n, ref, outcome=outcome, **({"failureStage": "validate"} if outcome == "failed" else {})
        )
        for n, outcome in enumerate(outcomes)
    ]
    audits = [{"ref": ref, "args": {"query": "x", "token": "hunter2"}}]
    return line(record(trace(*made), audits)) + b"\n"


def test_compiles_and_reviews_are_told_once_and_the_pool_is_kept(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        session = subject.sessions / "s.jsonl"
        session.write_bytes(calls("succeeded", "failed", ref="mcp.demo.search"))
        subject.start()
        with listening(subject) as listener:
            subject.declare()
            told = listener.until("compiled")[-1]
            assert told["targets"] == ["mcp.demo.search"] and told["after"] == 0.5
            assert "safety checks passed" in told["notice"]
            for _ in range(3):
                with session.open("ab") as file:
                    file.write(calls("succeeded", ref="mcp.demo.\ud800"))
                subject.call("compile_now")
            review = listener.until("review")[-1]
            assert review["suggestions"] == ["not-on-surface mcp.demo.\ud800"]
            session.write_bytes(b"")
            subject.call("compile_now")
            subject.call("shutdown")
            assert "review" not in listener.rest()
        assert subject.process is not None and subject.process.wait(timeout=15) == 0
        pool = subject.home / "entropy" / "observation-pool.json"
        assert pool.stat().st_mode & 0o777 == 0o600
        everything = [pool, subject.home / "state" / "pool-ledger.msgpack", subject.log]
        assert not [path for path in everything if b"hunter2" in path.read_bytes()]
