"""Checkpoints: the books of the sessions read last, in one file. Losing it costs a scan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from fabricd.core.book import ADAPTER, SessionBook
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded
from fabricd.store.versions import UNREADABLE, is_of_another

VERSION = 1
MAX_BYTES = 512 * 1024 * 1024


class _Row(Struct, frozen=True):
    path: bytes
    book: Raw


class _File(Struct, frozen=True):
    version: int
    adapter: str
    sessions: list[_Row]


_FILE = msgspec.msgpack.Decoder(_File)
_BOOK = msgspec.msgpack.Decoder(SessionBook)
_ENCODER = msgspec.msgpack.Encoder()


def encode_book(book: SessionBook) -> bytes | None:
    """The checkpoint of one session, or None: names without a UTF-8 form are scanned again."""
    try:
        return _ENCODER.encode(book.durable())
    except UnicodeEncodeError:
        return None


def save(path: Path, books: Iterable[tuple[bytes, bytes]]) -> int:
    """Write the encoded books of a pass into one file; gives its size.

    Raises:
        OSError: the file could not be written; the old one stands.
    """
    rows: list[_Row] = []
    room = MAX_BYTES // 2
    for name, book in books:
        room -= len(book)
        # What `load` would refuse is not worth writing: those sessions are scanned again.
        if room >= 0:
            rows.append(_Row(name, Raw(book)))
    data = _ENCODER.encode(_File(VERSION, ADAPTER, rows))
    write_atomic(path, data)
    return len(data)


def load(path: Path) -> Load[Mapping[bytes, SessionBook]]:
    """Read the books. A file of another version counts as missing: it is rebuilt."""
    data = read_bounded(path, MAX_BYTES)
    if isinstance(data, (Missing, Damaged)):
        return data
    try:
        file = _FILE.decode(data)
        if (file.version, file.adapter) != (VERSION, ADAPTER):
            return Missing()
        return Loaded({row.path: _BOOK.decode(row.book) for row in file.sessions}, b"")
    except UNREADABLE as error:
        return Missing() if is_of_another(data, VERSION) else Damaged(path, str(error)[:200])
