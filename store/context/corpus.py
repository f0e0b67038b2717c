"""A root's live units at one generation, as ranking asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fabricd.core.context.corpus import Changes, FileFacts, Hits, Ints
from fabricd.core.context.model import Analysed
from fabricd.store.context import blobs
from fabricd.store.context.blobs import LENGTH, NAME, Blob, Cache, name_hash
from fabricd.store.context.commits import NO_HISTORY, WIDEST, History
from fabricd.store.context.database import Database
from fabricd.store.context.failures import Outdated
from fabricd.store.context.postings import FIELDS, Records, Segments

# Files of one query, which asks for each of them several times.
_READ = 512


class Table(NamedTuple):
    """The live files and units of a root, in arrays.

    Attributes:
        where: how to come from a unit of a segment to units of this root.
        names: what to find units by their names with.
    """

    files: tuple[FileFacts, ...]
    file_of: Ints
    lengths: Ints
    where: Where
    names: Names


class Names:
    """Units by their simple names; sorted when it is asked first."""

    def __init__(self, names: bytes) -> None:
        self._names = np.frombuffer(names, NAME)
        self._order: Ints | None = None

    def units(self, name: str) -> Ints:
        """The units of a name, ascending."""
        if self._order is None:
            self._order = np.argsort(self._names, kind="stable").astype(np.int32)
            self._names = self._names[self._order]
        wanted = np.frombuffer(name_hash(name), NAME)
        begin: Ints = np.searchsorted(self._names, wanted, "left").astype(np.int32)
        end: Ints = np.searchsorted(self._names, wanted, "right").astype(np.int32)
        return self._order[int(begin[0]) : int(end[0])]


class Where(NamedTuple):
    """From units of segments to live units.

    Attributes:
        begins: for each segment where it begins in `live`, and how many of its units are there.
        live: for each unit of a segment the live unit, or -1; behind each segment one more -1.
        more: where several files have one content, further live units, each with its place in
            `live`, by that place.
    """

    begins: dict[int, tuple[int, int]]
    live: Ints
    more_of: Ints
    more: Ints


def table_of(live: Sequence[tuple[str, Blob]]) -> Table:
    """The table of a root's files, which come in the order of their paths."""
    facts: list[FileFacts] = []
    begin = 0
    for path, (number, language, _, units, *_) in live:
        facts.append(FileFacts(path, number, language, units, begin))
        begin += units
    raw = b"".join([blob.lengths for _, blob in live])
    sizes = np.array([blob.units for _, blob in live], np.int64)
    return Table(
        files=tuple(facts),
        file_of=np.repeat(np.arange(len(live), dtype=np.int32), sizes),
        lengths=np.frombuffer(raw, LENGTH).reshape(-1, FIELDS).astype(np.int32),
        where=where_of([(blob.segment, blob.first, blob.units) for _, blob in live]),
        names=Names(b"".join([blob.names for _, blob in live])),
    )


def where_of(places: Sequence[tuple[int, int, int]]) -> Where:
    """Where the units of files are: for each file segment, first unit and number of units."""
    ends: dict[int, int] = {}
    for segment, first, units in places:
        end = first + units
        if units and end > ends.get(segment, 0):
            ends[segment] = end
    begins: dict[int, tuple[int, int]] = {}
    size = 0
    for segment, end in sorted(ends.items()):
        begins[segment] = size, end
        size += end + 1
    full = [(begins[segment][0] + first, units) for segment, first, units in places if units]
    array = np.array(full, np.int64).reshape(-1, 2)
    # The place in `live` of every unit of this root, in the order of its units.
    begin = np.cumsum(array[:, 1]) - array[:, 1]
    total = int(array[:, 1].sum())
    place = np.repeat(array[:, 0] - begin, array[:, 1]) + np.arange(total)
    live = np.full(size, -1, np.int32)
    # Of several files with one content the first is in `live`: it is written last.
    live[place[::-1]] = np.arange(total - 1, -1, -1, dtype=np.int32)
    is_more = live[place] != np.arange(total)
    more_of, more = place[is_more].astype(np.int32), np.flatnonzero(is_more).astype(np.int32)
    order = np.argsort(more_of, kind="stable")
    return Where(begins, live, more_of[order], more[order])


class StoredCorpus:
    """A `Corpus` out of the index.

    Its methods raise IndexDamaged, Outdated or IndexFailed. After the first two the caller
    refreshes and asks anew.
    """

    def __init__(
        self,
        database: Database,
        cache: Cache,
        table: Table,
        history: History | None,
        epoch: Callable[[], tuple[int, int]],
    ) -> None:
        self._database = database
        self._cache = cache
        self._table = table
        self._history = history or NO_HISTORY
        self._epoch = epoch
        self._built: tuple[int, int] = epoch()
        self._where = table.where
        self._segments = Segments(table.where.begins)
        self._changes: Changes | None = None
        self._read: dict[int, Analysed] = {}
        self._blobs: dict[str, int] | None = None

    @property
    def files(self) -> Sequence[FileFacts]:
        """Live files by path."""
        return self._table.files

    @property
    def file_of(self) -> Ints:
        """For each unit the index of its file."""
        return self._table.file_of

    @property
    def lengths(self) -> Ints:
        """For each unit its number of terms in each of `FIELDS`."""
        return self._table.lengths

    def hits(self, term: str) -> Hits:
        """Where a term occurs."""
        self._keep_up()
        with self._database.reading() as connection:
            return _live(self._where, self._segments.term(connection, term))

    def defining(self, name: str) -> Ints:
        """The units whose simple name this is, exactly, case and all."""
        return self._table.names.units(name) if name else np.zeros(0, np.int32)

    def analysed(self, file: int) -> Analysed:
        """All that is kept of a live file's blob, without its terms."""
        found = self._read.get(file)
        if found is None:
            self._keep_up()
            with self._database.reading() as connection:
                found = self._cache.analysed(connection, self._table.files[file].blob)
            if len(self._read) < _READ:
                self._read[file] = found
        return found

    def blob_of(self, path: str) -> int | None:
        """The blob of a live file, by its path."""
        if self._blobs is None:
            self._blobs = {file.path: file.blob for file in self._table.files}
        return self._blobs.get(path)

    def changes(self) -> Changes:
        """Git's history of this root."""
        if self._changes is None:
            self._changes = _changes(self._table.files, self._history)
        return self._changes

    def _keep_up(self) -> None:
        """Segments may have been merged since; an index begun anew knows nothing of this root."""
        epoch = self._epoch()
        if epoch == self._built:
            return
        if epoch[0] != self._built[0]:
            raise Outdated("the context index was begun anew meanwhile")
        numbers = {file.blob for file in self._table.files}
        with self._database.reading() as connection:
            places = blobs.places(connection, numbers)
        if len(places) < len(numbers):
            raise Outdated("what this snapshot tells of was forgotten meanwhile")
        files = self._table.files
        self._where = where_of([(*places[file.blob], file.units) for file in files])
        self._segments = Segments(self._where.begins)
        self._built = epoch


def _live(where: Where, records: Records) -> Hits:
    if not records.rows:
        return Hits(np.zeros(0, np.int32), np.zeros((0, FIELDS), np.int32))
    begins = np.array([where.begins[segment] for segment, _ in records.rows])
    sizes = np.array([size for _, size in records.rows])
    place = np.minimum(records.units, np.repeat(begins[:, 1], sizes))
    place += np.repeat(begins[:, 0], sizes)
    units, counts = where.live[place], records.counts
    if len(where.more):
        begin = np.searchsorted(where.more_of, place, "left")
        times = np.searchsorted(where.more_of, place, "right") - begin
        before = np.repeat(np.cumsum(times) - times, times)
        again = np.repeat(begin, times) + np.arange(len(before)) - before
        units = np.concatenate((units, where.more[again]))
        counts = np.concatenate((counts, np.repeat(counts, times, axis=0)))
    is_live = units >= 0
    if not is_live.all():
        units, counts = units[is_live], counts[is_live]
    if not (units[1:] > units[:-1]).all():
        order = np.argsort(units, kind="stable")
        units, counts = units[order], counts[order]
    return Hits(units, counts.astype(np.int32))


def _changes(files: Sequence[FileFacts], history: History) -> Changes:
    index = {file.path: number for number, file in enumerate(files)}
    age: dict[int, int] = {}
    count: dict[int, int] = {}
    subjects: list[tuple[str, tuple[int, ...]]] = []
    for past, (_, _, subject, paths) in enumerate(history.commits):
        touched = tuple(number for path in paths if (number := index.get(path)) is not None)
        for number in touched:
            age.setdefault(number, past)
            count[number] = count.get(number, 0) + 1
        if touched and len(paths) <= WIDEST:
            subjects.append((subject, touched))
    return Changes(age, count, subjects)
