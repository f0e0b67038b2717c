"""The functions under test, held together so that one of them can be replaced by a broken one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fabricd.core import surface as surfaces
from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import Artifact, artifact_bytes, artifact_of
from fabricd.core.compiling.compile import Compilation, Plans, compile_plans, plans_steps
from fabricd.core.compiling.merge import Merged, Prover, merge_steps
from fabricd.core.compiling.trial import trial_steps
from fabricd.core.compiling.verdict import Trial
from fabricd.core.entropy import meter
from fabricd.core.entropy.freedom import freedom_steps
from fabricd.core.entropy.meter import Catalog, Report
from fabricd.core.entropy.observations import Observed, observed_in
from fabricd.core.evidence import Evidence
from fabricd.core.model import AuditCall, Plan, Surface
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.normalform.derive import Derivation, derive, proves
from fabricd.core.pool import ledger as books
from fabricd.core.pool.bounds import prune_steps
from fabricd.core.pool.export import export_steps
from fabricd.core.pool.file import Pool
from fabricd.core.pool.ledger import Change, Ledger
from fabricd.core.pool.rows import Record
from fabricd.core.sessions.audits import Audited, calls_of
from fabricd.core.sessions.pi import ScanState, open_end_steps, scan_steps
from fabricd.core.sessions.samples import Recording, recordings
from fabricd.core.steps import Steps, finish

Trying: TypeAlias = Callable[
    [Iterable[Recording], Surface, Iterable[Plan] | None],
    Steps[Trial],
]


def _scan(piece: bytes, state: ScanState) -> tuple[Evidence, ScanState]:
    return finish(scan_steps(piece, state))


def _open_end(state: ScanState) -> Evidence:
    return finish(open_end_steps(state))


def _surface(data: bytes) -> Surface:
    return finish(surfaces.surface_steps(data))


def _freedom(surface: Surface) -> dict[str, float]:
    return finish(freedom_steps(surface))


def _plans(surface: Surface) -> Plans:
    return finish(plans_steps(surface))


def _merge(surface: Surface, local: Artifact | None, incoming: Sequence[Artifact]) -> Merged:
    return finish(merge_steps(Prover(surface), local, incoming))


def _enter(ledger: Ledger, change: Change) -> bool:
    return finish(books.merge_steps(ledger, change))


def _record(ledger: Ledger, found: Audited, offset: int) -> Record:
    return finish(books.record_steps(ledger, found, offset))


def _pool(ledger: Ledger) -> Pool:
    finish(prune_steps(ledger))
    return finish(export_steps(ledger))


@dataclass(frozen=True)
class Laws:
    """What is certified: by default the product's own functions."""

    # Reading
    scan: Callable[[bytes, ScanState], tuple[Evidence, ScanState]] = _scan
    open_end: Callable[[ScanState], Evidence] = _open_end
    add: Callable[[Evidence, Evidence], None] = Evidence.add
    audits: Callable[[Iterable[bytes]], Iterator[AuditCall]] = calls_of
    recordings: Callable[[bytes], list[Recording]] = recordings
    observed: Callable[[Iterable[AuditCall]], Iterator[Observed]] = observed_in
    # Measuring
    measure: Callable[[Evidence, Catalog], Report] = meter.report
    report_text: Callable[[Report], str] = meter.report_text
    freedom: Callable[[Surface], dict[str, float]] = _freedom
    # Declaring and repairing
    digest: Callable[[object], str] = digest
    surface: Callable[[bytes], Surface] = _surface
    derive: Callable[[str, object], Derivation] = derive
    proves: Callable[[Plan, object], bool] = proves
    normalizer: Callable[[str, object, Plan | None], Normalizer] = Normalizer
    # Compiling
    plans: Callable[[Surface], Plans] = _plans
    compile: Callable[[Sequence[Plan], str, float, Artifact | None], Compilation] = compile_plans
    artifact_of: Callable[[object], Artifact | None] = artifact_of
    artifact_bytes: Callable[[Artifact], bytes] = artifact_bytes
    merge: Callable[[Surface, Artifact | None, Sequence[Artifact]], Merged] = _merge
    trial: Trying = trial_steps
    # Pooling
    record: Callable[[Ledger, Audited, int], Record] = _record
    enter: Callable[[Ledger, Change], bool] = _enter
    pool: Callable[[Ledger], Pool] = _pool
