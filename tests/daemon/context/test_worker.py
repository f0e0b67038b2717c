"""The worker process by itself, at the other end of its wire."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fabricd import __version__
from fabricd.daemon.context.scheduling import ALONE
from fabricd.daemon.context.worker import lane_of
from fabricd.store.locks import hold, holder
from tests.daemon.context.fake import command

SECONDS = 15.0


@pytest.fixture
def state() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fd-"))
    yield folder
    shutil.rmtree(folder)


class Wire:
    """The daemon's end."""

    def __init__(self, raw: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self.raw = raw
        self.process = process
        self.lines = raw.makefile("rb")

    def say(self, **body: object) -> None:
        self.raw.sendall(json.dumps(body).encode() + b"\n")

    def hear(self) -> Any:
        """The next frame that is no beat; None at the end."""
        while line := self.lines.readline():
            frame = json.loads(line)
            if "beat" not in frame:
                return frame
        return None

    def ended(self) -> int:
        return self.process.wait(SECONDS)


@contextmanager
def worker(state: Path, lock_seconds: float = 5.0) -> Generator[Wire]:
    ours, theirs = socket.socketpair()
    ours.settimeout(SECONDS)
    process = subprocess.Popen(
        command(state, lock_seconds),
        stdin=theirs.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    theirs.close()
    wire = Wire(ours, process)
    try:
        yield wire
    finally:
        wire.lines.close()
        ours.close()
        process.kill()
        process.wait()


def noted(state: Path) -> list[str]:
    lines = (state / "context" / "events").read_text().splitlines()
    return [line.rpartition(" ")[0] for line in lines]


def test_it_says_who_it_is_and_ends_with_its_wire(state: Path) -> None:
    with worker(state) as wire:
        assert wire.hear() == {"hello": {"pid": wire.process.pid, "version": __version__}}
        wire.say(id=1, method="select", params={"query": "slow:60"})
        wire.raw.shutdown(socket.SHUT_WR)
        assert wire.ended() == 0
    assert noted(state)[-1] == "close"
    assert holder(state / "context" / "index.lock") is None


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_signal_ends_it_in_order(state: Path, number: signal.Signals) -> None:
    with worker(state) as wire:
        wire.hear()
        wire.say(id=1, method="select", params={"query": "slow:60", "root": "/x"})
        wire.say(id=2, method="recover", params={"handle": "echo"})
        assert wire.hear()["id"] == 2
        wire.process.send_signal(number)
        assert wire.ended() == 0
    assert noted(state)[-2:] == ["left select slow:60", "close"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_terminal_that_interrupts_the_daemon_does_not_end_it(
    state: Path, number: signal.Signals
) -> None:
    with worker(state) as wire:
        wire.hear()
        wire.process.send_signal(number)
        wire.say(id=1, method="select", params={"query": "echo"})
        assert wire.hear()["id"] == 1


def test_a_request_in_pieces_and_several_in_one(state: Path) -> None:
    with worker(state) as wire:
        wire.hear()
        bodies = [{"id": n, "method": "stats", "params": {"what": f"w{n}"}} for n in (1, 2, 3)]
        data = "".join(json.dumps(body) + "\n" for body in bodies).encode()
        for start in range(0, len(data), 7):
            wire.raw.sendall(data[start : start + 7])
        found = {frame["id"]: frame["result"]["text"] for frame in (wire.hear() for _ in bodies)}
        assert found == {1: "w1\n", 2: "w2\n", 3: "w3\n"}


def test_cancelled_requests_are_not_answered(state: Path) -> None:
    with worker(state) as wire:
        wire.hear()
        wire.say(id=1, method="select", params={"query": "slow:60", "root": "/x"})
        wire.say(id=2, method="select", params={"query": "echo", "root": "/x"})
        wire.say(id=1, cancel=True)
        assert wire.hear()["id"] == 2
    assert "left select slow:60" in noted(state) or "begin select slow:60" not in noted(state)


def test_an_unknown_method_is_refused(state: Path) -> None:
    with worker(state) as wire:
        wire.hear()
        wire.say(id=1, method="no such thing")
        assert wire.hear()["refused"]["reason"] == "usage"


@pytest.mark.parametrize("garbage", [b"\n", b"{}\n", b"[1]\n", b'{"id":"x"}\n', b"\xff\xfe\n"])
def test_garbage_from_the_daemon_ends_it(state: Path, garbage: bytes) -> None:
    with worker(state) as wire:
        wire.hear()
        wire.raw.sendall(garbage)
        assert wire.ended() == 0


def test_a_lock_that_is_held_for_long_is_its_last_word(state: Path) -> None:
    lock = hold(state / "context" / "index.lock")
    with worker(state, lock_seconds=0.3) as wire:
        assert wire.hear()["refused"]["reason"] == "busy"
        assert wire.ended() == 0
    lock.close()


def test_it_waits_for_no_lock_when_the_daemon_has_gone(state: Path) -> None:
    lock = hold(state / "context" / "index.lock")
    with worker(state) as wire:
        wire.raw.shutdown(socket.SHUT_WR)
        assert wire.ended() == 0
    lock.close()


def test_lanes_are_trees(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "inner" / "deep").mkdir(parents=True)
    (tree / ".git").mkdir()
    (tmp_path / "link").symlink_to(tree / "inner")

    def lane(method: str, root: object) -> str | None:
        return lane_of(method, json.dumps({"root": root}).encode())

    real = os.path.realpath(tree)
    assert lane("select", str(tree)) == real
    assert lane("index", str(tree / "inner" / "deep")) == real
    assert lane("show", str(tmp_path / "link")) == real
    assert lane("recover", str(tree)) is None
    assert lane("status", str(tree)) is None
    assert lane("forget", str(tree)) == ALONE
    assert lane("select", 7) is None
    assert lane("select", "a\0b") is None
    assert lane_of("select", b"no json") is None
