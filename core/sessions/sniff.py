"""Whose log a file is, by its content.

Names and places of files lie: logs are copied, renamed and mislabelled. The first record that only
one agent writes decides; rows that any agent might write are passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from fabricd.core.history.calls import AgentName
from fabricd.core.plain import is_object

HEAD = 64 * 1024
_ROWS = 50

_FIRST_MEMBER = re.compile(rb'\s*\{\s*"([A-Za-z_]{1,40})"\s*:')
_MEMBERS = re.compile(rb'"([A-Za-z_$]{1,40})"\s*:')
_TYPE = re.compile(rb'"type"\s*:\s*"([a-z_.-]{1,40})"')
_CLAUDE_MEMBERS = frozenset({"sessionId", "uuid", "parentUuid", "leafUuid", "messageId"})
_CODEX_TYPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
)
_PI_TYPES = frozenset({"model_change", "thinking_level_change", "message"})


class Found(Struct, frozen=True):
    """Whose log it is, and whether it is one document that is rewritten in place."""

    agent: AgentName
    is_document: bool = False


def sniff(head: bytes) -> Found | None:
    """Whose log starts like this, or None where nothing says so.

    Args:
        head: the first `HEAD` bytes of a file, or all of it.
    """
    rows = 0
    for row, is_whole in _rows(head):
        found = _of_row(row) if is_whole else _of_start(row)
        if found is not None:
            return found
        rows += 1
        if rows == _ROWS:
            break
    return _of_start(head) if head[:1] in (b"{", b" ", b"\n", b"\r", b"\t") else None


def _rows(head: bytes) -> Iterator[tuple[bytes, bool]]:
    lines = head.split(b"\n")
    for index, line in enumerate(lines):
        if line.strip():
            yield line, index < len(lines) - 1 or len(head) < HEAD


def _of_row(row: bytes) -> Found | None:
    try:
        value: Any = json.JSONDecoder().raw_decode(row.decode("utf-8", "replace").strip())[0]
    except (ValueError, RecursionError):
        return None
    return _of_value(value) if is_object(value) else None


def _of_value(row: Mapping[str, Any]) -> Found | None:
    if isinstance(row.get("messages"), list):
        if is_object(row.get("info")):
            return Found("opencode", True)
        return Found("gemini-cli", True) if "sessionId" in row else None
    if "sessionId" in row and "projectHash" in row:
        return Found("gemini-cli")
    kind = row.get("type")
    if not isinstance(kind, str):
        return _untyped(row)
    if kind == "session":
        return Found("gateway" if row.get("format") == "fabricd.gateway" else "pi")
    if is_object(row.get("payload")) and kind in _CODEX_TYPES:
        return Found("codex")
    if is_object(row.get("data")) and "." in kind and "id" in row:
        return Found("copilot-cli")
    if _CLAUDE_MEMBERS.intersection(row):
        return Found("claude-code")
    if kind == "function_call" and "call_id" in row:
        return Found("codex")
    if kind in _PI_TYPES and "parentId" in row:
        return Found("pi")
    return None


def _untyped(row: Mapping[str, Any]) -> Found | None:
    # The oldest rollouts start with a bare header.
    if "instructions" in row and "id" in row and "timestamp" in row:
        return Found("codex")
    return Found("codex") if row.get("record_type") == "state" else None


def _of_start(start: bytes) -> Found | None:
    """The same of a record that goes on beyond the head, and of a document on many lines."""
    first = _FIRST_MEMBER.match(start)
    if first is None:
        return None
    names = {name.decode() for name in _MEMBERS.findall(start)}
    match first[1]:
        case b"info" if "directory" in names or "messages" in names or "projectID" in names:
            return Found("opencode", True)
        case b"messages" if "projectHash" in names or "sessionId" in names:
            return Found("gemini-cli", True)
        case b"sessionId" | b"projectHash" if "projectHash" in names and "messages" in names:
            return Found("gemini-cli", True)
        case _:
            return _of_members(names, _TYPE.search(start))


def _of_members(names: set[str], kind: re.Match[bytes] | None) -> Found | None:
    if "payload" in names and kind is not None and kind[1].decode() in _CODEX_TYPES:
        return Found("codex")
    if "data" in names and kind is not None and b"." in kind[1]:
        return Found("copilot-cli")
    if names & _CLAUDE_MEMBERS and kind is not None:
        return Found("claude-code")
    return None
