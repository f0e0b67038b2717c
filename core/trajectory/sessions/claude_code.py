"""Claude Code: `tool_result` items are what was shown, `toolUseResult` beside them what there was.

The member says what there was only where one result stands in the row and where its shape is known
whole: the streams of a command, the text of a file, the lines of a search.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.sessions.adapting import raw_of, struct_of, text_of
from fabricd.core.sessions.claude_code import ClaudeCode
from fabricd.core.trajectory.sessions.matching import Log, take_of
from fabricd.core.trajectory.sessions.results import Content, Shown, Told, size_told, told

_Other: TypeAlias = str | float | bool | list[Any] | None

# Older releases cut a stream at this many characters and keep no more of it than they showed.
_STREAM = 30_000
_STREAMS = frozenset(
    {
        "stdout",
        "stderr",
        "interrupted",
        "isImage",
        "noOutputExpected",
        "returnCodeInterpretation",
        "gitOperation",
        "tokenSaverOutput",
    }
)
_FILE = frozenset({"type", "file"})
_TEXT_FILE = frozenset({"filePath", "content", "numLines", "startLine", "totalLines"})
_SEARCH = frozenset({"mode", "content", "filenames", "numFiles", "numLines", "totalLines"})


class _Item(Struct, frozen=True, gc=False):
    type: Any = None
    tool_use_id: Any = None
    content: Raw | UnsetType = UNSET


class _Message(Struct, frozen=True):
    content: list[_Item | _Other] | dict[str, Any] | str | float | bool | None = None


class _Nested(Struct, frozen=True, rename="camel"):
    message: _Message | _Other = None
    tool_use_result: Raw | UnsetType = UNSET


class _Progress(Struct, frozen=True):
    message: _Nested | _Other = None


class _Row(_Nested, frozen=True, rename="camel"):
    session_id: Any = None
    data: _Progress | _Other = None


class _Full(Struct, frozen=True):
    """All there was. `parts` are the texts it is made of."""

    text: str
    parts: tuple[str, ...]


_ROW = msgspec.json.Decoder(_Row)
_CONTENT = msgspec.json.Decoder(Content)
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_ANY = msgspec.json.Decoder(Any)


class ClaudeCodeResults:
    """Reads the rows of one file."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._calls = ClaudeCode(log.watched)

    def take(self, record: bytes) -> None:
        """Read one JSON text.

        Raises:
            Malformed: the text is no JSON, or nests too deep to be read.
        """
        self._calls.take(record)
        self._log.watched.calls_entered()
        entries = self._log.watched.results_entered()
        row = struct_of(_ROW, record) if entries else None
        if row is None:
            return
        session = text_of(row.session_id)
        if session:
            self._log.watched.sessions.setdefault(session)
        place: _Nested = row
        if not isinstance(row.message, _Message) and isinstance(row.data, _Progress):
            place = row.data.message if isinstance(row.data.message, _Nested) else row
        content = place.message.content if isinstance(place.message, _Message) else None
        items = content if isinstance(content, list) else []
        results = [x for x in items if isinstance(x, _Item) and x.type == "tool_result"]
        # What stands beside several results does not say which of them it is about.
        beside = place.tool_use_result if len(results) == 1 else UNSET
        for item in results:
            entry = take_of(entries, text_of(item.tool_use_id))
            if entry is not None:
                self._log.enter(entry, _shown(item, beside), session)


def _shown(item: _Item, beside: Raw | UnsetType) -> Shown:
    said = _said(item.content)
    members = _members(beside)
    full = _full(members)
    size = size_told(_value(members, "persistedOutputSize"))
    if full is None:
        return Shown(said.text, told=size, others=said.others, is_absent=said.is_absent)
    is_cut = not said.others and _is_cut(full, said.text)
    return Shown(said.text, full.text, is_cut, 0, said.others, said.is_absent)


def _said(raw: Raw | UnsetType) -> Told:
    found = None if raw is UNSET else struct_of(_CONTENT, bytes(raw))
    # A result without content is one that says nothing.
    return Told("") if found is None else told(found)


def _members(raw: Raw | UnsetType) -> dict[str, Raw]:
    found = raw_of(raw, b"{")
    return (None if found is None else struct_of(_MEMBERS, found)) or {}


def _value(members: dict[str, Raw], name: str) -> object:
    found = members.get(name)
    return None if found is None else struct_of(_ANY, bytes(found))


def _full(members: dict[str, Raw]) -> _Full | None:
    names = members.keys()
    if {"stdout", "stderr"} <= names <= _STREAMS:
        return _streams(members)
    if names == _FILE and _value(members, "type") == "text":
        return _file(members["file"])
    if {"mode", "content"} <= names <= _SEARCH:
        return _search(members)
    return None


def _streams(members: dict[str, Raw]) -> _Full | None:
    out, err = _value(members, "stdout"), _value(members, "stderr")
    if not isinstance(out, str) or not isinstance(err, str):
        return None
    is_ended = _value(members, "interrupted") in (None, False)
    is_text = _value(members, "isImage") in (None, False)
    if not is_ended or not is_text or max(len(out), len(err)) >= _STREAM:
        return None
    parts = tuple(part for part in (out, err) if part)
    return _Full("\n".join(parts), parts)


def _file(raw: Raw) -> _Full | None:
    members = _members(raw)
    content = _value(members, "content")
    if members.keys() != _TEXT_FILE or not isinstance(content, str):
        return None
    return _Full(content, (content,))


def _search(members: dict[str, Raw]) -> _Full | None:
    content, lines = _value(members, "content"), _value(members, "numLines")
    is_all = "totalLines" not in members or _value(members, "totalLines") == lines
    if _value(members, "mode") != "content" or not isinstance(content, str) or not is_all:
        return None
    return _Full(content, (content,))


def _is_cut(full: _Full, shown: str) -> bool:
    """Whether less was shown than there was; blank ends and line numbers are no part of that."""
    is_less = len(shown.encode("utf-8", "replace")) < len(full.text.encode("utf-8", "replace"))
    return is_less and not all(part.strip() in shown for part in full.parts)
