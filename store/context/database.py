"""The file `index.db`: a cache in one private SQLite file that one process opens once.

It is kept in WAL mode with `synchronous = NORMAL`: a commit is one append without a sync, a kill at
any instruction leaves whole transactions, and a loss of power may take back the last of them, which
a cache can bear since the next refresh finds their files changed. Nothing is mapped into memory: a
file that is cut behind our back must be an error, not a signal.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fabricd.core.context.model import INDEXER
from fabricd.store.atomic import private_directory
from fabricd.store.context.failures import IndexDamaged, IndexFailed, meaning
from fabricd.store.durable import shown

SCHEMA = 3

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE roots (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, generation INTEGER NOT NULL,
    used INTEGER NOT NULL, head TEXT NOT NULL DEFAULT '', history BLOB NOT NULL DEFAULT x'',
    failed_head TEXT NOT NULL DEFAULT '', failed_at INTEGER NOT NULL DEFAULT 0,
    failed_why TEXT NOT NULL DEFAULT ''
);
CREATE TABLE files (
    root INTEGER NOT NULL, path BLOB NOT NULL, blob INTEGER NOT NULL, skip TEXT NOT NULL,
    size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL,
    racy INTEGER NOT NULL, checked INTEGER NOT NULL, PRIMARY KEY (root, path)
) WITHOUT ROWID;
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY, sha BLOB NOT NULL, language TEXT NOT NULL, first INTEGER NOT NULL,
    units INTEGER NOT NULL, segment INTEGER NOT NULL, lengths BLOB NOT NULL,
    names BLOB NOT NULL, checked INTEGER NOT NULL DEFAULT 0, unused INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX blobs_by_content ON blobs (sha, language);
CREATE TABLE analysed (blob INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE postings (
    segment INTEGER NOT NULL, term TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (segment, term)
) WITHOUT ROWID;
"""
# How a row that holds something else than was put in breaks what reads it.
_BROKEN = (ValueError, TypeError, LookupError, AttributeError, OverflowError)
_BESIDE = ("-wal", "-shm", "-journal")
# With less room than that left, what fails fails for want of it.
_ROOM = 64 * 1024
_ANOTHER = "the context index was made by another version; indexing begins anew"
_FULL = "the context index cannot be used: no space is left for it"


class Database:
    """The open index.

    Attributes:
        notices: what was found damaged, or of another version, and made anew.
        damage: what was found damaged and is not made anew yet; empty if nothing was.
    """

    def __init__(self, path: Path, version: str = "") -> None:
        """Open or begin it. The caller holds the lock.

        On a full disk it stays closed until it is used, so that it can be discarded.

        Args:
            version: of what it is filled by; one of another version is begun anew.

        Raises:
            IndexFailed: neither can be done.
        """
        self.path = path
        self._expected = {"schema": str(SCHEMA), "indexer": INDEXER, "analyser": version}
        self._is_closed = False
        self.notices: list[str] = []
        self.damage = ""
        self._connection: sqlite3.Connection | None = None
        try:
            private_directory(path.parent)
            self._open_or_begin()
        except OSError as error:
            raise _unusable(error) from error
        except IndexFailed as failed:
            if str(failed) != _FULL:
                raise

    def _open_or_begin(self) -> None:
        try:
            self._connection = self._opened()
        except (sqlite3.Error, IndexDamaged, *_BROKEN) as error:
            if isinstance(told := self._told(error), IndexFailed):
                raise told from error
            self.rebuild()

    def _opened(self) -> sqlite3.Connection:
        connection, is_new = _opened(self.path, self._expected)
        if not is_new:
            self.notices.append(_ANOTHER)
        return connection

    @property
    def connection(self) -> sqlite3.Connection:
        """The one connection.

        Raises:
            IndexFailed: the index is closed, or there was no room to open it and is none now.
        """
        if self._connection is None and not self._is_closed:
            try:
                self._open_or_begin()
            except OSError as error:
                raise _unusable(error) from error
        if self._connection is None:
            raise IndexFailed("the context index is closed")
        return self._connection

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection, None, None]:
        """Questions to the index; damage that they come upon is remembered.

        Raises:
            IndexDamaged, IndexFailed.
        """
        try:
            yield self.connection
        except (sqlite3.Error, IndexDamaged, *_BROKEN) as error:
            raise self._told(error) from error

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection, None, None]:
        """All of the changes made inside, or none.

        Raises:
            IndexDamaged, IndexFailed.
        """
        connection = self.connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, (sqlite3.Error, IndexDamaged, *_BROKEN)):
                raise self._told(error) from error
            raise

    def _told(self, error: Exception) -> IndexDamaged | IndexFailed:
        told = meaning(error)
        if isinstance(error, sqlite3.OperationalError) and _is_full(self.path):
            return IndexFailed(_FULL)
        if isinstance(told, IndexDamaged):
            self.found_damaged(str(told))
        return told

    def found_damaged(self, damage: str) -> None:
        """Remember damage that somebody came upon: the next refresh makes the index anew."""
        self.damage = damage

    def rebuild(self) -> None:
        """Set the damaged file aside, one of them at most, and begin a new one.

        Raises:
            IndexFailed: that cannot be done.
        """
        self._let_go()
        try:
            kept = _set_aside(self.path)
            self._connection = self._opened()
        except sqlite3.Error as error:
            raise IndexFailed(str(self._told(error))) from error
        except OSError as error:
            raise _unusable(error) from error
        self.notices.append(f"{self.damage}; kept as {shown(kept.name)}, and indexing begins anew")
        self.damage = ""

    def discard(self) -> None:
        """Delete the file, which a full disk does not prevent; the next use begins a new one.

        Raises:
            IndexFailed: that cannot be done.
        """
        self._let_go()
        try:
            for name in ("", *_BESIDE):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{self.path}{name}")
        except OSError as error:
            raise _unusable(error) from error
        self.damage = ""

    def vacuum(self) -> None:
        """Give back the space of what was deleted, so that nothing of it stays on the disk.

        Raises:
            IndexDamaged, IndexFailed.
        """
        with self.reading() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def remove_damaged(self) -> None:
        """Delete the damaged file that was set aside, if there is one."""
        for kept in self.path.parent.glob(f"{self.path.name}.damaged-*"):
            with contextlib.suppress(OSError):
                kept.unlink()

    @property
    def bytes(self) -> int:
        """What the index takes on the disk."""
        total = 0
        for name in ("", *_BESIDE):
            with contextlib.suppress(OSError):
                total += os.stat(f"{self.path}{name}").st_size
        return total

    def close(self) -> None:
        """Close it; more than once is allowed."""
        self._is_closed = True
        self._let_go()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def _unusable(error: OSError) -> IndexFailed:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return IndexFailed(_FULL)
    return IndexFailed(f"the context index cannot be used: {error.strerror or error}")


def _is_full(path: Path) -> bool:
    """Whether no room is left on the disk: SQLite tells of that in many ways."""
    try:
        found = os.statvfs(path.parent)
    except OSError:
        return False
    return found.f_blocks > 0 and found.f_bavail * found.f_frsize < _ROOM


def _opened(path: Path, expected: Mapping[str, str]) -> tuple[sqlite3.Connection, bool]:
    """The connection; False beside it where another version's index was emptied for it."""
    _make_private(path)
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, cached_statements=64)
    try:
        for setting in (
            # Held for life, so that the log needs no shared memory beside it.
            "locking_mode = EXCLUSIVE",
            "journal_mode = WAL",
            "synchronous = NORMAL",
            "mmap_size = 0",
            "cache_size = -8192",
            "journal_size_limit = 8388608",
            "temp_store = MEMORY",
            "trusted_schema = OFF",
            "secure_delete = ON",
        ):
            connection.execute(f"PRAGMA {setting}")
        return connection, _require_schema(connection, expected)
    except BaseException:
        connection.close()
        raise


def _make_private(path: Path) -> None:
    """SQLite gives the files beside it the mode of the file itself."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _require_schema(connection: sqlite3.Connection, expected: Mapping[str, str]) -> bool:
    is_new = True
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
        try:
            found = dict(connection.execute("SELECT name, value FROM meta"))
        except sqlite3.OperationalError as error:
            raise IndexDamaged("the context index is damaged: it is another file") from error
        if {name: found.get(name) for name in expected} == expected:
            return True
        is_new = False
        _drop_everything(connection)
    connection.execute("BEGIN IMMEDIATE")
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", expected.items())
    connection.execute("COMMIT")
    return is_new


def _drop_everything(connection: sqlite3.Connection) -> None:
    """What another version of the indexer kept is of no use to this one, and no damage."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    for (name,) in names:
        connection.execute(f'DROP TABLE "{name}"')
    connection.execute("COMMIT")
    connection.execute("VACUUM")


def _set_aside(path: Path) -> Path:
    before = sorted(path.parent.glob(f"{path.name}.damaged-*"))
    numbers = [int(name.rpartition("-")[2]) for name in map(str, before) if _is_numbered(name)]
    kept = path.with_name(f"{path.name}.damaged-{max(numbers, default=0) + 1}")
    os.replace(path, kept)
    for name in _BESIDE:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{path}{name}")
    for old in before:
        with contextlib.suppress(OSError):
            old.unlink()
    return kept


def _is_numbered(name: str) -> bool:
    return name.rpartition("-")[2].isdigit()
