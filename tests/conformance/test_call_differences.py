"""The rules about verdicts excuse what follows from them for calls and plans, and nothing else."""

from __future__ import annotations

import pytest

from tests.conformance.concerns import concerned
from tests.conformance.oracle_plans import UNCHANGED, compiled, outcome
from tests.conformance.readings import DRAFTS
from tests.conformance.samples import ELSE, call, changed, closed, compiling, ours, verdict
from tests.conformance.values import Case

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
NEAR = "0.30000000000000004"


def number(**more: object) -> Case:
    """A schema of a call with one number."""
    return closed({"n": {"type": "number", **more}})


def string(**more: object) -> Case:
    """A schema of a call with one text."""
    return closed({"n": {"type": "string", **more}})


CALLS: list[tuple[str, Case, Case, bool]] = [
    ("grapheme-length", string(maxLength=1), {"N": "e\u0301"}, False),
    ("format-details", string(format="url"), {"N": "x"}, True),
    ("format-details", string(format="uri"), {"N": "http://é.com/"}, False),
    ("regex-dialect", string(pattern=r"^a\-"), {"N": "a-"}, True),
    ("multiple-of", number(multipleOf=0.1), {"n": NEAR}, False),
    ("exact-numbers", number(maximum=2**53), {"N": 2**53 + 1}, False),
    ("exact-numbers", number(const=123456789012345680000), {"n": "123456789012345680000"}, False),
    ("declared-draft", {**string(format="uuid"), "$schema": DRAFT_7}, {"N": "x"}, True),
]


@pytest.mark.parametrize(("rule", "schema", "args", "repaired"), CALLS)
def test_calls(rule: str, schema: Case, args: Case, repaired: bool) -> None:
    case = call(schema, args)
    found = ours("derive_apply", case)
    expected = {**found, **outcome(case, found["derived"], True, concerned(case))}
    assert (found["changed"], expected["changed"]) == (repaired, not repaired)
    assert verdict("derive_apply", case, expected, found) == rule
    assert verdict("derive_apply", case, expected, changed(found, idempotent=False)) == "failed"
    assert verdict("derive_apply", case, expected, changed(found, derived=None)) == "failed"
    # The reference must have done exactly what its reading says.
    odd = changed(expected, changed=repaired)
    assert verdict("derive_apply", case, odd, found) == "failed"
    assert verdict("derive_apply", case, found, expected) == "failed"


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (number(multipleOf=0.1), {"N": 0.3}),
        (number(maximum=5), {"N": 4}),
        ({**number(), "$schema": DRAFT_7}, {"N": 1}),
        (string(format="email"), {"N": "a@b.co"}),
        (string(pattern="^a"), {"N": "ab"}),
    ],
)
def test_other_calls(schema: Case, args: Case) -> None:
    case = call(schema, args)
    found = ours("derive_apply", case)
    assert found["changed"] is True
    assert verdict("derive_apply", case, {**found, **UNCHANGED}, found) == "failed"


# --- plans of a declared draft


CONSTANT = closed({"k": {"const": 1}, "limit": {"type": "integer"}}, **{"$schema": DRAFT_4})
OPTIONAL_NULL = {"kind": "optional-null", "key": "k"}


def test_plans_of_a_declared_draft() -> None:
    case = call(CONSTANT, {"k": None, "LIMIT": "1"})
    found = ours("derive_apply", case)
    kept = found["derived"]["rules"]
    assert found["args"] == {"k": None, "limit": 1}
    theirs = {**found["derived"], "rules": [kept[0], OPTIONAL_NULL, *kept[1:]]}
    expected = {
        "derived": theirs,
        "proves": True,
        **outcome(case, theirs, True, frozenset({DRAFTS})),
    }
    assert expected["args"] == {"limit": 1}
    assert verdict("derive_apply", case, expected, found) == "declared-draft"
    for wrong in ({"proves": False}, {"args__limit": 2}, {"derived__rules": kept[1:]}):
        assert verdict("derive_apply", case, expected, changed(found, **wrong)) == "failed"
    # More than the draft explains.
    odd = changed(expected, derived__rules=[*theirs["rules"], OPTIONAL_NULL])
    assert verdict("derive_apply", case, odd, found) == "failed"


def test_a_plan_of_the_other_reading_proves_nothing() -> None:
    derived = ours("derive_apply", call(CONSTANT, {}))["derived"]
    theirs = {**derived, "rules": [derived["rules"][0], OPTIONAL_NULL, *derived["rules"][1:]]}
    case = call(CONSTANT, {"k": None}, plan=theirs)
    found = ours("derive_apply", case)
    expected = {
        "derived": theirs,
        "proves": True,
        **outcome(case, theirs, True, frozenset({DRAFTS})),
    }
    assert found == {"derived": derived, "proves": False, **UNCHANGED}
    assert verdict("derive_apply", case, expected, found) == "declared-draft"
    assert verdict("derive_apply", case, expected, changed(found, proves=True)) == "failed"


def test_a_declared_draft_in_artifacts() -> None:
    case = compiling(CONSTANT)
    found = ours("compile", case)
    [plan] = found["artifact"]["normalizations"]
    theirs = {**plan, "rules": [plan["rules"][0], OPTIONAL_NULL, *plan["rules"][1:]]}
    expected = compiled([theirs], case["input"]["surface"], 0, None)
    assert verdict("compile", case, expected, found) == "declared-draft"
    assert verdict("compile", case, expected, changed(found, proposals=[])) == "failed"


# --- texts without a UTF-8 form


def test_a_call_with_half_a_character_is_left_alone() -> None:
    case = call(closed({"a": {"pattern": "^x"}, "b": {}}), {"A": "x\ud800", "b": 1})
    found = ours("derive_apply", case)
    args = {"a": "x\ud800", "b": 1}
    expected = {**found, "changed": True, "args": args, "witness": {}}
    assert found["changed"] is False
    assert verdict("derive_apply", case, expected, found) == "lone-surrogate"
    assert verdict("derive_apply", case, found, expected) == "failed"
    assert verdict("derive_apply", case, expected, changed(found, proves=False)) == "failed"
    whole = call(case["schema"], {"A": "x😀", "b": 1})
    found = ours("derive_apply", whole)
    assert verdict("derive_apply", whole, {**found, **UNCHANGED}, found) == "failed"


def test_a_schema_with_half_a_character_has_no_plan() -> None:
    schema = closed({"n": {"type": "integer", "title": "\ud800"}})
    rules = [{"kind": "key-form", "key": "n"}]
    plan: Case = {"version": 1, "ref": "demo.call", "baseSchemaDigest": ELSE, "rules": rules}
    case = call(schema, {"N": 1})
    found = ours("derive_apply", case)
    expected = {"derived": plan, "proves": True, "changed": True, "args": {"n": 1}, "witness": {}}
    assert found == {"derived": None, "proves": None, **UNCHANGED}
    assert verdict("derive_apply", case, expected, found) == "lone-surrogate"
    assert verdict("derive_apply", case, expected, changed(found, proves=False)) == "failed"
    surface = compiling(schema)
    listed = compiled([{**plan, "ref": "demo.0"}], surface["input"]["surface"], 0, None)
    found = ours("compile", surface)
    assert found["status"] == "converged"
    assert verdict("compile", surface, listed, found) == "lone-surrogate"
    assert verdict("compile", surface, listed, changed(found, status="compiled")) == "failed"
