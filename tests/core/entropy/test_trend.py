from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.entropy.trend import SessionScore, Trend, session_corpus, slope, trend
from fabricd.core.javascript import round6
from tests.core.making import Json, assistant, log, operation, record, scanned, trace

scores = st.lists(st.integers(0, 1_000_000).map(lambda n: n / 1e6), max_size=12)


def least_squares(values: list[float]) -> Fraction:
    """The slope in exact arithmetic."""
    n = len(values)
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction(0)) / n
    top = sum(((x - Fraction(n - 1, 2)) * (y - mean) for x, y in enumerate(exact)), Fraction(0))
    bottom = sum(((x - Fraction(n - 1, 2)) ** 2 for x in range(n)), Fraction(0))
    return top / bottom


@given(scores)
def test_the_slope_is_least_squares(values: list[float]) -> None:
    if len(values) < 2:
        assert slope(values) == 0
    else:
        assert abs(Fraction(slope(values)) - least_squares(values)) <= Fraction(6, 10**7)


def test_an_even_climb_has_its_step_as_slope() -> None:
    assert slope([0.1, 0.3, 0.5, 0.7]) == 0.2
    assert slope([0.7, 0.5, 0.3]) == -0.2
    assert slope([0.5, 0.5]) == 0


@given(scores)
def test_a_trend_names_its_ends(values: list[float]) -> None:
    found = trend(values)
    if not values:
        assert found == Trend(0, UNSET, UNSET, 0.0)
    else:
        assert (found.count, found.first, found.last) == (
            len(values),
            round6(values[0]),
            round6(values[-1]),
        )


def session(file: str, rejected: int, calls: int, model: str | None = None) -> SessionScore:
    """A measured session in which some of the calls were rejected."""
    operations: list[Json] = [
        operation(n, outcome="failed", failureStage="validate") if n < rejected else operation(n)
        for n in range(calls)
    ]
    named = [] if model is None else [assistant("p", model)]
    evidence, _ = scanned(log(*named, record(trace(*operations))))
    return SessionScore(file, evidence.operations, report(evidence, Catalog()))


def test_a_corpus_runs_from_the_oldest_session_to_the_newest() -> None:
    found = session_corpus([session("new", 0, 4), session("mid", 1, 4), session("old", 2, 4)])
    assert (found.trend.first, found.trend.last, found.trend.slope_per_step) == (0.5, 0.0, -0.25)
    assert found.latest is not UNSET
    assert found.latest.file == "new"


def test_sessions_without_operations_drop_out_but_are_counted() -> None:
    found = session_corpus([session("empty", 0, 0), session("full", 1, 1)])
    assert (found.files, [row.file for row in found.sessions]) == (2, ["full"])
    assert session_corpus([]) == session_corpus(())
    assert session_corpus([]).latest is UNSET


def test_each_model_has_a_trend_over_its_own_sessions() -> None:
    rows = [session("3", 0, 4, "b"), session("2", 2, 4, "a"), session("1", 1, 4, "b")]
    a, b = session_corpus(rows).models
    assert (a.model, a.sessions, a.latest_behavioral_score, a.slope_per_session) == (
        "p/a",
        1,
        0.5,
        0.0,
    )
    assert (b.model, b.sessions, b.latest_behavioral_score) == ("p/b", 2, 0.0)
    assert (b.slope_per_session, b.latest_rejections_per1k) == (-0.25, 0.0)
    assert a.latest_rejections_per1k == 500.0
