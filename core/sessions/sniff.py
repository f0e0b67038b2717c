"""Whose log a file is, by its content.

Names and places of files lie: logs are copied, renamed and mislabelled. The first record that only
one agent writes decides; rows that any agent might write are passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from fabricd.core.history.calls import AgentName
from fabricd.core.plain import is_object
from fabricd.core.sessions.records import BOM

HEAD = 64 * 1024
_ROWS = 50

_STRICT = msgspec.json.Decoder()
_TOLERANT = json.JSONDecoder()
_FIRST_MEMBER = re.compile(rb'\s*\{\s*"([A-Za-z_]{1,40})"\s*:')
_MEMBERS = re.compile(rb'"([A-Za-z_$]{1,40})"\s*:')
_TYPE = re.compile(rb'"type"\s*:\s*"([a-z_.-]{1,40})"')
_CLAUDE_MEMBERS = frozenset({"sessionId", "uuid", "parentUuid", "leafUuid", "messageId"})
_EXPORT_MEMBER = re.compile(rb'"(?:directory|projectID|sessionID)"\s*:')
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
    head = head.removeprefix(BOM)
    is_spread = True
    for index, (row, is_whole) in enumerate(islice(_rows(head), _ROWS)):
        value = _object(row) if is_whole else None
        if value is not None:
            # A document on many lines starts with a line that is no record by itself.
            is_spread = is_spread and index > 0
            found = _of_value(value)
        else:
            found = None if is_whole else _of_cut_row(row)
        if found is not None:
            return found
    return _of_document(head) if is_spread else None


def _rows(head: bytes) -> Iterator[tuple[bytes, bool]]:
    start = 0
    while start <= len(head):
        # One after the other: mostly the first says it all.
        end = head.find(b"\n", start)
        is_last = end < 0
        line = head[start:] if is_last else head[start:end]
        if line.strip():
            yield line, not is_last or len(head) < HEAD
        start = len(head) + 1 if is_last else end + 1


def _object(row: bytes) -> Mapping[str, Any] | None:
    try:
        value: Any = _decoded(row)
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None


def _decoded(row: bytes) -> Any:
    try:
        return _STRICT.decode(row)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _TOLERANT.raw_decode(row.decode("utf-8", "replace").strip())[0]


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
    if kind == "gemini" and "id" in row and "timestamp" in row:
        return Found("gemini-cli")
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


def _of_document(start: bytes) -> Found | None:
    """The same of a document that goes on beyond the head or stands on many lines."""
    first = _FIRST_MEMBER.match(start)
    if first is None:
        return None
    match first[1]:
        case b"info" if _EXPORT_MEMBER.search(start):
            return Found("opencode", True)
        case b"messages" if "projectHash" in _members(start):
            return Found("gemini-cli", True)
        case b"sessionId" | b"projectHash" if {"projectHash", "messages"} <= _members(start):
            return Found("gemini-cli", True)
        case _:
            return None


def _of_cut_row(start: bytes) -> Found | None:
    """The same of a record that goes on beyond the head."""
    found = _of_document(start)
    if found is None and _FIRST_MEMBER.match(start) is not None:
        found = _of_members(_members(start), _TYPE.search(start))
    return found


def _members(start: bytes) -> set[str]:
    return {name.decode() for name in _MEMBERS.findall(start)}


def _of_members(names: set[str], kind: re.Match[bytes] | None) -> Found | None:
    if "payload" in names and kind is not None and kind[1].decode() in _CODEX_TYPES:
        return Found("codex")
    if "data" in names and kind is not None and b"." in kind[1]:
        return Found("copilot-cli")
    if names & _CLAUDE_MEMBERS and kind is not None:
        return Found("claude-code")
    return None
