"""Measurement without a daemon: the same steps, driven in place."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricd.core.book import SessionBook
from fabricd.core.entropy.freedom import freedom_steps
from fabricd.core.entropy.meter import Catalog, Report, lexicon_of, report
from fabricd.core.evidence import Evidence
from fabricd.core.model import RepairRow, Surface
from fabricd.core.steps import finish
from fabricd.core.window import SessionFile, select
from fabricd.store.durable import Damaged, Load, Loaded, Missing, shown
from fabricd.store.reading import commit_steps, in_place, read_steps
from fabricd.store.sessions import Listing, OpenLog, Skipped, discover

if TYPE_CHECKING:
    # For an annotation alone: measuring needs no home.
    from fabricd.store.homes import Homes

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Measured:
    """A directory measured: evidence by session, and their sum in path order."""

    listing: Listing
    sessions: tuple[tuple[SessionFile, Evidence], ...]
    evidence: Evidence
    skipped: tuple[Skipped, ...]


def scan(path: bytes, progress: Progress | None = None) -> Evidence:
    """Everything one session log says, its open end included.

    Raises:
        OSError: the log could not be read.
    """
    with OpenLog(path) as log:
        found = in_place(log, read_steps(log, SessionBook(), 0), progress)
    return finish(commit_steps(found)).whole()


def measure(
    directory: Path,
    window: int | None = None,
    project: str | None = None,
    progress: Progress | None = None,
    include_root: bool = True,
    alone: bool = False,
) -> Measured:
    """Measure `*.jsonl` in a directory and one level below; with `window` only the newest.

    Args:
        include_root: also count logs that lie in the directory itself. The daemon does not: Pi
            keeps sessions in project folders.
        project: the folder whose newest log is always in the window; with `alone` only its logs.

    Raises:
        OSError: the directory itself cannot be read.
    """
    with os.scandir(directory):
        pass
    listing = discover(directory, include_root)
    folder = None if project is None else os.fsencode(project)
    chosen = listing.files if window is None else select(listing.files, window, folder, alone)
    total = Evidence()
    sessions: list[tuple[SessionFile, Evidence]] = []
    skipped = list(listing.skipped)
    for file in sorted(chosen, key=lambda file: file.path):
        try:
            evidence = scan(file.path, progress)
        except OSError as error:
            skipped.append(Skipped(shown(file.path), error.strerror or str(error)))
            continue
        sessions.append((file, evidence))
        total.add(evidence)
    return Measured(listing, tuple(sessions), total, tuple(skipped))


def catalog_of(surface: Surface | None, rows: Sequence[RepairRow] = ()) -> Catalog:
    """What a surface and the rows of a repairs table contribute to a report."""
    lexicon = lexicon_of(rows)
    if surface is None:
        return Catalog(lexicon=lexicon, lexicon_rows=len(rows))
    return Catalog(surface.digest, finish(freedom_steps(surface)), lexicon, len(rows))


def repair_rows(homes: Homes, surface: Surface | None) -> Load[tuple[RepairRow, ...]]:
    """The rows of a home's repairs table, for the meter. Ours for other catalogs are left out."""
    # Imported here: measuring alone needs none of it.
    from fabricd.core.repairs import catalog_digest, meter_row
    from fabricd.store import repairs

    catalog = None if surface is None else catalog_digest(surface)
    match repairs.standing(homes, catalog):
        case Loaded(value=table, raw=raw):
            return Loaded(tuple(map(meter_row, table.rows)), raw)
        case Missing() | Damaged() as other:
            return other


def report_of(measured: Measured, surface: Surface | None) -> Report:
    """The metric-3 report of a measured directory."""
    return report(measured.evidence, catalog_of(surface))


def newest_first(measured: Measured) -> Sequence[tuple[str, Evidence]]:
    """Sessions by age, as the trend wants them."""
    ranked = sorted(measured.sessions, key=lambda pair: (-pair[0].mtime_ns, pair[0].path))
    return [(shown(file.path), evidence) for file, evidence in ranked]
