"""The hook that repairs prints nothing on any doubt, whatever it is given or answered."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import pytest

from tests.ipc.listeners import deaf, listening, replying, silent
from tests.ipc.test_hook import (
    HOOK,
    INPUTS,
    assert_harmless,
    bytes_on_stdin,
    environment,
    waited,
)

REPAIR = [*HOOK, "repair", "--agent", "claude-code"]
CALL = {"tool_name": "mcp__x__t", "tool_input": {"n": "5"}, "permission_mode": "default"}
STDIN = json.dumps(CALL).encode()
GOOD = b'{"jsonrpc":"2.0","id":1,"result":{"arguments":{"n":5},"witness":{"rules":[]}}}\n'


def printed(place: Path, stdin: bytes, reply: bytes, agent: str = "claude-code") -> bytes:
    """What the hook prints where a daemon would answer so."""
    with listening(place / "s", replying(reply)), bytes_on_stdin(stdin) as descriptor:
        done = subprocess.run(
            [*HOOK, "repair", "--agent", agent],
            stdin=descriptor,
            capture_output=True,
            env=environment(place),
            timeout=20,
            check=True,
        )
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("name", INPUTS)
def test_without_a_daemon_it_says_nothing_whatever_comes_in(place: Path, name: str) -> None:
    with INPUTS[name]() as stdin:
        assert_harmless(REPAIR, stdin, environment(place))


def test_a_daemon_that_is_deaf_or_silent_costs_no_more_than_the_deadline(place: Path) -> None:
    with deaf(place / "s"), bytes_on_stdin(STDIN) as stdin:
        assert_harmless(REPAIR, stdin, environment(place))
    with listening(place / "s", silent), bytes_on_stdin(STDIN) as stdin:
        assert_harmless(REPAIR, stdin, environment(place))
    release = threading.Event()
    with listening(place / "s", lambda _: waited(release)), bytes_on_stdin(STDIN) as stdin:
        assert_harmless(REPAIR, stdin, environment(place))
        release.set()


def test_a_sound_answer_is_printed_in_one_line(place: Path) -> None:
    # A busy machine may take longer than an agent waits.
    found = next(filter(None, (printed(place, STDIN, GOOD) for _ in range(5))))
    assert found.count(b"\n") == 1
    assert json.loads(found)["hookSpecificOutput"]["updatedInput"] == {"n": 5}


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\n",
        GOOD[:-1],
        GOOD[:30] + b"\n",
        GOOD.replace(b'"id":1', b'"id":2'),
        GOOD.replace(b'{"n":5}', b"[5]"),
        GOOD.replace(b'{"n":5}', b'{"n":NaN}'),
        GOOD.replace(b'{"n":5}', b'{"n":"5"}'),
        b'{"id":1,"result":{}}\n',
        b'{"id":1,"result":null}\n',
        b'{"id":1,"error":{"code":-32601,"message":"x"}}\n',
        b"[" * 200_000 + b"\n",
        b"\xff\xfe\n",
    ],
)
def test_an_answer_in_doubt_is_no_answer(place: Path, reply: bytes) -> None:
    assert printed(place, STDIN, reply) == b""


@pytest.mark.parametrize(
    "stdin",
    [
        b"{}",
        b"[]",
        json.dumps({**CALL, "tool_name": "Bash"}).encode(),
        json.dumps({**CALL, "tool_name": 5}).encode(),
        json.dumps({**CALL, "tool_input": "x"}).encode(),
        json.dumps({**CALL, "tool_input": {"n": float("inf")}}).encode(),
        b'{"tool_name":"mcp__x__t","tool_input":{"n":"5","n":"6"}}',
        STDIN + b"x",
        json.dumps({**CALL, "tool_input": {"n": "x" * (1 << 20)}}).encode(),
    ],
)
def test_a_call_in_doubt_is_left_alone(place: Path, stdin: bytes) -> None:
    assert printed(place, stdin, GOOD) == b""


@pytest.mark.parametrize("agent", ["codex", "copilot-cli", "", "nobody"])
def test_other_agents_are_told_nothing(place: Path, agent: str) -> None:
    assert printed(place, STDIN, GOOD, agent) == b""
