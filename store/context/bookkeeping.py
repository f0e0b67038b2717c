"""The books of this machine: agents' logs, read for the receipts that they show."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

from fabricd.core.context.asking import Refused
from fabricd.core.context.books import Books, Delivered, Ledger, delivered_of
from fabricd.core.context.watching import book_log
from fabricd.core.sessions.adapting import Adapter
from fabricd.core.sessions.lines import read_lines, read_open_end
from fabricd.core.sessions.records import BLOCK, Malformed, Tail
from fabricd.core.sessions.sniff import HEAD, sniff
from fabricd.core.steps import Steps
from fabricd.core.trajectory.sessions.reading import Unread, read_document, reader_for
from fabricd.store.compressed import WINDOW
from fabricd.store.context.bookkeeping_opencode import read_database
from fabricd.store.context.receipts import ReceiptStore
from fabricd.store.logs import MAX_DOCUMENT
from fabricd.store.sources import LogFile, list_stores, places

_ID = re.compile(rb"cr_[0-9a-f]{16}")
_OVERLAP = 18
_ZST = b".zst"
_LARGEST = 4 * 1024 * 1024 * 1024
# A log that was last written before the first receipt shows none; file systems round moments.
_SLACK = 60.0


def booked(
    store: ReceiptStore,
    env: Mapping[str, str],
    count: Callable[[str], int],
    root: str | None = None,
) -> Steps[Books]:
    """The books of all sessions whose logs are found in this environment.

    Yields between pieces of logs. Only those are read through in which a receipt's id stands.

    Args:
        count: the tokens of a text.
        root: the project; all of them where none is named.

    Raises:
        Refused: the receipts cannot be read.
    """
    rows = store.deliveries(root)
    known: dict[str, Delivered] = {}
    for receipt, found in rows.items():
        roots = sorted({row.root for row in found})
        try:
            known[receipt] = delivered_of(store.load(receipt, roots[0]), roots, os.path.realpath)
        except Refused:
            # What was purged, or changed, is no longer known by its tokens.
            continue
        yield
    ledger = Ledger(count, known.get, store.fetches(root), os.path.realpath)
    begun = min((row.started_at for found in rows.values() for row in found), default=0) / 1000
    if known:
        wanted = frozenset(name.encode() for name in known)
        stores = list_stores(places(env))
        for file in stores.files:
            if file.stat.st_mtime >= begun - _SLACK:
                yield from _file(file, ledger, wanted)
        for file in stores.databases:
            # A database that cannot be read is one that shows nothing.
            with contextlib.suppress(OSError, sqlite3.Error):
                yield from read_database(file.path, ledger, wanted)
    deliveries = [(name, known[name].used) for name in known for _ in rows[name]]
    return ledger.books(deliveries)


def _file(file: LogFile, ledger: Ledger, wanted: frozenset[bytes]) -> Steps[None]:
    try:
        with open(file.path, "rb") as stream:
            shows = yield from _shows(_blocks(file.path, stream), wanted)
            if shows:
                stream.seek(0)
                yield from _read(file.path, stream, ledger)
    except (OSError, Unread, Malformed, _Undone):
        # A log that cannot be read is one that shows nothing.
        return


class _Undone(ValueError):
    """A stream cannot be decompressed, or is too large."""


def _shows(blocks: Iterator[bytes], wanted: frozenset[bytes]) -> Steps[bool]:
    """Whether one of these ids stands in a log."""
    before = b""
    for block in blocks:
        data = before + block
        if any(found in wanted for found in _ID.findall(data)):
            return True
        before = data[-_OVERLAP:]
        yield
    return False


def _read(path: bytes, stream: BinaryIO, ledger: Ledger) -> Steps[None]:
    blocks = _blocks(path, stream)
    head = b""
    for block in blocks:
        head += block
        if len(head) >= HEAD:
            break
    found = sniff(head[:HEAD])
    if found is None:
        return
    log = book_log(found.agent, ledger, _stem(path))
    if found.is_document:
        data = yield from _whole(head, blocks)
        read_document(found.agent, data, log)
        return
    reader: Adapter = reader_for(found.agent, log)
    tail = yield from read_lines(head, Tail(), reader, log.table.losses)
    for block in blocks:
        tail = yield from read_lines(block, tail, reader, log.table.losses)
        yield
    read_open_end(tail, reader, log.table)


def _whole(head: bytes, blocks: Iterator[bytes]) -> Steps[bytes]:
    parts, size = [head], len(head)
    for block in blocks:
        parts.append(block)
        size += len(block)
        if size > MAX_DOCUMENT:
            raise _Undone("too large")
        yield
    return b"".join(parts)


def _blocks(path: bytes, stream: BinaryIO) -> Iterator[bytes]:
    if not path.endswith(_ZST):
        while block := stream.read(BLOCK):
            yield block
        return
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    size = 0
    try:
        with decompressor.stream_reader(stream, read_across_frames=True, closefd=False) as plain:
            while block := plain.read(BLOCK):
                size += len(block)
                if size > _LARGEST:
                    raise _Undone("too large")
                yield block
    except (zstandard.ZstdError, MemoryError) as error:
        raise _Undone(str(error)) from error


def _stem(path: bytes) -> str:
    name = os.path.basename(path).removesuffix(_ZST)
    for ending in (b".jsonl", b".json"):
        name = name.removesuffix(ending)
    return name.decode("utf-8", "backslashreplace")
