"""What is logged of a call: no name and no id that somebody may have written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabricd.core.mcp.conversation import Called, Conversation, Event, Mode
from fabricd.core.mcp.records import Audits, call_record

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
CHANGED = b'{"method":"notifications/tools/list_changed"}\n'


class Run:
    """A run of a server that lists one tool."""

    def __init__(self, mode: Mode = "repair") -> None:
        self.events: list[Event] = []
        self.talk = Conversation("s", mode, "extended", self.events.append, lambda: 0)

    def list(self) -> None:
        """One listing."""
        self.talk.asked(b'{"id":0,"method":"tools/list"}\n')
        tools = [{"name": "known", "inputSchema": SCHEMA}]
        self.talk.heard(json.dumps({"id": 0, "result": {"tools": tools}}).encode())

    def record(self, audits: Audits, name: str, ident: Any = 1, **args: Any) -> dict[str, Any]:
        """What is logged of a call."""
        params = {"name": name, "arguments": args}
        asked = {"id": ident, "method": "tools/call", "params": params}
        self.talk.asked(json.dumps(asked).encode() + b"\n")
        self.talk.heard(json.dumps({"id": ident, "result": {}}).encode() + b"\n")
        called = self.events[-1]
        assert isinstance(called, Called)
        found: dict[str, Any] = json.loads(call_record(called, "s", audits))
        found["ref"] = found["trace"]["operations"][0]["ref"]
        return found


@pytest.mark.parametrize("mode", ["repair", "observe"])
def test_a_name_that_nobody_declares_is_kept_in_full_audits_alone(mode: Mode) -> None:
    run = Run(mode)
    # Before anything was listed.
    assert run.record("projected", "known")["ref"] == "mcp.s.*"
    run.list()
    assert run.record("projected", "known")["ref"] == "mcp.s.known"
    found = run.record("projected", "s3cret")
    assert (found["ref"], found["check"]) == ("mcp.s.*", "resolve")
    assert "s3cret" not in json.dumps(found)
    found = run.record("full", "s3cret")
    assert found["ref"] == found["audit"]["ref"] == "mcp.s.s3cret"
    # What was declared once is the server's own word.
    run.talk.heard(CHANGED)
    assert run.record("projected", "known")["ref"] == "mcp.s.known"


def test_a_long_id_is_logged_as_its_digest() -> None:
    run = Run()
    assert run.record("projected", "t", "s" * 64)["id"] == "s" * 64
    found = run.record("full", "t", "s3cret" * 100)
    assert len(found["id"]) == 71 and "s3cret" not in json.dumps(found)


@pytest.mark.parametrize("size", [10, 5_000, 200_000])
def test_long_arguments_are_logged_as_short_ones(size: int) -> None:
    run = Run()
    run.list()
    args = {"n": "1", "é": "s" * size}
    found = run.record("full", "known", **args)
    assert found["audit"] == {"ref": "mcp.s.known", "args": args, "forwarded": {**args, "n": 1}}
    assert found["forwarded"] == {"n": 1, "*": ""}
    assert found["trace"]["operations"][0]["args"] == {"n": "", "*": ""}
