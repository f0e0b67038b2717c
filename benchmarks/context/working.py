"""The context worker as the daemon runs it, asked over its wire."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.measuring import cpu_of, peak_of
from fabricd.daemon.context.child import spawned, worker_command
from fabricd.ipc.context.wire import MAX_TOLD, Asked, Lines, Told, frame, told_of


class Working:
    """A worker of one state directory, asked about one tree, one question at a time."""

    def __init__(self, state: Path, root: Path) -> None:
        state.mkdir(mode=0o700, exist_ok=True)
        self._wire, theirs = socket.socketpair()
        with theirs:
            self._process = spawned(worker_command(state), theirs)
        self._lines = Lines(MAX_TOLD)
        self._ready: list[bytes] = []
        self._root = str(root)
        self._last = 0
        while self._told().hello is None:
            pass

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a method.

        Raises:
            Refused.
        """
        self._last += 1
        data = msgspec.Raw(json.dumps({"root": self._root, **params}).encode())
        self._wire.sendall(frame(Asked(self._last, method, data)))
        while (told := self._told()).id != self._last:
            pass
        if told.refused is not None:
            raise told.refused.error()
        assert isinstance(told.result, msgspec.Raw), told.failed
        found: dict[str, Any] = json.loads(bytes(told.result))
        return found

    def _told(self) -> Told:
        while not self._ready:
            piece = self._wire.recv(1 << 16)
            assert piece, "the worker has ended"
            self._ready = self._lines.take(piece)
        return told_of(self._ready.pop(0))

    @property
    def cpu_seconds(self) -> float:
        """The processor time that it took until now."""
        return cpu_of(self._process.pid)

    @property
    def peak_mib(self) -> float:
        """The most resident memory that it has had."""
        return peak_of(self._process.pid)

    def close(self) -> None:
        """End it, in order."""
        self._wire.close()
        self._process.communicate(timeout=30)
