"""The rules about digests and plans excuse what they say, and nothing beside it."""

from __future__ import annotations

import json

import pytest

from tests.conformance.oracle_plans import UNCHANGED, compiled
from tests.conformance.oracles import hashed
from tests.conformance.samples import ELSE, call, changed, closed, compiling, ours, verdict
from tests.conformance.values import Case

# --- canonical text and digests

ACCENTED = closed({"n": {"type": "integer"}, "größe": {"type": "string"}, "z": {}})
TIED = closed({"n": {"type": "integer"}, "a\x01": {}, "a": {}})


@pytest.mark.parametrize(
    ("rule", "value", "order"),
    [
        ("non-ascii-keys", {"z": 1, "é": [2], "9": 3, "e": 4}, ["9", "e", "é", "z"]),
        ("equal-keys", {"b": 1, "a\x01": 2, "a": 3}, ["a\x01", "a", "b"]),
    ],
)
def test_key_order(rule: str, value: Case, order: list[str]) -> None:
    text = json.dumps({key: value[key] for key in order}, ensure_ascii=False, separators=(",", ":"))
    expected = {"canonical": text, "sha256": hashed(text)}
    case: Case = {"value": value, **expected}
    found = ours("stable_hash", case)
    assert verdict("stable_hash", case, expected, found) == rule
    assert verdict("stable_hash", case, expected, changed(found, sha256=ELSE)) == "failed"
    swapped = found["canonical"][::-1]
    assert verdict("stable_hash", case, expected, changed(found, canonical=swapped)) == "failed"


def test_key_order_excuses_no_other_object() -> None:
    expected = {"canonical": '{"b":1,"a":2}', "sha256": hashed('{"b":1,"a":2}')}
    case: Case = {"value": {"b": 1, "a": 2}, **expected}
    assert verdict("stable_hash", case, expected, ours("stable_hash", case)) == "failed"


@pytest.mark.parametrize(("rule", "schema"), [("non-ascii-keys", ACCENTED), ("equal-keys", TIED)])
def test_digests_of_plans(rule: str, schema: Case) -> None:
    case = call(schema, {"n": "1"})
    found = ours("derive_apply", case)
    places = {"derived__baseSchemaDigest": ELSE, "witness__baseSchemaDigest": ELSE}
    expected = changed(found, **places)
    assert found["changed"] is True
    assert verdict("derive_apply", case, expected, found) == rule
    tampered: list[Case] = [{"derived__rules": []}, {"args__n": 2}, {"derived": None}]
    tampered.append({"witness__baseSchemaDigest": ELSE})
    for wrong in tampered:
        assert verdict("derive_apply", case, expected, changed(found, **wrong)) == "failed"


def test_a_plan_with_the_other_digest_proves_nothing() -> None:
    derived = ours("derive_apply", call(ACCENTED, {"n": "1"}))
    theirs = changed(derived, derived__baseSchemaDigest=ELSE, witness__baseSchemaDigest=ELSE)
    case = call(ACCENTED, {"n": "1"}, plan=theirs["derived"])
    found = ours("derive_apply", case)
    assert found == {"derived": derived["derived"], "proves": False, **UNCHANGED}
    assert verdict("derive_apply", case, theirs, found) == "non-ascii-keys"
    assert verdict("derive_apply", case, theirs, changed(found, proves=True)) == "failed"


def test_digests_of_artifacts() -> None:
    case = compiling(ACCENTED, closed({"m": {"type": "integer"}}))
    found = ours("compile", case)
    theirs = json.loads(json.dumps(found).replace(found["artifact"]["evidenceDigest"], ELSE))
    base = found["artifact"]["normalizations"][0]["baseSchemaDigest"]
    expected = json.loads(json.dumps(theirs).replace(base, "f" * 64))
    assert verdict("compile", case, expected, found) == "non-ascii-keys"
    for wrong in ({"artifact__evidenceDigest": ELSE}, {"artifactText": "{}"}, {"score": 1}):
        assert verdict("compile", case, expected, changed(found, **wrong)) == "failed"


def test_digests_of_reports() -> None:
    surface = {"version": 1, "actions": [{"ref": "a.b", "inputSchema": ACCENTED}]}
    case: Case = {"files": {}, "surface": surface, "expected": None}
    found = ours("corpora", case)
    expected = changed(found, report__catalogDigest=ELSE, reportHash=ELSE)
    assert verdict("corpora", case, expected, found) == "non-ascii-keys"
    for wrong in ({"reportHash": ELSE}, {"report__score": 1}):
        assert verdict("corpora", case, expected, changed(found, **wrong)) == "failed"


# --- plans

NULLABLE = closed(
    {"note": {"$ref": "#/$defs/n"}, "limit": {"type": "integer"}},
    required=["limit"],
    **{"$defs": {"n": {"type": ["string", "null"]}}},
)
OPTIONAL_NULL = {"kind": "optional-null", "key": "note"}


def test_nullable_references() -> None:
    case = call(NULLABLE, {"note": None, "LIMIT": 1})
    found = ours("derive_apply", case)
    rules = [*found["derived"]["rules"], OPTIONAL_NULL]
    expected = changed(found, derived__rules=rules, args={"limit": 1})
    assert found["args"] == {"note": None, "limit": 1}
    assert verdict("derive_apply", case, expected, found) == "ref-nullable"
    for wrong in ({"args": {"limit": 1}}, {"derived__rules": rules[:2]}, {"proves": False}):
        assert verdict("derive_apply", case, expected, changed(found, **wrong)) == "failed"


def test_nullable_references_in_artifacts() -> None:
    case = compiling(NULLABLE)
    found = ours("compile", case)
    [plan] = found["artifact"]["normalizations"]
    theirs = {**plan, "rules": [*plan["rules"], OPTIONAL_NULL]}
    expected = compiled([theirs], case["input"]["surface"], 0, None)
    assert verdict("compile", case, expected, found) == "ref-nullable"
    assert verdict("compile", case, expected, changed(found, proposals=[])) == "failed"


def test_names_that_objects_inherit() -> None:
    schema = closed({"toString": {"type": "string"}, "limit": {"type": "integer"}})
    case = call(schema, {"LIMIT": "1"})
    found = ours("derive_apply", case)
    expected = {**found, **UNCHANGED}
    assert found["args"] == {"limit": 1}
    assert verdict("derive_apply", case, expected, found) == "inherited-names"
    assert verdict("derive_apply", case, expected, changed(found, args__limit=2)) == "failed"
    other = call(closed({"limit": {"type": "integer"}}), {"LIMIT": "1"})
    found = ours("derive_apply", other)
    assert verdict("derive_apply", other, {**found, **UNCHANGED}, found) == "failed"


def test_uncompilable_schemas_have_no_plan() -> None:
    schema = closed({"a": [], "b": {"type": "integer"}})
    case = call(schema, {"B": 1})
    found = ours("derive_apply", case)
    plan = {"version": 1, "ref": "demo.call", "baseSchemaDigest": ELSE, "rules": [OPTIONAL_NULL]}
    expected = {"derived": plan, "proves": True, **UNCHANGED}
    assert found == {"derived": None, "proves": None, **UNCHANGED}
    assert verdict("derive_apply", case, expected, found) == "invalid-schema"
    for wrong in ({"proves": False}, {"changed": True}, {"derived": {**plan, "ref": "x"}}):
        assert verdict("derive_apply", case, expected, changed(found, **wrong)) == "failed"


def test_uncompilable_schemas_are_not_in_artifacts() -> None:
    case = compiling(closed({"a": []}))
    plan = {"version": 1, "ref": "demo.0", "baseSchemaDigest": ELSE, "rules": [OPTIONAL_NULL]}
    expected = compiled([plan], case["input"]["surface"], 0, None)
    found = ours("compile", case)
    assert found["status"] == "converged"
    assert verdict("compile", case, expected, found) == "invalid-schema"
    assert verdict("compile", case, expected, changed(found, status="compiled")) == "failed"
