"""A study without a daemon: sessions split by age, read again as often as the study asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fabricd.core.entropy.lab.metric import LabReport, Parts, parts, restated
from fabricd.core.entropy.lab.models import model_steps
from fabricd.core.entropy.lab.study import Part, Study, study_steps
from fabricd.core.entropy.meter import report
from fabricd.core.evidence import Evidence
from fabricd.core.model import Surface
from fabricd.core.repairs import Row, meter_row
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import finish
from fabricd.core.window import SessionFile
from fabricd.daemon.offline.measuring import Measured, catalog_of
from fabricd.daemon.offline.recorded import recorded
from fabricd.store.durable import shown
from fabricd.store.sessions import OpenLog

Sessions = Sequence[tuple[SessionFile, Evidence]]


@dataclass(frozen=True)
class Split:
    """Sessions in path order: the older ones propose, the newest are held out."""

    proposing: Sessions
    held_out: Sessions


@dataclass(frozen=True)
class Lab:
    """Everything that the command shows. `vanished` are logs that could not be read again."""

    proposing: int
    held_out: int
    report: LabReport
    parts: Parts
    rejection_rate: float
    study: Study
    vanished: tuple[str, ...]


@dataclass(frozen=True)
class _Recordings:
    """The recordings of some logs, read anew each time they are asked for."""

    sessions: Sessions
    vanished: set[str] = field(default_factory=set[str])

    def __iter__(self) -> Iterator[Recording]:
        for file, _ in self.sessions:
            try:
                yield from recorded(file.path)
            except OSError:
                self.vanished.add(shown(file.path))


def with_operations(measured: Measured) -> Sessions:
    """The sessions that have something to say, newest first, equal ages by path."""
    kept = [pair for pair in measured.sessions if pair[1].operations]
    return sorted(kept, key=lambda pair: (-pair[0].mtime_ns, pair[0].path))


def split_by_age(newest_first: Sessions, held_out: int) -> Split:
    """Hold out so many of the newest sessions."""

    def by_path(some: Sessions) -> Sessions:
        return sorted(some, key=lambda pair: pair[0].path)

    return Split(by_path(newest_first[held_out:]), by_path(newest_first[:held_out]))


def investigate(measured: Measured, split: Split, surface: Surface, rows: Sequence[Row]) -> Lab:
    """Measure everything in metric 2, then propose from one part and try on the other."""
    vanished: set[str] = set()
    catalog = catalog_of(surface, tuple(map(meter_row, rows)))
    whole = report(measured.evidence, catalog)
    models = {
        name: report(evidence, catalog) for name, evidence in _by_model(measured, vanished).items()
    }
    study = finish(
        study_steps(
            surface,
            catalog,
            rows,
            _part(split.proposing, vanished),
            _part(split.held_out, vanished),
        )
    )
    return Lab(
        len(split.proposing),
        len(split.held_out),
        restated(whole, models),
        parts(whole),
        whole.score,
        study,
        tuple(sorted(vanished)),
    )


def _part(sessions: Sessions, vanished: set[str]) -> Part:
    evidence = Evidence()
    for _, each in sessions:
        evidence.add(each)
    return Part(evidence, _Recordings(sessions, vanished))


def _by_model(measured: Measured, vanished: set[str]) -> dict[str, Evidence]:
    found: dict[str, Evidence] = {}
    for file, evidence in measured.sessions:
        if evidence.models:
            try:
                finish(model_steps(found, _pieces(file.path)))
            except OSError:
                vanished.add(shown(file.path))
    return found


def _pieces(path: bytes) -> Iterator[bytes]:
    position = 0
    with OpenLog(path) as log:
        while piece := log.read(position):
            yield piece
            position += len(piece)
