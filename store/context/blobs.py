"""What is kept of a file's content: its analysis, compressed, and its units' lengths and names.

Blobs belong to no root: roots, worktrees and branches share them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import zstandard

from fabricd.core.context.model import Analysed
from fabricd.store.context.contents import packed
from fabricd.store.context.failures import IndexDamaged, check_of
from fabricd.store.context.postings import Entries, Gathering, Terms, entries_of

LENGTH = np.dtype("<u4")
NAME = np.dtype("<u8")

_LEVEL = 3


class Blob(NamedTuple):
    """Where a blob's units are: `units` of them from `first` on, in a segment.

    Attributes:
        lengths: for each unit its number of terms in each field, as `LENGTH`.
        names: for each unit `name_hash` of its simple name, as `NAME`.
    """

    id: int
    language: str
    first: int
    units: int
    segment: int
    lengths: bytes
    names: bytes


class Fresh(NamedTuple):
    """A blob that is not in the index yet, as it will be kept.

    Attributes:
        names: as of `Blob`.
        data: its analysis, compressed.
    """

    sha: bytes
    language: str
    names: bytes
    data: bytes
    entries: Entries


class Taken:
    """Blobs of one new segment, each made small as it comes: what waits costs memory."""

    def __init__(self) -> None:
        self._terms = Terms()
        self._compressor = zstandard.ZstdCompressor(_LEVEL, write_checksum=True)

    def take(self, sha: bytes, language: str, analysed: Analysed) -> Fresh:
        """Make a blob of an analysis."""
        entries = entries_of(analysed.parsed.terms, self._terms)
        data = self._compressor.compress(packed(analysed))
        return Fresh(sha, language, _names(analysed), data, entries)

    def enter(self, connection: sqlite3.Connection, fresh: Sequence[Fresh]) -> list[Blob]:
        """Enter some that were taken here, each once; gives them in the order they came in."""
        gathering = Gathering(self._terms, [one.entries for one in fresh])
        lengths = gathering.sums().astype(LENGTH)
        segment, first = next_segment(connection), 0
        added: list[Blob] = []
        for one in fresh:
            units = len(one.entries.sizes)
            summed = lengths[first : first + units].tobytes()
            blob = Blob(0, one.language, first, units, segment, summed, one.names)
            added.append(_entered(connection, one, blob))
            first += units
        gathering.write(connection, segment)
        return added


_COLUMNS = "id, language, first, units, segment, lengths, names, checked"


def find(connection: sqlite3.Connection, sha: bytes, language: str) -> Blob | None:
    """The blob of a content, if it is known."""
    query = f"SELECT {_COLUMNS} FROM blobs WHERE sha = ? AND language = ?"
    row = connection.execute(query, (sha, language)).fetchone()
    return None if row is None else _sound(row)


def by_id(connection: sqlite3.Connection, number: int) -> Blob | None:
    """A blob that was found before, if it is still there."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM blobs WHERE id = ?", (number,)).fetchone()
    return None if row is None else _sound(row)


def of_root(connection: sqlite3.Connection, root: int) -> dict[int, Blob]:
    """The blobs of a root's files, by id."""
    query = f"SELECT {_COLUMNS} FROM blobs WHERE id IN (SELECT blob FROM files WHERE root = ?)"
    return {row[0]: _sound(row) for row in connection.execute(query, (root,))}


def _sound(row: tuple[int, str, int, int, int, bytes, bytes, int]) -> Blob:
    if check_of(row[:-1]) != row[-1]:
        raise IndexDamaged("the context index is damaged: a row of its blobs is not as written")
    return Blob(*row[:-1])


def move(connection: sqlite3.Connection, places: Mapping[int, tuple[int, int]]) -> None:
    """Give blobs new places: segment and first unit."""
    query = "UPDATE blobs SET segment = ?, first = ?, checked = ? WHERE id = ?"
    for number, (segment, first) in places.items():
        blob = by_id(connection, number)
        if blob is not None:
            moved = blob._replace(segment=segment, first=first)
            connection.execute(query, (segment, first, check_of(tuple(moved)), number))


def places(connection: sqlite3.Connection, wanted: Collection[int]) -> dict[int, tuple[int, int]]:
    """The segment and the first unit of some blobs."""
    rows = connection.execute("SELECT id, segment, first FROM blobs")
    return {blob: (segment, first) for blob, segment, first in rows if blob in wanted}


def _entered(connection: sqlite3.Connection, fresh: Fresh, blob: Blob) -> Blob:
    """The blob with its number, entered."""
    query = """
    INSERT INTO blobs (sha, language, first, units, segment, lengths, names)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    """
    number = connection.execute(query, (fresh.sha, *blob[1:])).lastrowid or 0
    blob = blob._replace(id=number)
    checked = (check_of(tuple(blob)), number)
    connection.execute("UPDATE blobs SET checked = ? WHERE id = ?", checked)
    connection.execute("INSERT INTO analysed VALUES (?, ?)", (number, fresh.data))
    return blob


def next_segment(connection: sqlite3.Connection) -> int:
    """The number of a new segment, which is taken."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'segment'").fetchone()
    segment = 1 if row is None else int(row[0])
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('segment', ?)", (str(segment + 1),))
    return segment


def name_hash(name: str) -> bytes:
    """A simple name in 8 bytes; zeros for none."""
    if not name:
        return bytes(NAME.itemsize)
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=NAME.itemsize).digest()


def _names(analysed: Analysed) -> bytes:
    return b"".join([name_hash(unit.name) for unit in analysed.parsed.units])
