"""Logs that their agent compressed: read whole, as a stream, with a bounded window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from fabricd.core.history.calls import AgentName, CallTable
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from fabricd.core.sessions.lines import read_lines, read_open_end
from fabricd.core.sessions.records import BLOCK, Tail
from fabricd.core.sessions.sniff import HEAD, sniff
from fabricd.core.steps import finish
from fabricd.store.logs import Kept, NotALog, Progress, adapter_for, agent_by
from fabricd.store.sessions import OpenLog

if TYPE_CHECKING:
    import zstandard

WINDOW = 64 * 1024 * 1024
# A block of 128 KiB can come of four bytes: what is fed at once bounds what comes out, to 16 MiB.
_FED = 512
# No log of records shrinks to a thousandth: what does was made to fill the memory of its readers.
_RATIO = 1000
_SMALL = 64 * 1024 * 1024


class _Stream:
    """The plain bytes of a compressed log. `was_cut` says that its last frame has no end."""

    def __init__(self, log: OpenLog, progress: Progress | None = None) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
        self._log = log
        self._progress = progress
        self._position = 0
        self._plain_bytes = 0
        self.was_cut = False

    def blocks(self) -> Iterator[bytes]:
        """The content, in pieces of some size.

        Raises:
            OSError: the file could not be read.
            NotALog: the compression is damaged, needs too large a window or hides too much.
        """
        frame = self._decompressor.decompressobj()
        gathered: list[bytes] = []
        size = 0
        for data in self._fed():
            while data:
                if frame.eof:
                    frame = self._decompressor.decompressobj()
                gathered.append(self._plain(frame, data))
                size += len(gathered[-1])
                data = frame.unused_data if frame.eof else b""
            if size >= BLOCK:
                yield b"".join(gathered)
                gathered, size = [], 0
        self.was_cut = not frame.eof
        yield b"".join(gathered)

    def _fed(self) -> Iterator[bytes]:
        while data := self._log.read(self._position, BLOCK):
            if self._progress is not None:
                self._progress(len(data))
            for start in range(0, len(data), _FED):
                piece = data[start : start + _FED]
                self._position += len(piece)
                yield piece

    def _plain(self, frame: zstandard.ZstdDecompressionObj, data: bytes) -> bytes:
        try:
            plain = frame.decompress(data)
        except (self._error, MemoryError) as error:
            raise NotALog(f"cannot be decompressed: {error}") from None
        self._plain_bytes += len(plain)
        if self._plain_bytes > max(_SMALL, _RATIO * self._position):
            raise NotALog(f"would be more than {_RATIO:,} times as large when decompressed")
        return plain


def read_compressed(
    path: bytes, known: Kept | None, judge: Judge, progress: Progress | None = None
) -> Kept:
    """Read a compressed log; gives `known` itself where the file is as it was.

    Raises:
        OSError: it could not be read.
        NotALog: it is none, or damaged.
    """
    with OpenLog(path) as log:
        stat = log.stat()
        if known is not None and known.seen == stat:
            return known
        stream = _Stream(log, progress)
        blocks = stream.blocks()
        first = next(blocks)
        if stream.was_cut and not first:
            raise NotALog("cannot be decompressed: it is cut off before anything can be read")
        found = sniff(first[:HEAD])
        if found is None or found.is_document:
            raise NotALog("not a session log of a known agent" if stat.size else "empty")
        table = CallTable(found.agent)
        adapter = adapter_for(found.agent, Recorder(table, judge))
        tail = Tail()
        for block in chain((first,), blocks):
            tail = finish(read_lines(block, tail, adapter, table.losses))
        read_open_end(tail, adapter, table)
        table.losses.cut_tails = int(table.losses.cut_tails or stream.was_cut)
        return Kept("zst", table, stat)


def agent_of_compressed(path: bytes) -> AgentName:
    """Whose log a compressed file is, by the start of its content.

    Raises:
        OSError: it could not be read.
        NotALog: it is none, or damaged.
    """
    with OpenLog(path) as log:
        return agent_by(next(_Stream(log).blocks())[:HEAD])
