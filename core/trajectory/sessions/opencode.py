"""OpenCode: `state.output`, or `state.error`, is what was shown, in exports and in its own stores.

`metadata.truncated` says whether a tool left something out; where it says no, what was shown is all
there was. What was left out is in another file, if anywhere; `metadata.output` is a cut for people.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from fabricd.core.sessions.adapting import struct_of, text_of
from fabricd.core.sessions.opencode import Message, Session, may_be_call, read_part
from fabricd.core.trajectory.sessions.matching import Entry, Log
from fabricd.core.trajectory.sessions.results import Shown

_Other: TypeAlias = str | float | bool | list[Any] | None


class _Metadata(Struct, frozen=True, gc=False):
    truncated: Any = None


class _Time(Struct, frozen=True, gc=False):
    compacted: Any = None


class _State(Struct, frozen=True, gc=False):
    status: Any = None
    output: Any = None
    error: Any = None
    metadata: _Metadata | _Other = None
    time: _Time | _Other = None


class _Part(Struct, frozen=True, gc=False):
    call_id: Any = field(default=None, name="callID")
    state: _State | _Other = None


class _Info(Struct, frozen=True, gc=False):
    id: Any = None
    directory: Any = None
    version: Any = None


class _Message(Struct, frozen=True):
    parts: list[Raw] | dict[str, Any] | str | float | bool | None = None


class _Export(Struct, frozen=True):
    info: _Info | _Other = None
    messages: list[_Message | _Other] | dict[str, Any] | str | float | bool | None = None


_EXPORT = msgspec.json.Decoder(_Export)
_PART = msgspec.json.Decoder(_Part)


def read_opencode(document: bytes, log: Log) -> None:
    """Read an exported session.

    Raises:
        Malformed: it is no JSON, or nests too deep.
    """
    export = struct_of(_EXPORT, document)
    if export is None or not isinstance(export.info, _Info):
        return
    info = export.info
    session = Session(text_of(info.id), text_of(info.directory), text_of(info.version))
    if session.id:
        log.watched.session(session.id)
    for message in export.messages if isinstance(export.messages, list) else ():
        parts = message.parts if isinstance(message, _Message) else None
        for part in parts if isinstance(parts, list) else ():
            take_part(bytes(part), session, log)


def take_part(part: bytes, session: Session, log: Log) -> None:
    """Read one part of a session, as it stands in an export or in a store.

    Raises:
        Malformed: it is no JSON.
    """
    if not may_be_call(part):
        return
    entered = read_part(part, Message(), session, log.watched)
    log.watched.calls_entered()
    found = struct_of(_PART, part) if entered is not None else None
    if entered is None or found is None or not isinstance(found.state, _State):
        return
    shown = _shown(found.state)
    if shown is not None:
        log.enter(Entry(text_of(found.call_id), entered.key), shown, session.id)


def _shown(state: _State) -> Shown | None:
    match state.status:
        case "completed":
            if not isinstance(state.output, str) or _is_emptied(state):
                return Shown("", is_absent=True)
            metadata = state.metadata
            is_whole = isinstance(metadata, _Metadata) and metadata.truncated is False
            return Shown(state.output, state.output if is_whole else None)
        case "error":
            return Shown(text_of(state.error), is_absent=not isinstance(state.error, str))
        case _:
            return None


def _is_emptied(state: _State) -> bool:
    """Whether an output was taken out of the log once the model had seen it."""
    return state.output == "" and isinstance(state.time, _Time) and bool(state.time.compacted)
