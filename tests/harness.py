"""Real processes for tests: a daemon on a temporary home, and trace lines to feed it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, Reply, call

ROOT = Path(__file__).resolve().parent.parent
SURFACE: dict[str, Any] = {
    "version": 1,
    "actions": [
        {
            "ref": "mcp.demo.search",
            "inputSchema": {
                "type": "object",
                "additionalProperties": False,
                "required": ["query"],
                "properties": {
                    "query": {"type": "string"},
                    "maxResults": {"type": "integer", "minimum": 1},
                    "order": {"type": "string", "enum": ["newest", "oldest", "bestMatch"]},
                    "note": {"type": "string"},
                },
            },
        },
        {"ref": "mcp.demo.open", "inputSchema": {"type": "object"}},
    ],
}
_COUNTS = {"droppedValues": 0, "truncatedValues": 0, "redactedValues": 0, "droppedOperations": 0}


def trace_line(rng: random.Random, operations: int | None = None) -> bytes:
    """One trace record with audits, without its line feed."""
    calls: list[dict[str, Any]] = []
    audits: list[dict[str, Any]] = []
    for sequence in range(operations or rng.randrange(1, 6)):
        args: dict[str, Any] = {"query": "q" * rng.randrange(1, 9)}
        if rng.random() < 0.4:
            args["maxResults"] = rng.choice([1, 5, "7"])
        if rng.random() < 0.2:
            args["note"] = None
        ref = rng.choice(["mcp.demo.search", "mcp.demo.open", "pi.read"])
        call_: dict[str, Any] = {
            "type": "call",
            "sequence": sequence,
            "ref": ref,
            "args": args,
            "outcome": "succeeded",
        }
        if rng.random() < 0.15:
            call_ |= {"outcome": "failed", "failureStage": rng.choice(["validate", "invoke"])}
        calls.append(call_)
        audits.append({"ref": ref, "args": args})
    trace = {
        "kind": "pi-fabric.execution",
        "version": 1,
        "outcome": "succeeded",
        "phases": [rng.choice(["Inspect", "Build"])],
        "operations": calls,
        "counts": _COUNTS,
    }
    record = {
        "type": "message",
        "message": {"role": "toolResult", "details": {"trace": trace, "audits": audits}},
    }
    return json.dumps(record).encode()


def prose_line(rng: random.Random) -> bytes:
    """One record that sets the model and says something."""
    model = rng.choice(["alpha", "beta"])
    message = {"role": "assistant", "provider": "p", "model": model, "content": "words " * 20}
    return json.dumps({"type": "message", "message": message}).encode()


class Daemon:
    """A daemon process on a home of its own."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.home = folder / "home"
        self.agent = folder / "agent"
        self.sessions = self.agent / "sessions" / "--repo--"
        self.sessions.mkdir(parents=True, exist_ok=True)
        (self.home / "entropy").mkdir(parents=True, exist_ok=True)
        self.log = folder / "daemon.log"
        self.socket = str(self.home / "run" / "control.sock")
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("FABRICD_", "XDG_"))},
            "FABRICD_HOME": str(self.home),
            # The logs of whoever runs the tests are none of their business.
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "CODEX_HOME": str(folder / "codex"),
            "COPILOT_HOME": str(folder / "copilot"),
            "GEMINI_CLI_HOME": str(folder / "gemini"),
            "XDG_DATA_HOME": str(folder / "data"),
            "FABRICD_CONFIG": str(folder / "config.toml"),
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PYTHONPATH": str(ROOT / "src"),
            **environment,
        }
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def compiled(self) -> Path:
        """The artifact the daemon keeps."""
        return self.home / "entropy" / "compiled.json"

    def declare(self, surface: dict[str, Any] = SURFACE) -> None:
        """Put a surface where the daemon looks for it."""
        (self.home / "entropy" / "surface.json").write_text(json.dumps(surface))

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process without waiting for it."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "fabricd", "run"],
                env=self.env,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        return self.process

    def start(self, seconds: float = 20.0) -> None:
        """Start the process and wait until it is ready."""
        self.spawn()
        self.until(lambda: self.status()["state"] == "ready", seconds)

    def call(self, method: str, params: dict[str, object] | None = None) -> Reply:
        """Call a method."""
        return call(self.socket, method, params, seconds=10.0)

    def status(self) -> dict[str, Any]:
        """The status, or a state that says why there is none."""
        try:
            result: dict[str, Any] = self.call("status").result
        except (NoDaemon, NoAnswer, CallFailed) as error:
            return {"state": type(error).__name__}
        return result

    def until(self, condition: Any, seconds: float = 10.0) -> None:
        """Wait for a condition; fails with the daemon's log."""
        ends = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > ends:
                raise AssertionError(
                    f"not within {seconds} s; log:\n{self.log.read_text()[-4000:]}"
                )
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop in order; gives the exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(timeout=15)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command beside the daemon, in its environment."""
        return subprocess.run(
            [sys.executable, "-m", "fabricd", *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )


@contextmanager
def daemon(folder: Path, **environment: str) -> Generator[Daemon, None, None]:
    """A daemon that is gone afterwards, whatever happened."""
    subject = Daemon(folder, **environment)
    try:
        yield subject
    finally:
        subject.kill()
