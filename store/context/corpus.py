"""A root's live units at one generation, as ranking asks for them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from fabricd.core.context.corpus import Changes, FileFacts, Hits, Indexed, Ints
from fabricd.store.context import blobs
from fabricd.store.context.blobs import LENGTH, NAME, Blob, name_hash
from fabricd.store.context.commits import NO_HISTORY, WIDEST, History
from fabricd.store.context.contents import Cache
from fabricd.store.context.database import Database
from fabricd.store.context.failures import Outdated
from fabricd.store.context.occurrences import Occurrences, Placed, Where, where_of
from fabricd.store.context.postings import FIELDS

_PATH = attrgetter("path")


class Table(NamedTuple):
    """The live files and units of a root, in arrays.

    Attributes:
        placed: the files in the order of their units.
        where: how to come from a unit of a segment to units of this root.
        names: what to find units by their names with.
    """

    files: tuple[FileFacts, ...]
    file_of: Ints
    lengths: Ints
    placed: Placed
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


def table_of(live: Sequence[tuple[str, Blob]]) -> Table:
    """The table of a root's files, which come in the order of their paths."""
    paths = tuple([path for path, _ in live])
    columns = zip(*[blob for _, blob in live], strict=True)
    ids, languages, begins, units, segments, lengths, names = columns if live else [()] * 7
    firsts = accumulate(units, initial=0)
    return Table(
        files=tuple(map(FileFacts, paths, ids, languages, units, firsts)),
        file_of=np.repeat(np.arange(len(live), dtype=np.int32), np.array(units, np.int64)),
        lengths=np.frombuffer(b"".join(lengths), LENGTH).reshape(-1, FIELDS).astype(np.int32),
        placed=Placed(paths, np.array(ids, np.int64), np.array(units, np.int64)),
        where=where_of(segments, begins, units),
        names=Names(b"".join(names)),
    )


class StoredCorpus:
    """A `Corpus` out of the index.

    Its methods raise IndexDamaged, Outdated or IndexFailed, and so do the units of what `indexed`
    gives. After the first two the caller refreshes and asks anew.
    """

    def __init__(
        self,
        database: Database,
        cache: Cache,
        table: Table,
        history: History | None,
        epoch: Callable[[], tuple[int, int]],
        former: StoredCorpus | None = None,
    ) -> None:
        """`former` is the same root's before this one."""
        self._database = database
        self._cache = cache
        self._table = table
        self._history = history or NO_HISTORY
        self._epoch = epoch
        self._built: tuple[int, int] = epoch()
        before = None if former is None else former._occurrences
        self._occurrences: Occurrences = Occurrences(table.placed, table.where, before)
        self._changes: Changes | None = None
        if former is not None and former._table.placed.paths == table.placed.paths:
            # Of other bytes in the same files git's history tells the same.
            self._changes = former._changes if former._history is self._history else None

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
            return self._occurrences.hits(connection, term)

    def forget_hits(self) -> None:
        """Let go of what is remembered of terms; it is read again when it is asked for."""
        self._occurrences.forget()

    def defining(self, names: Iterable[str]) -> dict[str, Ints]:
        """Of names the units whose simple name it is, exactly; without names that none has."""
        return self._table.names.units(list(filter(None, names)))

    def indexed(self, file: int) -> Indexed:
        """What is kept of a live file's content."""
        self._keep_up()
        blob = self._table.files[file].blob
        found = self._cache.get(blob)
        if found is None:
            with self._database.reading() as connection:
                found = self._cache.read(connection, blob)
        return found

    def prepare(self, files: Iterable[int]) -> None:
        """Read what `indexed` will be asked for."""
        self._keep_up()
        with self._database.reading() as connection:
            self._cache.prepare(connection, {self._table.files[file].blob for file in files})

    def blob_of(self, path: str) -> int | None:
        """The blob of a live file, by its path."""
        files = self._table.files
        at = bisect_left(files, path, key=_PATH)
        return files[at].blob if at < len(files) and files[at].path == path else None

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
        files = self._table.files
        numbers = {file.blob for file in files}
        with self._database.reading() as connection:
            places = blobs.places(connection, numbers)
        if len(places) < len(numbers):
            raise Outdated("what this snapshot tells of was forgotten meanwhile")
        found = [places[file.blob] for file in files]
        segments, begins = [segment for segment, _ in found], [first for _, first in found]
        self._occurrences.move(where_of(segments, begins, [file.units for file in files]))
        self._built = epoch


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
