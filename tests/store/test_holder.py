"""Looking at a lock: who holds it, without taking anything from anybody."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabricd.store.locks import AlreadyHeld, Holder, hold, holder

HOLD = """
import sys
from pathlib import Path
from fabricd.store.locks import hold
held = hold(Path(sys.argv[1]), b"/run/there.sock")
print("mine", flush=True)
sys.stdin.readline()
"""


@contextmanager
def elsewhere(path: Path) -> Generator[int, None, None]:
    """Another process that holds the lock; its pid."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mine\n"
        try:
            yield process.pid
        finally:
            process.kill()


def test_a_held_lock_names_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with elsewhere(path) as pid:
        assert holder(path) == Holder(pid, b"/run/there.sock")
    assert holder(path) is None


def test_our_own_lock_is_seen_as_well(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    held = hold(path, b"here")
    assert holder(path) == Holder(os.getpid(), b"here")
    held.close()
    assert holder(path) is None


@pytest.mark.parametrize("content", [b"", b"4711\n/x\n", b"\xff" * 9000])
def test_an_unheld_lock_has_no_holder_whatever_is_in_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.lock"
    path.write_bytes(content)
    assert holder(path) is None
    assert path.read_bytes() == content


def test_a_missing_lock_has_no_holder_and_is_not_made(tmp_path: Path) -> None:
    assert holder(tmp_path / "a.lock") is None
    assert holder(tmp_path / "no" / "a.lock") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are not shown here")
@pytest.mark.parametrize(
    "number", [b"1", str(os.getppid()).encode(), b"0", b"-5", b"x", b"99999999999", b"4194305", b""]
)
def test_a_number_that_means_somebody_else_is_no_pid(tmp_path: Path, number: bytes) -> None:
    path = tmp_path / "a.lock"
    with elsewhere(path):
        path.write_bytes(number + b"\n/run/there.sock\n")
        assert holder(path) == Holder(None, b"/run/there.sock")


def test_whoever_only_looks_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    hold(path).close()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            holder(path)
            time.sleep(0.001)

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(200):
            hold(path).close()
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


def test_waiting_for_a_lock_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    held = hold(path)
    with pytest.raises(AlreadyHeld):
        hold(path, seconds=0.1)
    timer = threading.Timer(0.1, held.close)
    timer.start()
    hold(path, seconds=10).close()
    timer.join()
