"""OpenCode sessions: exports as one document, and the parts of its own stores one by one.

A call and its result are one part, rewritten as the call goes on. A fork copies messages and parts
under new ids and names no origin, so that only the call ids tell a copy; `parentID` is the session
that started a sub-agent, whose calls are its own.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from fabricd.core.history.calls import FAILED, SUCCEEDED, UNDATED, UNKNOWN
from fabricd.core.history.recorder import CUT_OFF, NOTHING, Arguments, Recorder, milliseconds
from fabricd.core.plain import is_object
from fabricd.core.sessions.adapting import struct_of, text_of

_Other: TypeAlias = str | float | bool | list[Any] | None

# Where the host sends a call of a tool that it does not have; it ends as completed.
_REROUTED = "invalid"
_OUTCOMES = {"completed": SUCCEEDED, "error": FAILED}


class _Time(Struct, frozen=True, gc=False):
    start: Any = None
    created: Any = None


class _State(Struct, frozen=True, gc=False):
    status: Any = None
    input: Raw | UnsetType = UNSET
    time: _Time | _Other = None


class _Part(Struct, frozen=True, gc=False):
    type: Any = None
    tool: Any = None
    call_id: Any = field(default=None, name="callID")
    state: _State | _Other = None


class _Place(Struct, frozen=True, gc=False):
    session_id: Any = field(default=None, name="sessionID")
    message_id: Any = field(default=None, name="messageID")


class _Path(Struct, frozen=True, gc=False):
    cwd: Any = None


class _MessageInfo(Struct, frozen=True, gc=False):
    model_id: Any = field(default=None, name="modelID")
    provider_id: Any = field(default=None, name="providerID")
    path: _Path | _Other = None
    time: _Time | _Other = None


class _SessionInfo(Struct, frozen=True, gc=False):
    id: Any = None
    directory: Any = None
    version: Any = None


class _Entry(Struct, frozen=True, gc=False):
    info: _MessageInfo | _Other = None
    parts: list[_Part | _Other] | dict[str, Any] | str | float | bool | None = None


class _Export(Struct, frozen=True, gc=False):
    info: _SessionInfo | _Other = None
    messages: list[_Entry | _Other] | dict[str, Any] | str | float | bool | None = None


class Session(Struct, frozen=True, gc=False):
    """What a session says of all its calls."""

    id: str = ""
    directory: str = ""
    version: str = ""


class Message(Struct, frozen=True, gc=False):
    """What a message says of the calls in it. `created` is in milliseconds, or `UNDATED`."""

    model: str = ""
    cwd: str = ""
    created: int = UNDATED


class Entered(Struct, frozen=True, array_like=True, gc=False):
    """A call as it was entered: its key, and the outcome that its part gives it."""

    key: bytes
    outcome: int


_EXPORT = msgspec.json.Decoder(_Export)
_PART = msgspec.json.Decoder(_Part)
_PLACE = msgspec.json.Decoder(_Place)
_MESSAGE = msgspec.json.Decoder(_MessageInfo)
_SESSION = msgspec.json.Decoder(_SessionInfo)


def read_export(document: bytes, recorder: Recorder) -> None:
    """Read an exported session.

    Raises:
        Malformed: it is no JSON, or nests too deep.
    """
    export = struct_of(_EXPORT, document)
    if export is None or not isinstance(export.info, _SessionInfo):
        return
    session = _session(export.info)
    if session.id:
        recorder.session(session.id)
    for entry in export.messages if isinstance(export.messages, list) else ():
        if isinstance(entry, _Entry) and isinstance(entry.parts, list):
            _enter_all(entry.parts, entry.info, session, recorder)


def _enter_all(
    parts: list[_Part | _Other], info: object, session: Session, recorder: Recorder
) -> None:
    calls = [part for part in parts if isinstance(part, _Part) and part.type == "tool"]
    if calls:
        message = _message(info) if isinstance(info, _MessageInfo) else Message()
        for part in calls:
            _enter(part, message, session, recorder)


def session_of(raw: bytes) -> Session:
    """Read the description of a session.

    Raises:
        Malformed: it is no JSON.
    """
    info = struct_of(_SESSION, raw)
    return Session() if info is None else _session(info)


def message_of(raw: bytes) -> Message:
    """Read the description of a message.

    Raises:
        Malformed: it is no JSON.
    """
    info = struct_of(_MESSAGE, raw)
    return Message() if info is None else _message(info)


def may_be_call(part: bytes) -> bool:
    """Whether a part has to be read at all: most are prose, and a look at the bytes is cheaper."""
    return b'"tool"' in part


def read_part(
    part: bytes, message: Message, session: Session, recorder: Recorder
) -> Entered | None:
    """Read one part as it stands in a store; None where it is no call.

    Raises:
        Malformed: it is no JSON.
    """
    found = struct_of(_PART, part)
    if found is None or found.type != "tool":
        return None
    return _enter(found, message, session, recorder)


def place_of(part: bytes) -> tuple[str, str]:
    """The session and the message that a part names, or empty texts.

    Raises:
        Malformed: it is no JSON.
    """
    found = struct_of(_PLACE, part)
    return ("", "") if found is None else (text_of(found.session_id), text_of(found.message_id))


def _enter(part: _Part, message: Message, session: Session, recorder: Recorder) -> Entered:
    state = part.state if isinstance(part.state, _State) else _State()
    tool, arguments = text_of(part.tool), _arguments(state, recorder)
    outcome = _OUTCOMES.get(text_of(state.status), UNKNOWN)
    is_rerouted = tool == _REROUTED
    if is_rerouted and (wanted := _wanted(arguments)):
        # What the model sent along is not recorded.
        tool, arguments, outcome = wanted, NOTHING, FAILED
    elif outcome == FAILED and arguments.identity == NOTHING.identity:
        # A call that is broken off while its arguments still come in is kept without them.
        arguments = CUT_OFF
    key = recorder.call(
        text_of(part.call_id),
        tool,
        arguments,
        session.id,
        _at(state, message),
        message.model,
        session.directory or message.cwd,
        session.version,
        expects=False,
    )
    if outcome != UNKNOWN:
        outcome = FAILED if is_rerouted else outcome
        recorder.settle(key, outcome)
    if is_rerouted:
        recorder.undeclared(key)
    return Entered(key, outcome)


def _arguments(state: _State, recorder: Recorder) -> Arguments:
    return NOTHING if state.input is UNSET else recorder.arguments(bytes(state.input))


def _wanted(arguments: Arguments) -> str:
    return text_of(arguments.value.get("tool")) if is_object(arguments.value) else ""


def _at(state: _State, message: Message) -> int:
    started = milliseconds(state.time.start) if isinstance(state.time, _Time) else UNDATED
    return message.created if started == UNDATED else started


def _session(info: _SessionInfo) -> Session:
    return Session(text_of(info.id), text_of(info.directory), text_of(info.version))


def _message(info: _MessageInfo) -> Message:
    provider, model = text_of(info.provider_id), text_of(info.model_id)
    return Message(
        f"{provider}/{model}" if provider and model else model,
        text_of(info.path.cwd) if isinstance(info.path, _Path) else "",
        milliseconds(info.time.created) if isinstance(info.time, _Time) else UNDATED,
    )
