"""`surface.json`: the declared surface, written by the agent and only read here."""

from __future__ import annotations

from pathlib import Path

from fabricd.core.documents import BadDocument
from fabricd.core.model import Surface
from fabricd.core.steps import Steps, finish
from fabricd.core.surface import surface_steps
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded

MAX_BYTES = 64 * 1024 * 1024


def read(path: Path, pipes: bool = False) -> bytes | Missing | Damaged:
    """The bytes of a surface file."""
    return read_bounded(path, MAX_BYTES, pipes)


def parse_steps(path: Path, data: bytes) -> Steps[Load[Surface]]:
    """Parse a surface file's bytes, yielding while they are hashed."""
    try:
        surface = yield from surface_steps(data)
    except BadDocument as error:
        return Damaged(path, str(error))
    return Loaded(surface, data)


def load(path: Path, pipes: bool = False) -> Load[Surface]:
    """Read and parse in one go: for offline commands."""
    data = read(path, pipes)
    return finish(parse_steps(path, data)) if isinstance(data, bytes) else data
