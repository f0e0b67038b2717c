"""What a client's line asks for: read just as far as a gateway needs it.

Whatever is no plain request or notification of the four methods below is None, and passes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from fabricd.core.canonical import digest
from fabricd.core.jsontext.members import (
    Member,
    NotRead,
    are_unique,
    members,
    name_at,
    scan,
    skip,
    value_of,
)
from fabricd.core.mcp.limits import HEAD, MAX_LINE, may_be_read
from fabricd.core.mcp.weighing import is_heavy

Id: TypeAlias = str | int | float

CALL = "tools/call"
LIST = "tools/list"
CANCELLED = "notifications/cancelled"
_READ = (CALL, LIST, CANCELLED)
_BRIEF = 64


class Request(Struct, frozen=True):
    """A line of one of the methods that are read.

    Attributes:
        id: None for a notification; one that is long by its digest, as the cursor.
        span: where `params.arguments` stand in the line.
        has_arguments: they may be left out: they are then nothing that could be repaired.
    """

    method: str
    id: Id | None
    tool: str | None = None
    cursor: str | None = None
    arguments: object = None
    has_arguments: bool = False
    span: tuple[int, int] = (0, 0)
    cancelled: Id | None = None


def is_id(value: object) -> bool:
    """Whether a value can be the id of a request."""
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def brief(text: str) -> str:
    """What an id or a cursor is kept as: itself up to 64 characters, else its digest."""
    return text if len(text) <= _BRIEF else f"sha256:{digest(text)}"


def read_request(line: bytes) -> Request | None:
    """What a whole line asks for, or None where it passes unread."""
    if not may_be_read(line) or len(line) > MAX_LINE or is_heavy(line):
        return None
    is_ascii = line.isascii()
    try:
        if not is_ascii:
            line.decode()
        text = line.decode("latin-1")
        found, end = members(text, skip(text, 0), "params")
        if skip(text, end) != len(text) or not are_unique(found):
            return None
        return _request(line, found, is_ascii)
    except (NotRead, UnicodeDecodeError):
        return None


def _request(line: bytes, found: list[Member], is_ascii: bool) -> Request | None:
    top = {member.name: member for member in found}
    if "result" in top or "error" in top or "method" not in top:
        return None
    method = top["method"].value
    ident = _told(line, top.get("id"), is_ascii)
    if method not in _READ or not (ident is None or is_id(ident)):
        return None
    ident = _id(ident)
    # Params may be left out, but they are an object.
    params = top["params"].within if "params" in top else ()
    if params is None or not are_unique(params):
        return None
    within = {member.name: member for member in params}
    if method == LIST:
        cursor = _told(line, within.get("cursor"), is_ascii)
        if cursor is not None and not isinstance(cursor, str):
            # What page that asks for only the server knows.
            return None
        return Request(LIST, ident, cursor=cursor and brief(cursor))
    if method == CANCELLED:
        cancelled = _told(line, within.get("requestId"), is_ascii)
        return Request(CANCELLED, None, cancelled=_id(cancelled))
    tool = _told(line, within.get("name"), is_ascii)
    if not isinstance(tool, str) or ident is None:
        return None
    given = within.get("arguments")
    if given is None:
        return Request(CALL, ident, tool)
    arguments = _told(line, given, is_ascii)
    return Request(CALL, ident, tool, None, arguments, True, (given.start, given.end))


def _id(value: object) -> Id | None:
    if isinstance(value, str):
        return brief(value)
    return value if isinstance(value, (int, float)) and is_id(value) else None


def _told(line: bytes, member: Member | None, is_ascii: bool) -> Any:
    if member is None:
        return None
    if is_ascii:
        return member.value
    return value_of(line[member.start : member.end])


def may_be_call(head: bytes) -> bool:
    """Whether a line that starts so may still be one that is read.

    Args:
        head: the start of a line whose end is not there yet; no more than `HEAD` of it counts.
    """
    text = head[:HEAD].decode("latin-1")
    at = skip(text, 0)
    if at == len(text):
        return True
    if not text.startswith("{", at):
        return False
    at = skip(text, at + 1)
    while at < len(text):
        try:
            name, end = name_at(text, at)
        except NotRead:
            return _is_open(text, at)
        at = skip(text, end)
        if at < len(text) and text[at] != ":":
            return False
        if name in ("result", "error"):
            return False
        at = skip(text, at + 1)
        if at >= len(text):
            return True
        try:
            value, at = scan(text, at)
        except NotRead:
            return True
        if name == "method" and at < len(text):
            return value in _READ
        at = skip(text, at)
        if at < len(text) and text[at] != ",":
            return False
        at = skip(text, at + 1)
    return True


def _is_open(text: str, at: int) -> bool:
    # A name that the head cuts off is fine, anything else in its place is not JSON.
    return text[at] == '"' and '"' not in text[at + 1 :].replace("\\\\", "").replace('\\"', "")
