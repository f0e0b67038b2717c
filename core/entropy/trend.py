"""Scores over time: least squares against the index, oldest first."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType, field

from fabricd.core.entropy.meter import Report
from fabricd.core.javascript import plain_sum, round6, sorted_by_units


class Trend(Struct, frozen=True, gc=False, rename="camel"):
    """`first` and `last` are absent where there are no scores."""

    count: int
    first: float | UnsetType = UNSET
    last: float | UnsetType = UNSET
    slope_per_step: float = 0.0


class SessionScore(Struct, frozen=True):
    """One measured session."""

    file: str
    operations: int
    report: Report


class ModelTrend(Struct, frozen=True, rename="camel"):
    """How one model fared over the sessions in which it appears."""

    model: str
    sessions: int
    latest_behavioral_score: float
    slope_per_session: float
    latest_rejections_per1k: float = field(name="latestRejectionsPer1k")


class SessionCorpus(Struct, frozen=True):
    """Sessions newest first, with their trend oldest first."""

    files: int
    sessions: tuple[SessionScore, ...]
    trend: Trend
    models: tuple[ModelTrend, ...]
    latest: SessionScore | UnsetType = UNSET


def slope(scores: Sequence[float]) -> float:
    """Least-squares slope per step, rounded; 0 for fewer than two scores."""
    count = len(scores)
    if count < 2:
        return 0.0
    mean_x = (count - 1) / 2
    mean_y = plain_sum(scores) / count
    covariance = plain_sum((x - mean_x) * (y - mean_y) for x, y in enumerate(scores))
    variance = plain_sum((x - mean_x) ** 2 for x in range(count))
    return round6(covariance / variance)


def trend(scores: Sequence[float]) -> Trend:
    """The trend of scores, oldest first."""
    if not scores:
        return Trend(0)
    return Trend(len(scores), round6(scores[0]), round6(scores[-1]), slope(scores))


def session_corpus(newest_first: Sequence[SessionScore]) -> SessionCorpus:
    """The corpus of a newest-first list of measured sessions; those without operations drop out."""
    kept = tuple(s for s in newest_first if s.report.totals.traces and s.operations)
    scores = [session.report.score for session in reversed(kept)]
    latest = kept[0] if kept else UNSET
    return SessionCorpus(len(newest_first), kept, trend(scores), _model_trends(kept), latest)


def _model_trends(newest_first: Sequence[SessionScore]) -> tuple[ModelTrend, ...]:
    rows = [(row.model, row) for session in newest_first for row in session.report.by_model]
    trends: list[ModelTrend] = []
    for model in sorted_by_units({name for name, _ in rows}):
        mine = [row for name, row in rows if name == model]
        oldest_first = [row.behavioral_score for row in reversed(mine)]
        trends.append(
            ModelTrend(
                model=model,
                sessions=len(mine),
                latest_behavioral_score=mine[0].behavioral_score,
                slope_per_session=slope(oldest_first),
                latest_rejections_per1k=mine[0].invocation_rejections_per1k,
            )
        )
    return tuple(trends)
