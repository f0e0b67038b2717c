"""The gateway's log as turns that were worth something: each repaired call.

The gateway sees calls and no turns of a conversation, so that each repaired call is a turn of its
own. A client may use the id of a call again: a turn is told by it together with the call's time.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.canonical import text
from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.javascript import NumberOutOfRange
from fabricd.core.sessions.adapting import text_of
from fabricd.core.sessions.gateway import operation_of
from fabricd.core.value.own import Repair, Turn

_REFUSALS = (
    msgspec.MsgspecError,
    BadDocument,
    NumberOutOfRange,
    UnicodeDecodeError,
    RecursionError,
)
_MARK = b'"normalization"'


class Run(Struct, frozen=True):
    """One run of a wrapped server: what its log says of all calls."""

    session: str
    conventions: str
    version: str


class _Head(Struct, frozen=True):
    type: Any = None
    id: Any = None
    conventions: Any = None
    fabricd: Any = None


class _Call(Struct, frozen=True):
    type: Any = None
    id: Any = None
    timestamp: Any = None
    trace: Raw | UnsetType = UNSET


_HEAD = msgspec.json.Decoder(_Head)
_CALL = msgspec.json.Decoder(_Call)


def run_in(line: bytes) -> Run | None:
    """The run that a log's first line tells of."""
    try:
        found = _HEAD.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    told = Run(text_of(found.id), text_of(found.conventions), text_of(found.fabricd))
    return told if found.type == "session" and "" not in msgspec.structs.astuple(told) else None


def turn_in(line: bytes, session: str, file: str) -> Turn | None:
    """The turn that a line tells of, if a call was repaired in it.

    Args:
        file: the name of the log.
    """
    if _MARK not in line:
        return None
    try:
        found = _CALL.decode(line)
        trace = None if found.trace is UNSET else strict_json(bytes(found.trace))
        call_id = text(found.id)
    except _REFUSALS:
        return None
    operation = operation_of(trace)
    witness = None if operation is None else operation.get("normalization")
    if found.type != "call" or witness is None:
        return None
    repair, at = Repair(call_id, witness), text_of(found.timestamp)
    return Turn(session, f"{call_id}@{at}" if at else call_id, file, (repair,), at or None)
