"""Clients that are slow, silent or malicious beside a real daemon: others notice nothing."""

from __future__ import annotations

import json
import random
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.harness import Daemon, daemon, trace_line

MIB = 1 << 20
ROOM = 16 * MIB
SECONDS = 1.0

Attack = Callable[[Daemon, ExitStack], None]


@pytest.fixture(scope="module")
def victim() -> Iterator[Daemon]:
    """One daemon for all attacks, so that what one leaves behind shows in the next."""
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    rng = random.Random(5)
    with daemon(folder, MALLOC_ARENA_MAX="2") as subject:
        for number in range(8):
            lines = [trace_line(rng) + b"\n" for _ in range(100)]
            (subject.sessions / f"{number}.jsonl").write_bytes(b"".join(lines))
        subject.declare()
        subject.start()
        subject.call("compile_now")
        subject.call("report")
        yield subject
    shutil.rmtree(folder)


def frame(method: str, **members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, **members}).encode() + b"\n"


def client(subject: Daemon, stack: ExitStack) -> socket.socket:
    made = stack.enter_context(socket.socket(socket.AF_UNIX))
    made.connect(subject.socket)
    made.settimeout(0.3)
    return made


def push(target: socket.socket, data: bytes) -> None:
    """Send as much as is taken; a client that was cut off stays silent."""
    with suppress(OSError):
        target.sendall(data)


def idle(subject: Daemon, stack: ExitStack) -> None:
    for _ in range(200):
        client(subject, stack)


def endless(subject: Daemon, stack: ExitStack) -> None:
    for _ in range(64):
        push(client(subject, stack), b"x" * 1_000_000)


def garbage(subject: Daemon, stack: ExitStack) -> None:
    rng = random.Random(6)
    for _ in range(8):
        target = client(subject, stack)
        push(target, rng.randbytes(100_000) + b"\n" * 100_000)
        push(target, b"[]," * 300_000 + b"\n")


def deaf(subject: Daemon, stack: ExitStack) -> None:
    for _ in range(64):
        push(client(subject, stack), frame("report", id=1) * 1000)


def deaf_subscribers(subject: Daemon, stack: ExitStack) -> None:
    for _ in range(20):
        push(client(subject, stack), frame("subscribe", id=1))
    long = {"agent": "a" * 100_000, "session": "s" * 800_000, "transcript_path": "/" + "t" * 5000}
    for _ in range(300):
        with ExitStack() as short:
            push(client(subject, short), frame("turn_end", params=long))


def large(subject: Daemon, stack: ExitStack) -> None:
    for _ in range(64):
        params = {"transcript_path": "/x" * 400_000, "cwd": "/y" * 50_000}
        push(client(subject, stack), frame("turn_end", id=1, params=params))


def busy(subject: Daemon, stack: ExitStack) -> None:
    for _ in range(64):
        push(client(subject, stack), frame("compile_now", id=1))


ATTACKS = (idle, endless, garbage, deaf, deaf_subscribers, large, busy)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_others_are_answered_within_a_second_and_memory_stays(
    victim: Daemon, attack: Attack
) -> None:
    before = victim.status()["rssBytes"]
    with ExitStack() as stack:
        attack(victim, stack)
        grown = 0
        for _ in range(5):
            started = time.monotonic()
            status = victim.status()
            assert time.monotonic() - started < SECONDS
            assert status["state"] == "ready", status
            grown = max(grown, status["rssBytes"] - before)
        assert grown < ROOM
    gauges = victim.call("metrics").result["gauges"]
    assert gauges["connections"] <= 64 and gauges["subscribers"] <= 16
