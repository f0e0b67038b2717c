"""OpenCode's own stores, as far as one session in them goes: the storage tree and the database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from urllib.parse import quote

from fabricd.core.resume import FileStat
from fabricd.core.sessions.adapting import text_of
from fabricd.core.sessions.opencode import Session, session_of
from fabricd.core.sessions.records import MAX_RECORD, Malformed
from fabricd.core.trajectory.sessions.matching import Log, new_log
from fabricd.core.trajectory.sessions.opencode import take_part
from fabricd.store.logs import NotALog
from fabricd.store.opencode_db import BUSY_SECONDS
from fabricd.store.sessions import OpenLog

_MAGIC = b"SQLite format 3\0"
_VERSIONS, _WAL = 18, 2
_SUFFIX = b".json"
_FOLDERS = (b"session", b"message", b"part")
_PARTS = """
SELECT length(CAST(data AS BLOB)),
    CASE WHEN length(CAST(data AS BLOB)) <= ?1 THEN CAST(data AS BLOB) END
FROM part WHERE session_id = ?2 ORDER BY id
"""
_SESSIONS = "SELECT id FROM session ORDER BY time_updated DESC, id DESC"
_TOLD = "SELECT directory, version FROM session WHERE id = ?"


def is_tree(path: bytes) -> bool:
    """Whether a folder is OpenCode's older store."""
    return all(os.path.isdir(os.path.join(path, name)) for name in _FOLDERS)


def is_database(path: bytes) -> bool:
    """Whether a file is a database.

    Raises:
        OSError: it could not be read.
    """
    with OpenLog(path) as file:
        return file.read(0, len(_MAGIC)) == _MAGIC


def sessions_in_tree(root: bytes) -> dict[str, bytes]:
    """The session files of a tree by session, the last written first.

    Raises:
        OSError: it could not be listed.
    """
    files = [
        file
        for project in _entries(os.path.join(root, b"session"))
        if os.path.isdir(project)
        for file in _entries(project)
    ]
    files.sort(key=lambda file: (os.stat(file).st_mtime_ns, file), reverse=True)
    return {_stem(file): file for file in files if file.endswith(_SUFFIX)}


def sessions_in_database(path: bytes) -> list[str]:
    """The sessions of a database, the last changed first.

    Raises:
        OSError: there is no such file.
        NotALog: it cannot be read.
    """
    with _reading(path) as connection:
        return _sessions(connection)


def read_tree(root: bytes, wanted: str | None) -> Log:
    """Read a session of a storage tree; without a name the only one.

    Raises:
        OSError: it could not be listed.
        NotALog: which session is meant cannot be told.
    """
    files = sessions_in_tree(root)
    name = _chosen(list(files), wanted)
    log = new_log("opencode")
    log.watched.session(name)
    about = Session(name)
    data = _bytes_of(files[name], log)
    if data is not None:
        try:
            found = session_of(data)
            about = Session(name, found.directory, found.version)
        except Malformed:
            log.table.losses.bad_lines += 1
    messages = os.path.join(root, b"message", os.fsencode(name))
    for message in _entries(messages) if os.path.isdir(messages) else ():
        folder = os.path.join(root, b"part", os.path.basename(message).removesuffix(_SUFFIX))
        for part in _entries(folder) if os.path.isdir(folder) else ():
            if part.endswith(_SUFFIX):
                _take(_bytes_of(part, log), about, log)
    return log


def read_database(path: bytes, wanted: str | None) -> Log:
    """Read a session of a database; without a name the only one.

    Raises:
        OSError: there is no such file.
        NotALog: it cannot be read, or which session is meant cannot be told.
    """
    with _reading(path) as connection:
        name = _chosen(_sessions(connection), wanted)
        directory, version = connection.execute(_TOLD, (name,)).fetchone()
        about = Session(name, text_of(directory), text_of(version))
        log = new_log("opencode")
        log.watched.session(name)
        for size, data in connection.execute(_PARTS, (MAX_RECORD, name)):
            log.table.losses.overlong_lines += data is None and size is not None
            _take(data, about, log)
    return log


def _chosen(sessions: Sequence[str], wanted: str | None) -> str:
    if wanted is not None:
        if wanted not in sessions:
            raise NotALog(f"it has no session {wanted}")
        return wanted
    if len(sessions) != 1:
        which = f", such as {sessions[0]}: --session names one" if sessions else ""
        raise NotALog(f"it has {len(sessions)} sessions{which}")
    return sessions[0]


def _take(data: bytes | None, about: Session, log: Log) -> None:
    if data is None:
        return
    try:
        take_part(data, about, log)
    except Malformed:
        log.table.losses.bad_lines += 1


def _entries(folder: bytes) -> Iterator[bytes]:
    for name in sorted(os.listdir(folder)):
        yield os.path.join(folder, name)


def _stem(path: bytes) -> str:
    return os.path.basename(path).removesuffix(_SUFFIX).decode("utf-8", "backslashreplace")


def _bytes_of(path: bytes, log: Log) -> bytes | None:
    try:
        with OpenLog(path) as file:
            data = file.read(0, MAX_RECORD + 1)
    except OSError:
        log.table.losses.bad_lines += 1
        return None
    if len(data) > MAX_RECORD:
        log.table.losses.overlong_lines += 1
        return None
    return data


def _sessions(connection: sqlite3.Connection) -> list[str]:
    return [name for (session,) in connection.execute(_SESSIONS) if (name := text_of(session))]


def _connected(path: bytes, is_alone: bool) -> sqlite3.Connection:
    address = f"file:{quote(os.path.abspath(path))}?mode=ro" + ("&immutable=1" if is_alone else "")
    connection = sqlite3.connect(address, BUSY_SECONDS, uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_alone(path: bytes) -> bool:
    """Whether nobody has the database open and all of it is in its one file.

    Another program's live file: then it is read without those that SQLite would make beside it.
    """
    with OpenLog(path) as file:
        is_logged = _WAL in file.read(_VERSIONS, 2)
    log, shared = path + b"-wal", path + b"-shm"
    is_written = os.path.lexists(log) and os.stat(log).st_size > 0
    return is_logged and not is_written and not os.path.lexists(shared)


@contextmanager
def _reading(path: bytes) -> Generator[sqlite3.Connection, None, None]:
    """One read transaction.

    Raises:
        OSError: there is no such file.
        NotALog: it cannot be read, or changed while it was.
    """
    is_alone, before = _is_alone(path), _stat(path)
    try:
        with closing(_connected(path, is_alone)) as connection:
            connection.execute("BEGIN")
            yield connection
    except sqlite3.Error as error:
        raise NotALog(f"the database cannot be read: {error}") from None
    # Nothing keeps a writer out of a file that is read as if nobody could write it.
    if is_alone and _stat(path) != before:
        raise NotALog("the database changed while it was read: try again")


def _stat(path: bytes) -> FileStat:
    with OpenLog(path) as file:
        return file.stat()
