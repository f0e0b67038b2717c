"""Claude Code logs: one JSON object a line, a tree by uuid.

Calls are `tool_use` items of assistant rows, results `tool_result` items of user rows. The rows of
sub-agents stand in files of their own and, nested, in `progress` rows of their parent: the same
calls by the same ids.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.history.calls import ABORTED, FAILED, SUCCEEDED
from fabricd.core.history.recorder import NOTHING, Arguments, Recorder, milliseconds, unparsed
from fabricd.core.plain import is_object
from fabricd.core.sessions.adapting import TypedAdapter, raw_of, struct_of, text_of

_Other: TypeAlias = str | float | bool | list[Any] | None


class _Item(Struct, frozen=True, gc=False):
    """A content item. Only calls and results are looked at; their members are checked on use."""

    type: Any = None
    id: Any = None
    name: Any = None
    input: Raw | UnsetType = UNSET
    tool_use_id: Any = None
    is_error: Any = None


class _Message(Struct, frozen=True, gc=False):
    model: Any = None
    content: list[_Item | _Other] | dict[str, Any] | str | float | bool | None = None


class _Nested(Struct, frozen=True, gc=False):
    timestamp: Any = None
    message: _Message | _Other = None


class _Progress(Struct, frozen=True, gc=False):
    message: _Nested | _Other = None


class _Row(Struct, frozen=True, gc=False, rename="camel"):
    session_id: Any = None
    cwd: Any = None
    version: Any = None
    timestamp: Any = None
    message: _Message | _Other = None
    tool_use_result: Raw | UnsetType = UNSET
    data: _Progress | _Other = None


class _Interruption(Struct, frozen=True, gc=False):
    interrupted: Any = None


class _Unparsed(Struct, frozen=True, gc=False, rename={"tool_input": "__unparsedToolInput"}):
    tool_input: Any = None


_ROW = msgspec.json.Decoder(_Row)
_INTERRUPTION = msgspec.json.Decoder(_Interruption)
_UNPARSED = msgspec.json.Decoder(_Unparsed)


class ClaudeCode(TypedAdapter[_Row]):
    """Reads the rows of one file."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder, _ROW)

    def enter(self, found: _Row, data: bytes, start: int, end: int) -> None:
        """Enter what a record says."""
        if not self._recorder.table.sessions and (session := text_of(found.session_id)):
            self._recorder.session(session)
        if isinstance(found.message, _Message):
            self._message(found, found.message, found.timestamp)
        elif isinstance(found.data, _Progress) and isinstance(found.data.message, _Nested):
            nested = found.data.message
            if isinstance(nested.message, _Message):
                self._message(found, nested.message, nested.timestamp or found.timestamp)

    def _message(self, row: _Row, message: _Message, time: object) -> None:
        results: list[_Item] = []
        for item in message.content if isinstance(message.content, list) else ():
            if isinstance(item, _Item):
                if item.type == "tool_use":
                    self._call(row, item, text_of(message.model), time)
                elif item.type == "tool_result":
                    results.append(item)
        # What stands beside several results does not say which of them it is about.
        is_aborted = len(results) == 1 and _was_interrupted(row.tool_use_result)
        for item in results:
            self._result(item, is_aborted)

    def _call(self, row: _Row, item: _Item, model: str, time: object) -> None:
        self._recorder.call(
            text_of(item.id),
            text_of(item.name),
            self._arguments(item.input),
            text_of(row.session_id),
            milliseconds(time),
            model,
            text_of(row.cwd),
            text_of(row.version),
        )

    def _arguments(self, raw: Raw | UnsetType) -> Arguments:
        if raw is UNSET:
            return NOTHING
        found = bytes(raw)
        if found.startswith(b'{"__unparsedToolInput"'):
            inner = struct_of(_UNPARSED, found)
            if inner is not None and is_object(inner.tool_input):
                return unparsed(text_of(inner.tool_input.get("raw")))
        return self._recorder.arguments(found)

    def _result(self, item: _Item, is_aborted: bool) -> None:
        outcome = FAILED if item.is_error is True else SUCCEEDED
        if is_aborted:
            outcome = ABORTED
        self._recorder.result(text_of(item.tool_use_id), outcome)


def _was_interrupted(raw: Raw | UnsetType) -> bool:
    found = raw_of(raw, b"{")
    if found is None or b'"interrupted"' not in found:
        return False
    said = struct_of(_INTERRUPTION, found)
    return said is not None and said.interrupted is True
