"""Copilot CLI: `result.content` is what was shown. What there was the log does not keep.

`result.detailedContent` is made for people: of a file or an edit it is a difference, and of a large
output it is cut as the other is.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from fabricd.core.plain import is_object
from fabricd.core.sessions.adapting import struct_of, text_of
from fabricd.core.sessions.copilot_cli import CopilotCli
from fabricd.core.trajectory.sessions.matching import Log, take_of
from fabricd.core.trajectory.sessions.results import Content, Shown, size_told, told

_Other: TypeAlias = str | float | bool | list[Any] | None


class _Result(Struct, frozen=True):
    content: Content = None


class _Error(Struct, frozen=True):
    message: Any = None


class _Telemetry(Struct, frozen=True):
    properties: Any = None
    metrics: Any = None


class _Data(Struct, frozen=True, rename="camel"):
    tool_call_id: Any = None
    result: _Result | _Other = None
    error: _Error | _Other = None
    tool_telemetry: _Telemetry | _Other = None


class _Event(Struct, frozen=True):
    data: _Data | _Other = None


_EVENT = msgspec.json.Decoder(_Event)


class CopilotCliResults:
    """Reads the events of one session."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._calls = CopilotCli(log.watched)

    def take(self, record: bytes) -> None:
        """Read one JSON text.

        Raises:
            Malformed: the text is no JSON, or nests too deep to be read.
        """
        self._calls.take(record)
        self._log.watched.calls_entered()
        entries = self._log.watched.results_entered()
        event = struct_of(_EVENT, record) if entries else None
        if event is None or not isinstance(event.data, _Data):
            return
        entry = take_of(entries, text_of(event.data.tool_call_id))
        if entry is not None:
            session = self._log.table.context.get("session", "")
            self._log.enter(entry, _shown(event.data), session)


def _shown(data: _Data) -> Shown:
    size = _size(data.tool_telemetry) if isinstance(data.tool_telemetry, _Telemetry) else 0
    if isinstance(data.result, _Result):
        said = told(data.result.content)
        return Shown(said.text, told=size, others=said.others, is_absent=said.is_absent)
    if isinstance(data.error, _Error) and isinstance(data.error.message, str):
        return Shown(data.error.message, told=size)
    return Shown("", told=size, is_absent=True)


def _size(telemetry: _Telemetry) -> int:
    """How large an output was that was not shown whole; 0 where nothing says so."""
    properties = telemetry.properties if is_object(telemetry.properties) else {}
    metrics = telemetry.metrics if is_object(telemetry.metrics) else {}
    if properties.get("largeOutputHandled") == "true":
        size = text_of(properties.get("largeOutputOriginalSizeBytes"))
        return int(size) if size.isascii() and size.isdigit() and len(size) < 16 else 0
    if properties.get("large_output") == "true":
        return size_told(metrics.get("result_length_original"))
    return 0
