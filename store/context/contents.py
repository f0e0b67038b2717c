"""What is kept of a content, as it lies in the index and as it is asked for: unit by unit.

Of most files an answer looks at one or two units. So each has a message of its own within the
file's, which is read when it is asked for; the others stay small.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
import zstandard
from msgspec import Struct

from fabricd.core.context.corpus import Indexed, UnitFacts, units_of
from fabricd.core.context.model import Analysed, Signal, Span
from fabricd.store.context.failures import IndexDamaged

T = TypeVar("T")

_CACHE = 8 * 1024 * 1024
_LARGEST = 64 * 1024 * 1024
# Read, a unit takes about so many times the bytes of its message; unread, so many more than those.
_GROWTH = 4
_ENTRY, _UNREAD = 600, 50
_NOT_AS_WRITTEN = "the context index is damaged: a blob is not as written"


class _Stored(Struct, frozen=True, array_like=True):
    """A file, its units as messages."""

    lines: int
    spans: tuple[Span, ...]
    signals: tuple[Signal, ...]
    units: list[bytes]


_ENCODER = msgspec.msgpack.Encoder()
_FILE = msgspec.msgpack.Decoder(_Stored)
_UNIT = msgspec.msgpack.Decoder(UnitFacts)


def packed(analysed: Analysed) -> bytes:
    """What is kept of an analysis beside its terms."""
    units = list(map(_ENCODER.encode, units_of(analysed)))
    lines = analysed.parsed.lines
    return _ENCODER.encode(_Stored(lines, analysed.spans, analysed.signals, units))


class _Units:
    """The units of a file, each read when it is asked for first."""

    def __init__(self, messages: list[bytes], entry: _Entry) -> None:
        self._units: list[bytes | UnitFacts] = [*messages]
        self._entry = entry

    def __getitem__(self, number: int, /) -> UnitFacts:
        found = self._units[number]
        if isinstance(found, bytes):
            message = found
            found = self._units[number] = self._entry.unit(message)
            self._entry.grow(_GROWTH * len(message))
        return found

    def __iter__(self) -> Iterator[UnitFacts]:
        return map(self.__getitem__, range(len(self._units)))


class _Entry:
    """A file in the cache, and about how many bytes it takes."""

    def __init__(self, cache: Cache, size: int) -> None:
        self._cache = cache
        self.size = size
        self.indexed: Indexed | None = None

    def grow(self, more: int) -> None:
        """Whoever was let go grows no more."""
        if self.indexed is not None:
            self.size += more
            self._cache.grow(more)

    def unit(self, message: bytes) -> UnitFacts:
        """A unit from its message. It may be read long after its file was."""
        try:
            return _read(_UNIT, message)
        except IndexDamaged as damage:
            self._cache.damaged(str(damage))
            raise


class Cache:
    """The contents that were asked for last, within a number of bytes."""

    def __init__(self, damaged: Callable[[str], None], limit: int = _CACHE) -> None:
        """`damaged` is told of damage that is found when nobody asks the index."""
        self.damaged = damaged
        self._kept: OrderedDict[int, _Entry] = OrderedDict()
        self._limit = limit
        self._bytes = 0
        # To make one takes half as long as to use it.
        self._decompressor = zstandard.ZstdDecompressor()

    def get(self, blob: int) -> Indexed | None:
        """What is kept of a blob, if it was asked for lately."""
        found = self._kept.get(blob)
        if found is None:
            return None
        self._kept.move_to_end(blob)
        return found.indexed

    def read(self, connection: sqlite3.Connection, blob: int) -> Indexed:
        """What is kept of a blob.

        Raises:
            IndexDamaged: it is not as it was written.
            sqlite3.Error.
        """
        if (found := self.get(blob)) is not None:
            return found
        query = "SELECT data FROM analysed WHERE blob = ?"
        row = connection.execute(query, (blob,)).fetchone()
        if row is None:
            raise IndexDamaged("the context index is damaged: a blob is missing")
        return self._keep(blob, row[0])

    def prepare(self, connection: sqlite3.Connection, wanted: Iterable[int]) -> None:
        """Keep blobs that will be asked for; what is missing is told by `read`.

        Raises:
            IndexDamaged, sqlite3.Error.
        """
        numbers = ",".join(str(blob) for blob in sorted(wanted) if self.get(blob) is None)
        query = f"SELECT blob, data FROM analysed WHERE blob IN ({numbers})"
        for blob, data in connection.execute(query) if numbers else ():
            self._keep(blob, data)

    def clear(self) -> None:
        """Keep nothing."""
        while self._kept:
            self._let_go(self._kept.popitem()[1])

    def _keep(self, blob: int, data: object) -> Indexed:
        plain = self._plain(data)
        stored: _Stored = _read(_FILE, plain)
        entry = _Entry(self, _ENTRY + len(plain) + _UNREAD * len(stored.units))
        units = _Units(stored.units, entry)
        indexed = entry.indexed = Indexed(stored.lines, stored.spans, stored.signals, units)
        if (former := self._kept.pop(blob, None)) is not None:
            self._let_go(former)
        self._kept[blob] = entry
        self.grow(entry.size)
        return indexed

    def grow(self, more: int) -> None:
        """So many bytes more are kept; the oldest contents make room for them."""
        self._bytes += more
        while self._bytes > self._limit and len(self._kept) > 1:
            self._let_go(self._kept.popitem(last=False)[1])

    def _let_go(self, entry: _Entry) -> None:
        self._bytes -= entry.size
        entry.indexed = None

    def _plain(self, data: object) -> bytes:
        try:
            if not isinstance(data, bytes):
                raise ValueError
            return self._decompressor.decompress(data, max_output_size=_LARGEST)
        except (zstandard.ZstdError, ValueError, MemoryError) as error:
            raise IndexDamaged(_NOT_AS_WRITTEN) from error


def _read(decoder: msgspec.msgpack.Decoder[T], data: bytes) -> T:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise IndexDamaged(_NOT_AS_WRITTEN) from error
