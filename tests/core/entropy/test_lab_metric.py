"""Metric 2 by hand, and what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs, to_builtins

from fabricd.core.entropy.lab.metric import LabReport, parts, ref_score, restated, scores
from fabricd.core.entropy.lab.models import model_steps
from fabricd.core.entropy.meter import Catalog, Report, report, report_text, report_value
from fabricd.core.evidence import Evidence
from fabricd.core.steps import finish
from tests.core.making import Json, assistant, everything, line, log, operation, record, trace
from tests.core.strategies import common_lines, logs, pieces
from tests.oracle import naive

CATALOG = Catalog("d" * 64, {"a": 1.0, "b": 2.0}, {"a": 1}, 1)
FAILED: Json = {"outcome": "failed", "failureStage": "validate", "args": {"x": 1}}


def of(*operations: Json, catalog: Catalog = CATALOG) -> Report:
    """The metric-3 report of one trace."""
    numbered = [each | {"sequence": n} for n, each in enumerate(operations)]
    return report(everything(log(assistant("p", "m"), record(trace(*numbered)))), catalog)


def example() -> Report:
    return of(
        operation(ref="a"),
        operation(ref="a", **FAILED),
        operation(ref="a", **FAILED | {"failureStage": "invoke"}),
        operation(ref="a"),
        operation(ref="fabric.discovery.search"),
    )


def test_an_action_scores_the_sum_of_what_is_uncertain_about_it() -> None:
    [row] = example().refs
    # Two shapes twice each, two stages once each, and retries 0 and 5 of 7 characters away.
    assert (row.shape_entropy_bits, row.failure_stage_entropy_bits) == (1.0, 1.0)
    assert row.churn_rate == 0.357143
    assert ref_score(row) == 5.678572  # 1 + 1 + 4 x 0.357143 + 2 x 1 + 0.25 x 1


def test_the_score_is_divided_by_successes_alone() -> None:
    found = scores(example())
    assert found.score == 3.339286  # (5.678572 + 4 x 0.25) / 2
    assert found.static == 0.125  # 0.25 x 1 / 2, however often the action was called
    assert found.behavioral == 3.214286


def test_the_parts_add_up_to_the_score() -> None:
    found = parts(example())
    assert to_builtins(found) == {
        "shapes": 1.0,
        "stages": 1.0,
        "churn": 1.428572,
        "lexicon": 2.0,
        "freedom": 0.25,
        "navigation": 1.0,
        "flow": 0.0,
        "divisor": 2,
    }


def test_flow_counts_once_for_all_actions() -> None:
    traces = [record(trace(operation(ref=ref))) for ref in ("a", "b")]
    found = report(everything(log(*traces)), Catalog())
    assert (found.flow_entropy_bits, scores(found).score) == (1.0, 0.5)


def value_of(measured: Report, models: dict[str, Report] | None = None) -> Json:
    found: Json = to_builtins(restated(measured, {} if models is None else models))
    return found


@settings(max_examples=15)
@given(logs(most=4, of=common_lines))
def test_the_layout_is_that_of_the_metric_3_report(data: bytes) -> None:
    measured = report(everything(data), CATALOG)
    theirs: Any = report_value(measured)
    ours = value_of(measured, {row.model: measured for row in measured.by_model})
    assert list(ours) == list(theirs)
    assert ours["metricVersion"] == 2
    for part in ("refs", "byModel"):
        assert {tuple(row) for row in ours[part]} == {tuple(row) for row in theirs[part]}
    same = ("metricVersion", "staticScore", "behavioralScore", "score", "refs", "byModel")
    assert {k: ours[k] for k in ours if k not in same} == {
        k: theirs[k] for k in theirs if k not in same
    }


@settings(max_examples=15)
@given(logs(most=4, of=common_lines))
def test_refs_come_by_score_then_name(data: bytes) -> None:
    rows = restated(report(everything(data), CATALOG), {}).refs
    keys = [(-row.score, row.ref.encode("utf-16-be", "surrogatepass")) for row in rows]
    assert keys == sorted(keys)
    assert all(row.score == ref_score(row) for row in rows)


def test_equal_scores_come_by_name_whatever_metric_3_says_of_them() -> None:
    measured = of(operation(ref="b", **FAILED), operation(ref="c"), operation(ref="a"))
    assert [row.ref for row in measured.refs] == ["b", "a", "c"]
    plain = structs.replace(CATALOG, freedom={}, lexicon={})
    ranked = restated(of(operation(ref="b", **FAILED), operation(ref="a"), catalog=plain), {})
    assert [row.ref for row in ranked.refs] == ["a", "b"]


def test_a_model_without_traces_of_its_own_is_left_out() -> None:
    assert value_of(example())["byModel"] == ()


def test_nothing_measured_scores_nothing() -> None:
    found = restated(report(Evidence(), Catalog()), {})
    assert (found.score, found.static_score, found.behavioral_score) == (0.0, 0.0, 0.0)
    assert isinstance(found, LabReport) and found.refs == ()


# What is wrong with it: the divisor.

# At least one call succeeds: a score without successes is divided by 1.
successful = logs(most=4, of=common_lines).map(
    lambda data: data + b"\n" + log(record(trace(operation(ref="a"))))
)


@settings(max_examples=15)
@given(successful)
def test_twice_the_successes_halve_the_score(data: bytes) -> None:
    measured = report(everything(data), CATALOG)
    twice = structs.replace(measured.totals, succeeded=2 * measured.totals.succeeded)
    halved = scores(structs.replace(measured, totals=twice)).score
    assert halved == pytest.approx(scores(measured).score / 2, abs=1.1e-6)


def test_a_hundred_identical_rejections_score_nothing() -> None:
    rejected = record(trace(operation(ref="a", **FAILED)))
    found = report(everything(log(*[rejected] * 100)), Catalog())
    assert found.score == 1.0  # metric 3: every call was refused
    assert scores(found).score == 0.0


@settings(max_examples=15)
@given(successful)
def test_the_same_corpus_ten_times_over_scores_a_tenth(data: bytes) -> None:
    once, repeated = everything(data), Evidence()
    for _ in range(10):
        repeated.add(everything(data))
    first, tenth = report(once, CATALOG), report(repeated, CATALOG)
    assert tenth.score == first.score
    assert scores(tenth).score == pytest.approx(scores(first).score / 10, abs=1e-5)


# Models.


def by_model(cut: list[bytes]) -> dict[str, Evidence]:
    found: dict[str, Evidence] = {}
    finish(model_steps(found, cut))
    return found


@settings(max_examples=15)
@given(st.data())
def test_evidence_by_model_is_what_the_oracle_says_of_its_traces(data: st.DataObject) -> None:
    session = data.draw(logs(most=5, of=common_lines))
    found = by_model(data.draw(pieces(session)))
    traces = naive.traces_of(session.decode("utf-8", "replace"))
    assert set(found) == {each["model"] for each in traces if each.get("model")}
    for name, evidence in found.items():
        mine = [each for each in traces if each.get("model") == name]
        theirs = naive.report(mine, [], "(sessions)", [])
        ours = json.loads(report_text(report(evidence, Catalog())))
        assert ours["totals"] == theirs["totals"]
        assert ours["refs"] == theirs["refs"]


@settings(max_examples=15)
@given(logs(most=4))
def test_every_model_of_a_report_has_its_traces(data: bytes) -> None:
    measured = report(everything(data), CATALOG)
    models = {name: report(each, CATALOG) for name, each in by_model([data]).items()}
    found = restated(measured, models)
    assert [row.model for row in found.by_model] == [row.model for row in measured.by_model]
    for row in found.by_model:
        assert row.behavioral_score == scores(models[row.model]).behavioral
        assert row.operations == models[row.model].totals.operations


def test_the_records_of_a_glued_line_may_be_of_different_models() -> None:
    first = line(assistant("p", "one")) + line(record(trace(operation(ref="a"))))
    second = line(assistant("p", "two")) + line(record(trace(operation(ref="b"))))
    found = by_model([first + b" " + second])
    assert {name: list(evidence.refs) for name, evidence in found.items()} == {
        "p/one": ["a"],
        "p/two": ["b"],
    }
