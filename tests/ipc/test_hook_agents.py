"""What each agent really hands its hook, and what the daemon is told."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.ipc.test_hook import HOOK, bytes_on_stdin, environment, post, run_silently

CLAUDE_CODE = {
    "session_id": "0b2f3c1e-7a5d-4f0e-9a57-0d3a5a1b2c3d",
    "transcript_path": "/home/me/.claude/projects/-repo/0b2f3c1e.jsonl",
    "cwd": "/repo",
    "permission_mode": "default",
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "Done. \u2028 \ud83d\ude00",
}
CODEX = {
    "session_id": "019a-thread",
    "turn_id": "7",
    "transcript_path": None,
    "cwd": "/repo",
    "hook_event_name": "Stop",
    "model": "gpt-5.1-codex",
    "permission_mode": "default",
    "stop_hook_active": False,
    "last_assistant_message": None,
}
GEMINI = {
    "session_id": "8f0c",
    "transcript_path": "/home/me/.gemini/tmp/0a/chats/session-1.json",
    "cwd": "/repo",
    "hook_event_name": "AfterAgent",
    "timestamp": "2026-11-29T22:41:12.713Z",
    "prompt": "fix it",
    "prompt_response": "fixed",
    "stop_hook_active": False,
}
NOTICE = {
    "type": "agent-turn-complete",
    "thread-id": "019a-thread",
    "turn-id": "7",
    "cwd": "/repo",
    "input-messages": ["fix it"],
    "last-assistant-message": "fixed",
}


@pytest.mark.parametrize(
    ("agent", "told", "transcript"),
    [
        ("claude-code", CLAUDE_CODE, CLAUDE_CODE["transcript_path"]),
        ("codex", CODEX, None),
        ("gemini", GEMINI, GEMINI["transcript_path"]),
    ],
)
def test_an_agents_input_names_session_and_transcript(
    place: Path, agent: str, told: dict[str, Any], transcript: str | None
) -> None:
    stdin = json.dumps(told).encode()
    [message] = post(place, stdin, [*HOOK, "turn-end", "--agent", agent])
    params = {"agent": agent, "session": told["session_id"], "cwd": "/repo"}
    if transcript is not None:
        params["transcript_path"] = transcript
    assert message["params"] == params
    with bytes_on_stdin(stdin) as descriptor:
        run_silently([*HOOK, "turn-end", "--agent", agent], descriptor, environment(place))


@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_a_plugin_says_it_all_on_the_command_line(place: Path, agent: str) -> None:
    words = ["--agent", agent, "--session=-- s=1", "--transcript=/log.jsonl", "--cwd=/repo"]
    [message] = post(place, b"", [*HOOK, "turn-end", *words])
    assert message["params"] == {
        "agent": agent,
        "session": "-- s=1",
        "transcript_path": "/log.jsonl",
        "cwd": "/repo",
    }


def test_codex_may_tell_in_its_older_way(place: Path) -> None:
    # Its standard input is nobody's: nothing is read from there.
    [message] = post(place, b'{"session_id":"x"}', [*HOOK, "codex-notify", json.dumps(NOTICE)])
    assert message["params"] == {"agent": "codex", "session": "019a-thread", "cwd": "/repo"}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"type":"approval-requested"}'])
def test_what_tells_of_no_turn_posts_nothing(place: Path, text: str) -> None:
    assert post(place, b"", [*HOOK, "codex-notify", text]) == []
    assert post(place, b"", [*HOOK, "codex-notify"]) == []
    env = environment(place)
    run_silently([*HOOK, "codex-notify", text], subprocess.DEVNULL, env)
