"""Calls played to a server: directly, or through the gateway with a record before and behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from tests.e2e.sdk import Answer, connected
from tests.e2e.servers import Server

# A report takes part of a second, the last record less.
_REPORTS = 4
_RECORDING = str(Path(__file__).with_name("recording.py"))


@dataclass(frozen=True)
class Records:
    """What passed on the client's side of the gateway (`before`) and on the server's."""

    folder: Path

    def up(self, side: str) -> list[bytes]:
        """The client's lines."""
        return (self.folder / side / "up").read_bytes().splitlines(keepends=True)

    def down(self, side: str) -> bytes:
        """The server's bytes."""
        return (self.folder / side / "down").read_bytes()

    def log(self) -> list[dict[str, Any]]:
        """The calls in the gateway's own log."""
        files = sorted((self.folder / "state").rglob("*.jsonl"))
        records = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
        return [record for record in records if record["type"] == "call"]

    @property
    def complaints(self) -> str:
        """What the gateway and the server said on stderr."""
        return (self.folder / "stderr").read_text(errors="replace")


@dataclass(frozen=True)
class Played:
    """The answers, call by call."""

    answers: Sequence[Answer]
    protocol: str
    tools: Sequence[str]
    # What `fabricd report` says of the gateway's agent, asked before the client leaves.
    told: dict[str, Any]


def directly(server: Server, sent: Sequence[tuple[str, object]], folder: Path) -> Played:
    """Play calls to a fresh server without anything between."""
    return _play(server, server.command, sent, folder, {}, at_once=False)


def through(
    server: Server,
    sent: Sequence[tuple[str, object]],
    folder: Path,
    *options: str,
    at_once: bool = False,
) -> tuple[Played, Records]:
    """Play calls to a fresh server through the gateway."""
    env = {"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}
    command = wrapped(server, folder, *options)
    return _play(server, command, sent, folder, env, at_once), Records(folder)


def wrapped(server: Server, folder: Path, *options: str) -> list[str]:
    """The command of a server behind the gateway, between two records."""
    return [
        *(sys.executable, _RECORDING, str(folder / "before")),
        *(sys.executable, "-m", "fabricd", "wrap", "--name", server.name, *options, "--"),
        *(sys.executable, _RECORDING, str(folder / "behind")),
        *server.command,
    ]


def report(env: Mapping[str, str], calls: int) -> dict[str, Any]:
    """What a report says of the gateway's agent, as soon as it knows of so many calls."""
    command = [sys.executable, "-m", "fabricd", "report", "--json"]
    found: dict[str, Any] = {}
    for _ in range(_REPORTS):
        done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, check=True)
        agents = json.loads(done.stdout)["agents"]
        found = next((agent for agent in agents if agent["agent"] == "gateway"), {})
        if found.get("calls", 0) >= calls:
            break
    return found


def _play(
    server: Server,
    command: Sequence[str],
    sent: Sequence[tuple[str, object]],
    folder: Path,
    env: dict[str, str],
    at_once: bool,
) -> Played:
    server.clear()
    folder.mkdir(parents=True, exist_ok=True)
    given = {"HOME": str(folder), "PATH": os.environ["PATH"], **server.env, **env}

    async def play() -> Played:
        async with connected(command, given, folder / "stderr", mode=server.mode) as client:
            tools = await client.tools()
            answers: list[Answer | None] = [None] * len(sent)

            async def call(index: int) -> None:
                answers[index] = await client.call(*sent[index])

            if at_once:
                async with anyio.create_task_group() as group:
                    for index in range(len(sent)):
                        group.start_soon(call, index)
            else:
                for index in range(len(sent)):
                    await call(index)
            # The server still runs: what is asked for now does not wait for its end.
            told = await anyio.to_thread.run_sync(report, env, len(sent)) if env else {}
            given_back = [answer for answer in answers if answer]
            return Played(given_back, client.protocol, tools, told)

    return anyio.run(play)
