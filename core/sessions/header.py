"""The first line of a session: who it is, and whom it was forked from."""

from __future__ import annotations

import re

from msgspec import Struct

from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.core.plain import is_object
from fabricd.core.sessions.records import Malformed, values_of

MAX_HEADER = 64 * 1024
_SUFFIX = re.compile(r".*_([0-9A-Za-z-]+)\.jsonl\Z", re.DOTALL)


class Header(Struct, frozen=True):
    """`parent` is the path that a fork names as its source, as it stands in the log."""

    id: str | None = None
    parent: str | None = None


def header_of(line: bytes) -> Header:
    """The header that a first line is; an empty one where it is none."""
    if len(line) > MAX_HEADER or deeper_than(line, RECORD_LEVELS):
        return Header()
    try:
        values = values_of(line)
    except Malformed:
        return Header()
    first = values[0] if values else None
    if not is_object(first) or first.get("type") != "session":
        return Header()
    return Header(_text(first.get("id")), _text(first.get("parentSession")))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def id_in_name(path: str) -> str | None:
    """The session id that a log's file name ends in: `<time>_<id>.jsonl`; None for another."""
    found = _SUFFIX.match(path.rpartition("/")[2])
    return None if found is None else found[1]
