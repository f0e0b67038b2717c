"""Replies of a server: whose they are, and how a call ended. What a result says is never read."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.mcp.requests import Id, is_id
from fabricd.core.nesting import RECORD_LEVELS

Ended: TypeAlias = Literal["succeeded", "failed"]

CHANGED = "notifications/tools/list_changed"


class _Line(Struct, frozen=True):
    id: Any = None
    method: Any = None
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Result(Struct, frozen=True, rename="camel"):
    is_error: Any = False


class Reply(Struct, frozen=True):
    """A reply to the request with this id; `result` is its text, None for an error."""

    id: Id
    result: Raw | None


class Changed(Struct, frozen=True):
    """The list of tools has changed."""


_LINE = msgspec.json.Decoder(_Line)
_RESULT = msgspec.json.Decoder(_Result)


def read_reply(line: bytes) -> Reply | Changed | None:
    """What a server's line says, or None where it is nothing to a gateway."""
    if line.lstrip(b" \t\r\n")[:1] != b"{":
        return None
    try:
        found = _LINE.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if found.method is not None:
        return Changed() if found.method == CHANGED else None
    if not is_id(found.id) or (found.result is UNSET and found.error is UNSET):
        return None
    has_failed = found.error is not UNSET and bytes(found.error) != b"null"
    return Reply(found.id, None if has_failed or found.result is UNSET else found.result)


def ended(reply: Reply) -> Ended:
    """How a call ended: by the error of JSON-RPC or by `isError`, and by nothing else."""
    if reply.result is None:
        return "failed"
    try:
        return "failed" if _RESULT.decode(reply.result).is_error is True else "succeeded"
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "succeeded"


def page_of(reply: Reply) -> object:
    """The decoded result of a listing, None where it cannot be used."""
    if reply.result is None:
        return None
    try:
        page: object = strict_json(bytes(reply.result), RECORD_LEVELS)
    except (BadDocument, ValueError, RecursionError):
        return None
    return page
