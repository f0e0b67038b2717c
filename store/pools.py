"""The observation pool on disk: its public file, and the private books it is exported from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.pool.file import Pool, pool_bytes, pool_of
from fabricd.core.pool.ledger import Ledger
from fabricd.core.pool.rows import Gone, Row, is_sound
from fabricd.core.pool.values import Identity, is_value
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded, shown
from fabricd.store.versions import UNREADABLE, is_of_another

K = TypeVar("K")
V = TypeVar("V")

MAX_BYTES = 64 * 1024 * 1024
VERSION = 1
_PIECE = 1024


class DamagedPool(RuntimeError):
    """Raised by `save`: the file on disk is damaged and is not overwritten."""

    def __init__(self, damage: Damaged) -> None:
        super().__init__(f"{shown(damage.path)} is damaged: {damage.reason}")
        self.damage = damage


def load(path: Path) -> Load[Pool]:
    """Read the pool."""
    data = read_bounded(path, MAX_BYTES)
    if not isinstance(data, bytes):
        return data
    try:
        pool = pool_of(strict_json(data))
    except BadDocument as error:
        return Damaged(path, str(error))
    if pool is None:
        return Damaged(path, "it is no observation pool of version 1")
    return Loaded(pool, data)


def digest_of(data: bytes) -> str:
    """What the books remember of a pool's file."""
    return sha256(data).hexdigest()


def digested(path: Path) -> tuple[Load[Pool], str]:
    """Read the pool; also the digest of its bytes, empty where there are none to be had."""
    found = load(path)
    return found, digest_of(found.raw) if isinstance(found, Loaded) else ""


def encoded(pool: Pool) -> tuple[bytes, str]:
    """The bytes of a pool, and their digest."""
    data = pool_bytes(pool)
    return data, digest_of(data)


def save(path: Path, data: bytes) -> Literal["written", "already_written"]:
    """Save the bytes of a pool; bytes that are already there touch nothing.

    Raises:
        DamagedPool: the file on disk cannot be read as a pool.
        OSError: the file could not be written; the old one stands.
    """
    match load(path):
        case Damaged() as damage:
            raise DamagedPool(damage)
        case Loaded(raw=raw) if raw == data:
            return "already_written"
        case Loaded() | Missing():
            write_atomic(path, data)
            return "written"


class _Books(Struct, frozen=True):
    """The books on disk. The large ones in pieces: a coder lets no other thread run meanwhile."""

    version: int
    exported: str
    ceiling: int | None
    gone: list[Gone]
    identities: list[Raw]
    counts: list[Raw]
    rows: list[Raw]


_ENCODER = msgspec.msgpack.Encoder()
_BOOKS = msgspec.msgpack.Decoder(_Books)
_IDENTITIES = msgspec.msgpack.Decoder(dict[int, Identity])
_COUNTS = msgspec.msgpack.Decoder(dict[int, int])
_ROWS = msgspec.msgpack.Decoder(dict[str, Row])


def _pieces(items: Mapping[Any, Any]) -> list[Raw]:
    left = iter(items.items())
    return [Raw(_ENCODER.encode(dict(islice(left, _PIECE)))) for _ in range(0, len(items), _PIECE)]


def _joined(decoder: msgspec.msgpack.Decoder[dict[K, V]], pieces: Iterable[Raw]) -> dict[K, V]:
    joined: dict[K, V] = {}
    for piece in pieces:
        joined |= decoder.decode(piece)
    return joined


def load_ledger(path: Path) -> Load[tuple[Ledger, str]]:
    """The books, and the digest of the pool that was exported from them last.

    Books of another version count as missing: they are rebuilt.
    """
    data = read_bounded(path, MAX_BYTES)
    if isinstance(data, (Missing, Damaged)):
        return data
    try:
        books = _BOOKS.decode(data)
        if books.version != VERSION:
            return Missing()
        ledger = Ledger(
            _joined(_IDENTITIES, books.identities),
            _joined(_COUNTS, books.counts),
            _joined(_ROWS, books.rows),
            books.gone,
            books.ceiling,
        )
    except UNREADABLE as error:
        return Missing() if is_of_another(data, VERSION) else Damaged(path, str(error)[:200])
    if not all(map(is_sound, ledger.rows.values())):
        return Damaged(path, "a session's row cannot be decoded")
    if not all(map(is_value, ledger.identities.values())):
        return Damaged(path, "a number in it is none")
    return Loaded((ledger, books.exported), b"")


def save_ledger(path: Path, ledger: Ledger, exported: str) -> None:
    """Write the books.

    Raises:
        OSError: they could not be written; the old ones stand.
    """
    books = _Books(
        VERSION,
        exported,
        ledger.ceiling,
        ledger.gone,
        _pieces(ledger.identities),
        _pieces(ledger.counts),
        _pieces(ledger.rows),
    )
    write_atomic(path, _ENCODER.encode(books))
