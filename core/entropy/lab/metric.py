"""Metric 2, the score of an earlier design, restated from a metric-3 report.

It adds up what is uncertain and divides by successes. Kept for old ledgers and studies: a hundred
identical rejections score 0, and the same calls ten times over score a tenth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, structs

from fabricd.core.entropy.meter import ModelRow, RefRow, Report, Totals
from fabricd.core.javascript import plain_sum, round6, utf16_key

METRIC_VERSION = 2


class LabReport(Struct, frozen=True, rename="camel"):
    """The metric-2 report: the members of the metric-3 report, in the same order.

    `refs[].score` is not divided by anything; `behavioralScore` of a model is metric 2 over the
    traces of that model alone.
    """

    metric_version: Literal[2]
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


class Parts(Struct, frozen=True, gc=False):
    """What the score is made of: weighted sums over the called actions, and the divisor."""

    shapes: float
    stages: float
    churn: float
    lexicon: float
    freedom: float
    navigation: float
    flow: float
    divisor: int


class Scores(Struct, frozen=True, gc=False):
    """The three figures of a report."""

    score: float
    static: float
    behavioral: float


def ref_score(row: RefRow) -> float:
    """What one action adds to the score, before the division."""
    return round6(
        row.shape_entropy_bits
        + row.failure_stage_entropy_bits
        + 4 * row.churn_rate
        + 2 * row.lexicon_rows
        + 0.25 * row.static_freedom
    )


def _by_ref(measured: Report) -> list[RefRow]:
    # Sums of doubles depend on their order: refs count in the order of their names.
    return sorted(measured.refs, key=lambda row: utf16_key(row.ref))


def _divisor(measured: Report) -> int:
    return max(1, measured.totals.succeeded)


def scores(measured: Report) -> Scores:
    """The metric-2 figures of a metric-3 report."""
    rows = _by_ref(measured)
    whole = plain_sum(ref_score(row) for row in rows)
    whole = whole + 4 * measured.navigation_ratio + measured.flow_entropy_bits
    score = round6(whole / _divisor(measured))
    freedom = plain_sum(0.25 * row.static_freedom for row in rows)
    static = round6(freedom / _divisor(measured))
    return Scores(score, static, round6(score - static))


def parts(measured: Report) -> Parts:
    """The summands of the score, for people: each is rounded, so they add up but for that."""
    rows = _by_ref(measured)
    return Parts(
        shapes=round6(plain_sum(row.shape_entropy_bits for row in rows)),
        stages=round6(plain_sum(row.failure_stage_entropy_bits for row in rows)),
        churn=round6(plain_sum(4 * row.churn_rate for row in rows)),
        lexicon=round6(plain_sum(2 * row.lexicon_rows for row in rows)),
        freedom=round6(plain_sum(0.25 * row.static_freedom for row in rows)),
        navigation=round6(4 * measured.navigation_ratio),
        flow=measured.flow_entropy_bits,
        divisor=_divisor(measured),
    )


def restated(measured: Report, models: Mapping[str, Report]) -> LabReport:
    """The metric-2 report of a metric-3 report.

    Args:
        models: the metric-3 report of each model's traces alone. A model that is not there is left
            out of `byModel`: its counts do not tell its entropies.
    """
    found = scores(measured)
    rows = [structs.replace(row, score=ref_score(row)) for row in _by_ref(measured)]
    return LabReport(
        metric_version=2,
        catalog_digest=measured.catalog_digest,
        totals=measured.totals,
        shape_entropy_bits=measured.shape_entropy_bits,
        failure_stage_entropy_bits=measured.failure_stage_entropy_bits,
        churn_rate=measured.churn_rate,
        navigation_ratio=measured.navigation_ratio,
        flow_entropy_bits=measured.flow_entropy_bits,
        lexicon_rows=measured.lexicon_rows,
        static_freedom=measured.static_freedom,
        static_score=found.static,
        behavioral_score=found.behavioral,
        score=found.score,
        refs=tuple(sorted(rows, key=lambda row: -row.score)),
        by_model=tuple(
            structs.replace(row, behavioral_score=scores(models[row.model]).behavioral)
            for row in measured.by_model
            if row.model in models
        ),
    )
