"""Several processes read a history: one of them may be killed, and Ctrl-C ends all of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fixtures.make_histories import make

from tests.harness import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

# Reads slowly, in small batches, in two processes.
PROGRAM = """
import sys, time
from fabricd.daemon.offline import history
from fabricd.daemon.cli.root import run
history._WORTH_SHARING = history._BATCH = 1
read = history.read_log
def slowly(*arguments):
    time.sleep(0.2)
    return read(*arguments)
history.read_log = slowly
raise SystemExit(run(["report", "--all", "--json", "--processes", "2", "--path", sys.argv[1]]))
"""


@pytest.fixture
def reading(place: Path) -> subprocess.Popen[bytes]:
    """A report that has just begun to read."""
    make(place / "logs")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(place / "logs")],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    ends = time.monotonic() + 10
    while len(workers(process.pid)) < 2 and time.monotonic() < ends:
        time.sleep(0.02)
    return process


def workers(parent: int) -> list[int]:
    """The processes that it started."""
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def test_what_a_killed_worker_was_reading_is_read_again(
    reading: subprocess.Popen[bytes],
) -> None:
    os.kill(workers(reading.pid)[0], signal.SIGKILL)
    out, err = reading.communicate(timeout=30)
    assert (reading.returncode, err) == (0, b"")
    assert sum(agent["calls"] for agent in json.loads(out)["agents"]) == 221


@pytest.mark.parametrize("wait", [0.0, 0.3, 0.7])
def test_an_interrupt_ends_it_at_once_and_in_silence(
    reading: subprocess.Popen[bytes], wait: float
) -> None:
    time.sleep(wait)
    started = workers(reading.pid)
    os.killpg(reading.pid, signal.SIGINT)
    out, err = reading.communicate(timeout=20)
    assert (reading.returncode, out, err.strip()) == (130, b"", b"")
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)


def test_workers_do_not_outlive_their_parent(reading: subprocess.Popen[bytes]) -> None:
    started = workers(reading.pid)
    reading.kill()
    reading.communicate(timeout=20)
    ends = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in started) and time.monotonic() < ends:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)
