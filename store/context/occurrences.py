"""Where terms occur among the live units of a root, remembered over its changes."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fabricd.core.context.corpus import Hits, Ints
from fabricd.store.context.postings import FIELDS, Bytes, Numbers, Records, Segments

# Hits that stay in memory, in bytes: of somebody's next question many words are those of the last.
_REMEMBERED = 5 * 1024 * 1024
# What hits take beside their arrays.
_ENTRY = 400


class Where(NamedTuple):
    """From units of segments to live units.

    Attributes:
        begins: for each segment where it begins in `live`, and how many of its units are there.
        live: for each unit of a segment the live unit, or -1; behind each segment one more -1.
        more: where several files have one content, further live units, each with its place in
            `live`, by that place.
        segment_of: of each file.
    """

    begins: dict[int, tuple[int, int]]
    live: Ints
    more_of: Ints
    more: Ints
    segment_of: Numbers


def where_of(segments: Sequence[int], begins: Sequence[int], units: Sequence[int]) -> Where:
    """Where the units of files are: for each file segment, first unit and number of units."""
    every = np.array((segments, begins, units), np.int64).T
    array = every[every[:, 2] > 0]
    numbers, of_file = np.unique(array[:, 0], return_inverse=True)
    ends = np.zeros(len(numbers), np.int64)
    np.maximum.at(ends, of_file, array[:, 1] + array[:, 2])
    starts = np.cumsum(ends + 1) - (ends + 1)
    size = int((ends + 1).sum())
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
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
    return Where(
        dict(zip(numbers.tolist(), spans, strict=True)),
        live,
        more_of[order],
        more[order],
        every[:, 0],
    )


class Placed(NamedTuple):
    """The live files in the order of their units: path, blob, and number of units of each."""

    paths: tuple[str, ...]
    blobs: Numbers
    units: Numbers


class _Carried(NamedTuple):
    """What was known of the corpus before, and how to make it true of this one.

    Attributes:
        hits: of units of then.
        now: for each of them the unit of now; -1 where its file has changed or is gone.
        is_fresh: of each unit of now, whether its file is another than then.
        segments: in which those units are.
    """

    hits: dict[str, Hits]
    now: Ints
    is_fresh: npt.NDArray[np.bool_]
    segments: Segments


class Occurrences:
    """The hits of terms in the live units of one corpus."""

    def __init__(self, placed: Placed, where: Where, former: Occurrences | None = None) -> None:
        """What `former`, of the same root before, knows is taken over."""
        self._placed = placed
        self._where = where
        self._segments = Segments(where.begins)
        self._known: OrderedDict[str, Hits] = OrderedDict()
        self._bytes = 0
        self._carried = None
        if former is not None and former._known:
            self._carried = _carried(former._placed, former._known, placed, where)

    def move(self, where: Where) -> None:
        """Follow blobs to other segments. The live units are what they were."""
        self._where, self._segments, self._carried = where, Segments(where.begins), None

    def forget(self) -> None:
        """Remember no hits."""
        self._known.clear()
        self._bytes, self._carried = 0, None

    def hits(self, connection: sqlite3.Connection, term: str) -> Hits:
        """Where a term occurs.

        Raises:
            IndexDamaged, sqlite3.Error.
        """
        found = self._known.get(term)
        if found is not None:
            self._known.move_to_end(term)
            return found
        found = self._taken_over(connection, term)
        if found is None:
            found = _live(self._where, self._segments.term(connection, term))
        self._known[term] = found
        self._bytes += _size(found)
        while self._bytes > _REMEMBERED and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= _size(oldest)
        return found

    def _taken_over(self, connection: sqlite3.Connection, term: str) -> Hits | None:
        carried = self._carried
        before = None if carried is None else carried.hits.pop(term, None)
        if carried is None or before is None:
            return None
        units = carried.now[before.units]
        stays = units >= 0
        fresh = _live(self._where, carried.segments.term(connection, term))
        is_fresh = carried.is_fresh[fresh.units]
        return _ordered(
            np.concatenate((units[stays], fresh.units[is_fresh])),
            np.concatenate((before.counts[stays], fresh.counts[is_fresh])),
        )


def _carried(before: Placed, hits: Mapping[str, Hits], after: Placed, where: Where) -> _Carried:
    was = np.arange(len(after.paths))
    if before.paths != after.paths:
        index = {path: number for number, path in enumerate(before.paths)}
        was = np.array([index.get(path, -1) for path in after.paths], np.int64)
    stays = was >= 0
    stays[stays] = before.blobs[was[stays]] == after.blobs[stays]
    sizes = after.units[stays]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    begins = (np.cumsum(before.units) - before.units)[was[stays]]
    firsts = (np.cumsum(after.units) - after.units)[stays]
    now = np.full(int(before.units.sum()), -1, np.int32)
    now[np.repeat(begins, sizes) + within] = np.repeat(firsts, sizes) + within
    is_fresh = np.repeat(~stays, after.units)
    segments = set(where.segment_of[~stays & (after.units > 0)].tolist())
    return _Carried(dict(hits), now, is_fresh, Segments(segments))


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
    return _ordered(units, counts)


def _ordered(units: Ints, counts: Bytes) -> Hits:
    if not (units[1:] > units[:-1]).all():
        order = np.argsort(units, kind="stable")
        units, counts = units[order], counts[order]
    # Field by field, as they are asked for: twice as fast to go through.
    return Hits(units, np.asfortranarray(counts))
