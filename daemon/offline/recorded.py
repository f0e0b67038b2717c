"""The recordings of a session log: one walk over its bytes, without evidence or cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabricd.core.sessions.pi import MARK
from fabricd.core.sessions.records import BLOCK, Block, Tail, split
from fabricd.core.sessions.samples import Recording, recordings
from fabricd.store.sessions import OpenLog


def recorded(path: bytes, progress: Callable[[int], None] | None = None) -> Iterator[Recording]:
    """Every accepted trace of a log with its audits, in order; a complete open end counts.

    Args:
        progress: told the size of each stretch that was read.

    Raises:
        OSError: the log could not be read.
    """
    tail = Tail()
    position = 0
    with OpenLog(path) as log:
        while piece := log.read(position, BLOCK):
            position += len(piece)
            if progress is not None:
                progress(len(piece))
            found = split(piece, tail)
            tail = found.tail
            for block in found.blocks:
                yield from _of_block(block)
    if MARK in tail.data:
        yield from recordings(tail.data)


def _of_block(block: Block) -> Iterator[Recording]:
    data, position, high = block.data, block.low, block.high
    while (hit := data.find(MARK, position, high)) >= 0:
        start = data.rfind(b"\n", position, hit) + 1 or position
        end = data.find(b"\n", hit)
        yield from recordings(data[start:end])
        position = end + 1
