"""The report with what surrounds it: sessions and trend, what the plans cover, what was skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fabricd.core.compiling.compile import Plans
from fabricd.core.entropy.meter import Catalog, Report, report_steps, report_value
from fabricd.core.entropy.signals import Signal
from fabricd.core.entropy.trend import (
    ModelTrend,
    SessionCorpus,
    SessionScore,
    Trend,
    session_corpus,
)
from fabricd.core.evidence import Evidence
from fabricd.core.sessions.trace import REASONS
from fabricd.core.steps import Steps

LOSS_REASONS: Mapping[str, str] = {
    "bad-line": "a trace line does not parse",
    "overlong-line": "a record is longer than 32 MiB",
}


class RefWithoutPlan(Struct, frozen=True):
    """A called action that no plan helps, and why."""

    ref: str
    calls: int
    reason: str


class Coverage(Struct, frozen=True, rename="camel"):
    """What the derived plans cover of the calls that were measured.

    `without_plan` are called actions; `not_judged` those that were not called and whose schema
    no validator can judge.
    """

    plans: int
    rules: int
    covered_refs: int
    covered_calls: int
    covered_rejections: int
    without_plan: tuple[RefWithoutPlan, ...]
    not_judged: tuple[RefWithoutPlan, ...]
    cut_rules: int
    beyond_limit: int


class Scope(Struct, frozen=True):
    """Which sessions were measured: how many, and the folder of the project where only one's.

    `directory` is the one that was named to be measured, `compiles` whether artifacts are kept.
    """

    sessions: int
    project: str | None
    directory: str | None = None
    compiles: bool = True


class SessionLine(Struct, frozen=True, gc=False):
    """One measured session."""

    file: str
    operations: int
    score: float


class Surroundings(Struct, frozen=True, rename="camel"):
    """What stands around the report: the members that `report` adds to it."""

    skipped: dict[str, int]
    glued_lines: int
    normalized_calls: int
    rejections: dict[str, int]
    sessions: list[SessionLine]
    trend: Trend
    models: list[ModelTrend]
    coverage: Coverage | None
    review: list[Signal]
    scope: Scope


class Aside(Struct):
    """Counts of one evidence that the report itself has no room for."""

    refused: dict[str, int]
    bad_lines: int
    glued_lines: int
    overlong_lines: int
    normalized_calls: int
    rejections: dict[str, int]


def aside_of(evidence: Evidence) -> Aside:
    """Those counts."""
    return Aside(
        refused=dict(evidence.refused),
        bad_lines=evidence.losses.bad_lines,
        glued_lines=evidence.losses.glued_lines,
        overlong_lines=evidence.losses.overlong_lines,
        normalized_calls=evidence.normal_forms.normalized_calls,
        rejections={ref: t.rejections for ref, t in evidence.refs.items() if t.rejections},
    )


def skipped_of(aside: Aside) -> dict[str, int]:
    """What was not counted, by reason."""
    counts = {
        "bad-line": aside.bad_lines,
        "overlong-line": aside.overlong_lines,
        **aside.refused,
    }
    return {reason: count for reason, count in sorted(counts.items()) if count}


def words_for(reason: str) -> str:
    """A skip reason in words."""
    return REASONS.get(reason) or LOSS_REASONS.get(reason) or reason


def coverage_of(plans: Plans, report: Report, aside: Aside) -> Coverage:
    """What plans cover of a measured window."""
    covered = {plan.ref for plan in plans.plans}
    reasons = {found.ref: found.reason or "" for found in plans.without}
    called = {row.ref for row in report.refs}
    rows = [row for row in report.refs if row.ref in covered]
    return Coverage(
        plans=len(plans.plans),
        rules=plans.rules,
        covered_refs=len(rows),
        covered_calls=sum(row.calls for row in rows),
        covered_rejections=sum(aside.rejections.get(row.ref, 0) for row in rows),
        without_plan=tuple(
            RefWithoutPlan(row.ref, row.calls, reasons.get(row.ref, "it is not on the surface"))
            for row in report.refs
            if row.ref not in covered
        ),
        not_judged=tuple(
            RefWithoutPlan(found.ref, 0, found.reason or "")
            for found in plans.without
            if found.not_judged and found.ref not in called
        ),
        cut_rules=sum(found.cut for found in plans.cut),
        beyond_limit=plans.beyond_limit,
    )


def corpus_steps(
    newest_first: Sequence[tuple[str, Evidence]], catalog: Catalog
) -> Steps[SessionCorpus]:
    """Measure each session alone, yielding between them."""
    scores: list[SessionScore] = []
    for file, evidence in newest_first:
        report = yield from report_steps(evidence, catalog)
        scores.append(SessionScore(file, report.totals.operations, report))
        yield
    return session_corpus(scores)


def overview_value(
    report: Report,
    aside: Aside,
    corpus: SessionCorpus,
    coverage: Coverage | None,
    review: Sequence[Signal] = (),
    scope: Scope | None = None,
) -> dict[str, Any]:
    """The report's members, then ours. Fields are only ever added."""
    around = Surroundings(
        skipped=skipped_of(aside),
        glued_lines=aside.glued_lines,
        normalized_calls=aside.normalized_calls,
        rejections={row.ref: aside.rejections.get(row.ref, 0) for row in report.refs},
        sessions=[
            SessionLine(session.file, session.operations, session.report.score)
            for session in corpus.sessions
        ],
        trend=corpus.trend,
        models=list(corpus.models),
        coverage=coverage,
        review=list(review),
        scope=Scope(corpus.files, None) if scope is None else scope,
    )
    return {**report_value(report), **msgspec.to_builtins(around)}


def is_overview(value: object) -> bool:
    """Whether a decoded answer is an overview of this version."""
    try:
        msgspec.convert(value, Report)
        msgspec.convert(value, Surroundings)
    except msgspec.ValidationError:
        return False
    return True
