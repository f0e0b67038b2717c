"""Pi logs as a history of calls: entries of a tree, in the order in which they stand.

Calls are `toolCall` items of assistant messages, results entries of their own. A trace beside a
result adds what Fabric recorded of the operations inside.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.history.calls import FAILED, SUCCEEDED
from fabricd.core.history.recorder import NOTHING, Recorder, milliseconds
from fabricd.core.model import REJECTING_STAGES, Trace
from fabricd.core.sessions.adapting import TypedAdapter, text_of
from fabricd.core.sessions.pi import MARK
from fabricd.core.sessions.samples import recordings

_Other: TypeAlias = str | float | bool | list[Any] | None
_NAVIGATION = ("fabric.discovery.", "fabric.workflow.")


class _Item(Struct, frozen=True, gc=False):
    type: Any = None
    id: Any = None
    name: Any = None
    arguments: Raw | UnsetType = UNSET


class _Message(Struct, frozen=True, gc=False, rename="camel"):
    role: Any = None
    provider: Any = None
    model: Any = None
    content: list[_Item | _Other] | dict[str, Any] | str | float | bool | None = None
    tool_call_id: Any = None
    is_error: Any = None


class _Entry(Struct, frozen=True, gc=False, rename="camel"):
    type: Any = None
    id: Any = None
    cwd: Any = None
    parent_session: Any = None
    timestamp: Any = None
    provider: Any = None
    model_id: Any = None
    message: _Message | _Other = None


_ENTRY = msgspec.json.Decoder(_Entry)


class Pi(TypedAdapter[_Entry]):
    """Reads the entries of one session."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder, _ENTRY)

    def enter(self, found: _Entry, data: bytes, start: int, end: int) -> None:
        """Enter what a record says."""
        if isinstance(found.message, _Message):
            key = self._message(found, found.message)
            if key is not None and data.find(MARK, start, end) >= 0:
                self._trace(key, data[start:end])
        elif found.type == "session":
            self._header(found)
        elif found.type == "model_change":
            self._context["model"] = _identity(found.provider, found.model_id)

    def _header(self, entry: _Entry) -> None:
        session = text_of(entry.id)
        self._context["session"] = session
        self._context["project"] = text_of(entry.cwd)
        self._recorder.session(session, _session_of(text_of(entry.parent_session)))

    def _message(self, entry: _Entry, message: _Message) -> bytes | None:
        """Read a message; gives the key of the call whose result it is."""
        if message.role == "toolResult":
            outcome = FAILED if message.is_error is True else SUCCEEDED
            return self._recorder.result(text_of(message.tool_call_id), outcome)
        if message.role == "assistant":
            self._calls(entry, message)
        return None

    def _calls(self, entry: _Entry, message: _Message) -> None:
        model = _identity(message.provider, message.model)
        if model:
            self._context["model"] = model
        for item in message.content if isinstance(message.content, list) else ():
            if isinstance(item, _Item) and item.type == "toolCall":
                self._call(entry, item)

    def _call(self, entry: _Entry, item: _Item) -> None:
        raw = item.arguments
        self._recorder.call(
            text_of(item.id),
            text_of(item.name),
            NOTHING if raw is UNSET else self._recorder.arguments(bytes(raw)),
            self._context.get("session", ""),
            milliseconds(entry.timestamp),
            self._context.get("model", ""),
            self._context.get("project", ""),
        )

    def _trace(self, key: bytes, record: bytes) -> None:
        counts = [_counts(found.trace) for found in recordings(record)]
        if counts:
            self._recorder.recorded(key, sum(c[0] for c in counts), sum(c[1] for c in counts))


def _counts(trace: Trace) -> tuple[int, int]:
    """The operations of a trace without navigation, and how many of them were rejected."""
    calls = [each for each in trace.operations if not each.ref.startswith(_NAVIGATION)]
    refused = sum(
        each.outcome == "failed" and each.failure_stage in REJECTING_STAGES for each in calls
    )
    return len(calls), refused


def _identity(provider: object, model: object) -> str:
    if isinstance(provider, str) and isinstance(model, str) and provider and model:
        return f"{provider}/{model}"
    return text_of(model)


def _session_of(path: str) -> str:
    """The session id in the name of a log: `<time>_<id>.jsonl`."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(".jsonl").rpartition("_")[2]
