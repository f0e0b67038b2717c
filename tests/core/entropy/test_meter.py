from __future__ import annotations

import json
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.entropy.freedom import static_freedom
from fabricd.core.entropy.meter import (
    Catalog,
    lexicon_of,
    ratio,
    ref_row,
    report,
    report_steps,
    report_text,
    report_value,
)
from fabricd.core.evidence import Evidence, RefTally
from fabricd.core.model import RepairRow
from fabricd.core.steps import finish
from tests.core.making import Json, assistant, everything, log, operation, record, trace
from tests.core.strategies import common_lines, logs
from tests.oracle import naive

SURFACE: list[Json] = [
    {
        "ref": "pi.read",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
    {"ref": "mcp.a.b", "inputSchema": {"enum": [1, 2, 3]}},
    {"ref": "never.called", "inputSchema": {"type": "string"}},
]
REPAIRS: list[Json] = [
    {"kind": "keyAlias", "ref": "pi.read", "from": "file", "to": "path"},
    {"kind": "actionAlias", "provider": "mcp.a", "from": "B", "to": "b"},
    {"kind": "actionAlias", "provider": "gone", "from": "x", "to": "y"},
]
ROWS = [
    RepairRow("keyAlias", "pi.read"),
    RepairRow("actionAlias", "mcp.a.b"),
    RepairRow("actionAlias", "gone.y"),
]
CATALOG = Catalog(
    digest="d" * 64,
    freedom={row["ref"]: static_freedom(row["inputSchema"]) for row in SURFACE},
    lexicon=lexicon_of(ROWS),
    lexicon_rows=len(ROWS),
)


def measured(evidence: Evidence, catalog: Catalog = CATALOG) -> Json:
    """Our report as plain JSON values."""
    return cast(Json, json.loads(report_text(report(evidence, catalog))))


def evidence_of(sessions: list[bytes]) -> Evidence:
    """The sum of whole sessions."""
    total = Evidence()
    for data in sessions:
        total.add(everything(data))
    return total


def traces_of(sessions: list[bytes]) -> list[Json]:
    """The oracle's reading of the same sessions."""
    texts = (data.decode("utf-8", "replace") for data in sessions)
    return [found for text in texts for found in naive.traces_of(text)]


@given(st.lists(logs(most=5, of=common_lines), max_size=3))
def test_the_report_is_the_oracles(sessions: list[bytes]) -> None:
    ours = measured(evidence_of(sessions))
    theirs = naive.report(traces_of(sessions), SURFACE, "d" * 64, REPAIRS)
    assert ours == theirs


@given(logs(most=3, of=common_lines))
def test_members_come_in_the_order_of_the_format(data: bytes) -> None:
    ours = measured(everything(data))
    theirs = naive.report(traces_of([data]), SURFACE, "d" * 64, REPAIRS)
    assert list(ours) == list(theirs)
    assert list(ours["totals"]) == list(theirs["totals"])
    for part in ("refs", "byModel"):
        assert [list(row) for row in ours[part]] == [list(row) for row in theirs[part]]


@given(logs(most=3), logs(most=3))
def test_remembered_rows_change_nothing(first: bytes, second: bytes) -> None:
    evidence = everything(first)
    rows = {ref: ref_row(ref, tally, CATALOG) for ref, tally in evidence.refs.items()}
    evidence.add(everything(second))
    for ref in everything(second).refs:
        rows.pop(ref, None)
    assert finish(report_steps(evidence, CATALOG, rows)) == report(evidence, CATALOG)
    assert set(rows) == set(evidence.refs)


@given(st.lists(logs(most=3), min_size=2, max_size=3))
def test_given_pieces_restore_the_order_of_the_sessions(sessions: list[bytes]) -> None:
    backwards = evidence_of(sessions[::-1])
    pieces = [evidence_of([session]) for session in sessions]
    again = finish(report_steps(backwards, CATALOG, None, pieces))
    assert again == report(evidence_of(sessions), CATALOG)


def test_nothing_measured_is_a_report_of_zeros() -> None:
    found = measured(Evidence(), Catalog())
    assert (found["catalogDigest"], found["score"], found["refs"]) == ("(sessions)", 0, [])
    assert set(found["totals"].values()) == {0}


def of(*operations: Json, **more: Any) -> Evidence:
    return everything(log(assistant("p", "m"), record(trace(*operations, **more))))


def test_the_score_is_rejections_by_actions() -> None:
    failed: Json = {"outcome": "failed", "failureStage": "validate"}
    found = measured(
        of(
            operation(0, "fabric.discovery.x"),
            operation(1, "a", **failed),
            operation(2, "a"),
            operation(3, "b", outcome="failed", failureStage="invoke"),
        )
    )
    assert (found["score"], found["behavioralScore"]) == (0.333333, 0.333333)
    assert found["totals"]["invocationRejectionsPer1k"] == 333.333333
    assert found["navigationRatio"] == 0.333333
    assert [(row["ref"], row["score"]) for row in found["refs"]] == [("a", 0.5), ("b", 0)]
    [model] = found["byModel"]
    assert (model["model"], model["operations"], model["actionOperations"]) == ("p/m", 4, 3)


def test_equal_scores_are_in_unit_order() -> None:
    refs = ["\uffff", "\U0001f600", "b", "a"]
    evidence = of(*(operation(n, ref) for n, ref in enumerate(refs)))
    ordered = [row["ref"] for row in measured(evidence)["refs"]]
    assert ordered == ["a", "b", "\U0001f600", "\uffff"]


def test_the_eight_commonest_shapes_are_listed() -> None:
    calls = [{f"k{n}": 1} for n in range(10)] + [{"k9": 1}, {"k5": 1}]
    evidence = of(*(operation(n, "a", args=args) for n, args in enumerate(calls)))
    [row] = measured(evidence)["refs"]
    shapes = [(shape["signature"], shape["count"]) for shape in row["shapeSignatures"]]
    assert shapes[:3] == [("(k5:num)", 2), ("(k9:num)", 2), ("(k0:num)", 1)]
    assert len(shapes) == 8


def test_churn_is_a_sum_of_doubles_in_order_of_occurrence() -> None:
    tally = RefTally(succeeded=2, churn=[333_333, 444_444])
    assert ref_row("a", tally, Catalog()).churn_rate == 0.388888
    assert ref_row("a", tally, Catalog(), [500_000, 500_000]).churn_rate == 0.5


def test_a_called_action_brings_in_its_freedom_and_its_repairs() -> None:
    found = measured(of(operation(0, "mcp.a.b"), operation(1, "mcp.a.b"), operation(2, "pi.read")))
    assert found["staticFreedom"] == 1.75 + 0.26416
    assert found["staticScore"] == round((2 * 0.25 * 0.26416 + 0.25 * 1.75) / 3, 6)
    assert found["lexiconRows"] == 3
    assert [(row["ref"], row["lexiconRows"]) for row in found["refs"]] == [
        ("mcp.a.b", 1),
        ("pi.read", 1),
    ]


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_ratio_by_nothing_is_zero(part: int, whole: int) -> None:
    expected = naive.ratio(part, whole)
    assert ratio(part, whole) == expected


def test_measuring_many_shapes_pauses() -> None:
    calls = [operation(n, f"a.{n % 3}", args={f"k{n}": 1}) for n in range(900)]
    evidence = of(*calls)
    assert sum(1 for _ in report_steps(evidence, Catalog())) >= 2


def test_plain_values_and_text_say_the_same() -> None:
    found = report(of(operation(0, "a", outcome="failed")), CATALOG)
    assert json.loads(report_text(found)) == json.loads(json.dumps(report_value(found)))
