"""The hook as its agent starts it: a process that must be quick, silent and successful."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.harness import ROOT
from tests.ipc.listeners import deaf, listening, recording, silent

HOOK = [sys.executable, "-m", "fabricd.ipc.hook"]
QUICK_SECONDS = 0.6
STDIN = b'{"session_id":"s-1","transcript_path":"/t.jsonl","cwd":"/repo","hook_event_name":"Stop"}'


def environment(place: Path, **more: str) -> dict[str, str]:
    plain = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FABRICD_", "XDG_"))
    }
    return {
        **plain,
        "PYTHONPATH": str(ROOT / "src"),
        "FABRICD_SOCKET": str(place / "s"),
        **more,
    }


@contextmanager
def bytes_on_stdin(data: bytes) -> Generator[int, None, None]:
    """A standard input that holds these bytes and ends."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file.fileno()


@contextmanager
def endless_stdin(data: bytes = b"") -> Generator[int, None, None]:
    """A pipe that holds these bytes and never ends."""
    reading, writing = os.pipe()
    try:
        os.write(writing, data)
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def run_silently(command: list[str], stdin: int, env: dict[str, str]) -> float:
    with suppress(OSError):
        os.lseek(stdin, 0, os.SEEK_SET)
    started = time.monotonic()
    done = subprocess.run(
        command, stdin=stdin, capture_output=True, env=env, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return time.monotonic() - started


def assert_harmless(command: list[str], stdin: int, env: dict[str, str]) -> None:
    # A busy machine may delay any process: the best of three tells what the hook itself takes.
    assert any(run_silently(command, stdin, env) < QUICK_SECONDS for _ in range(3))


def start(env: dict[str, str], stdin: bytes, command: list[str], cwd: Path | None = None) -> None:
    with bytes_on_stdin(stdin) as descriptor:
        subprocess.run(command, stdin=descriptor, env=env, cwd=cwd, timeout=20, check=True)


def post(place: Path, stdin: bytes, command: list[str], cwd: Path | None = None) -> list[Any]:
    """What a daemon would receive."""
    received: list[bytes] = []
    with listening(place / "s", recording(received)):
        start(environment(place), stdin, command, cwd)
        # Connections are taken in order: once this one has ended, the hook's was seen.
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(place / "s"))
        ends = time.monotonic() + 10
        while b"" not in received and time.monotonic() < ends:
            time.sleep(0.005)
    assert received.pop() == b""
    return [json.loads(line) for data in received for line in data.splitlines(keepends=True)]


def waited(event: threading.Event) -> None:
    event.wait(10)


INPUTS: dict[str, Callable[[], AbstractContextManager[int]]] = {
    "nothing": lambda: nullcontext(subprocess.DEVNULL),
    "what the agent sends": lambda: bytes_on_stdin(STDIN),
    "a pipe that never ends": endless_stdin,
    "half a message that never ends": lambda: endless_stdin(STDIN[:20]),
    "garbage": lambda: bytes_on_stdin(b"\xff\x00{]"),
    "another value": lambda: bytes_on_stdin(b"[1]"),
    "deep": lambda: bytes_on_stdin(b"[" * 200_000),
    "huge": lambda: bytes_on_stdin(b'{"session_id":"' + b"x" * (20 << 20) + b'"}'),
}


@pytest.mark.parametrize("name", INPUTS)
def test_without_a_daemon_it_costs_nothing_whatever_comes_in(place: Path, name: str) -> None:
    with INPUTS[name]() as stdin:
        assert_harmless([*HOOK, "turn-end", "--agent", "claude-code"], stdin, environment(place))


@pytest.mark.parametrize("name", ["nothing", "a pipe that never ends", "huge"])
def test_a_daemon_that_never_accepts_costs_nothing(place: Path, name: str) -> None:
    with deaf(place / "s"), INPUTS[name]() as stdin:
        assert_harmless([*HOOK, "turn-end"], stdin, environment(place))


def test_a_daemon_that_never_reads_costs_no_more_than_the_deadline(place: Path) -> None:
    # Together more than a socket buffers, each short enough for a command line.
    words = [word for name in ("agent", "session", "cwd") for word in (f"--{name}", "x" * 120_000)]
    release = threading.Event()
    with listening(place / "s", lambda _: waited(release)):
        assert_harmless([*HOOK, "turn-end", *words], subprocess.DEVNULL, environment(place))
        release.set()


def test_a_daemon_that_never_answers_is_not_waited_for(place: Path) -> None:
    with listening(place / "s", silent):
        assert_harmless([*HOOK, "turn-end"], subprocess.DEVNULL, environment(place))


def test_a_closed_standard_input_is_harmless(place: Path) -> None:
    shell = ["sh", "-c", 'exec "$0" "$@" <&-', *HOOK, "turn-end"]
    assert_harmless(shell, subprocess.DEVNULL, environment(place))


def test_closed_output_is_harmless(place: Path) -> None:
    shell = ["sh", "-c", '"$0" "$@" >&- 2>&-', *HOOK, "turn-end"]
    assert_harmless(shell, subprocess.DEVNULL, environment(place))


@pytest.mark.parametrize(
    "variables",
    [
        {"FABRICD_SOCKET": "~/no-such-folder/no-such.sock"},
        {"FABRICD_SOCKET": "/tmp/" + "x" * 200},
        {"FABRICD_SOCKET": "", "FABRICD_HOME": "/dev/null"},
        {"FABRICD_SOCKET": "/dev/null"},
    ],
)
def test_no_home_and_a_socket_that_cannot_be_are_harmless(
    place: Path, variables: dict[str, str]
) -> None:
    env = environment(place, **variables)
    del env["HOME"]
    assert_harmless([*HOOK, "turn-end"], subprocess.DEVNULL, env)


@pytest.mark.parametrize("words", [[], ["--help"], ["turn-start"], ["turn-end", "--agent"]])
def test_any_command_line_is_harmless(place: Path, words: list[str]) -> None:
    with bytes_on_stdin(STDIN) as stdin:
        assert_harmless([*HOOK, *words], stdin, environment(place))


def test_one_notification_tells_what_the_agent_wrote(place: Path) -> None:
    assert post(place, STDIN, [*HOOK, "turn-end", "--agent", "claude-code"]) == [
        {
            "jsonrpc": "2.0",
            "method": "turn_end",
            "params": {
                "agent": "claude-code",
                "session": "s-1",
                "transcript_path": "/t.jsonl",
                "cwd": "/repo",
            },
        }
    ]


def test_arguments_win_over_the_agents_input(place: Path) -> None:
    words = ["--session=given", "--transcript", "/given.jsonl", "--cwd", "/given"]
    [message] = post(place, STDIN, [*HOOK, "turn-end", *words])
    assert message["params"] == {
        "session": "given",
        "transcript_path": "/given.jsonl",
        "cwd": "/given",
    }


@pytest.mark.parametrize("stdin", [b"", b"garbage", b"[]", b'{"session_id":5,"cwd":null}'])
def test_input_that_tells_nothing_leaves_the_working_directory(place: Path, stdin: bytes) -> None:
    [message] = post(place, stdin, [*HOOK, "turn-end"], cwd=place)
    assert message["params"] == {"cwd": str(place.resolve())}


def test_a_working_directory_that_is_gone_does_not_silence_it(place: Path) -> None:
    gone = place / "gone"
    gone.mkdir()
    shell = ["sh", "-c", f'rmdir "{gone}"; exec "$0" "$@"', *HOOK, "turn-end"]
    [message] = post(place, STDIN, shell, cwd=gone)
    assert message["params"]["cwd"] == "/repo"


def test_anything_but_turn_end_posts_nothing(place: Path) -> None:
    assert post(place, STDIN, [*HOOK, "--agent", "claude-code"]) == []
    assert post(place, STDIN, HOOK) == []


def test_it_imports_nothing_but_the_standard_library(place: Path) -> None:
    script = (
        "import sys; before = set(sys.modules); from fabricd.ipc import hook; "
        "sys.argv = ['fabricd-hook', 'turn-end']; assert hook.main() == 0; "
        "print(*sorted(set(sys.modules) - before))"
    )
    received: list[bytes] = []
    with listening(place / "s", recording(received)), bytes_on_stdin(STDIN) as descriptor:
        done = subprocess.run(
            [sys.executable, "-c", script],
            stdin=descriptor,
            capture_output=True,
            text=True,
            env=environment(place),
            timeout=20,
            check=True,
        )
    roots = {name.partition(".")[0] for name in done.stdout.split()}
    assert {"json", "socket", "fabricd"} <= roots
    assert roots - {"fabricd"} <= set(sys.stdlib_module_names)
