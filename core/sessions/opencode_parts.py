"""The parts of a store as calls, while the store goes on rewriting them.

A pending part has other arguments than the finished one, and so another key: what a part was
entered as is remembered, and taken back when the part changes. After any passes the table is what
one pass over the whole store would make of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec
from msgspec import Struct

from fabricd.core.history.calls import UNKNOWN, CallTable, Row
from fabricd.core.history.recorder import Recorder
from fabricd.core.sessions.opencode import Entered, Message, Session, read_part
from fabricd.core.sessions.records import Malformed


class Stored(Struct, frozen=True):
    """What a store holds now, and what to hand to the next pass over it."""

    table: CallTable
    memory: bytes


class Same(Struct, frozen=True):
    """Nothing has changed since the last pass."""


class Unread(Struct, frozen=True):
    """The store could not be read now, for this reason; what was read before still stands."""

    reason: str


StorePass: TypeAlias = Stored | Same | Unread


class Entangled(Exception):
    """Raised by `Parts`: several parts are one call, and one of them changed. Read all again."""


_DAMAGED = Entered(b"", UNKNOWN)


class Parts:
    """The parts of one store, by id, in the order of which the calls stand in the table."""

    def __init__(self, recorder: Recorder, known: dict[str, Entered]) -> None:
        self._recorder = recorder
        self._known = known
        self._holders: Counter[bytes] | None = None

    @property
    def known(self) -> dict[str, Entered]:
        """What every part that is a call was entered as."""
        return self._known

    def open(self) -> Iterator[str]:
        """The parts whose call has not ended."""
        return (part for part, held in self._known.items() if held.outcome == UNKNOWN)

    def enter(self, part_id: str, part: bytes, message: Message, session: Session) -> None:
        """Enter a part, or its next version.

        Raises:
            Entangled: another part is the same call, and this one changed.
        """
        before = self._known.get(part_id)
        shared = before is not None and self._is_shared(before)
        if not shared:
            self.remove(part_id)
        try:
            found = read_part(part, message, session, self._recorder)
        except Malformed:
            self._recorder.losses.bad_lines += 1
            found = _DAMAGED
        if shared:
            if found != before:
                raise Entangled(part_id)
        elif found is not None:
            self._hold(part_id, found)

    def remove(self, part_id: str) -> None:
        """Take a part back.

        Raises:
            Entangled: another part is the same call.
        """
        before = self._known.get(part_id)
        if before is None:
            return
        if self._is_shared(before):
            raise Entangled(part_id)
        del self._known[part_id]
        if before == _DAMAGED:
            self._recorder.losses.bad_lines -= 1
            return
        self._count()[before.key] -= 1
        self._recorder.table.calls.pop(before.key, None)
        self._recorder.table.bases.pop(before.key, None)

    def arrange(self, sessions: Iterable[str]) -> None:
        """Put the calls into the order of their parts, and name the sessions that there are."""
        calls: dict[bytes, Row] = {}
        table = self._recorder.table
        for part_id in sorted(self._known):
            key = self._known[part_id].key
            if key not in calls and (row := table.calls.get(key)) is not None:
                calls[key] = row
        table.calls = calls
        table.sessions = {row.session for row in calls.values()}
        table.sessions.update(self._recorder.name(session) for session in sessions)

    def _hold(self, part_id: str, found: Entered) -> None:
        self._known[part_id] = found
        if self._holders is not None and found != _DAMAGED:
            self._holders[found.key] += 1

    def _is_shared(self, held: Entered) -> bool:
        return held != _DAMAGED and self._count()[held.key] > 1

    def _count(self) -> Counter[bytes]:
        # Only a changed part asks; most passes over a store find none.
        if self._holders is None:
            self._holders = Counter(held.key for held in self._known.values())
        return self._holders


def copy_of(table: CallTable) -> CallTable | None:
    """A table of its own, so that a pass that fails changes nothing; None where it has no copy."""
    try:
        raw = msgspec.msgpack.encode(table)
    except UnicodeEncodeError:
        return None
    return msgspec.msgpack.decode(raw, type=CallTable)
