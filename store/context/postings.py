"""Where terms occur: one row for each term of a segment.

A segment holds the units of the blobs that were indexed together, counted from 0. Its rows lie side
by side, so that a new segment is written at the end of the tree, and a query looks into the
segments of its own root alone. A row is a head (a check over all of it and its term, the number of
units, their width), the units, a code for the counts of each, and the counts that have no code.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from struct import Struct
from typing import NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt

from fabricd.store.context.failures import IndexDamaged

FIELDS = 4
Counts: TypeAlias = tuple[int, int, int, int]
Numbers: TypeAlias = "npt.NDArray[np.int64]"
Narrow: TypeAlias = "npt.NDArray[np.uint32]"
Units: TypeAlias = "npt.NDArray[np.uint16 | np.uint32]"
Bytes: TypeAlias = "npt.NDArray[np.uint8]"

_HEAD = Struct("<IIB")
_CODED = list(product(range(2), range(3), range(4), range(10)))
_UNCODED = 255
_NARROW = 1 << 16


class _Codes(dict[Counts, int]):
    """The code of counts; those that have none are not remembered."""

    def __missing__(self, key: Counts) -> int:
        return _UNCODED


_CODE_OF = _Codes({counts: code for code, counts in enumerate(_CODED)})
_COUNTS_OF = np.zeros((256, FIELDS), np.uint8)
_COUNTS_OF[: len(_CODED)] = _CODED


class Records(NamedTuple):
    """Units of several segments, and their counts. `rows` tells (segment, how many), in order."""

    rows: list[tuple[int, int]]
    units: Numbers
    counts: Bytes


class Terms(dict[str, int]):
    """The terms of a segment that is not written yet, numbered as they come."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class Entries(NamedTuple):
    """The rows of some units, in five bytes each: numbers of terms, codes of counts.

    Attributes:
        sizes: how many are each unit's.
        uncoded: by place, counts that have no code.
    """

    terms: Narrow
    codes: bytes
    sizes: list[int]
    uncoded: dict[int, bytes]


def entries_of(units: Sequence[Mapping[str, Counts]], terms: Terms) -> Entries:
    """The rows of units from their terms, which are numbered by `terms`."""
    sizes = list(map(len, units))
    every = chain.from_iterable(units)
    numbers = np.fromiter(map(terms.__getitem__, every), np.uint32, sum(sizes))
    counts = chain.from_iterable(map(_values, units))
    codes = bytes(map(_CODE_OF.__getitem__, counts))
    uncoded: dict[int, bytes] = {}
    if _UNCODED in codes:
        counts = chain.from_iterable(map(_values, units))
        pairs = enumerate(zip(codes, counts, strict=True))
        uncoded = {at: _bytes(one) for at, (code, one) in pairs if code == _UNCODED}
    return Entries(numbers, codes, sizes, uncoded)


def _values(unit: Mapping[str, Counts]) -> Iterable[Counts]:
    return unit.values()


def _bytes(counts: Counts) -> bytes:
    return bytes(min(count, 255) for count in counts)


class Gathering:
    """The rows of a segment that is not written yet: those of its units, in their order."""

    def __init__(self, terms: Terms, entries: Sequence[Entries]) -> None:
        """Gather them.

        Args:
            terms: what numbers the terms of these entries, and perhaps of others.
        """
        self._terms = terms
        self._numbers = np.concatenate([one.terms for one in entries])
        self._codes = np.frombuffer(b"".join([one.codes for one in entries]), np.uint8)
        sizes = np.array([size for one in entries for size in one.sizes], np.int64)
        self._number = len(sizes)
        self._units: Units = np.repeat(np.arange(len(sizes), dtype=_kind_of(len(sizes))), sizes)
        self._uncoded: dict[int, bytes] = {}
        begin = 0
        for one in entries:
            for at, counts in one.uncoded.items():
                self._uncoded[begin + at] = counts
            begin += len(one.codes)

    def sums(self) -> Numbers:
        """The sums of the counts in each field, a row for each unit."""
        counts = _COUNTS_OF[self._codes]
        for at, uncoded in self._uncoded.items():
            counts[at] = tuple(uncoded)
        sums = [np.bincount(self._units, counts[:, field], self._number) for field in range(FIELDS)]
        return np.stack(sums, axis=1).astype(np.int64)

    def write(self, connection: sqlite3.Connection, segment: int) -> None:
        """Write the segment."""
        # Rows go in one behind the other.
        ordered = sorted(self._terms)
        order, sizes = self._order(ordered)
        codes = self._codes[order]
        uncoded = order[codes == _UNCODED].tolist()
        rest = b"".join(map(self._uncoded.__getitem__, uncoded))
        _insert(connection, segment, ordered, sizes, self._units[order], codes, rest)

    def _order(self, ordered: Sequence[str]) -> tuple[Numbers, Numbers]:
        """The places of all rows, term by term, and how many are of each."""
        # Numbers of two bytes are sorted in a tenth of the time.
        rank = np.empty(len(ordered), _kind_of(len(ordered)))
        rank[[self._terms[term] for term in ordered]] = np.arange(len(ordered))
        term_of = rank[self._numbers]
        return np.argsort(term_of, kind="stable"), np.bincount(term_of, minlength=len(ordered))


def _kind_of(number: int) -> type[np.uint16 | np.uint32]:
    """What numbers below a number are kept in."""
    return np.uint16 if number <= _NARROW else np.uint32


def _insert(
    connection: sqlite3.Connection,
    segment: int,
    terms: Sequence[str],
    sizes: Numbers,
    units: Numbers | Units,
    codes: Bytes,
    rest: bytes,
) -> None:
    """Insert rows.

    Args:
        sizes: how many of the records are of each term; of none is no row.
        rest: the counts of those records that have no code.
    """
    is_narrow = not len(units) or int(units.max()) < _NARROW
    width = 2 if is_narrow else 4
    unit_bytes = units.astype("<u2" if is_narrow else "<u4", copy=False).tobytes()
    code_bytes = codes.tobytes()
    ends = np.cumsum(sizes)
    rests = np.searchsorted(np.flatnonzero(codes == _UNCODED), ends)

    def rows() -> Iterable[tuple[int, str, bytes]]:
        begin = rest_begin = 0
        for term, end, rest_end in zip(terms, ends.tolist(), rests.tolist(), strict=True):
            if end == begin:
                continue
            body = unit_bytes[begin * width : end * width] + code_bytes[begin:end]
            if rest_end > rest_begin:
                body += rest[rest_begin * FIELDS : rest_end * FIELDS]
            check = crc32(body, crc32(term.encode()))
            yield segment, term, _HEAD.pack(check, end - begin, width) + body
            begin, rest_begin = end, rest_end

    connection.executemany("INSERT INTO postings VALUES (?, ?, ?)", rows())


class Segments:
    """A set of segments that is asked together."""

    def __init__(self, segments: Iterable[int]) -> None:
        numbers = ",".join(map(str, sorted(segments)))
        self._query = f"""
        SELECT segment, data FROM postings WHERE segment IN ({numbers}) AND term = ?
        """

    def term(self, connection: sqlite3.Connection, term: str) -> Records:
        """The records of a term, segment by segment.

        Raises:
            IndexDamaged: a row is not as it was written.
            sqlite3.Error.
        """
        return _decoded(connection.execute(self._query, (term,)).fetchall(), term)


def _decoded(rows: Sequence[tuple[int, object]], term: str) -> Records:
    units: list[npt.NDArray[np.unsignedinteger]] = []
    codes: list[bytes] = []
    rest: list[bytes] = []
    sizes: list[tuple[int, int]] = []
    seed = crc32(term.encode())
    for segment, data in rows:
        number, width = _sound(data, seed)
        assert isinstance(data, bytes)
        middle = _HEAD.size + number * width
        kind = "<u2" if width == 2 else "<u4"
        units.append(np.frombuffer(data, kind, number, _HEAD.size))
        codes.append(data[middle : middle + number])
        rest.append(data[middle + number :])
        sizes.append((segment, number))
    if not sizes:
        return Records([], np.zeros(0, np.int64), np.zeros((0, FIELDS), np.uint8))
    code = np.frombuffer(b"".join(codes), np.uint8)
    counts = _COUNTS_OF.take(code, axis=0)
    uncoded = np.frombuffer(b"".join(rest), np.uint8).reshape(-1, FIELDS)
    if len(uncoded):
        counts[code == _UNCODED] = uncoded
    return Records(sizes, np.concatenate(units).astype(np.int64), counts)


def _sound(data: object, seed: int) -> tuple[int, int]:
    """The number of units of a row and their width."""
    if isinstance(data, bytes) and len(data) >= _HEAD.size:
        check, number, width = _HEAD.unpack_from(data)
        if crc32(memoryview(data)[_HEAD.size :], seed) == check and width in (2, 4):
            least = _HEAD.size + number * (width + 1)
            codes = data[least - number : least]
            if len(data) == least + FIELDS * codes.count(_UNCODED):
                return number, width
    raise IndexDamaged("the context index is damaged: a row of its postings is not as written")


def merge(
    connection: sqlite3.Connection, moves: Mapping[int, Sequence[tuple[int, int, int]]], into: int
) -> None:
    """Make one new segment of several.

    Args:
        moves: for each of them what stays of it, in ascending order: first unit, number of units,
            and the first unit in the new segment. It leaves out what is no more.

    Raises:
        IndexDamaged, sqlite3.Error.
    """
    maps = {segment: _map_of(spans) for segment, spans in moves.items()}
    numbers = ",".join(map(str, moves))
    query = f"SELECT term, segment, data FROM postings WHERE segment IN ({numbers})"
    found: dict[str, list[tuple[int, object]]] = {}
    for term, segment, data in connection.execute(query):
        found.setdefault(term, []).append((segment, data))
    terms = sorted(found)
    sizes: list[int] = []
    units: list[Numbers] = []
    counts: list[Bytes] = []
    for term in terms:
        records = _decoded(found[term], term)
        moved = np.concatenate(_moved(records, maps))
        order = np.argsort(moved, kind="stable")[np.count_nonzero(moved < 0) :]
        units.append(moved[order])
        counts.append(records.counts[order])
        sizes.append(len(order))
    connection.execute(f"DELETE FROM postings WHERE segment IN ({numbers})")
    if terms:
        every = np.concatenate(counts)
        codes = np.frombuffer(
            bytes(_CODE_OF[a, b, c, d] for a, b, c, d in every.tolist()), np.uint8
        )
        _insert(
            connection,
            into,
            terms,
            np.array(sizes, np.int64),
            np.concatenate(units),
            codes,
            every[codes == _UNCODED].tobytes(),
        )


def _map_of(spans: Sequence[tuple[int, int, int]]) -> Numbers:
    """For each unit of a segment where it goes; -1 where it is no more, as is the last."""
    size = max((first + number for first, number, _ in spans), default=0)
    places = np.full(size + 1, -1, np.int64)
    for first, number, to in spans:
        places[first : first + number] = np.arange(to, to + number)
    return places


def _moved(records: Records, maps: Mapping[int, Numbers]) -> list[Numbers]:
    moved: list[Numbers] = []
    begin = 0
    for segment, number in records.rows:
        places = maps[segment]
        units = records.units[begin : begin + number]
        moved.append(places[np.minimum(units, len(places) - 1)])
        begin += number
    return moved
