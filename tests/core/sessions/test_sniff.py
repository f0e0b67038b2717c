"""Whose log a file is, by its content alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.sessions.sniff import HEAD, Found, sniff
from tests.core.history.tables import lines

PI = {"type": "session", "version": 3, "id": "x", "timestamp": "t", "cwd": "/w"}
CLAUDE = {"type": "user", "sessionId": "s", "uuid": "u", "parentUuid": None, "message": {}}
CODEX = {"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}}
COPILOT = {"type": "session.start", "data": {"sessionId": "s"}, "id": "e", "parentId": None}
EXPORT: dict[str, Any] = {"info": {"id": "x", "directory": "/w"}, "messages": []}
CHAT: dict[str, Any] = {
    "sessionId": "s", "projectHash": "h", "startTime": "t", "lastUpdated": "t", "messages": [],
}  # fmt: skip
LINE = Found("gemini-cli")


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([PI], Found("pi")),
        ([{"type": "session", "id": "x", "cwd": "/w", "provider": "p"}], Found("pi")),
        ([{"type": "model_change", "id": "a", "parentId": None, "provider": "p"}], Found("pi")),
        ([{"type": "session", "format": "fabricd.gateway", "version": 1}], Found("gateway")),
        ([CLAUDE], Found("claude-code")),
        ([{"type": "summary", "summary": "x", "leafUuid": "l"}], Found("claude-code")),
        (
            [{"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}],
            Found("claude-code"),
        ),
        ([{"type": "custom-title", "customTitle": "x", "sessionId": "s"}], Found("claude-code")),
        ([{"type": "last-prompt", "sessionId": "s"}], Found("claude-code")),
        ([{"type": "mode"}, {"type": "unheard-of"}, CLAUDE], Found("claude-code")),
        ([CODEX], Found("codex")),
        ([{"timestamp": "t", "type": "event_msg", "payload": {}}], Found("codex")),
        ([{"id": "x", "timestamp": "t", "instructions": None}], Found("codex")),
        ([{"record_type": "state"}], Found("codex")),
        ([COPILOT], Found("copilot-cli")),
        ([EXPORT], Found("opencode", True)),
        ([CHAT], Found("gemini-cli", True)),
        ([{k: v for k, v in CHAT.items() if k != "messages"}, {"id": "1"}], LINE),
        ([{"version": 1, "entries": [{"sessionId": "s", "messageCount": 3}]}], None),
        ([{"name": "package", "type": "module"}], None),
        (
            [{"display": "x", "pastedContents": {"1": {"type": "text"}}, "sessionId": "s"}],
            None,
        ),
        ([{"sessionId": "s", "startTime": "t", "chatMessages": [{"type": "user"}]}], None),
        ([{"info": {"title": "x"}, "messages": {}, "paths": {}}], None),
        ([{"messages": []}], None),
        ([[1]], None),
        ([], None),
    ],
)
def test_each_kind(rows: list[Any], found: Found | None) -> None:
    assert sniff(lines(*rows)) == found
    assert sniff(lines(*rows).rstrip()) == found


@pytest.mark.parametrize(("document", "agent"), [(EXPORT, "opencode"), (CHAT, "gemini-cli")])
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_documents_however_they_are_written_and_however_long(
    document: dict[str, Any], agent: str, indent: Any
) -> None:
    long = {**document, "messages": [{"parts": ["x" * 99], "id": n} for n in range(2000)]}
    data = json.dumps(long, indent=indent).encode()
    assert len(data) > HEAD and sniff(data[:HEAD]) == Found(agent, True)  # type: ignore[arg-type]  # one of the literals


@pytest.mark.parametrize(
    ("row", "agent"),
    [
        ({**CLAUDE, "message": {"content": "x" * HEAD}}, "claude-code"),
        ({**CODEX, "payload": {"instructions": "x" * HEAD}}, "codex"),
        ({"type": "system.message", "id": "e", "data": {"content": "x" * HEAD}}, "copilot-cli"),
    ],
)
def test_a_first_line_beyond_the_head(row: dict[str, Any], agent: str) -> None:
    assert sniff(lines(row)[:HEAD]) == Found(agent)  # type: ignore[arg-type]  # one of the literals


def test_an_empty_object_on_a_line_of_its_own_makes_no_rows_of_a_document() -> None:
    document = {"info": {"id": "x", "directory": "/w", "list": [{}, {}]}, "messages": []}
    assert sniff(json.dumps(document, indent=2).encode()) == Found("opencode", True)


def test_a_description_of_an_interface_is_no_export() -> None:
    other = {"info": {"title": "x", "version": "1"}, "components": {"messages": {"type": "y"}}}
    assert sniff(json.dumps(other, indent=2).encode()) is None


def test_a_damaged_first_line_hides_nothing() -> None:
    assert sniff(b'{"type": "sess\n' + lines(CLAUDE)) == Found("claude-code")
    assert sniff(b"\xff\xfe\x00\n" + lines(CODEX)) == Found("codex")


def test_a_glued_first_line_is_its_first_record() -> None:
    assert sniff(lines(CLAUDE).rstrip() + lines({"type": "summary"})) == Found("claude-code")


@given(st.binary(max_size=300))
def test_no_bytes_are_too_strange(data: bytes) -> None:
    sniff(data)
    sniff(lines({"type": "x"}) + data)
