"""One session's row in the books: what it said, packed, and what of it is counted for good."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec
from msgspec import Struct

_ENTRY = "I"
_NUMBER = "Q"
_ENTRY_BYTES = array(_ENTRY).itemsize


class Record(Struct, frozen=True, gc=False, array_like=True):
    """One record of a session: its entry id in 32 bits, and the identities that it adds."""

    entry: int
    adds: tuple[int, ...]


class Said(Struct, frozen=True, array_like=True):
    """What a session said: its entries (packed), and how often each identity is in them.

    `records` are kept of a fork alone: which of them are its own depends on its parent. `settled`
    are entries that lie in the counts for good. `ghost` are counts taken over from a pool whose
    books are lost: what a session is known to have added before it is read again.
    """

    entries: bytes = b""
    counts: dict[int, int] = {}
    records: tuple[Record, ...] = ()
    settled: bytes = b""
    ghost: dict[int, int] = {}


class Row(Struct, frozen=True, gc=False, array_like=True):
    """One session: where its log was last seen, the session it was forked from, what it said.

    What it said is kept encoded: there may be thousands of sessions, and few are touched.
    """

    path: str
    parent: str
    digest: str
    said: bytes


class Gone(Struct, frozen=True, gc=False, array_like=True):
    """A session that lies in the counts for good and has no row any more.

    `session` is a hash of its name, and its first `records` records are those whose entry ids add
    up to `check`: a log that has grown since is known again by them. Of one that comes from a pool
    whose books are lost only the digest is known; its `session` is 0.
    """

    digest: str
    session: int = 0
    records: int = 0
    check: int = 0


_SAID = msgspec.msgpack.Decoder(Said)
encode_said = msgspec.msgpack.Encoder().encode


def said_by(row: Row | None) -> Said:
    """What a session said."""
    return Said() if row is None else _SAID.decode(row.said)


def is_sound(row: Row) -> bool:
    """Whether what a row holds encoded can be decoded."""
    try:
        said = said_by(row)
    except msgspec.MsgspecError:
        return False
    return (len(said.entries) | len(said.settled)) % _ENTRY_BYTES == 0


def packed(entries: Iterable[int]) -> bytes:
    """Entry ids, four bytes each."""
    return array(_ENTRY, entries).tobytes()


def listed(entries: bytes) -> array[int]:
    """The entry ids of a packed list, in order."""
    return array(_ENTRY, entries)


def unpacked(entries: bytes) -> frozenset[int]:
    """The entry ids of a packed list."""
    return frozenset(array(_ENTRY, entries))


def known_to(row: Row) -> frozenset[int]:
    """Every entry id that a session is known to hold."""
    said = said_by(row)
    return unpacked(said.entries + said.settled)


def entry_number(entry: str | None, offset: int, adds: Sequence[int]) -> int:
    """An entry id in 32 bits: the id itself where it is eight hex digits, as Pi writes it.

    A record without one is known by its place in the log and by what it adds.
    """
    if entry is not None and len(entry) == 8 and entry.isalnum() and entry.isascii():
        try:
            return int(entry, 16)
        except ValueError:
            pass
    if entry is None:
        name = b"@%d:" % offset + array(_NUMBER, adds).tobytes()
    else:
        name = entry.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=4).digest(), "big")


def name_hash(session: str) -> int:
    """A session's name in 63 bits, never 0."""
    raw = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big") >> 1 or 1


def gone_with(row: Row, session: str, before: Gone | None = None) -> Gone:
    """What is remembered of a session whose row is given up, beside what was given up before."""
    said = said_by(row)
    entries = listed(said.settled + said.entries)
    if not entries:
        return before or Gone(row.digest)
    records = len(entries) + (0 if before is None else before.records)
    check = sum(entries) + (0 if before is None else before.check)
    return Gone(row.digest, name_hash(session), records, check % 2**63)


def prefix_of(gone: Gone, records: Sequence[Record]) -> frozenset[int]:
    """The entry ids of a log's first records, where those are what was given up; else none."""
    first = [record.entry for record in records[: gone.records]]
    known = len(first) == gone.records and sum(first) % 2**63 == gone.check
    return frozenset(first) if known else frozenset()
