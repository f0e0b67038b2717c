"""What the commands about trajectories share: files in; results, exit codes and lines out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from fabricd.core.steps import finish
from fabricd.core.trajectory import indicators
from fabricd.core.trajectory.accounts import violations_steps
from fabricd.core.trajectory.comparison import (
    comparison_pieces,
    comparison_value,
    reason_against,
)
from fabricd.core.trajectory.documents import read_trajectory
from fabricd.core.trajectory.fixtures import MANIFEST, conformance_value
from fabricd.core.trajectory.measurement import Measurement, measure_steps
from fabricd.core.trajectory.values import members
from fabricd.core.trajectory.violations import Violation, violation_values
from fabricd.store.durable import Damaged, Missing, read_bounded, shown

_MIB = 1024 * 1024
MAX_BYTES = 256 * _MIB
_FIXTURES = Path("fixtures/context-firewall")


class Unreadable(ValueError):
    """Raised where a named file cannot be read. The message is a sentence with its name."""


class TooLarge(Unreadable):
    """Raised where a file is larger than it may be."""


class Profiled(Struct, frozen=True):
    """A measured trajectory."""

    measurement: Measurement

    @property
    def code(self) -> int:
        """The exit code."""
        return int(not self.measurement.is_measured)

    @property
    def line(self) -> str:
        """The line for a person."""
        return indicators.profile_line(self.measurement)

    def pieces(self) -> Iterator[bytes]:
        """The line of canonical JSON."""
        yield from self.measurement.pieces()
        yield b"\n"


class Validated(Struct, frozen=True):
    """A validated trajectory."""

    run_id: object
    violations: list[Violation]

    @property
    def code(self) -> int:
        """The exit code."""
        return int(bool(self.violations))

    @property
    def line(self) -> str:
        """The line for a person."""
        return indicators.validate_line(self.run_id, len(self.violations))

    def value(self) -> dict[str, Any]:
        """The verdict as plain JSON."""
        violations = violation_values(self.violations)
        return {"valid": not violations, "violations": violations}


class Compared(Struct, frozen=True):
    """Trajectories beside each other."""

    measurements: list[Measurement]

    @property
    def reason(self) -> str | None:
        """Why they do not compare."""
        return reason_against(self.measurements)

    @property
    def code(self) -> int:
        """The exit code."""
        return int(self.reason is not None)

    @property
    def line(self) -> str:
        """The line for a person."""
        return indicators.compare_line(len(self.measurements), self.reason)

    def value(self) -> dict[str, Any]:
        """The comparison as plain JSON."""
        return comparison_value(self.measurements)

    def pieces(self) -> Iterator[bytes]:
        """The line of canonical JSON."""
        yield from comparison_pieces(self.measurements)
        yield b"\n"


def profiled(data: bytes) -> Profiled:
    """Measure a document.

    Raises:
        BadDocument, NullDocument, NotCanonical: there is nothing to measure in it.
    """
    return Profiled(finish(measure_steps(read_trajectory(data))))


def validated(data: bytes) -> Validated:
    """Validate a document.

    Raises:
        BadDocument, NullDocument: there is nothing to validate in it.
    """
    trajectory = read_trajectory(data)
    run = members(None if trajectory is None else trajectory.members.get("run"))
    return Validated(run.get("run_id"), finish(violations_steps(trajectory)))


def compared(documents: Iterable[bytes]) -> Compared:
    """Measure several documents. Raises what `profiled` does."""
    return Compared([profiled(data).measurement for data in documents])


def folder_report(folder: str | None) -> tuple[dict[str, Any], str]:
    """The conformance report on a folder of fixtures, and the line for a person.

    Raises:
        BadDocument, NotCanonical, Unreadable: a file there cannot be judged.
    """
    place = _FIXTURES if folder is None else Path(folder)
    try:
        names = sorted(path for path in place.iterdir() if path.suffix == ".json")
    except OSError as error:
        raise Unreadable(f"{shown(place)} cannot be read: {error.strerror or error}") from None
    manifest = file_at(place.absolute().parent / MANIFEST, MAX_BYTES)
    files = {path.name: file_at(path, MAX_BYTES) for path in names}
    report = conformance_value(manifest, files)
    return report, indicators.conformance_line(len(files), report["conformance"])


def file_at(path: Path, limit: int) -> bytes:
    """The bytes of a named file.

    Raises:
        Unreadable: it is missing or no file.
        TooLarge: it is larger than `limit` bytes.
    """
    with contextlib.suppress(OSError):
        # Asked first: what is refused need not be read.
        if path.stat().st_size > limit:
            raise TooLarge(f"{shown(path)} is larger than {sized(limit)}")
    match read_bounded(path, limit, pipes=True):
        case Missing():
            raise Unreadable(f"{shown(path)} does not exist")
        case Damaged(reason=reason):
            raise Unreadable(f"{shown(path)} cannot be used: {reason}")
        case bytes() as data:
            return data


def sized(limit: int) -> str:
    """A limit in words: whole MiB, else bytes."""
    return f"{limit:,} bytes" if limit % _MIB else f"{limit // _MIB} MiB"
