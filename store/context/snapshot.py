"""A root as it was when its refresh ended, and the files of an answer as they are now."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple

from fabricd.store.context.contents import Cache
from fabricd.store.context.corpus import StoredCorpus, table_of
from fabricd.store.context.database import Database
from fabricd.store.context.git import Place
from fabricd.store.context.reading import is_forbidden, read_file, told
from fabricd.store.context.refreshing import Refreshed
from fabricd.store.context.roots import Root


class Reread(NamedTuple):
    """A file as it is on the disk now.

    Attributes:
        data: its bytes; None where it is gone or may not be shown.
        sha256: of them, hex; empty without.
        is_changed: whether it is not what the snapshot tells of.
    """

    path: str
    data: bytes | None
    sha256: str
    is_changed: bool


class Snapshot:
    """A root at one generation.

    Attributes:
        root: where it lies; what is no UTF-8 in it is replaced, as in all that is told.
        skipped: files that are not indexed, by reason; without those that are ignored.
        ignored: what is ignored, by top directory (files at the top: the empty name); a directory
            that is ignored as a whole counts as one.
        refreshed: files whose content or presence changed since the snapshot before.
        read: files that were read for it.
        refreshed_at: when the refresh had compared the last file, in nanoseconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        root: Root,
        place: Place,
        refreshed: Refreshed,
        corpus: StoredCorpus,
    ) -> None:
        """`Store.refresh` makes one."""
        self.root = told(place.root)
        self.generation = root.generation
        self.refreshed = refreshed.changed
        self.read = refreshed.read
        self.refreshed_at = time.time_ns()
        self._database = database
        self._state = root
        self._place = place.root
        self._corpus = corpus
        listing = root.listing
        skips = Counter(root.skips)
        if listing is not None and listing.unreadable:
            skips["unreadable"] += len(listing.unreadable)
        self.skipped: dict[str, int] = dict(sorted(skips.items()))
        ignored = Counter[str]()
        for name, number in () if listing is None else listing.ignored.items():
            ignored[told(name)] += number
        self.ignored: dict[str, int] = dict(ignored)
        warnings = () if listing is None else listing.warnings
        self.warnings = (*warnings, *filter(None, (root.history_warning,)))

    def corpus(self) -> StoredCorpus:
        """What ranking asks: this root's live units alone."""
        return self._corpus

    def reread(self, paths: Iterable[str]) -> dict[str, Reread]:
        """Read and hash files of this snapshot; what differs is read anew by the next refresh.

        Raises:
            IndexDamaged, IndexFailed.
        """
        return {path: self._reread(path, self._corpus.blob_of(path)) for path in paths}

    def _reread(self, path: str, blob: int | None) -> Reread:
        read = None if is_forbidden(path) else read_file(self._place, path)
        if (
            read is None
            or read.skip is not None
            or (read.is_linked and read.stamp.inode in self._state.private)
        ):
            self._state.doubted.add(path)
            return Reread(path, None, "", True)
        digest = sha256(read.data)
        known = None if blob is None else self._sha(blob)
        if known != digest.digest():
            self._state.doubted.add(path)
        return Reread(path, read.data, digest.hexdigest(), known != digest.digest())

    def source(self, path: str) -> str | None:
        """The SHA-256 of a file that the snapshot tells of, hex; None where it tells of none."""
        blob = self._corpus.blob_of(path)
        sha = None if blob is None else self._sha(blob)
        return None if sha is None else sha.hex()

    def _sha(self, blob: int) -> bytes | None:
        with self._database.reading() as connection:
            query = "SELECT sha FROM blobs WHERE id = ?"
            row = connection.execute(query, (blob,)).fetchone()
        return None if row is None else bytes(row[0])


def snapshot_of(
    database: Database,
    cache: Cache,
    root: Root,
    place: Place,
    refreshed: Refreshed,
    epoch: Callable[[], tuple[int, int]],
) -> Snapshot:
    """The snapshot of a root that was refreshed just now."""
    if root.corpus is None:
        live = [(path, root.blobs[row.blob]) for path, row in sorted(root.rows.items()) if row.blob]
        root.blobs = {blob.id: blob for _, blob in live}
        root.skips = Counter(row.skip for row in root.rows.values() if row.skip is not None)
        table, former = table_of(live), root.former
        root.corpus = StoredCorpus(database, cache, table, root.history, epoch, former)
        root.former = None
    return Snapshot(database, root, place, refreshed, root.corpus)
