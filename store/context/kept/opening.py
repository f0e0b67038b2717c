"""The one connection to receipts.db, for as long as that very file lies at its path."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from fabricd.store.context.kept.schema import connected
from fabricd.store.durable import Damaged, shown

ADVICE = "; move it aside, a new one is begun"


class Opened:
    """Opens the file, and opens what lies there anew where that is another one by now.

    Attributes:
        damage: why nothing is kept; None where all is well.
    """

    def __init__(self, path: Path) -> None:
        """Open, or make, the file. Where that fails `damage` says why."""
        self.path = path
        self.damage: Damaged | None = None
        self._connection: sqlite3.Connection | None = None
        self._found: os.stat_result | None = None
        # What may pass by itself is tried again; real damage lasts until another file is there.
        self._lasts = self._is_closed = False
        self._open()

    def connection(self) -> sqlite3.Connection | None:
        """The connection to the file that lies there now; None where it cannot be had."""
        if not self._is_closed and self._is_outdated():
            self._drop()
            self._open()
        return self._connection

    def note(self, error: sqlite3.Error) -> None:
        """Remember an error of the file itself: nothing is written to it any more."""
        if not _passes(error):
            self.damage = Damaged(self.path, f"it is damaged: {reason_of(error)}")
            self._lasts = True

    def trouble(self) -> str:
        """Why nothing is kept, and what can be done about it."""
        if self.damage is None:
            return "the receipts are closed"
        told = f"{shown(self.path)}: {self.damage.reason}"
        return told + ADVICE if self._lasts else f"{told}; it is tried again"

    def close(self) -> None:
        """Give the file up."""
        self._drop()
        self._is_closed = True

    def _open(self) -> None:
        self.damage, self._lasts = None, False
        try:
            self._connection = connected(self.path)
        except (sqlite3.Error, OSError) as error:
            self.damage = Damaged(self.path, f"it cannot be used: {reason_of(error)}")
            self._lasts = not _passes(error)
        self._found = _stat(self.path)

    def _is_outdated(self) -> bool:
        if self._connection is None and not self._lasts:
            return True
        now, then = _stat(self.path), self._found
        if now is None or then is None:
            return now is not then
        if self._connection is not None:
            return not os.path.samestat(now, then)
        # Nobody here has it open: somebody may have put a sound one in its place, byte by byte.
        return _print(now) != _print(then)

    def _drop(self) -> None:
        if self._connection is None:
            return
        # A file that was moved aside gets what the log has of it: that lies there for the next one.
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._connection.close()
        self._connection = None


def reason_of(error: Exception) -> str:
    """What an error says, without what Python says around it."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _passes(error: Exception) -> bool:
    # A full disk or somebody's lock passes; a malformed file does not, nor a folder in its place.
    if isinstance(error, IsADirectoryError):
        return False
    return isinstance(error, (OSError, sqlite3.OperationalError, sqlite3.InterfaceError))


def _stat(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _print(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
