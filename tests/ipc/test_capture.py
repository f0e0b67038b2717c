"""Asking an MCP server for its tools: every way in which it may misbehave ends, in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabricd.ipc import capture as module
from fabricd.ipc.capture import CaptureFailed, NoSuchCommand, capture

SERVER = Path(__file__).with_name("mcp_server.py")


def run(mode: str, seconds: float = 10.0) -> module.Captured:
    """What a server of this mode declares."""
    return capture([sys.executable, str(SERVER), mode], "0", seconds)


@pytest.mark.parametrize("mode", ["plain", "chatters", "floods", "asks", "logs"])
def test_a_server_lists_its_tools(mode: str) -> None:
    found = run(mode)
    assert ([tool["name"] for tool in found.tools], found.server) == (["tool_4", "tool_5"], "test")


def test_all_pages_are_asked_for() -> None:
    assert [tool["name"] for tool in run("pages").tools] == [f"tool_{n}" for n in range(6)]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("dies", "ended before"),
        ("garbage", "something else than messages"),
        ("refuses", "not today"),
        ("loops", "do not end"),
        ("odd", "is no list"),
        ("asks on", "does not read"),
        ("nan", "NaN is not JSON"),
        ("infinite", "Infinity is not JSON"),
        ("long", "beyond the range of a double"),
    ],
)
def test_what_goes_wrong_is_said(mode: str, words: str) -> None:
    with pytest.raises(CaptureFailed, match=words):
        run(mode)


def test_a_server_that_hangs_is_ended_in_time() -> None:
    started = time.monotonic()
    with pytest.raises(CaptureFailed, match=r"within 0\.5 s"):
        run("hangs", 0.5)
    assert time.monotonic() - started < 5


def test_what_it_said_last_is_told() -> None:
    with pytest.raises(CaptureFailed) as caught:
        run("dies")
    assert "no licence key" in caught.value.stderr[-1]


def test_too_long_a_message_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MESSAGE", 10)
    long = "import sys,time; sys.stdout.write('x'*99); sys.stdout.flush(); time.sleep(9)"
    with pytest.raises(CaptureFailed, match="larger than"):
        capture([sys.executable, "-c", long], "0", 5)


def test_all_it_writes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_OUTPUT", 10)
    with pytest.raises(CaptureFailed, match="wrote more than"):
        run("pages")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_an_endless_output_is_not_kept_while_it_is_ended() -> None:
    """Its standard error is waited for, and its output is read no more meanwhile."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom fabricd.ipc.capture import *\n"
        "try: capture(sys.argv[1:], '0', 9)\nexcept CaptureFailed: pass\n"
        "print(*Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[:1])"
    )
    command = [sys.executable, "-c", code, sys.executable, str(SERVER), "endless"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 120 * 1024


@pytest.mark.parametrize("command", [["/nonexistent/server"], ["/tmp"], ["a\0b"]])
def test_a_command_that_cannot_be_started(command: list[str]) -> None:
    with pytest.raises(NoSuchCommand):
        capture(command, "0", 5)


def test_what_it_started_does_not_outlive_it() -> None:
    mark = f"of-{os.getpid()}"
    capture([sys.executable, str(SERVER), "child", mark], "0", 10)
    command = ["pgrep", "-f", f"mcp_server.py child {mark}"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.stdout == ""
