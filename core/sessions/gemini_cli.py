"""Gemini CLI sessions: one document that is rewritten as a whole, or since 0.4x lines.

The lines are a first record of metadata, then messages, written again in full whenever they change,
and updates: `$set` merges into the metadata and may hold the messages that the model still sees,
`$rewindTo` takes messages out of its sight. Both are of the model's context; what was called stays
called.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from fabricd.core.history.calls import ABORTED, FAILED, SUCCEEDED, UNDATED, UNKNOWN
from fabricd.core.history.recorder import NOTHING, Recorder, milliseconds
from fabricd.core.sessions.adapting import TypedAdapter, struct_of, text_of

_Other: TypeAlias = str | float | bool | list[Any] | None
_OUTCOMES = {"success": SUCCEEDED, "error": FAILED, "cancelled": ABORTED}


class _Call(Struct, frozen=True, gc=False):
    id: Any = None
    name: Any = None
    args: Raw | UnsetType = UNSET
    status: Any = None
    timestamp: Any = None


class _Message(Struct, frozen=True, gc=False, rename="camel"):
    timestamp: Any = None
    model: Any = None
    tool_calls: list[_Call | _Other] | dict[str, Any] | str | float | bool | None = None


_Messages: TypeAlias = list[_Message | _Other] | dict[str, Any] | str | float | bool | None


class _Conversation(Struct, frozen=True, gc=False, rename="camel"):
    session_id: Any = None
    project_hash: Any = None
    messages: _Messages = None


class _Record(_Message, frozen=True, gc=False, rename="camel"):
    """Any line: only its members tell which kind it is."""

    id: Any = None
    session_id: Any = None
    project_hash: Any = None
    messages: _Messages = None
    update: _Conversation | _Other = field(default=None, name="$set")


_DOCUMENT = msgspec.json.Decoder(_Conversation)
_RECORD = msgspec.json.Decoder(_Record)


class GeminiCli(TypedAdapter[_Record]):
    """Reads the records of one file of lines."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder, _RECORD)

    def enter(self, found: _Record, data: bytes, start: int, end: int) -> None:
        """Enter what a record says."""
        if isinstance(found.id, str):
            self.message(found)
        elif isinstance(found.update, _Conversation):
            self.conversation(found.update)
        else:
            self.conversation(_Conversation(found.session_id, found.project_hash, found.messages))

    def conversation(self, found: _Conversation) -> None:
        """Read metadata and the messages beside it."""
        if session := text_of(found.session_id):
            self._context["session"] = session
            self._recorder.session(session)
        if project := text_of(found.project_hash):
            self._context["project"] = project
        for message in found.messages if isinstance(found.messages, list) else ():
            if isinstance(message, _Message):
                self.message(message)

    def message(self, message: _Message) -> None:
        """Read a message, or its next version."""
        for call in message.tool_calls if isinstance(message.tool_calls, list) else ():
            if isinstance(call, _Call):
                self._call(call, message)

    def _call(self, call: _Call, message: _Message) -> None:
        call_id = text_of(call.id)
        at = milliseconds(call.timestamp)
        key = self._recorder.call(
            call_id,
            text_of(call.name),
            NOTHING if call.args is UNSET else self._recorder.arguments(bytes(call.args)),
            self._context.get("session", ""),
            milliseconds(message.timestamp) if at == UNDATED else at,
            text_of(message.model),
            self._context.get("project", ""),
            is_weak=True,
            expects=False,
        )
        outcome = _OUTCOMES.get(text_of(call.status), UNKNOWN)
        row = self._recorder.table.calls[key]
        # The last version stands, and says that a failed call succeeded after all, if it did.
        row.outcome, row.answered = outcome, outcome != UNKNOWN
        if call_id:
            self._supersede(call_id, key, row.answered)

    def _supersede(self, call_id: str, key: bytes, is_final: bool) -> None:
        # Arguments may be edited before a call is approved: the earlier version is no call.
        table = self._recorder.table
        before = table.ids.get(call_id)
        if before is not None and before != key:
            earlier, now = table.calls.get(before), table.calls[key]
            if earlier is not None and (earlier.tool, earlier.session) == (now.tool, now.session):
                del table.calls[before], table.bases[before]
        if is_final:
            table.ids.pop(call_id, None)
        else:
            table.ids[call_id] = key


def read_document(document: bytes, recorder: Recorder) -> None:
    """Read a session kept as one document.

    Raises:
        Malformed: it is no JSON, or nests too deep.
    """
    found = struct_of(_DOCUMENT, document)
    if found is not None:
        GeminiCli(recorder).conversation(found)
