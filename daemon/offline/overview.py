"""The report with its surroundings without a daemon: the same values, computed in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fabricd.core.compiling.compile import Plans, plans_steps
from fabricd.core.compiling.review import notes_steps, review_steps
from fabricd.core.entropy import meter
from fabricd.core.entropy.observations import Observed, observed_in
from fabricd.core.entropy.signals import Signal, is_candidate
from fabricd.core.model import AuditCall, RepairRow, Surface
from fabricd.core.overview import Scope, aside_of, corpus_steps, coverage_of, overview_value
from fabricd.core.pool.values import in_clear
from fabricd.core.sessions.audits import calls_of
from fabricd.core.steps import finish
from fabricd.daemon.offline.measuring import Measured, catalog_of, newest_first
from fabricd.daemon.offline.recorded import recorded
from fabricd.store.sessions import read_spans

_BATCH = 64


def observed_of(found: Measured, surface: Surface) -> list[Observed]:
    """The values that marked arguments took, of the audits, or of the traces where there are none.

    Traces hold projected arguments only; logs of old agents have nothing better. What a pool would
    not keep in clear is left out.
    """
    audits = any(evidence.audit_spans for _, evidence in found.sessions)
    schemas = surface.schema_of()
    rows = observed_in(_audited(found) if audits else _traced(found))
    # Only what a review would look at: the rest may be millions.
    return in_clear(row for row in rows if is_candidate(schemas.get(row.ref), row.key))


def _audited(found: Measured) -> Iterator[AuditCall]:
    for file, evidence in found.sessions:
        spans = evidence.audit_spans
        for first in range(0, len(spans), _BATCH):
            yield from calls_of(read_spans(file.path, spans[first : first + _BATCH]))


def _traced(found: Measured) -> Iterator[AuditCall]:
    for file, _ in found.sessions:
        try:
            for recording in recorded(file.path):
                for operation in recording.trace.operations:
                    yield AuditCall(operation.ref, operation.args)
        except OSError:
            # It was there a moment ago: what it says counts, only its values are not looked at.
            continue


def overview(
    found: Measured,
    surface: Surface | None,
    rows: Sequence[RepairRow] = (),
    observed: Iterable[Observed] | None = None,
    scope: Scope | None = None,
) -> dict[str, Any]:
    """What `report --json` prints, from a measured directory.

    Args:
        observed: what a pool knows of values; without one, what the directory says.
    """
    catalog = catalog_of(surface, rows)
    report = meter.report(found.evidence, catalog)
    aside = aside_of(found.evidence)
    corpus = finish(corpus_steps(newest_first(found), catalog))
    plans: Plans | None = None if surface is None else finish(plans_steps(surface))
    notes: tuple[Signal, ...] = ()
    if surface is not None and plans is not None:
        notes = finish(notes_steps(surface, plans))
    values: Iterable[Observed] = () if observed is None else observed
    if surface is not None and observed is None:
        values = observed_of(found, surface)
    review = finish(review_steps(report, found.evidence, surface, notes, values))
    coverage = None if plans is None else coverage_of(plans, report, aside)
    whole = Scope(len(found.sessions), None) if scope is None else scope
    return overview_value(report, aside, corpus, coverage, review, whole)
