from __future__ import annotations

import json

import pytest

from fabricd.core.compiling.compile import plans_steps
from fabricd.core.entropy.meter import Catalog, report, report_value
from fabricd.core.evidence import Evidence
from fabricd.core.model import Action, Surface
from fabricd.core.overview import (
    aside_of,
    corpus_steps,
    coverage_of,
    is_overview,
    overview_value,
    skipped_of,
    words_for,
)
from fabricd.core.sessions.trace import REASONS
from fabricd.core.steps import finish
from tests.core.making import WITNESS, Json, line, log, operation, record, scanned, trace

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"limit": {"type": "integer"}},
}
REJECTED: Json = {"outcome": "failed", "failureStage": "validate"}


def of(*values: object) -> Evidence:
    return scanned(log(*values))[0]


def calls(*refs: str, **more: object) -> Json:
    return record(trace(*(operation(n, ref, **more) for n, ref in enumerate(refs))))


def test_what_was_skipped_is_told_by_reason() -> None:
    bad = line(record(trace()))[:-3]
    glued = line(record(trace())) * 2
    evidence = of(bad, bad, glued, record(trace(x=1)), record(trace(version=2)))
    evidence.losses.overlong_lines = 4
    aside = aside_of(evidence)
    assert skipped_of(aside) == {
        "bad-line": 2,
        "overlong-line": 4,
        "unknown-field": 1,
        "version": 1,
    }
    assert aside.glued_lines == 1


def test_nothing_skipped_is_told_as_nothing() -> None:
    assert skipped_of(aside_of(of(calls("a")))) == {}


@pytest.mark.parametrize("reason", [*REASONS, "bad-line", "overlong-line"])
def test_every_reason_has_words(reason: str) -> None:
    assert " " in words_for(reason)
    assert words_for("unheard-of") == "unheard-of"


def test_coverage_tells_what_plans_cover_of_the_calls() -> None:
    actions = [("a", SCHEMA), ("b", {"type": "object"}), ("idle", SCHEMA)]
    surface = Surface(tuple(Action(ref, schema) for ref, schema in actions), "")
    evidence = of(calls("a", "a", **REJECTED), calls("a", "b", "b", "c"))
    found = coverage_of(
        finish(plans_steps(surface)), report(evidence, Catalog()), aside_of(evidence)
    )
    assert (found.plans, found.rules) == (2, 6)
    assert (found.covered_refs, found.covered_calls, found.covered_rejections) == (1, 3, 2)
    assert [(row.ref, row.calls) for row in found.without_plan] == [("b", 2), ("c", 1)]
    assert found.without_plan[0].reason == "the object is open"
    assert found.without_plan[1].reason


def test_a_schema_that_cannot_be_judged_is_told_called_or_not() -> None:
    broken = SCHEMA | {"properties": {"a": {"pattern": "("}}}
    surface = Surface((Action("called", broken), Action("idle", broken), Action("b", None)), "")
    evidence = of(calls("called"))
    found = coverage_of(
        finish(plans_steps(surface)), report(evidence, Catalog()), aside_of(evidence)
    )
    told = [*found.without_plan, *found.not_judged]
    assert [(row.ref, row.calls) for row in told] == [("called", 1), ("idle", 0)]
    assert all("cannot be judged" in row.reason for row in told)


def test_each_session_is_measured_alone() -> None:
    rows = [("new", of(calls("a"))), ("none", of()), ("old", of(calls("a", **REJECTED)))]
    corpus = finish(corpus_steps(rows, Catalog()))
    assert corpus.files == 3
    assert [row.report for row in corpus.sessions] == [
        report(rows[0][1], Catalog()),
        report(rows[2][1], Catalog()),
    ]
    assert [(row.file, row.report.score) for row in corpus.sessions] == [("new", 0), ("old", 1)]
    assert (corpus.trend.first, corpus.trend.last) == (1, 0)


def test_the_overview_begins_with_the_report_and_adds_to_it() -> None:
    evidence = of(calls("a", normalization=WITNESS), calls("a", **REJECTED))
    measured = report(evidence, Catalog())
    corpus = finish(corpus_steps([("s", evidence)], Catalog()))
    value = overview_value(measured, aside_of(evidence), corpus, None)
    plain = report_value(measured)
    assert {name: value[name] for name in plain} == plain
    assert list(value)[: len(plain)] == list(plain)
    assert (value["normalizedCalls"], value["rejections"]) == (1, {"a": 1})
    assert value["coverage"] is None
    assert list(value["sessions"]) == [{"file": "s", "operations": 2, "score": 0.5}]


def test_an_overview_is_recognised_after_a_journey_as_json() -> None:
    evidence = of(calls("a", **REJECTED))
    surface = Surface((Action("a", SCHEMA), Action("b", None)), "")
    measured = report(evidence, Catalog())
    coverage = coverage_of(finish(plans_steps(surface)), measured, aside_of(evidence))
    corpus = finish(corpus_steps([("s", evidence)], Catalog()))
    for covered in (None, coverage):
        value = overview_value(measured, aside_of(evidence), corpus, covered)
        travelled = json.loads(json.dumps(value))
        assert is_overview(travelled)
        assert is_overview(travelled | {"more": 1})
        for name in ("score", "skipped", "trend", "totals"):
            assert not is_overview({key: travelled[key] for key in travelled if key != name})
    assert not any(map(is_overview, [None, [], {}, "overview"]))
