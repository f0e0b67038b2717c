"""A root's live units at one generation, as ranking asks for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
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

# Hits that stay in memory, in bytes: of somebody's next question many words are those of the last.
_REMEMBERED = 4 * 1024 * 1024
# What hits take beside their arrays.
_ENTRY = 400


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

    def units(self, names: Sequence[str]) -> dict[str, Ints]:
        """The units of names, ascending; without names that none has."""
        if self._order is None:
            # Three times as fast as a sort that keeps what is equal in order.
            self._order = np.argsort(self._names).astype(np.int32)
            self._names = self._names[self._order]
        wanted = np.frombuffer(b"".join(map(name_hash, names)), NAME)
        begins = np.searchsorted(self._names, wanted, "left").tolist()
        ends = np.searchsorted(self._names, wanted, "right").tolist()
        return {
            name: np.sort(self._order[begin:end])
            for name, begin, end in zip(names, begins, ends, strict=True)
            if begin < end
        }


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
    units = [blob.units for _, blob in live]
    facts = map(
        FileFacts,
        [path for path, _ in live],
        [blob.id for _, blob in live],
        [blob.language for _, blob in live],
        units,
        accumulate(units, initial=0),
    )
    raw = b"".join([blob.lengths for _, blob in live])
    return Table(
        files=tuple(facts),
        file_of=np.repeat(np.arange(len(live), dtype=np.int32), units),
        lengths=np.frombuffer(raw, LENGTH).reshape(-1, FIELDS).astype(np.int32),
        where=where_of([(blob.segment, blob.first, blob.units) for _, blob in live]),
        names=Names(b"".join([blob.names for _, blob in live])),
    )


def where_of(places: Sequence[tuple[int, int, int]]) -> Where:
    """Where the units of files are: for each file segment, first unit and number of units."""
    every = np.array(places, np.int64).reshape(-1, 3)
    array = every[every[:, 2] > 0]
    segments, of_file = np.unique(array[:, 0], return_inverse=True)
    ends = np.zeros(len(segments), np.int64)
    np.maximum.at(ends, of_file, array[:, 1] + array[:, 2])
    starts = np.cumsum(ends + 1) - (ends + 1)
    size = int((ends + 1).sum())
    begins = dict(
        zip(segments.tolist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=True)
    )
    array = np.column_stack((starts[of_file] + array[:, 1], array[:, 2]))
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
        self._hits: OrderedDict[str, Hits] = OrderedDict()
        self._hits_bytes = 0
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
        found = self._hits.get(term)
        if found is not None:
            self._hits.move_to_end(term)
            return found
        with self._database.reading() as connection:
            found = _live(self._where, self._segments.term(connection, term))
        self._hits[term] = found
        self._hits_bytes += _size(found)
        while self._hits_bytes > _REMEMBERED and len(self._hits) > 1:
            _, oldest = self._hits.popitem(last=False)
            self._hits_bytes -= _size(oldest)
        return found

    def defining(self, names: Iterable[str]) -> dict[str, Ints]:
        """Of names the units whose simple name it is, exactly; without names that none has."""
        return self._table.names.units(list(filter(None, names)))

    def analysed(self, file: int) -> Analysed:
        """All that is kept of a live file's blob, without its terms."""
        self._keep_up()
        blob = self._table.files[file].blob
        found = self._cache.get(blob)
        if found is None:
            with self._database.reading() as connection:
                found = self._cache.analysed(connection, blob)
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


def _size(hits: Hits) -> int:
    return hits.units.nbytes + hits.counts.nbytes + _ENTRY


def _live(where: Where, records: Records) -> Hits:
    if not records.rows:
        return Hits(np.zeros(0, np.int32), np.zeros((0, FIELDS), np.uint8))
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
    return Hits(units, counts)


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
