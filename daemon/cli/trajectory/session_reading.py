"""Agents' logs that were named, or the last one that was written, read whole for a trajectory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from fabricd.core.history.calls import AgentName
from fabricd.core.sessions.adapting import Adapter
from fabricd.core.sessions.lines import read_lines, read_open_end
from fabricd.core.sessions.records import BLOCK, Malformed, Tail
from fabricd.core.sessions.sniff import HEAD, sniff
from fabricd.core.steps import finish
from fabricd.core.trajectory.sessions.joining import Source
from fabricd.core.trajectory.sessions.matching import Log, new_log
from fabricd.core.trajectory.sessions.reading import Unread, read_document, reader_for
from fabricd.daemon.cli.trajectory.session_stores import (
    is_database,
    is_tree,
    read_database,
    read_tree,
)
from fabricd.store.compressed import WINDOW
from fabricd.store.logs import MAX_DOCUMENT, NotALog
from fabricd.store.sessions import OpenLog

_ZST = b".zst"
_ENDINGS = (b".zst", b".jsonl", b".json")


def read_source(path: bytes, session: str | None = None) -> Source:
    """Read a log, a database or a storage tree.

    Args:
        session: which one, of a store of several.

    Raises:
        OSError: it could not be read.
        NotALog: it is no session log, or of several sessions. The message says what.
    """
    if os.path.isdir(path):
        if not is_tree(path):
            raise NotALog("a directory, and no storage of OpenCode")
        return Source(read_tree(path, session))
    if is_database(path):
        return Source(read_database(path, session))
    try:
        return Source(_read_file(path), _stem(path))
    except Unread as error:
        raise NotALog(str(error)) from None
    except Malformed as error:
        raise NotALog(f"the document is damaged: {error}") from None


def _stem(path: bytes) -> str:
    name = os.path.basename(path)
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name.decode("utf-8", "backslashreplace")


def _read_file(path: bytes) -> Log:
    if path.endswith(_ZST):
        with open(path, "rb") as file:
            return _read_blocks(_decompressed(file))
    with OpenLog(path) as file:
        size = file.stat().size
        found = sniff(file.read(0, HEAD))
        if found is not None and found.is_document:
            if size > MAX_DOCUMENT:
                raise NotALog(f"a document of more than {MAX_DOCUMENT >> 20} MiB is not read")
            log = new_log(found.agent)
            read_document(found.agent, b"".join(_blocks(file)), log)
            return log
        return _read_blocks(_blocks(file))


def _blocks(file: OpenLog) -> Iterator[bytes]:
    position = 0
    while block := file.read(position, BLOCK):
        position += len(block)
        yield block


def _decompressed(file: BinaryIO) -> Iterator[bytes]:
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    try:
        with decompressor.stream_reader(file, read_across_frames=True) as stream:
            while block := stream.read(BLOCK):
                yield block
    except zstandard.ZstdError as error:
        raise NotALog(f"cannot be decompressed: {error}") from None


def _read_blocks(blocks: Iterable[bytes]) -> Log:
    log: Log | None = None
    reader: Adapter | None = None
    tail, head = Tail(), b""
    for block in blocks:
        if log is None or reader is None:
            # A stream may begin with pieces that are too small to tell whose it is.
            head += block
            if len(head) < HEAD:
                continue
            block = head
            log, reader = _begun(head)
        tail = finish(read_lines(block, tail, reader, log.table.losses))
    if log is None or reader is None:
        log, reader = _begun(head)
        tail = finish(read_lines(head, tail, reader, log.table.losses))
    read_open_end(tail, reader, log.table)
    return log


def _begun(head: bytes) -> tuple[Log, Adapter]:
    found = sniff(head[:HEAD])
    if found is None or found.is_document:
        raise NotALog("not a session log of a known agent" if head else "empty")
    agent: AgentName = found.agent
    log = new_log(agent)
    return log, reader_for(agent, log)
