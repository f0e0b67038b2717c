"""The rules about plans hold for merges too, and excuse nothing beside what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.merge_changes import merged, on_merges
from tests.conformance.samples import ELSE, changed, closed, ours, verdict
from tests.conformance.values import Case, same

FILE: Case = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "conformance" / "merges.json").read_bytes()
)
CASES: list[Case] = [{"surface": FILE["surface"], **case} for case in FILE["cases"]]
EMPTY: Case = CASES[0]["incoming"] | {"normalizations": []}


def kept(ref: str, schema: Any, plan: Any) -> Any:
    return plan


def case_of(schema: Case, *plans: Case) -> Case:
    return {
        "surface": {"version": 1, "actions": [{"ref": "a", "inputSchema": schema}]},
        "local": None,
        "incoming": EMPTY | {"normalizations": [*plans]},
    }


def own_plan(schema: Case) -> Case:
    """Our plan of a schema, by way of a compile."""
    given = {"surface": case_of(schema)["surface"], "traces": [], "artifact": None}
    case = {"input": given, "expected": {"proposals": []}}
    return ours("compile", case)["artifact"]["normalizations"][0]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_plain_merge_is_the_reference_merge(case: Case) -> None:
    expected = case["expected"]
    plans = expected["file"]["normalizations"]
    assert same(merged(case, {plan["ref"]: plan for plan in plans}), expected)
    assert on_merges(kept)(case, expected) is expected


@pytest.mark.parametrize(
    ("rule", "schema"),
    [
        ("non-ascii-keys", closed({"n": {"type": "integer"}, "größe": {"type": "string"}})),
        ("equal-keys", closed({"n": {"type": "integer"}, "a\x01": {}, "a": {}})),
    ],
)
def test_a_plan_with_the_other_digest_is_dropped(rule: str, schema: Case) -> None:
    mine = own_plan(schema)
    theirs = changed(mine, baseSchemaDigest=ELSE)
    case = case_of(schema, theirs)
    expected = merged(case, {"a": theirs})
    found = ours("merges", {**case, "expected": None})
    assert found["droppedNormalizations"] == 1
    assert verdict("merges", case, expected, found) == rule
    for wrong in ({"droppedNormalizations": 0}, {"file__evidenceDigest": ELSE}):
        assert verdict("merges", case, expected, changed(found, **wrong)) == "failed"


def test_a_plan_that_would_remove_a_valid_null_is_dropped() -> None:
    nullable = {"$defs": {"n": {"type": ["string", "null"]}}}
    schema = closed({"note": {"$ref": "#/$defs/n"}, "n": {"type": "integer"}}, **nullable)
    mine = own_plan(schema)
    rules = [*mine["rules"], {"kind": "optional-null", "key": "note"}]
    theirs = changed(mine, rules=rules)
    case = case_of(schema, theirs)
    expected = merged(case, {"a": theirs})
    found = ours("merges", {**case, "expected": None})
    assert verdict("merges", case, expected, found) == "ref-nullable"
    assert verdict("merges", case, expected, expected) == "passed"


def test_no_rule_excuses_a_plan_that_everybody_proves() -> None:
    case = CASES[0]
    found = changed(case["expected"], droppedNormalizations=1)
    assert verdict("merges", case, case["expected"], found) == "failed"


def test_plans_that_nobody_can_read_are_dropped() -> None:
    schema = closed({"n": {"type": "integer"}})
    case = case_of(schema, {"version": 1}, own_plan(schema) | {"rules": []})
    found = ours("merges", {**case, "expected": None})
    assert same(found, merged(case, {}))
    assert found["droppedNormalizations"] == 2
