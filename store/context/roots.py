"""One root in the index: a row for each of its files, and the blobs they are of."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fabricd.core.context.model import Skip
from fabricd.store.context import blobs
from fabricd.store.context.blobs import Blob
from fabricd.store.context.commits import History
from fabricd.store.context.failures import IndexDamaged, check_of
from fabricd.store.context.reading import Stamp

if TYPE_CHECKING:
    from fabricd.store.context.corpus import StoredCorpus
    from fabricd.store.context.listing import Listing


# `used` need not be more exact.
_USED_SECONDS = 3600


class Row(NamedTuple):
    """A file as it was when it was read last.

    Attributes:
        blob: 0 where it is skipped.
        is_racy: whether it may have changed since and kept its stamp.
    """

    blob: int
    skip: Skip | None
    stamp: Stamp
    is_racy: bool


class Failure(NamedTuple):
    """Of which HEAD git did not tell the history, when (in seconds since 1970), and why."""

    head: str
    at: int
    why: str


NO_FAILURE = Failure("", 0, "")


@dataclass
class Root:
    """What is known of a root: what the index holds, and what need not outlive the process.

    Attributes:
        generation: rises whenever a file's content or presence changed.
        rows: by path; none is there that is not in the index.
        doubted: files that were found to differ, whatever their stamps say.
        history_failure: the last that took long, which not every query should meet again.
        private: inodes of files that are left alone for their names.
        tidied: the generation whose segments were looked at last.
        corpus, skips: of this generation and history, if they were asked for; else no corpus.
        former: the corpus before, until the next is made.
    """

    id: int
    path: str
    generation: int
    rows: dict[str, Row]
    blobs: dict[int, Blob]
    listing: Listing | None = None
    doubted: set[str] = field(default_factory=lambda: set[str]())
    history: History | None = None
    history_warning: str = ""
    history_failure: Failure = NO_FAILURE
    private: frozenset[int] = frozenset()
    tidied: int = -1
    corpus: StoredCorpus | None = None
    former: StoredCorpus | None = None
    skips: dict[Skip, int] = field(default_factory=lambda: dict[Skip, int]())

    def outdate(self) -> None:
        """The corpus is no longer what the root is."""
        self.former, self.corpus = self.corpus or self.former, None

    def move_blobs(self, moves: Mapping[int, tuple[int, int]]) -> None:
        """Follow blobs to their new places: segment and first unit."""
        for number, blob in self.blobs.items():
            if number in moves:
                segment, first = moves[number]
                self.blobs[number] = blob._replace(segment=segment, first=first)
                self.outdate()


def load(connection: sqlite3.Connection, path: bytes, shown: str) -> Root:
    """A root as the index holds it; an unknown one is entered."""
    columns = "id, generation, used, failed_head, failed_at, failed_why"
    query = f"SELECT {columns} FROM roots WHERE path = ?"
    row = connection.execute(query, (path,)).fetchone()
    if row is None:
        query = "INSERT INTO roots (path, generation, used) VALUES (?, 0, ?)"
        number = connection.execute(query, (path, _now())).lastrowid or 0
        return Root(number, shown, 0, {}, {})
    number, generation, used, *failed = row
    # A tree that did not change is read on a full disk, too.
    if not 0 <= _now() - used < _USED_SECONDS:
        connection.execute("UPDATE roots SET used = ? WHERE id = ?", (_now(), number))
    query = """
    SELECT path, blob, skip, size, mtime, ctime, inode, racy, checked FROM files WHERE root = ?
    """
    rows: dict[str, Row] = {}
    for row in connection.execute(query, (number,)):
        name, blob, skip, size, mtime, ctime, inode, racy, checked = row
        if check_of(row[:-1]) != checked:
            raise IndexDamaged("the context index is damaged: a row of its files is not as written")
        stamp = Stamp(size, mtime, ctime, _unsigned(inode))
        rows[name.decode("utf-8", "surrogateescape")] = Row(blob, skip or None, stamp, bool(racy))
    known = blobs.of_root(connection, number)
    if any(row.blob and row.blob not in known for row in rows.values()):
        raise IndexDamaged("the context index is damaged: a blob is missing")
    return Root(number, shown, generation, rows, known, history_failure=Failure(*failed))


def save(
    connection: sqlite3.Connection,
    root: Root,
    changed: Mapping[str, Row],
    gone: Iterable[str],
    generation: int,
) -> None:
    """Bring a root's rows in the index up to date."""
    rows = [
        (_raw(path), row.blob, row.skip or "", *_signed(row.stamp), int(row.is_racy))
        for path, row in changed.items()
    ]
    query = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    connection.executemany(query, ((root.id, *row, check_of(row)) for row in rows))
    query = "DELETE FROM files WHERE root = ? AND path = ?"
    connection.executemany(query, ((root.id, _raw(path)) for path in gone))
    query = "UPDATE roots SET generation = ?, used = ? WHERE id = ?"
    connection.execute(query, (generation, _now(), root.id))


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _signed(stamp: Stamp) -> Stamp:
    """Some file systems number files beyond what a column holds."""
    inode = stamp.inode
    return stamp._replace(inode=inode - (1 << 64) if inode >= 1 << 63 else inode)


def _unsigned(inode: int) -> int:
    return inode + (1 << 64) if inode < 0 else inode


def _now() -> int:
    return int(time.time())
