"""Repaired calls in the gateway's logs, each read once: cursors, and what lies behind them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from fabricd.core.value.gateway import Run, run_in, turn_in
from fabricd.core.value.own import Turn
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Missing, read_bounded, shown
from fabricd.store.sessions import OpenLog

_MAX_CURSORS = 16 * 1024 * 1024
_PIECE = 4 * 1024 * 1024


class Cursor(Struct, frozen=True):
    """How far a log was read; `run` is what its first line said."""

    inode: int
    offset: int
    run: Run | None


_CURSORS = msgspec.json.Decoder(dict[str, Cursor])


def load(path: Path) -> dict[str, Cursor]:
    """The cursors of an earlier run. Losing them costs reading the logs again, and nothing else."""
    data = read_bounded(path, _MAX_CURSORS)
    if isinstance(data, (Missing, Damaged)):
        return {}
    try:
        return _CURSORS.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def save(path: Path, cursors: Mapping[str, Cursor]) -> None:
    """Keep the cursors.

    Raises:
        OSError: they could not be written; the old ones stand.
    """
    write_atomic(path, msgspec.json.encode(cursors, order="sorted"))


def read_on(path: Path, cursor: Cursor | None) -> tuple[Cursor, list[tuple[Run, Turn]]]:
    """What the whole lines behind a cursor tell, and the cursor behind them.

    Raises:
        OSError: the log cannot be read.
    """
    found: list[tuple[Run, Turn]] = []
    with OpenLog(bytes(path)) as log:
        stat = log.stat()
        if cursor is None or cursor.inode != stat.inode or cursor.offset > stat.size:
            cursor = Cursor(stat.inode, 0, None)
        offset, run, tail = cursor.offset, cursor.run, b""
        while piece := log.read(offset + len(tail), _PIECE):
            *lines, tail = (tail + piece).split(b"\n")
            for line in lines:
                offset += len(line) + 1
                if run is None:
                    run = run_in(line)
                elif (turn := turn_in(line, run.session, shown(path.name))) is not None:
                    found.append((run, turn))
    return Cursor(stat.inode, offset, run), found
