"""Bringing a root in the index up to date, in batches that are whole or not at all."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from fabricd.core.context.model import Analysed, Skip
from fabricd.core.steps import Steps
from fabricd.store.context import blobs, commits, roots
from fabricd.store.context.blobs import Blob, Fresh, Taken
from fabricd.store.context.commits import NO_HISTORY, Asking, History
from fabricd.store.context.database import Database
from fabricd.store.context.failures import IndexFailed
from fabricd.store.context.git import GitFailed, GitSlow, Place
from fabricd.store.context.listing import Listing, listed
from fabricd.store.context.reading import (
    BINARY,
    Read,
    Stamp,
    is_forbidden,
    is_presentable,
    is_text,
    looking_below,
    read_file,
    stamp_below,
)
from fabricd.store.context.roots import NO_FAILURE, Failure, Root, Row

BATCH_FILES = 256
BATCH_BYTES = 4 * 1024 * 1024
# Another repository inside a tree is none of its files.
_NESTED = Row(0, "policy", Stamp(0, 0, 0, 0), False)
# So many stamps are compared between two yields.
_STAMPS = 2048
# How long a history that git did not tell in time is not asked for again.
_RETRY_SECONDS = 3600


class Analyser(NamedTuple):
    """How a file becomes an analysis. Neither may go by anything but what it is given.

    Attributes:
        language_of: by path and first bytes; None where no language fits.
        analyse: of bytes that are text; a reason where they cannot be analysed after all.
        version: of all that this goes by; an index of another version is made anew.
        clean: what a commit's subject passes before it is kept.
    """

    language_of: Callable[[str, bytes], str | None]
    analyse: Callable[[bytes, str], Analysed | Skip]
    version: str = ""
    clean: Callable[[str], str] = str


@dataclass
class Progress:
    """How far a refresh has come; it changes between its yields."""

    files: int = 0
    of_files: int = 0
    bytes: int = 0
    of_bytes: int = 0


class Refreshed(NamedTuple):
    """What a refresh did: how many files it read, and how many of them had another content."""

    read: int
    changed: int


class Moved(Exception):
    """The root that is refreshed is no longer what the index holds."""


class Refreshing:
    """One refresh of one root."""

    def __init__(
        self,
        database: Database,
        analyser: Analyser,
        place: Place,
        root: Root,
        is_known: Callable[[Root], bool],
    ) -> None:
        self._database = database
        self._analyser = analyser
        self._place = place
        self._root = root
        self._is_known = is_known
        self._batch = _Batch()
        self._present = set[str]()
        self._read = 0
        self._changed = 0

    def run(self, progress: Progress) -> Steps[Refreshed]:
        """Refresh.

        Raises:
            Moved, TooMany, IndexDamaged, IndexFailed.
        """
        root = self._root
        asking = yield from self._ask_history()
        try:
            listing = root.listing
            if (
                listing is None
                or listing.git_dir != self._place.git_dir
                or not listing.is_current()
            ):
                listing = yield from listed(self._place, listing)
                root.listing = listing
            stale = yield from self._stale(listing)
            yield from self._read_all(stale, progress)
            self._write(gone=sorted(root.rows.keys() - self._present))
            yield from self._take_history(asking)
        finally:
            if asking is not None:
                asking.stop()
        return Refreshed(self._read, self._changed)

    def _stale(self, listing: Listing) -> Steps[list[tuple[str, int]]]:
        """The files that are not as they were when they were read, by path, with their sizes.

        What is gone is left out of `_present`.
        """
        root = self._root
        rows, doubted = root.rows, root.doubted
        stale: list[tuple[str, int]] = []
        self._present = present = {*listing.nested, *listing.files}
        with looking_below(self._place.root) as look:
            root.private = _inodes(look, listing.forbidden)
            for begin in range(0, len(listing.files), _STAMPS):
                if begin:
                    yield
                for path in listing.files[begin : begin + _STAMPS]:
                    try:
                        found = look(path)
                    except OSError:
                        present.discard(path)
                        continue
                    row = rows.get(path)
                    if (
                        row is None
                        or row[2]
                        != (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
                        or row[3]
                        or path in doubted
                    ):
                        stale.append((path, found.st_size if stat.S_ISREG(found.st_mode) else 0))
        for path in listing.nested:
            if rows.get(path) != _NESTED:
                self._batch.rows[path] = _NESTED
        return stale

    def _read_all(self, stale: list[tuple[str, int]], progress: Progress) -> Steps[None]:
        progress.of_files += len(stale)
        progress.of_bytes += sum(size for _, size in stale)
        for path, size in stale:
            self._read_one(path)
            progress.files += 1
            progress.bytes += size
            if self._batch.is_full:
                self._write()
            yield

    def _read_one(self, path: str) -> None:
        root = self._place.root
        # A secret is not even read.
        read = stamp_below(root, path) if is_forbidden(path) else read_file(root, path)
        if read is None:
            self._present.discard(path)
            return
        self._read += 1
        language, skip = self._judged(path, read)
        if skip is not None:
            self._batch.rows[path] = Row(0, skip, read.stamp, read.is_racy)
            return
        sha = sha256(read.data).digest()
        if self._batch.joins(path, read, sha, language):
            return
        with self._database.reading() as connection:
            known = blobs.find(connection, sha, language)
        if known is not None:
            self._batch.known[known.id] = known
            self._batch.rows[path] = Row(known.id, None, read.stamp, read.is_racy)
            return
        analysed = self._analyser.analyse(read.data, path)
        if isinstance(analysed, Analysed):
            self._batch.add(path, read, sha, language, analysed)
        else:
            self._batch.rows[path] = Row(0, analysed, read.stamp, read.is_racy)

    def _judged(self, path: str, read: Read) -> tuple[str, Skip | None]:
        if read.skip is not None:
            return "", read.skip
        if read.is_linked and read.stamp.inode in self._root.private:
            return "", "policy"
        if not is_presentable(path) or not is_text(read.data):
            return "", "unsupported"
        language = self._analyser.language_of(path, read.data[:BINARY])
        return language or "", None if language else "unsupported"

    def _write(self, gone: Sequence[str] = ()) -> None:
        """Write the batch, then let memory follow."""
        root, batch = self._root, self._batch
        if not self._is_known(root):
            raise Moved
        if not gone and not batch.rows and not batch.fresh:
            return
        try:
            with self._database.transaction() as connection:
                batch.settle(connection)
                changed = self._changes()
                generation = root.generation + bool(changed or gone)
                roots.save(connection, root, batch.rows, gone, generation)
        except IndexFailed:
            if gone or batch.fresh or self._changes():
                raise
            # Stamps alone: without room for them these files are read again the next time.
            self._batch = _Batch()
            return
        self._changed += changed + len(gone)
        root.rows.update(batch.rows)
        root.blobs.update(batch.known)
        root.doubted.difference_update(batch.rows, gone)
        for path in gone:
            # Another refresh of this root that is driven in turns may have seen it as well.
            root.rows.pop(path, None)
        if generation != root.generation:
            root.generation = generation
            root.outdate()
        self._batch = _Batch()

    def _changes(self) -> int:
        """How many files of the batch have another content than the index holds."""
        rows = self._root.rows
        return sum(
            (before := rows.get(path)) is None or (before.blob, before.skip) != (row.blob, row.skip)
            for path, row in self._batch.rows.items()
        )

    def _ask_history(self) -> Steps[Asking | None]:
        """Let git begin with its history, if HEAD moved: it works while files are read."""
        root = self._root
        head = yield from commits.head_of(self._place)
        if root.history is not None and root.history.head == head:
            return None
        if not head:
            self._set_history(NO_HISTORY)
            return None
        failure = root.history_failure
        if failure.head == head and 0 <= time.time() - failure.at < _RETRY_SECONDS:
            self._set_history(None, failure.why)
            return None
        known = root.history or self._kept_history()
        if known is not None and known.head == head:
            self._set_history(known)
            return None
        try:
            return Asking(self._place, head, known if known is not None and known.head else None)
        except GitFailed as failed:
            self._set_history(None, str(failed))
        return None

    def _set_history(self, history: History | None, why: str = "") -> None:
        """Without one where git did not tell it: an old one, or a part, would rank by its pace."""
        root = self._root
        if root.history is not history:
            root.history = history
            root.outdate()
        root.history_warning = why and f"history: {why}"

    def _kept_history(self) -> History | None:
        query = "SELECT head, history FROM roots WHERE id = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (self._root.id,)).fetchone()
        return None if row is None else commits.unpacked(*row)

    def _take_history(self, asking: Asking | None) -> Steps[None]:
        root = self._root
        if asking is None:
            return
        try:
            history = yield from self._answered(asking)
        except GitFailed as failed:
            failure = NO_FAILURE
            if isinstance(failed, GitSlow):
                failure = Failure(asking.head, int(time.time()), str(failed))
            self._keep("failed_head = ?, failed_at = ?, failed_why = ?", failure)
            root.history_failure = failure
            self._set_history(None, str(failed))
            return
        if history is None:
            return
        self._keep(
            "head = ?, history = ?, failed_head = '', failed_at = 0, failed_why = ''",
            (history.head, commits.packed(history)),
        )
        root.history_failure = NO_FAILURE
        self._set_history(history)

    def _answered(self, asking: Asking) -> Steps[History | None]:
        clean = self._analyser.clean
        try:
            history = yield from asking.answer(clean)
        except GitSlow:
            raise
        except GitFailed:
            # The commit that was HEAD before may be gone for good.
            if not asking.is_part:
                raise
            history = None
        if history is None and asking.is_part:
            history = yield from Asking(self._place, asking.head, None).answer(clean)
        return history

    def _keep(self, columns: str, values: tuple[object, ...]) -> None:
        if not self._is_known(self._root):
            raise Moved
        with self._database.transaction() as connection:
            query = f"UPDATE roots SET {columns} WHERE id = ?"
            connection.execute(query, (*values, self._root.id))


def _inodes(look: Callable[[str], os.stat_result], paths: Sequence[str]) -> frozenset[int]:
    """The inodes of files, whatever other names they have."""
    found: set[int] = set()
    for path in paths:
        with suppress(OSError):
            found.add(look(path).st_ino)
    return frozenset(found)


class _Batch:
    """What is written together: rows, and blobs that files wait for.

    Attributes:
        known: blobs that rows name.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.known: dict[int, Blob] = {}
        self.fresh: dict[tuple[bytes, str], Fresh] = {}
        self._taken = Taken()
        self._waiting: dict[tuple[bytes, str], list[tuple[str, Read]]] = {}
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        return len(self.fresh) >= BATCH_FILES or self._bytes >= BATCH_BYTES

    def joins(self, path: str, read: Read, sha: bytes, language: str) -> bool:
        """Let a file wait for a blob that is in the batch already, if one is."""
        waiting = self._waiting.get((sha, language))
        if waiting is None:
            return False
        waiting.append((path, read._replace(data=b"")))
        return True

    def add(self, path: str, read: Read, sha: bytes, language: str, analysed: Analysed) -> None:
        """Let a file wait for its own blob."""
        key = sha, language
        self.fresh[key] = self._taken.take(sha, language, analysed)
        self._waiting[key] = [(path, read._replace(data=b""))]
        self._bytes += len(read.data)

    def settle(self, connection: sqlite3.Connection) -> None:
        """Enter the blobs, so that all files have rows."""
        found: dict[tuple[bytes, str], Blob] = {}
        for sha, language in self.fresh:
            # Another refresh that was driven in turns with this one may have entered it.
            known = blobs.find(connection, sha, language)
            if known is not None:
                found[sha, language] = known
        missing = [fresh for key, fresh in self.fresh.items() if key not in found]
        if missing:
            added = self._taken.enter(connection, missing)
            found.update(
                ((fresh.sha, fresh.language), blob)
                for fresh, blob in zip(missing, added, strict=True)
            )
        for key, waiting in self._waiting.items():
            blob = self.known[found[key].id] = found[key]
            for path, read in waiting:
                self.rows[path] = Row(blob.id, None, read.stamp, read.is_racy)
        self._settle_known(connection)

    def _settle_known(self, connection: sqlite3.Connection) -> None:
        """What was found before this transaction may have been deleted or moved since."""
        for number in self.known:
            blob = blobs.by_id(connection, number)
            if blob is None:
                raise Moved
            self.known[number] = blob
