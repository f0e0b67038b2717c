"""Trajectories that were named on the command line, and one clear sentence where one is none."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from fabricd.core.plain import printable
from fabricd.daemon.cli.talk import Complaint
from fabricd.daemon.cli.trajectory.work import (
    Compared,
    Profiled,
    TooLarge,
    Unreadable,
    Validated,
    file_at,
    folder_report,
    profiled,
    sized,
    validated,
)

T = TypeVar("T")
_FAILURES = (ValueError, RecursionError)


def _bytes(name: str, limit: int) -> bytes:
    try:
        if name != "-":
            return file_at(Path(name), limit)
        data = sys.stdin.buffer.read(limit + 1)
    except Unreadable as error:
        hint = "; --max-bytes allows more" if isinstance(error, TooLarge) else ""
        raise Complaint(printable(f"{error}{hint}")) from None
    except (OSError, AttributeError, ValueError):
        raise Complaint("standard input cannot be read") from None
    if len(data) > limit:
        raise Complaint(f"standard input is larger than {sized(limit)}; --max-bytes allows more")
    return data


def _sound(name: str, ask: Callable[[], T]) -> T:
    try:
        return ask()
    except _FAILURES as error:
        shown = "standard input" if name == "-" else printable(name)
        raise Complaint(f"{shown} is no trajectory: {error}") from None


def profiled_at(name: str, limit: int) -> Profiled:
    """Measure a file of at most `limit` bytes, `-` for standard input.

    Raises:
        Complaint: it cannot be read or is no JSON.
    """
    return _sound(name, lambda: profiled(_bytes(name, limit)))


def validated_at(name: str, limit: int) -> Validated:
    """Validate a file of at most `limit` bytes, `-` for standard input.

    Raises:
        Complaint: it cannot be read or is no JSON.
    """
    return _sound(name, lambda: validated(_bytes(name, limit)))


def compared_at(names: Iterable[str], limit: int) -> Compared:
    """Measure several files of at most `limit` bytes each.

    Raises:
        Complaint: one cannot be read or is no JSON.
    """
    return Compared([profiled_at(name, limit).measurement for name in names])


def conformance_at(folder: str | None) -> tuple[dict[str, Any], str]:
    """The report on a folder of fixtures, and its line.

    Raises:
        Complaint: a file there cannot be judged.
    """
    try:
        return folder_report(folder)
    except _FAILURES as error:
        raise Complaint(printable(str(error))) from None


def sound_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces as they are made.

    Raises:
        Complaint: one of them cannot be.
    """
    try:
        yield from pieces
    except _FAILURES as error:
        raise Complaint(f"a result cannot be written: {printable(str(error))}") from None


def percent(written: str | None) -> float | None:
    """A percentage as a person writes it: `40%` or `40`.

    Raises:
        Complaint: it is none.
    """
    if written is None:
        return None
    try:
        value = float(written.removesuffix("%"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Complaint(f"--min-effective-reduction takes a percentage, not {printable(written)}")
    return value
