"""An engine that does as its query says, in a real worker process and in a real daemon.

`python -m tests.daemon.context.fake worker STATE` is the worker, `… daemon` a whole daemon whose
worker it is. Queries: `echo`, `slow:SECONDS`, `hang`, `die` (each time), `die-once`, `garbage`,
`big:BYTES`, `refuse:REASON`, `break`, `print`, `pid`, `root`.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from fabricd.core.context.asking import Reason, Refused
from fabricd.core.steps import Steps
from fabricd.daemon.clock import Clock
from fabricd.store.locks import hold
from tests.harness import ROOT

# `env` gives way to what it starts: the process id is that of the interpreter.
PYTHON = ["/usr/bin/env", f"PYTHONPATH={ROOT / 'src'}:{ROOT}", sys.executable]
SECRET = "s3cr3t-words-of-a-query"


class FakeEngine:
    """Holds the lock as the real one does, and notes in `events` what happens to it."""

    def __init__(self, state: Path, clock: Clock) -> None:
        folder = state / "context"
        self._lock = hold(folder / "index.lock")
        self._folder = folder
        self._clock = clock
        self.progress: Mapping[str, Any] = {}
        self._note("open")

    @classmethod
    def open(cls, state: Path, clock: Clock) -> FakeEngine:
        return cls(state, clock)

    def _note(self, what: str) -> None:
        with (self._folder / "events").open("a") as file:
            file.write(f"{what} {os.getpid()}\n")

    def rest(self) -> None:
        """Nothing is remembered."""

    def ask(self, method: str, params: bytes) -> Steps[bytes]:
        given = json.loads(params)
        word = str(given.get("query") or given.get("what") or given.get("handle") or "echo")
        self._note(f"begin {method} {word[:20]}")
        try:
            text = yield from self._text(word, given)
        except GeneratorExit:
            self._note(f"left {method} {word[:20]}")
            raise
        self.progress = {}
        answer = {"text": text, "method": method, "params": given}
        return json.dumps(answer).encode()

    def _text(self, word: str, given: dict[str, Any]) -> Steps[str]:
        name, _, value = word.partition(":")
        if name == "slow":
            ends = self._clock.monotonic() + float(value)
            while self._clock.monotonic() < ends:
                self.progress = {str(given.get("root")): (3, 10)}
                time.sleep(0.001)
                yield
        elif name == "hang":
            time.sleep(600)
        elif name == "die" or (name == "die-once" and self._first(word)):
            yield
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == "garbage":
            os.write(_wire_of(self), b"no frame at all\n")
            yield
        elif name == "big":
            return "x" * int(value)
        elif name == "refuse":
            reasons = [reason for reason in get_args(Reason) if reason == value]
            raise Refused(reasons[0], f"it is {value}", 180 if "budget" in value else None)
        elif name == "break":
            raise KeyError(SECRET)
        elif name == "print":
            print("printed by mistake", flush=True)
        elif name == "pid":
            return str(os.getpid())
        elif name == "root":
            return str(given["root"])
        yield
        return f"{word}\n"

    def _first(self, word: str) -> bool:
        marker = self._folder / f"seen-{word.replace(':', '-')}"
        was = marker.exists()
        marker.touch()
        return not was

    def close(self) -> None:
        self._note("close")
        self._lock.close()


def _wire_of(_: FakeEngine) -> int:
    """The socket to the daemon, which is what standard input was."""
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                return descriptor
        except OSError:
            continue
    raise AssertionError("there is no socket")


def command(state: Path, lock_seconds: float = 5.0) -> list[str]:
    """The command line of a worker with this engine."""
    words = ["worker", os.fspath(state), str(lock_seconds)]
    return [*PYTHON, "-m", "tests.daemon.context.fake", *words]


def main() -> int:
    """See above."""
    from fabricd import __version__

    if sys.argv[1] == "worker":
        from fabricd.daemon.context.worker import serve

        return serve(Path(sys.argv[2]), FakeEngine.open, __version__, float(sys.argv[3]))
    from fabricd.daemon import supervisor
    from fabricd.daemon.cli import main as run

    setattr(supervisor, "worker_command", command)  # noqa: B010
    sys.argv[1:] = ["run", *sys.argv[2:]]
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
