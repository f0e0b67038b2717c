"""Replies of a server: whose they are, and how a call ended. What a result says is never read."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.mcp.limits import CHANGED_MARK
from fabricd.core.mcp.requests import Id, brief

Ended: TypeAlias = Literal["succeeded", "failed"]

CHANGED = "notifications/tools/list_changed"
MAX_TOOLS = 10_000
_COUNTED = 1024 * 1024
# Properties are called so too.
_NAMES = 8 * MAX_TOOLS


class _Line(Struct, frozen=True, gc=False):
    id: str | int | float | None = None
    method: str | None = None
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Result(Struct, frozen=True, gc=False, rename="camel"):
    is_error: Raw | UnsetType = UNSET


class Listed(Struct, frozen=True, gc=False, rename="camel"):
    """A tool as it was listed; of what it says only the text of its schema is kept."""

    name: str
    input_schema: Raw | UnsetType = UNSET


class _Page(Struct, frozen=True, rename="camel"):
    tools: list[Listed]
    next_cursor: str | None = None


class Page(Struct, frozen=True):
    """A page of a listing; `following` is the cursor of the next one, None on the last."""

    tools: tuple[tuple[str, bytes], ...]
    following: str | None


class Reply(Struct, frozen=True):
    """A reply to the request with this id; `result` is its text, None for an error."""

    id: Id
    result: Raw | None


class Changed(Struct, frozen=True):
    """The list of tools has changed."""


_LINE = msgspec.json.Decoder(_Line)
_RESULT = msgspec.json.Decoder(_Result)
_PAGE = msgspec.json.Decoder(_Page)
_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def read_reply(line: bytes) -> Reply | Changed | None:
    """What a server's line says, or None where it is nothing to a gateway."""
    start = line[:1] if line[:1] == b"{" else line.lstrip(b" \t\r\n")[:1]
    if start != b"{":
        # A batch is not read; one that speaks of a changed list may well tell of it.
        return Changed() if start == b"[" and CHANGED_MARK in line else None
    try:
        found = _LINE.decode(line)
    except _REFUSALS:
        return None
    if found.method is not None:
        return Changed() if found.method == CHANGED else None
    ident = found.id
    if ident is None or (found.result is UNSET and found.error is UNSET):
        return None
    has_failed = found.error is not UNSET and bytes(found.error) != b"null"
    ident = brief(ident) if isinstance(ident, str) else ident
    return Reply(ident, None if has_failed or found.result is UNSET else found.result)


def ended(reply: Reply) -> Ended:
    """How a call ended: by the error of JSON-RPC or by `isError`, and by nothing else."""
    if reply.result is None:
        return "failed"
    try:
        found = _RESULT.decode(reply.result).is_error
    except _REFUSALS:
        return "succeeded"
    return "failed" if found is not UNSET and bytes(found) == b"true" else "succeeded"


def page_of(reply: Reply) -> Page | None:
    """The tools that a reply lists, None where it cannot be used or would fill the memory."""
    if reply.result is None or _has_many(reply.result):
        return None
    try:
        page = _PAGE.decode(reply.result)
    except _REFUSALS:
        return None
    if len(page.tools) > MAX_TOOLS:
        return None
    return Page(tuple(map(_kept, page.tools)), brief(page.next_cursor or "") or None)


def _has_many(result: Raw) -> bool:
    return memoryview(result).nbytes > _COUNTED and bytes(result).count(b'"name"') > _NAMES


def _kept(tool: Listed) -> tuple[str, bytes]:
    # A copy: the line is not kept for it. It stands in a line again where it is logged.
    schema = tool.input_schema
    return tool.name, b"null" if schema is UNSET else bytes(schema).replace(b"\r", b" ")
