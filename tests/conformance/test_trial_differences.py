"""The rules of difference explain trials as far as they concern an action, and no further."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.normalform.derive import derive, plan_value
from tests.conformance.concerns import concerned
from tests.conformance.oracles import digest
from tests.conformance.samples import ELSE, changed, closed, ours, verdict
from tests.conformance.trial_changes import ours as our_reading
from tests.conformance.trial_changes import tried
from tests.conformance.values import Case, difference

BUNDLED = Path(__file__).parents[2] / "fixtures" / "conformance" / "trials.json"
PLAIN = closed({"limit": {"type": "integer"}})


@pytest.mark.parametrize("case", json.loads(BUNDLED.read_bytes())["cases"])
def test_the_plain_trial_agrees_with_the_reference(case: Case) -> None:
    assert difference(case["expected"], tried(case, our_reading)) is None
    assert difference(case["expected"], tried(case, concerned)) is None


def plan(ref: str, schema: Any, rules: list[Case] | None = None) -> Case:
    """A plan as the reference may have derived it."""
    derived = derive(ref, schema).plan
    own: list[Case] = [] if derived is None else plan_value(derived)["rules"]
    kept = own if rules is None else rules
    return {"version": 1, "ref": ref, "baseSchemaDigest": digest(schema), "rules": kept}


def case_of(schema: Any, *args: Any, given: Case | None = None) -> Case:
    """A trial of one odd action beside a plain one."""
    plans = [plan("demo.plain", PLAIN), plan("demo.odd", schema) if given is None else given]
    plans = [each for each in plans if each["rules"]]
    live = [("demo.odd", schema), ("demo.plain", PLAIN)]
    calls = [("demo.odd", each) for each in args]
    calls += [("demo.plain", {"limit": 1}), ("demo.plain", {"LIMIT": 1})]
    return {
        "traces": [{"operations": []}],
        "live": {
            "version": 1,
            "actions": [{"ref": ref, "inputSchema": schema} for ref, schema in live],
        },
        "artifact": {"version": 2, "normalizations": plans},
        "auditCalls": [{"ref": ref, "args": each} for ref, each in calls],
        "expected": None,
    }


def moved(found: Case, accepted: int = 0, refused: int = 0, repaired: int = 0) -> Case:
    """A trial in which so many samples of the odd action were judged otherwise."""
    totals = found["totals"]
    rows = [row for row in found["divergences"] if row["ref"] != "demo.odd"]
    wins = totals["normalizationWin"] - sum(row["count"] for row in rows) + repaired
    if wins:
        rows.insert(0, {"ref": "demo.odd", "trialClass": "normalization-win", "count": wins})
    return {
        **found,
        "divergences": rows,
        "totals": {
            **totals,
            "bothAccept": totals["bothAccept"] + accepted,
            "bothReject": totals["bothReject"] + refused,
            "normalizationWin": totals["normalizationWin"] + repaired,
            "canonicalIdentityChecks": totals["canonicalIdentityChecks"] + accepted,
        },
    }


NULLABLE = closed(
    {"note": {"$ref": "#/$defs/n"}, "limit": {"type": "integer"}},
    required=["limit"],
    **{"$defs": {"n": {"type": ["string", "null"]}}},
)
ACCENTED = closed({"n": {"type": "integer"}, "größe": {"type": "string"}})
TIED = closed({"n": {"type": "integer"}, "a\x01": {}, "a": {}})
INHERITING = closed({"toString": {"type": "string"}, "limit": {"type": "integer"}})
OPTIONAL_NULL = {"kind": "optional-null", "key": "note"}

EXPLAINED: list[tuple[str, Case, Case]] = [
    # The reference repairs by a plan that we do not derive, so it is not tried here at all.
    (
        "ref-nullable",
        case_of(
            NULLABLE,
            {"note": None, "LIMIT": 1},
            given=plan("demo.odd", NULLABLE, [*plan("", NULLABLE)["rules"], OPTIONAL_NULL]),
        ),
        {"refused": -1, "repaired": 1},
    ),
    # A digest of another key order proves nothing here.
    (
        "non-ascii-keys",
        case_of(
            ACCENTED,
            {"n": "1"},
            {"n": 1},
            given={**plan("demo.odd", ACCENTED), "baseSchemaDigest": ELSE},
        ),
        {"refused": -1, "repaired": 1},
    ),
    (
        "equal-keys",
        case_of(TIED, {"n": "1"}, given={**plan("demo.odd", TIED), "baseSchemaDigest": ELSE}),
        {"refused": -1, "repaired": 1},
    ),
    # It takes inherited members for arguments, and so rejects what is fine.
    ("inherited-names", case_of(INHERITING, {"limit": 1}), {"accepted": -1, "refused": 1}),
    ("inherited-names", case_of(INHERITING, {"LIMIT": 1}), {"repaired": -1, "refused": 1}),
    ("invalid-schema", case_of(closed({"a": []}), {}), {"accepted": 1, "refused": -1}),
    ("invalid-schema", case_of({"allOf": []}, {}, {"a": 1}), {"accepted": 2, "refused": -2}),
    (
        "lone-surrogate",
        case_of(closed({"a": {"type": "string"}}), {"a": "\ud800"}),
        {"accepted": 1, "refused": -1},
    ),
    (
        "grapheme-length",
        case_of(closed({"a": {"type": "string", "maxLength": 1}}), {"a": "e\u0301"}),
        {"accepted": 1, "refused": -1},
    ),
    (
        "exact-numbers",
        case_of(closed({"a": {"const": 2**53}}), {"a": 2**53 + 1}),
        {"accepted": 1, "refused": -1},
    ),
    (
        "multiple-of",
        case_of(closed({"a": {"multipleOf": 1}}), {"a": 1 + 1e-12}),
        {"accepted": 1, "refused": -1},
    ),
]


@pytest.mark.parametrize(("rule", "case", "move"), EXPLAINED, ids=[row[0] for row in EXPLAINED])
def test_a_rule_explains_the_samples_of_its_action(rule: str, case: Case, move: Any) -> None:
    found = ours("trials", case)
    expected = moved(found, **move)
    assert verdict("trials", case, found, found) == "passed"
    assert verdict("trials", case, expected, found) == rule
    wrong: list[Case] = [
        {"verdict": "costly"},
        {"declaredScore": 1},
        {"totals__operations": 99},
        {"totals__bothAccept": 99},
        {"divergences": []},
    ]
    for place in wrong:
        assert verdict("trials", case, expected, changed(found, **place)) == "failed"


@pytest.mark.parametrize(("rule", "case", "move"), EXPLAINED, ids=[row[0] for row in EXPLAINED])
def test_no_rule_excuses_what_is_said_of_the_other_action(rule: str, case: Case, move: Any) -> None:
    found = ours("trials", case)
    expected = moved(found, **move)
    other = [row for row in expected["divergences"] if row["ref"] != "demo.plain"]
    wrong: list[Case] = [{"divergences": other}, {"effectiveScore": 1}, {"totals__operations": 99}]
    wrong += [{"totals__bothAccept": 0}, {"totals__bothReject": 99}]
    for place in wrong:
        assert verdict("trials", case, changed(expected, **place), found) == "failed"


def test_readings_explain_only_their_own_verdict() -> None:
    case = case_of(closed({"a": {"type": "string", "maxLength": 1}}), {"a": "e\u0301"}, {"a": "x"})
    found = ours("trials", case)
    assert verdict("trials", case, moved(found, accepted=1, refused=-1), found) != "failed"
    assert verdict("trials", case, moved(found, accepted=-1, refused=1), found) == "failed"


def test_a_plain_trial_is_not_excused() -> None:
    case = case_of(PLAIN, {"limit": 1}, {"LIMIT": 1})
    found = ours("trials", case)
    assert verdict("trials", case, moved(found, accepted=-1, refused=1), found) == "failed"
    assert verdict("trials", case, moved(found, repaired=-1, refused=1), found) == "failed"
