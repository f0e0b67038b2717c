"""The metric-3 meter: from evidence to the report, field by field as the reference prints it.

Metric 3 is rejections ÷ action operations. Everything else in the report is a diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct, field

from fabricd.core.canonical import as_given, text
from fabricd.core.entropy.fingerprint import MILLION, shannon
from fabricd.core.evidence import Evidence, ModelTally, RefTally
from fabricd.core.javascript import plain_sum, round6, sorted_by_units, utf16_key
from fabricd.core.model import RepairRow
from fabricd.core.steps import OPERATIONS, Steps, finish

WITHOUT_SURFACE = "(sessions)"
_SHAPES = 8


class Totals(Struct, frozen=True, gc=False, rename="camel"):
    """Operation counts of everything measured."""

    traces: int
    operations: int
    action_operations: int
    discovery_operations: int
    workflow_operations: int
    succeeded: int
    failed: int
    aborted: int
    timed_out: int
    invocation_rejections: int
    invocation_rejections_per1k: float = field(name="invocationRejectionsPer1k")


class ShapeCount(Struct, frozen=True, gc=False):
    """How often an argument shape was seen."""

    signature: str
    count: int


class RefRow(Struct, frozen=True, rename="camel"):
    """One called action. `score` is its own rejection rate."""

    ref: str
    calls: int
    succeeded: int
    failed: int
    shape_signatures: tuple[ShapeCount, ...]
    shape_entropy_bits: float
    failure_stage_entropy_bits: float
    churn_rate: float
    lexicon_rows: int
    static_freedom: float
    score: float


class ModelRow(Struct, frozen=True, gc=False, rename="camel"):
    """The calls attributed to one model."""

    model: str
    operations: int
    action_operations: int
    succeeded: int
    invocation_rejections: int
    invocation_rejections_per1k: float = field(name="invocationRejectionsPer1k")
    behavioral_score: float


class Report(Struct, frozen=True, rename="camel"):
    """The metric-3 report, in the order of its JSON members."""

    metric_version: Literal[3]
    catalog_digest: str
    totals: Totals
    shape_entropy_bits: float
    failure_stage_entropy_bits: float
    churn_rate: float
    navigation_ratio: float
    flow_entropy_bits: float
    lexicon_rows: int
    static_freedom: float
    static_score: float
    behavioral_score: float
    score: float
    refs: tuple[RefRow, ...]
    by_model: tuple[ModelRow, ...]


class Catalog(Struct, frozen=True):
    """What the declared side contributes: a digest, freedom by ref and repair rows by ref."""

    digest: str = WITHOUT_SURFACE
    freedom: Mapping[str, float] = {}
    lexicon: Mapping[str, int] = {}
    lexicon_rows: int = 0


def lexicon_of(rows: Iterable[RepairRow]) -> dict[str, int]:
    """Repair rows counted by the ref they lead to."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.ref] = counts.get(row.ref, 0) + 1
    return counts


def ratio(part: float, whole: float) -> float:
    """A rounded ratio; 0 where there is nothing to divide by."""
    return round6(part / whole) if whole else 0.0


def _churn(distances: Sequence[int]) -> float:
    return ratio(plain_sum(distance / MILLION for distance in distances), len(distances))


def _shape_rows(shapes: Mapping[str, int]) -> tuple[ShapeCount, ...]:
    ranked = sorted(shapes.items(), key=lambda item: (-item[1], utf16_key(item[0])))
    return tuple(ShapeCount(shape, count) for shape, count in ranked[:_SHAPES])


def ref_row(
    ref: str, tally: RefTally, catalog: Catalog, churn: Sequence[int] | None = None
) -> RefRow:
    """The report row of one action; depends on nothing but its arguments.

    Args:
        churn: the tally's distances in order of occurrence, where it holds them in another.
    """
    return RefRow(
        ref=ref,
        calls=tally.calls,
        succeeded=tally.succeeded,
        failed=tally.failed,
        shape_signatures=_shape_rows(tally.shapes),
        shape_entropy_bits=shannon(tally.shapes.values()),
        failure_stage_entropy_bits=shannon(tally.stages.values()),
        churn_rate=_churn(tally.churn if churn is None else churn),
        lexicon_rows=catalog.lexicon.get(ref, 0),
        static_freedom=catalog.freedom.get(ref, 0.0),
        score=ratio(tally.rejections, tally.calls),
    )


def _model_row(model: str, tally: ModelTally) -> ModelRow:
    return ModelRow(
        model=model,
        operations=tally.operations,
        action_operations=tally.action_operations,
        succeeded=tally.succeeded,
        invocation_rejections=tally.rejections,
        invocation_rejections_per1k=_per1k(tally.rejections, tally.action_operations),
        behavioral_score=ratio(tally.rejections, tally.action_operations),
    )


def _per1k(rejections: int, actions: int) -> float:
    return round6(rejections / actions * 1000) if actions else 0.0


def _totals(evidence: Evidence) -> Totals:
    tallies = evidence.refs.values()
    rejections = sum(tally.rejections for tally in tallies)
    actions = sum(tally.calls for tally in tallies)
    return Totals(
        traces=evidence.traces,
        operations=evidence.operations,
        action_operations=actions,
        discovery_operations=evidence.discovery,
        workflow_operations=evidence.workflow,
        succeeded=sum(tally.succeeded for tally in tallies),
        failed=sum(tally.failed for tally in tallies),
        aborted=sum(tally.aborted for tally in tallies),
        timed_out=sum(tally.timed_out for tally in tallies),
        invocation_rejections=rejections,
        invocation_rejections_per1k=_per1k(rejections, actions),
    )


def _weighted(pairs: Iterable[tuple[float, int]], whole: int) -> float:
    # A plain left-to-right sum: exact ties of the sixth decimal depend on it.
    return ratio(plain_sum(value * weight for value, weight in pairs), whole)


def report_steps(
    evidence: Evidence,
    catalog: Catalog,
    rows: dict[str, RefRow] | None = None,
    pieces: Sequence[Evidence] | None = None,
) -> Steps[Report]:
    """Measure, yielding between batches of actions.

    Args:
        rows: rows computed earlier from tallies that have not changed; missing ones are added.
        pieces: what the evidence is the sum of, in the order in which it counts, where the
            evidence itself was put together in another order.
    """
    known = {} if rows is None else rows
    parts = (evidence,) if pieces is None else pieces
    refs = sorted_by_units(evidence.refs)
    pending = 0
    for ref in refs:
        if ref not in known:
            churn = [d for part in parts if ref in part.refs for d in part.refs[ref].churn]
            known[ref] = ref_row(ref, evidence.refs[ref], catalog, churn)
            pending += len(evidence.refs[ref].shapes)
            if pending >= OPERATIONS:
                pending = 0
                yield
    found = [known[ref] for ref in refs]
    tasks = dict.fromkeys(task for part in parts for task in part.tasks)
    flows = [evidence.tasks[task] for task in tasks]
    totals = _totals(evidence)
    actions = totals.action_operations
    score = ratio(totals.invocation_rejections, actions)
    # `found` is in ref order and sorting is stable, so only the score has to be compared.
    return Report(
        metric_version=3,
        catalog_digest=catalog.digest,
        totals=totals,
        shape_entropy_bits=_weighted(((r.shape_entropy_bits, r.calls) for r in found), actions),
        failure_stage_entropy_bits=_weighted(
            ((r.failure_stage_entropy_bits, r.failed) for r in found), totals.failed
        ),
        churn_rate=_churn([distance for part in parts for distance in part.churn]),
        navigation_ratio=ratio(evidence.discovery, actions),
        flow_entropy_bits=_weighted(
            ((flow.bits(), flow.occurrences) for flow in flows),
            sum(flow.occurrences for flow in flows),
        ),
        lexicon_rows=catalog.lexicon_rows,
        static_freedom=round6(plain_sum(row.static_freedom for row in found)),
        static_score=_weighted(((0.25 * r.static_freedom, r.calls) for r in found), actions),
        behavioral_score=score,
        score=score,
        refs=tuple(sorted(found, key=lambda row: -row.score)),
        by_model=tuple(
            _model_row(name, evidence.models[name]) for name in sorted_by_units(evidence.models)
        ),
    )


def report(evidence: Evidence, catalog: Catalog) -> Report:
    """Measure in one go."""
    return finish(report_steps(evidence, catalog))


def report_value(measured: Report) -> dict[str, object]:
    """The report as plain values, members in print order."""
    value: dict[str, object] = msgspec.to_builtins(measured)
    return value


def report_text(measured: Report) -> str:
    """The report's compact JSON: the bytes its digest is taken of, but for the key order."""
    return text(report_value(measured), as_given)
