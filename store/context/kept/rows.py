"""Rows of receipts.db as values, and back. What a column holds is never trusted to be its type."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, TypeAlias

import zstandard
from msgspec import MsgspecError, Struct
from msgspec.json import Decoder, encode

from fabricd.core.context.chain import Gap, Kept, Row
from fabricd.core.context.receipt import Item

LARGEST = 64 * 1024 * 1024

# Of an answer the pieces between the texts of its items, and the numbers of those items.
Pieces: TypeAlias = tuple[str | int, ...]

ROW = (
    "SELECT seq, receipt, prev, generation, started_at, verified_at, refreshed, session, root,"
    " digest FROM chain"
)
GAP = "SELECT first, last, prev, head, root, digest FROM forgotten"

_PIECES = Decoder(Pieces)


class Stored(Struct, frozen=True):
    """An answer as it is stored beside its receipt."""

    body: bytes
    offers: bytes | None


class Broken(ValueError):
    """A stored value is not as it was written."""


def bound(text: str) -> str:
    """A text that SQLite takes: without lone surrogates, which some paths have."""
    return text.encode("utf-8", "backslashreplace").decode()


def digest_of(*parts: str | bytes | None) -> str:
    """The digest of a row's other columns, hex."""
    state = sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        size = "-" if raw is None else str(len(raw))
        state.update(f"{size}:".encode())
        state.update(raw or b"")
    return state.hexdigest()


def compressed(data: bytes) -> bytes:
    """What is stored of bytes that are large and alike."""
    return zstandard.ZstdCompressor(level=3).compress(data)


def decompressed(data: bytes) -> bytes:
    """The bytes again.

    Raises:
        Broken: they cannot be read.
    """
    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=LARGEST)
    except (zstandard.ZstdError, MemoryError) as error:
        raise Broken("it cannot be decompressed") from error


def pieces_of(answer: str, items: Iterable[Item], texts: dict[int, str]) -> Pieces:
    """An answer in pieces: what of it is the text of an item is named by number alone."""
    pieces: list[str | int] = []
    position = 0
    for item in items:
        text = texts[item.n]
        found = answer.find(text, position) if text and item.level != "reference" else -1
        if found < 0:
            continue
        pieces += [answer[position:found], item.n]
        position = found + len(text)
    pieces.append(answer[position:])
    return tuple(pieces)


def joined(pieces: Pieces, texts: dict[int, str]) -> str:
    """The answer again.

    Raises:
        Broken: a piece names no item.
    """
    try:
        return "".join(texts[piece] if isinstance(piece, int) else piece for piece in pieces)
    except KeyError as error:
        raise Broken("it names an item that is not in the receipt") from error


def packed(pieces: Pieces) -> bytes:
    """What is stored of pieces."""
    return compressed(encode(pieces))


def unpacked(body: bytes) -> Pieces:
    """The pieces again.

    Raises:
        Broken: they cannot be read.
    """
    try:
        return _PIECES.decode(decompressed(body))
    except MsgspecError as error:
        raise Broken("its pieces cannot be read") from error


def row_of(columns: tuple[Any, ...]) -> Kept:
    """A row of `ROW`."""
    seq, receipt, prev, generation, started, verified, refreshed, session, root, digest = columns
    row = Row(
        _number(seq),
        _word(receipt),
        _word(prev),
        _number(generation),
        _number(started),
        _number(verified),
        _number(refreshed),
        None if session is None else _word(session),
        _word(root),
    )
    return Kept(row, _word(digest))


def gap_of(columns: tuple[Any, ...]) -> Kept:
    """A row of `GAP`."""
    first, last, prev, head, root, digest = columns
    gap = Gap(_number(first), _number(last), _word(prev), _word(head), _word(root))
    return Kept(gap, _word(digest))


def _number(value: object) -> int:
    # Never written, so that a column of another type does not match the digest of its row.
    return value if isinstance(value, int) else -1


def _word(value: object) -> str:
    return value if isinstance(value, str) else "\0"
