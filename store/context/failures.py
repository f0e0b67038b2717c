"""What can go wrong with the index, in one sentence each; none of it loses anything but time."""

from __future__ import annotations

import sqlite3
from zlib import crc32

_DAMAGE = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_SCHEMA,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_RANGE,
    sqlite3.SQLITE_FORMAT,
}


class IndexFailed(Exception):
    """The index cannot be used now, and why. It holds what it held before."""


class IndexDamaged(Exception):
    """The index does not hold what was put in. The next refresh begins a new one."""


def check_of(row: tuple[object, ...]) -> int:
    """A check of a row, to be kept in it: SQLite itself sees no harm in a changed value."""
    return crc32(repr(row).encode("utf-8", "surrogatepass"))


class Outdated(IndexFailed):
    """What a snapshot tells of was forgotten, or the index begun anew; a new snapshot is needed."""


def meaning(error: Exception) -> IndexDamaged | IndexFailed:
    """What an error that was met in the index says about it."""
    if isinstance(error, (IndexDamaged, IndexFailed)):
        return error
    if not isinstance(error, sqlite3.Error):
        return IndexDamaged(f"the context index is damaged: {type(error).__name__} in a row")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _DAMAGE:
        return IndexDamaged(f"the context index is damaged: {error}")
    match code:
        case sqlite3.SQLITE_FULL:
            why = "no space is left for it"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            why = f"it may not be written: {error}"
        case _:
            why = str(error)
    return IndexFailed(f"the context index cannot be used: {why}")
