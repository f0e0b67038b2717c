"""Pi: the texts of a `toolResult` are what was shown. Of a cut output the log keeps no more.

`details.truncation` says whether a tool cut its output, and how large it was; its `content` is what
was left. A fork starts with entries of its parent, dated before its own header.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.history.calls import UNDATED
from fabricd.core.history.recorder import milliseconds
from fabricd.core.plain import is_object
from fabricd.core.sessions.adapting import raw_of, struct_of, text_of
from fabricd.core.sessions.pi_calls import Pi
from fabricd.core.trajectory.sessions.matching import Log, take_of
from fabricd.core.trajectory.sessions.results import Content, Shown, size_told, told

_Other: TypeAlias = str | float | bool | list[Any] | None


class _Message(Struct, frozen=True, rename="camel"):
    tool_call_id: Any = None
    content: Content = None
    details: Raw | UnsetType = UNSET


class _Entry(Struct, frozen=True, rename="camel"):
    type: Any = None
    timestamp: Any = None
    parent_session: Any = None
    message: _Message | _Other = None


class _Details(Struct, frozen=True):
    truncation: Any = None


_ENTRY = msgspec.json.Decoder(_Entry)
_DETAILS = msgspec.json.Decoder(_Details)


class PiResults:
    """Reads the entries of one session."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._calls = Pi(log.watched)
        self._begun = UNDATED

    def take(self, record: bytes) -> None:
        """Read one JSON text.

        Raises:
            Malformed: the text is no JSON, or nests too deep to be read.
        """
        self._calls.take(record)
        calls = self._log.watched.calls_entered()
        entries = self._log.watched.results_entered()
        is_header = b"parentSession" in record
        if not entries and not is_header and (not calls or self._begun == UNDATED):
            return
        entry = struct_of(_ENTRY, record)
        if entry is None:
            return
        if entry.type == "session" and text_of(entry.parent_session):
            self._begun = milliseconds(entry.timestamp)
        if self._is_copied(entry):
            self._log.copied.update(call.key for call in (*calls, *entries) if call.key)
            return
        if isinstance(entry.message, _Message):
            found = take_of(entries, text_of(entry.message.tool_call_id))
            if found is not None:
                session = self._log.table.context.get("session", "")
                self._log.enter(found, _shown(entry.message), session)

    def _is_copied(self, entry: _Entry) -> bool:
        at = milliseconds(entry.timestamp)
        return UNDATED not in (at, self._begun) and at < self._begun


def _shown(message: _Message) -> Shown:
    said = told(message.content)
    found = raw_of(message.details, b"{")
    details = None if found is None or b'"truncation"' not in found else struct_of(_DETAILS, found)
    told_of = details.truncation if details is not None else None
    truncation = told_of if is_object(told_of) else {}
    if truncation.get("truncated") is False and not said.others and not said.is_absent:
        return Shown(said.text, said.text)
    is_cut = truncation.get("truncated") is True
    return Shown(
        said.text,
        told=size_told(truncation.get("totalBytes")) if is_cut else 0,
        others=said.others,
        is_absent=said.is_absent,
    )
