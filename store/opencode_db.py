"""OpenCode's database: the parts that changed since the last pass, in one snapshot of it.

It is another program's live file: nothing is written to it or beside it, and whatever it holds
gives a result with a reason instead of an exception.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing
from typing import TypeAlias, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from fabricd.core.history.calls import CallTable
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from fabricd.core.resume import FileStat, is_young
from fabricd.core.sessions.adapting import text_of
from fabricd.core.sessions.opencode import Entered, Message, Session, may_be_call, message_of
from fabricd.core.sessions.opencode_parts import (
    Entangled,
    Parts,
    Same,
    Stored,
    StorePass,
    Unread,
    copy_of,
)
from fabricd.core.sessions.records import MAX_RECORD, Malformed
from fabricd.store.sessions import OpenLog

T = TypeVar("T")
Progress: TypeAlias = Callable[[int], None]

BUSY_SECONDS = 2.0
# Writers stamp a part before they commit it, and not all clocks of a machine agree.
SLACK_MS = 60_000

_MAGIC = b"SQLite format 3\0"
_HEADER = 20
_WAL = 2
_CACHED = 256
_BEFORE_ALL = -(2**63)

# What is over the cap is not even fetched.
_PART = """
SELECT rowid, id, message_id, session_id, time_updated, length(CAST(data AS BLOB)),
    CASE WHEN length(CAST(data AS BLOB)) <= ?1 THEN CAST(data AS BLOB) END
FROM part
"""
_CHANGED = f"{_PART} WHERE rowid > ?2 OR time_updated >= ?3 ORDER BY rowid"
_ONE = f"{_PART} WHERE id = ?2"
_MESSAGE = """
SELECT CAST(data AS BLOB) FROM message WHERE id = ?2 AND length(CAST(data AS BLOB)) <= ?1
"""
# A view or a virtual table, which could be without end, has no page of its own.
_TABLES = """
SELECT count(*) FROM sqlite_master
WHERE name IN ('part', 'message', 'session') AND type = 'table' AND rootpage > 0
"""
_UNKNOWN = "has a schema that is not known"
_Row: TypeAlias = tuple[int, object, object, object, object, int | None, bytes | None]


class _Mark(Struct, frozen=True):
    """How far a database was read.

    Attributes:
        watermark: the greatest `time_updated` seen.
        row, part: the last row and the part in it; rows are numbered as they are inserted.
        parts: how many there were, so that a removal shows.
    """

    watermark: int = _BEFORE_ALL
    row: int = _BEFORE_ALL
    part: str = ""
    parts: int = 0


class _Memory(Struct, frozen=True):
    database: FileStat
    log: FileStat | None
    young: bool
    mark: _Mark
    known: dict[str, Entered]


class _Removed(Exception):
    """Raised inside a pass: rows are gone that the table still counts."""


_MEMORY = msgspec.msgpack.Decoder(_Memory)


def read_database(
    path: bytes,
    table: CallTable | None,
    memory: bytes,
    judge: Judge,
    progress: Progress | None = None,
) -> StorePass:
    """Read what changed in a database.

    Args:
        table, memory: what the last pass gave, or None and nothing. They are left as they are.

    Raises:
        OSError: there is no such file, or it may not be read.
    """
    before = _remembered(memory) if table is not None else None
    for _ in range(2):
        found = _state(path)
        if before is not None and not before.young and (before.database, before.log) == found:
            return Same()
        header = _header(path)
        if not header.startswith(_MAGIC):
            return Unread("is not an SQLite database" if header else "is empty")
        is_alone = _is_alone(path, header, found[1])
        result = _attempt(path, is_alone, found, table, before, judge, progress)
        # Nothing keeps a writer out of a file that is read as if nobody could write it.
        if not is_alone or _state(path) == found:
            return result
    return Unread("changed while it was read")


def _attempt(
    path: bytes,
    is_alone: bool,
    found: tuple[FileStat, FileStat | None],
    table: CallTable | None,
    before: _Memory | None,
    judge: Judge,
    progress: Progress | None,
) -> StorePass:
    try:
        with closing(_connect(path, is_alone)) as connection:
            if connection.execute(_TABLES).fetchone() != (3,):
                return Unread(f"{_UNKNOWN}: no tables part, message and session")
            if table is not None and before is not None and (own := copy_of(table)) is not None:
                try:
                    reading = _Pass(connection, own, before, judge, progress)
                    return _stored(reading, found)
                except (Entangled, _Removed):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
            return _stored(_Pass(connection, CallTable("opencode"), None, judge, progress), found)
    except sqlite3.Error as error:
        return Unread(_reason(error))


def _stored(reading: _Pass, found: tuple[FileStat, FileStat | None]) -> Stored:
    mark = reading.run()
    stats = [stat for stat in found if stat is not None]
    young = any(is_young(stat, time.time_ns()) for stat in stats)
    memory = _Memory(*found, young, mark, reading.known)
    return Stored(reading.table, msgspec.msgpack.encode(memory))


class _Pass:
    """One pass in one read transaction: everything in it is of the same moment."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        table: CallTable,
        before: _Memory | None,
        judge: Judge,
        progress: Progress | None,
    ) -> None:
        self.table = table
        self._connection = connection
        self._mark = _Mark() if before is None else before.mark
        self._recorder = Recorder(table, judge)
        self._parts = Parts(self._recorder, {} if before is None else dict(before.known))
        self._progress = progress
        self._messages: OrderedDict[str, Message] = OrderedDict()
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    @property
    def known(self) -> dict[str, Entered]:
        """What every part was entered as."""
        return self._parts.known

    def run(self) -> _Mark:
        """Read what changed; gives the new mark.

        Raises:
            _Removed: rows are gone.
            Entangled: copies of a call have come apart.
            sqlite3.Error: the database cannot be read.
        """
        self._connection.execute("BEGIN")
        self._require_last()
        sessions = self._list_sessions()
        waiting = list(self._parts.open())
        mark, fresh = self._changed()
        for part_id in waiting:
            for row in self._connection.execute(_ONE, (MAX_RECORD, part_id)):
                self._enter(row)
        self._connection.execute("COMMIT")
        if self._mark.parts + fresh != mark.parts:
            raise _Removed
        self._parts.arrange(sessions)
        return mark

    def _require_last(self) -> None:
        # A row number is given again once its row is gone, and a vacuum may change them all.
        if self._mark.row == _BEFORE_ALL:
            return
        query = "SELECT id FROM part WHERE rowid = ?"
        if self._connection.execute(query, (self._mark.row,)).fetchone() != (self._mark.part,):
            raise _Removed

    def _list_sessions(self) -> list[str]:
        rows = self._connection.execute("SELECT id FROM session ORDER BY id")
        return [name for (session,) in rows if (name := text_of(session))]

    def _changed(self) -> tuple[_Mark, int]:
        (parts,) = self._connection.execute("SELECT count(*) FROM part").fetchone()
        mark, fresh, since = self._mark, 0, self._mark.watermark
        since = since if since == _BEFORE_ALL else since - SLACK_MS
        last, part, watermark = mark.row, mark.part, mark.watermark
        for row in self._connection.execute(_CHANGED, (MAX_RECORD, mark.row, since)):
            if row[0] > mark.row:
                fresh += 1
                last, part = row[0], text_of(row[1])
            if isinstance(row[4], int):
                watermark = max(watermark, row[4])
            self._enter(row)
        return _Mark(watermark, last, part, parts), fresh

    def _enter(self, row: _Row) -> None:
        _, part_id, message, session, _, size, data = row
        if data is None:
            self._recorder.losses.overlong_lines += size is not None and row[0] > self._mark.row
            return
        if not may_be_call(data):
            return
        if self._progress is not None:
            self._progress(len(data))
        told, place = self._message(text_of(message)), self._session(text_of(session))
        self._parts.enter(text_of(part_id), data, told, place)

    def _message(self, message: str) -> Message:
        found = self._messages.get(message)
        if found is None:
            row = self._connection.execute(_MESSAGE, (MAX_RECORD, message)).fetchone()
            found = _message_in(row[0] if row is not None else None)
            _cache(self._messages, message, found)
        return found

    def _session(self, session: str) -> Session:
        found = self._sessions.get(session)
        if found is None:
            query = "SELECT directory, version FROM session WHERE id = ?"
            row = self._connection.execute(query, (session,)).fetchone()
            directory, version = row if row is not None else ("", "")
            found = Session(session, text_of(directory), text_of(version))
            _cache(self._sessions, session, found)
        return found


def _cache(cache: OrderedDict[str, T], key: str, value: T) -> None:
    cache[key] = value
    if len(cache) > _CACHED:
        cache.popitem(last=False)


def _message_in(raw: object) -> Message:
    try:
        return message_of(raw) if isinstance(raw, bytes) else Message()
    except Malformed:
        return Message()


def _remembered(memory: bytes) -> _Memory | None:
    try:
        return _MEMORY.decode(memory)
    except msgspec.MsgspecError:
        return None


def _state(path: bytes) -> tuple[FileStat, FileStat | None]:
    with OpenLog(path) as log:
        database = log.stat()
    try:
        with OpenLog(path + b"-wal") as log:
            # A reader that runs as root sets the owner of this file, which changes nothing but
            # its ctime.
            return database, msgspec.structs.replace(log.stat(), ctime_ns=0)
    except FileNotFoundError:
        return database, None


def _header(path: bytes) -> bytes:
    with OpenLog(path) as log:
        return log.read(0, _HEADER)


def _is_alone(path: bytes, header: bytes, log: FileStat | None) -> bool:
    """Whether nobody has the database open and all of it is in its one file.

    Then it is read without the files that SQLite would otherwise make beside it.
    """
    is_logged = len(header) >= _HEADER and _WAL in header[18:20]
    return is_logged and (log is None or log.size == 0) and not os.path.lexists(path + b"-shm")


def _connect(path: bytes, is_alone: bool) -> sqlite3.Connection:
    place = quote(os.path.abspath(path))
    address = f"file:{place}?mode=ro" + ("&immutable=1" if is_alone else "")
    connection = sqlite3.connect(address, BUSY_SECONDS, uri=True, isolation_level=None)
    try:
        # A schema is untrusted text: no view or trigger of it may call a function.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _reason(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"is locked by another program: {error}"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"is damaged: {error}"
        case sqlite3.SQLITE_ERROR:
            return f"{_UNKNOWN}: {error}"
        case _:
            return f"cannot be read: {error}"
