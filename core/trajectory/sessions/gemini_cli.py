"""Gemini CLI: the responses in `result` are what was shown. `resultDisplay` is made for people.

Of a command it may be the output, a sentence about it, or nothing; no member says which.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from fabricd.core.plain import is_list, is_object
from fabricd.core.sessions.adapting import struct_of, text_of
from fabricd.core.sessions.gemini_cli import GeminiCli, read_document
from fabricd.core.trajectory.sessions.matching import Entry, Log, take_of
from fabricd.core.trajectory.sessions.results import Shown

_Other: TypeAlias = str | float | bool | list[Any] | None


class _Call(Struct, frozen=True, gc=False):
    id: Any = None
    status: Any = None
    result: Raw | UnsetType = UNSET


class _Message(Struct, frozen=True, rename="camel"):
    tool_calls: list[_Call | _Other] | dict[str, Any] | str | float | bool | None = None


_Messages: TypeAlias = list[_Message | _Other] | dict[str, Any] | str | float | bool | None


class _Conversation(Struct, frozen=True):
    messages: _Messages = None


class _Record(_Message, frozen=True, rename="camel"):
    id: Any = None
    messages: _Messages = None
    update: _Conversation | _Other = field(default=None, name="$set")


_DOCUMENT = msgspec.json.Decoder(_Conversation)
_RECORD = msgspec.json.Decoder(_Record)
_ANY = msgspec.json.Decoder(Any)
_ENDED = frozenset({"success", "error", "cancelled"})


class GeminiCliResults:
    """Reads the records of one file of lines."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._calls = GeminiCli(log.watched)

    def take(self, record: bytes) -> None:
        """Read one JSON text.

        Raises:
            Malformed: the text is no JSON, or nests too deep to be read.
        """
        self._calls.take(record)
        entries = self._log.watched.calls_entered()
        found = struct_of(_RECORD, record) if entries else None
        if found is None:
            return
        if isinstance(found.id, str):
            messages: _Messages = [found]
        elif isinstance(found.update, _Conversation):
            messages = found.update.messages
        else:
            messages = found.messages
        _enter(self._log, entries, messages)


def read_gemini(document: bytes, log: Log) -> None:
    """Read a session kept as one document.

    Raises:
        Malformed: it is no JSON, or nests too deep.
    """
    read_document(document, log.watched)
    found = struct_of(_DOCUMENT, document)
    if found is not None:
        _enter(log, log.watched.calls_entered(), found.messages)


def _enter(log: Log, entries: list[Entry], messages: _Messages) -> None:
    for message in messages if isinstance(messages, list) else ():
        calls = message.tool_calls if isinstance(message, _Message) else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, _Call):
                entry = take_of(entries, text_of(call.id))
                if entry is not None and text_of(call.status) in _ENDED:
                    log.enter(entry, _shown(call), log.table.context.get("session", ""), True)


def _shown(call: _Call) -> Shown:
    value = None if call.result is UNSET else struct_of(_ANY, bytes(call.result))
    if isinstance(value, str):
        return Shown(value)
    parts = value if is_list(value) else []
    found = [_text(part) for part in parts]
    texts = [text for text in found if text is not None]
    return Shown("".join(texts), others=len(found) - len(texts), is_absent=not parts)


def _text(part: object) -> str | None:
    """What a part says in words: a text, or the output or the error of a response."""
    if not is_object(part):
        return part if isinstance(part, str) else None
    if isinstance(part.get("text"), str):
        return text_of(part["text"])
    inner = part.get("functionResponse")
    response = inner.get("response") if is_object(inner) else None
    if not is_object(response):
        return None
    for name in ("output", "error"):
        if isinstance(response.get(name), str):
            return text_of(response[name])
    return None
