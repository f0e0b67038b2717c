"""A trajectory as it is read: its members, and its events in batches.

A document is split by a native pass; its events stay bytes until their batch is asked for, so that
of a hundred thousand events no more than a few hundred are ever held as values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct

from fabricd.core.canonical import utf8
from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_text
from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.shapes import Shape, is_sortable, read_event, write_sorted

BATCH = 256

_SPLIT_OBJECT = msgspec.json.Decoder(dict[str, Raw]).decode
_SPLIT_ARRAY = msgspec.json.Decoder(list[Raw]).decode
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class NullDocument(ValueError):
    """Raised by `read_trajectory`: the whole document is null."""

    def __init__(self) -> None:
        super().__init__("it is null")


class Events(Protocol):
    """Events that can be gone through more than once."""

    def batches(self) -> Iterator[list[Any]]:
        """All events, in order."""
        ...


class ListedEvents(Struct, frozen=True):
    """Events that are values already."""

    listed: list[Any]

    def batches(self) -> Iterator[list[Any]]:
        """All events, in order."""
        for first in range(0, len(self.listed), BATCH):
            yield self.listed[first : first + BATCH]


class WrittenEvents(Struct, frozen=True):
    """Events as the document has them."""

    written: list[Raw]

    def batches(self) -> Iterator[list[Any]]:
        """All events, in order; those of a known shape as such.

        Raises:
            BadDocument: one of them is no JSON.
        """
        for first in range(0, len(self.written), BATCH):
            yield [_event(raw) for raw in self.written[first : first + BATCH]]


def _event(raw: Raw) -> Any:
    try:
        event = read_event(raw)
        if is_sortable(event.suppression.suppressed_categories):
            return event
    except _REFUSALS:
        pass
    return read_doubles(bytes(raw))


class Trajectory(Struct, frozen=True):
    """An object that may be a trajectory. `events` is None where it has no array of that name."""

    members: dict[str, Any]
    events: Events | None


def trajectory_of(value: object) -> Trajectory | None:
    """The trajectory in a decoded value; None if that is no object."""
    if not is_object(value):
        return None
    events = value.get("events")
    if not is_list(events):
        return Trajectory(value, None)
    others = {name: item for name, item in value.items() if name != "events"}
    return Trajectory(others, ListedEvents(events))


def read_trajectory(data: bytes) -> Trajectory | None:
    """The trajectory in a document, out of its `trajectory` member where it has one.

    Gives None if what should be a trajectory is no object.

    Raises:
        BadDocument: it is no JSON.
        NullDocument: it is null.
    """
    try:
        return _split(_unwrapped(_SPLIT_OBJECT(data)))
    except _REFUSALS:
        return _opened(read_doubles(data))


def _unwrapped(parts: dict[str, Raw]) -> dict[str, Raw]:
    inner = parts.get("trajectory")
    return parts if inner is None or _starts(inner, b"null") else _SPLIT_OBJECT(inner)


def _starts(raw: Raw, text: bytes) -> bool:
    return bytes(memoryview(raw)[: len(text)]) == text


def _split(parts: dict[str, Raw]) -> Trajectory:
    events = parts.get("events")
    is_array = events is not None and _starts(events, b"[")
    members = {
        name: read_doubles(bytes(raw))
        for name, raw in parts.items()
        if not (is_array and name == "events")
    }
    if events is None or not is_array:
        return Trajectory(members, None)
    return Trajectory(members, WrittenEvents(_SPLIT_ARRAY(events)))


def _opened(value: object) -> Trajectory | None:
    if value is None:
        raise NullDocument
    if is_object(value) and value.get("trajectory") is not None:
        value = value["trajectory"]
    return trajectory_of(value)


def items_text(events: list[Any]) -> bytes:
    """The canonical texts of a batch's events, with commas between them.

    Raises:
        NotCanonical: a number in them is not finite.
    """
    if all(isinstance(event, Shape) for event in events):
        return write_sorted(events)[1:-1]
    return b",".join(
        write_sorted(event) if isinstance(event, Shape) else utf8(canonical_text(event))
        for event in events
    )
