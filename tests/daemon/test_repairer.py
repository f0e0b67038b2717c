"""The `repair` method: which schema is in force, and a daemon that hooks ask."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.history.calls import AGENTS, AgentName
from fabricd.daemon.repairer import CURRENT_MS, current_schema
from fabricd.store.homes import find
from fabricd.store.snapshots import Filed, keep
from tests.harness import Daemon, daemon
from tests.ipc.test_hook import HOOK

DAY = 24 * 60 * 60 * 1000
NOW = 1000 * DAY
OLD = {"type": "object", "properties": {"n": {"type": "integer"}}}
NEW = {"type": "object", "properties": {"n": {"type": "string"}}}
TOOL = "mcp__x__count"


def filed(last: int, covers: str | None = None, agent: AgentName = "pi", **tools: object) -> Filed:
    return Filed(agent, tools, last - DAY, last, None, covers)


@pytest.mark.parametrize(
    ("listings", "expected"),
    [
        ([], None),
        ([filed(NOW, a=OLD)], OLD),
        ([filed(NOW, agent="codex", a=OLD)], None),
        ([filed(NOW, b=OLD)], None),
        ([filed(NOW - 2 * DAY, a=OLD), filed(NOW, a=NEW)], NEW),
        ([filed(NOW, a=NEW), filed(NOW - 2 * DAY, a=OLD)], NEW),
        ([filed(NOW - 2 * DAY, a=OLD), filed(NOW, b=NEW)], OLD),
        # A newer listing covers the name, and has no such tool.
        ([filed(NOW - 2 * DAY, a=OLD), filed(NOW, covers="", b=NEW)], None),
        ([filed(NOW - 2 * DAY, a=OLD), filed(NOW, covers="z", b=NEW)], OLD),
        # Two that were seen at one moment disagree, or agree.
        ([filed(NOW, a=OLD), filed(NOW, a=NEW)], None),
        ([filed(NOW, a=OLD), filed(NOW, covers="", b=NEW)], None),
        ([filed(NOW, a=OLD), filed(NOW, a=dict(OLD), b=NEW)], OLD),
        ([filed(NOW - CURRENT_MS, a=OLD)], OLD),
        ([filed(NOW - CURRENT_MS - 1, a=OLD)], None),
        ([filed(NOW, a=None)], None),
    ],
)
def test_the_listing_that_was_seen_last_is_in_force(listings: list[Filed], expected: Any) -> None:
    assert current_schema(listings, "pi", "a", NOW) == expected


def capture(subject: Daemon, schema: dict[str, Any]) -> None:
    """Add a listing as a user would."""
    path = subject.home / "tools.json"
    path.write_text(json.dumps({"tools": [{"name": "count", "inputSchema": schema}]}))
    words = ("surface", "add", str(path), "--agent", "claude-code", "--prefix", "mcp__x__")
    done = subject.run(*words)
    assert done.returncode == 0, done.stderr


def asked(subject: Daemon, arguments: object, agent: str = "claude-code", tool: str = TOOL) -> Any:
    """What the daemon answers."""
    return subject.call("repair", {"agent": agent, "tool": tool, "arguments": arguments}).result


def hooked(subject: Daemon, agent: str, **message: object) -> str:
    """What the hook prints for an agent's input."""
    done = subprocess.run(
        [*HOOK, "repair", "--agent", agent],
        input=json.dumps(message),
        capture_output=True,
        text=True,
        env=subject.env,
        timeout=20,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def repaired(subject: Daemon, agent: str, **message: object) -> Any:
    """What the hook prints, where it has something to say."""
    # A busy machine may take longer than an agent waits: then it says nothing.
    said = (hooked(subject, agent, **message) for _ in range(10))
    return json.loads(next(filter(None, said)))


def test_a_daemon_answers_hooks_from_what_was_captured(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        assert asked(subject, {"n": "5"}) == {}
        capture(subject, OLD)
        found = asked(subject, {"n": "5", "other": [1.5, 2**70]})
        assert found["arguments"] == {"n": 5, "other": [1.5, 2**70]}
        assert found["witness"]["rules"] == [
            {"kind": "numeric-string", "at": "/properties/n", "count": 1}
        ]
        for arguments in ({"n": 5}, {"n": "five"}, {"n": "05"}, [], None, "x"):
            assert asked(subject, arguments) == {}
        assert asked(subject, {"n": "5"}, agent="codex") == {}
        assert asked(subject, {"n": "5"}, agent="pi") == {}
        assert asked(subject, {"n": "5"}, tool="mcp__x__other") == {}
        assert subject.call("repair").result == {}
        # Another version of the server: from now on its schema alone.
        capture(subject, NEW)
        assert asked(subject, {"n": "5"}) == {}


def test_a_hook_prints_what_its_agent_takes(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        now = time.time_ns() // 1_000_000
        for agent in AGENTS:
            keep(find(subject.env), Filed(agent, {TOOL: OLD}, now, now))
        call = {"tool_name": TOOL, "tool_input": {"n": "5"}}
        for mode, decision in (("default", "ask"), ("bypassPermissions", "allow"), (None, "ask")):
            told = repaired(subject, "claude-code", permission_mode=mode, **call)
            output = told["hookSpecificOutput"]
            assert list(told) == ["hookSpecificOutput"]
            assert output.pop("permissionDecisionReason").endswith("(numeric-string)")
            assert output == {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "updatedInput": {"n": 5},
            }
        assert repaired(subject, "gemini", **call) == {
            "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"n": 5}}
        }
        for agent in ("opencode", "pi"):
            assert repaired(subject, agent, **call) == {"arguments": {"n": 5}}
        for agent in ("codex", "copilot-cli", ""):
            assert hooked(subject, agent, **call) == ""
        assert hooked(subject, "claude-code", tool_name=TOOL, tool_input={"n": 5}) == ""
        assert hooked(subject, "claude-code", tool_name="Bash", tool_input={"n": "5"}) == ""


def test_the_hook_that_repairs_imports_nothing_but_the_standard_library(tmp_path: Path) -> None:
    script = (
        "import sys; before = set(sys.modules); from fabricd.ipc import repair_hook; "
        "import fabricd.store.addresses; print(*sorted(set(sys.modules) - before))"
    )
    with daemon(tmp_path) as subject:
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            env=subject.env,
            timeout=20,
            check=True,
        )
    roots = {name.partition(".")[0] for name in done.stdout.split()}
    assert roots - {"fabricd"} <= set(sys.stdlib_module_names)
