"""Codex CLI: outputs are what was shown; the end of a command, an event beside it, may keep all.

Such an event is written with the output cut to 10,000 bytes, it tells of the whole life of a
process that a call may only have begun, and of a fast one it may have missed the start. So it
says what there was only where the output that was shown is provably that text or a cut of it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.sessions.adapting import struct_of, text_of
from fabricd.core.sessions.codex import Codex
from fabricd.core.trajectory.sessions.matching import Log, take_of
from fabricd.core.trajectory.sessions.results import Content, Shown, Told, told

_Other: TypeAlias = str | float | bool | list[Any] | None

_KEPT = 10_000
_WAITING = 1024
_EVENT = b"exec_command_end"
_BODY = "\nOutput:\n"
_HEAD = re.compile(r"Total output lines: [0-9]+\n\n")
_CUT = re.compile(
    r"…[0-9]+ (?:tokens|chars|lines|bytes) truncated…"
    r"|\n\[\.\.\. omitted [0-9]+ of [0-9]+ lines \.\.\.\]\n\n"
)


class _Payload(Struct, frozen=True):
    type: Any = None
    call_id: Any = None
    output: Raw | UnsetType = UNSET
    aggregated_output: Any = None
    stdout: Any = None
    stderr: Any = None


class _Line(Struct, frozen=True):
    payload: _Payload | _Other = None


class _Wrapped(Struct, frozen=True):
    content: Content = None


_LINE = msgspec.json.Decoder(_Line)
_BARE = msgspec.json.Decoder(_Payload)
_CONTENT = msgspec.json.Decoder(Content)
_WRAPPED = msgspec.json.Decoder(_Wrapped)


class CodexResults:
    """Reads the lines of one rollout."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._calls = Codex(log.watched)
        self._ended: OrderedDict[str, str] = OrderedDict()

    def take(self, record: bytes) -> None:
        """Read one JSON text.

        Raises:
            Malformed: the text is no JSON, or nests too deep to be read.
        """
        self._calls.take(record)
        self._log.watched.calls_entered()
        entries = self._log.watched.results_entered()
        if not entries and _EVENT not in record:
            return
        line = struct_of(_LINE, record)
        payload = None if line is None else line.payload
        if line is not None and payload is None:
            payload = struct_of(_BARE, record)
        if not isinstance(payload, _Payload):
            return
        call_id = text_of(payload.call_id)
        entry = take_of(entries, call_id)
        if entry is not None:
            session = self._log.table.context.get("session", "")
            shown = _shown(_said(payload.output), self._ended.pop(call_id, None))
            self._log.enter(entry, shown, session)
        elif payload.type == "exec_command_end" and call_id:
            self._remember(call_id, payload)

    def _remember(self, call_id: str, payload: _Payload) -> None:
        text = _output_of(payload)
        if text and len(text.encode("utf-8", "replace")) <= _KEPT:
            self._ended[call_id] = text
            if len(self._ended) > _WAITING:
                self._ended.popitem(last=False)


def _output_of(payload: _Payload) -> str:
    text, out = text_of(payload.aggregated_output), text_of(payload.stdout)
    # In which order two streams came is not told.
    return text or ("" if text_of(payload.stderr) else out)


def _said(raw: Raw | UnsetType) -> Told:
    if raw is UNSET:
        return Told("", is_absent=True)
    found = bytes(raw)
    if found[:1] == b"{":
        wrapped = struct_of(_WRAPPED, found)
        return told(None if wrapped is None else wrapped.content)
    return told(struct_of(_CONTENT, found))


def _shown(said: Told, kept: str | None) -> Shown:
    if kept is not None and not said.others:
        body = _body(said.text)
        if body == kept:
            return Shown(said.text, kept)
        if _is_cut_of(body, kept):
            return Shown(said.text, kept, True)
    return Shown(said.text, None, others=said.others, is_absent=said.is_absent)


def _body(shown: str) -> str:
    head, mark, rest = shown.partition(_BODY)
    return rest if mark else head


def _is_cut_of(body: str, full: str) -> bool:
    """Whether a text is the start and the end of another, with a mark for what is left out."""
    body = _HEAD.sub("", body, count=1) if _HEAD.match(body) else body
    for found in _CUT.finditer(body):
        start, end = body[: found.start()], body[found.end() :]
        is_less = 0 < len(start) + len(end) < len(full)
        if is_less and full.startswith(start) and full.endswith(end):
            return True
    return False
