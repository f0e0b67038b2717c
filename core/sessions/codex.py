"""Codex CLI rollouts: one event a line, each with a payload; the oldest have bare items.

Calls and their outputs are response items. An output has no flag: how a call ended is told by a
typed event beside it, where there is one. A fork repeats its parent's events, often after a second
header; `compacted` rows hold copies that are not calls.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.history.calls import FAILED, SUCCEEDED, UNKNOWN
from fabricd.core.history.recorder import (
    NOTHING,
    Arguments,
    Recorder,
    milliseconds,
    unparsed,
)
from fabricd.core.sessions.adapting import TypedAdapter, struct_of, text_of

_Other: TypeAlias = str | float | bool | list[Any] | None
_CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "tool_search_call",
        "web_search_call",
        "local_shell_call",
    }
)
_OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "tool_search_output",
        "local_shell_call_output",
    }
)


class _Payload(Struct, frozen=True, gc=False):
    """The members of every payload that is looked at; each is checked on use."""

    type: Any = None
    id: Any = None
    call_id: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Raw | UnsetType = UNSET
    input: Any = None
    action: Raw | UnsetType = UNSET
    cwd: Any = None
    cli_version: Any = None
    forked_from_id: Any = None
    model: Any = None
    exit_code: Any = None
    success: Any = None
    result: Raw | UnsetType = UNSET


class _Line(Struct, frozen=True, gc=False):
    type: Any = None
    timestamp: Any = None
    payload: _Payload | _Other = None


class _Bare(Struct, frozen=True, gc=False):
    """A line of the oldest rollouts: the item itself, or the header."""

    type: Any = None
    timestamp: Any = None
    id: Any = None
    call_id: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Raw | UnsetType = UNSET
    input: Any = None
    action: Raw | UnsetType = UNSET
    instructions: Raw | UnsetType = UNSET


class _McpResult(Struct, frozen=True, gc=False):
    Ok: Raw | UnsetType = UNSET
    Err: Raw | UnsetType = UNSET


_LINE = msgspec.json.Decoder(_Line)
_BARE = msgspec.json.Decoder(_Bare)
_MCP_RESULT = msgspec.json.Decoder(_McpResult)
_TEXT = msgspec.json.Decoder(str)


class Codex(TypedAdapter[_Line]):
    """Reads the lines of one rollout."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder, _LINE)

    def enter(self, found: _Line, data: bytes, start: int, end: int) -> None:
        """Enter what a record says."""
        payload = found.payload
        if isinstance(payload, _Payload):
            match found.type:
                case "response_item":
                    self._item(payload, found.timestamp)
                case "event_msg":
                    self._event(payload)
                case "turn_context":
                    self._turn(payload)
                case "session_meta":
                    self._header(payload)
                case _:
                    pass
        elif payload is None:
            self._bare(data[start:end])

    def _header(self, payload: _Payload) -> None:
        # Only the first header is the file's own: a fork repeats that of its parent.
        session = text_of(payload.id)
        if "session" in self._context or not session:
            return
        self._context["session"] = session
        self._context["project"] = text_of(payload.cwd)
        self._context["version"] = text_of(payload.cli_version)
        self._recorder.session(session, text_of(payload.forked_from_id))

    def _turn(self, payload: _Payload) -> None:
        if model := text_of(payload.model):
            self._context["model"] = model
        if cwd := text_of(payload.cwd):
            self._context["project"] = cwd

    def _item(self, payload: _Payload, time: object) -> None:
        kind = text_of(payload.type)
        if kind in _CALLS:
            given = self._arguments(kind, payload)
            self._call(_call_id(kind, payload), _tool(kind, payload), given, time)
        elif kind in _OUTPUTS:
            self._output(text_of(payload.call_id))

    def _output(self, call_id: str) -> None:
        # Without an id it answers nobody in particular.
        if call_id:
            self._recorder.result(call_id, UNKNOWN)

    def _call(self, call_id: str, tool: str, given: Arguments, time: object) -> None:
        told = self._context.get
        self._recorder.call(
            call_id,
            tool,
            given,
            told("session", ""),
            milliseconds(time),
            told("model", ""),
            told("project", ""),
            told("version", ""),
        )

    def _arguments(self, kind: str, payload: _Payload | _Bare) -> Arguments:
        if kind == "custom_tool_call":
            text = text_of(payload.input)
            return Arguments(text, msgspec.json.encode(text)) if _is_text(text) else unparsed(text)
        raw = payload.action if payload.arguments is UNSET else payload.arguments
        return self._given(raw)

    def _given(self, raw: Raw | UnsetType) -> Arguments:
        if raw is UNSET:
            return NOTHING
        found = bytes(raw)
        if found[:1] != b'"':
            return self._recorder.arguments(found)
        try:
            text = _TEXT.decode(found)
            inner = text.encode()
        except (msgspec.MsgspecError, UnicodeEncodeError):
            return unparsed(found.decode("utf-8", "replace"))
        read = self._recorder.arguments(inner)
        return read if read.is_json else unparsed(text)

    def _event(self, payload: _Payload) -> None:
        call_id = text_of(payload.call_id)
        if not call_id:
            return
        match payload.type:
            case "exec_command_end":
                code = payload.exit_code
                if isinstance(code, int) and not isinstance(code, bool):
                    self._recorder.event(call_id, FAILED if code else SUCCEEDED)
            case "patch_apply_end":
                self._flag(call_id, payload.success)
            case "mcp_tool_call_end":
                self._mcp(call_id, payload.result)
            case _:
                pass

    def _flag(self, call_id: str, success: object) -> None:
        if isinstance(success, bool):
            self._recorder.event(call_id, SUCCEEDED if success else FAILED)

    def _mcp(self, call_id: str, raw: Raw | UnsetType) -> None:
        found = None if raw is UNSET else struct_of(_MCP_RESULT, bytes(raw))
        if found is None:
            return
        if found.Err is not UNSET:
            self._recorder.event(call_id, FAILED)
        elif found.Ok is not UNSET:
            self._recorder.event(call_id, SUCCEEDED)

    def _bare(self, record: bytes) -> None:
        item = struct_of(_BARE, record)
        if item is None:
            return
        kind = text_of(item.type)
        if kind in _CALLS:
            given = self._arguments(kind, item)
            self._call(_call_id(kind, item), _tool(kind, item), given, item.timestamp)
        elif kind in _OUTPUTS:
            self._output(text_of(item.call_id))
        elif item.type is None and item.instructions is not UNSET:
            session = text_of(item.id)
            if session and "session" not in self._context:
                self._context["session"] = session
                self._recorder.session(session)


def _call_id(kind: str, item: _Payload | _Bare) -> str:
    # A search is answered by the model's side: only the item itself has an id, in newer rollouts.
    own = text_of(item.id) if kind == "web_search_call" else ""
    return text_of(item.call_id) or own


def _tool(kind: str, item: _Payload | _Bare) -> str:
    """The name of a tool, with the server's in front where that has a member of its own."""
    name, namespace = text_of(item.name) or kind, text_of(item.namespace)
    return f"{namespace.rstrip('_')}__{name}" if namespace else name


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
