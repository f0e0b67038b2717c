"""Copilot CLI sessions: one event a line. Each call stands there three times.

The model's request, the start and the completion of the execution carry one call id; whichever of
them are there, in whatever order, they are one call.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.history.calls import FAILED, SUCCEEDED
from fabricd.core.history.recorder import NOTHING, Recorder, milliseconds
from fabricd.core.sessions.adapting import TypedAdapter, text_of

_Other: TypeAlias = str | float | bool | list[Any] | None


class _Request(Struct, frozen=True, gc=False, rename="camel"):
    tool_call_id: Any = None
    name: Any = None
    arguments: Raw | UnsetType = UNSET


class _Place(Struct, frozen=True, gc=False):
    cwd: Any = None


class _Data(Struct, frozen=True, gc=False, rename="camel"):
    """The members of every event's data that are looked at; each is checked on use."""

    session_id: Any = None
    copilot_version: Any = None
    selected_model: Any = None
    new_model: Any = None
    context: _Place | _Other = None
    cwd: Any = None
    model: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    arguments: Raw | UnsetType = UNSET
    success: Any = None
    tool_requests: list[_Request | _Other] | dict[str, Any] | str | float | bool | None = None


class _Event(Struct, frozen=True, gc=False):
    type: Any = None
    timestamp: Any = None
    data: _Data | _Other = None


_EVENT = msgspec.json.Decoder(_Event)


class CopilotCli(TypedAdapter[_Event]):
    """Reads the events of one session."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder, _EVENT)

    def enter(self, found: _Event, data: bytes, start: int, end: int) -> None:
        """Enter what a record says."""
        if not isinstance(found.data, _Data):
            return
        said = found.data
        match found.type:
            case "assistant.message":
                self._requests(said, found.timestamp)
            case "tool.execution_start":
                self._start(said, found.timestamp)
            case "tool.execution_complete":
                self._complete(said)
            case "session.start" | "session.resume":
                self._header(said)
            case "session.model_change":
                self._remember("model", said.new_model)
            case "session.context_changed":
                self._remember("project", said.cwd)
            case _:
                pass

    def _header(self, data: _Data) -> None:
        self._remember("session", data.session_id)
        self._remember("version", data.copilot_version)
        self._remember("model", data.selected_model)
        if isinstance(data.context, _Place):
            self._remember("project", data.context.cwd)
        if session := text_of(data.session_id):
            self._recorder.session(session)

    def _remember(self, what: str, value: object) -> None:
        if isinstance(value, str) and value:
            self._context[what] = value

    def _requests(self, data: _Data, time: object) -> None:
        requests = data.tool_requests
        for request in requests if isinstance(requests, list) else ():
            if isinstance(request, _Request):
                call_id, name = text_of(request.tool_call_id), text_of(request.name)
                if not self._is_open(call_id):
                    self._call(call_id, name, request.arguments, time, text_of(data.model))

    def _is_open(self, call_id: str) -> bool:
        """Whether a call with this id waits for its end; of an ended one the id may come again."""
        key = self._recorder.table.ids.get(call_id)
        return key is not None and not self._recorder.table.calls[key].answered

    def _start(self, data: _Data, time: object) -> None:
        # The id pairs the three records, also where a start tells other arguments than the request.
        call_id, name = text_of(data.tool_call_id), text_of(data.tool_name)
        if call_id not in self._recorder.table.ids:
            self._call(call_id, name, data.arguments, time, text_of(data.model))

    def _call(
        self, call_id: str, tool: str, raw: Raw | UnsetType, time: object, model: str
    ) -> None:
        told = self._context.get
        self._recorder.call(
            call_id,
            tool,
            NOTHING if raw is UNSET else self._recorder.arguments(bytes(raw)),
            told("session", ""),
            milliseconds(time),
            model or told("model", ""),
            told("project", ""),
            told("version", ""),
        )

    def _complete(self, data: _Data) -> None:
        call_id = text_of(data.tool_call_id)
        if call_id and isinstance(data.success, bool):
            self._recorder.result(call_id, SUCCEEDED if data.success else FAILED)
