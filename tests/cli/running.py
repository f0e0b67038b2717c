"""What a command left behind, and what a good complaint looks like."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.harness import ROOT

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string"},
        "maxResults": {"type": "integer"},
        "order": {"type": "string", "enum": ["newest", "bestMatch"]},
        "note": {"type": "string"},
    },
}


@dataclass(frozen=True)
class Outcome:
    """Exit code, standard output and standard error of a command."""

    code: int
    out: bytes
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON lines on standard output."""
        return [json.loads(line) for line in self.out.splitlines()]

    def complains(self, code: int, *words: str) -> None:
        """It printed no data, and one clear sentence that holds these words."""
        assert self.out == b""
        self.says(*words)
        assert self.code == code

    def says(self, *words: str) -> None:
        """It talked in one line that holds these words."""
        assert "Traceback" not in self.err
        assert self.err.startswith("fabricd: ") and self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        assert all(char.isprintable() for char in self.err[:-1])
        for word in words:
            assert word in self.err


class Cli(Protocol):
    """Runs a command line in this process."""

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Outcome: ...


def process(
    *arguments: str | Path, seconds: float = 20, stdin: int = subprocess.DEVNULL, **environment: str
) -> Outcome:
    """A command in a process of its own, in the environment of the test."""
    done = subprocess.run(
        [sys.executable, "-m", "fabricd", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        stdin=stdin,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode())


def surface_of(*actions: object, version: object = 1) -> bytes:
    """A surface file."""
    return json.dumps({"version": version, "actions": list(actions)}).encode()


def action(ref: str, schema: object = SCHEMA) -> dict[str, Any]:
    """One declared action."""
    return {"ref": ref, "inputSchema": schema}
