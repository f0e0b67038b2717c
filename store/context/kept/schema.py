"""The tables of receipts.db, and how its one connection is opened."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from fabricd.store.atomic import private_directory

_APPLICATION = 0x63725F31
_VERSION = 1
# For another program's lock: whoever has asked waits for it.
_WAIT_SECONDS = 0.5

# What bytes that were changed lead to beside the errors of SQLite: text that is none, numbers
# without end, a word where a number was.
UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, MemoryError)
SPOILED = "a value in it is not as it was written"

# `digest` is of the other columns of its row: what SQLite holds is not trusted to be what was put
# there. A body that is NULL was purged, and its id stays.
_TABLES = """
CREATE TABLE receipts (id TEXT PRIMARY KEY NOT NULL, body BLOB, digest TEXT NOT NULL);
CREATE TABLE texts (sha256 TEXT PRIMARY KEY NOT NULL, body BLOB NOT NULL);
CREATE TABLE answers (
    receipt TEXT PRIMARY KEY NOT NULL, body BLOB NOT NULL, offers BLOB, digest TEXT NOT NULL
);
CREATE TABLE holds (
    receipt TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (receipt, sha256)
) WITHOUT ROWID;
CREATE INDEX holders ON holds (sha256);
CREATE TABLE chain (
    root TEXT NOT NULL, seq INTEGER NOT NULL, receipt TEXT NOT NULL, prev TEXT NOT NULL,
    generation INTEGER NOT NULL, started_at INTEGER NOT NULL, verified_at INTEGER NOT NULL,
    refreshed INTEGER NOT NULL, session TEXT, digest TEXT NOT NULL, PRIMARY KEY (root, seq)
);
CREATE INDEX deliveries ON chain (receipt);
CREATE TABLE forgotten (
    root TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, prev TEXT NOT NULL,
    head TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (root, first)
);
CREATE TABLE fetched (
    at INTEGER NOT NULL, root TEXT NOT NULL, session TEXT, kind TEXT NOT NULL, name TEXT NOT NULL,
    tokens INTEGER NOT NULL
);
"""


class NotReceipts(sqlite3.DatabaseError):
    """The file is a database, but not one of receipts of this version."""


def connected(path: Path) -> sqlite3.Connection:
    """The connection to a file of receipts, which is made where there is none.

    The caller holds the lock of the index: no other process, and no other connection, has it open.

    Raises:
        sqlite3.Error: it cannot be used.
        OSError: it cannot be made.
    """
    private_directory(path.parent)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600))
    if not path.is_file():
        raise NotReceipts("it is no regular file")
    connection = sqlite3.connect(
        path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection)
    except UNREADABLE:
        connection.close()
        raise NotReceipts(SPOILED) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    # A column that was changed into bytes that are no UTF-8 has to be read to be found out.
    connection.text_factory = _text
    # Held for life, so the log needs no shared memory and nobody can reset it.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA mmap_size = 0")
    connection.execute("PRAGMA secure_delete = ON")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if (application, version) == (0, 0) and not _tables(connection):
        _create(connection)
    elif application != _APPLICATION or version != _VERSION:
        raise NotReceipts("it is not a file of receipts of this version")
    elif not _expected() <= _tables(connection):
        raise NotReceipts("tables are missing in it")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 1000")


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("BEGIN IMMEDIATE")
    for statement in _TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")


def _tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {str(name) for (name,) in rows}


def _expected() -> set[str]:
    return {part.split()[0] for part in _TABLES.split("CREATE TABLE ")[1:]}


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
