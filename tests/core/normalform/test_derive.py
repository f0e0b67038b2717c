from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.canonical import as_given, digest, text
from fabricd.core.model import RULE_KINDS, Action, Plan, Rule
from fabricd.core.normalform.derive import derive, derive_steps, plan_of, plan_value, proves
from fabricd.core.steps import finish
from tests.core.making import Json
from tests.core.normalform import oracle
from tests.core.schemas import closed_schemas
from tests.core.strategies import json_values, names

PLAIN: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"limit": {"type": "integer"}},
}


def derived(schema: Any, ref: str = "r") -> list[tuple[str, str]]:
    """The rules of a schema's plan; none without a plan."""
    plan = derive(ref, schema).plan
    return [] if plan is None else [(rule.kind, rule.key) for rule in plan.rules]


@given(closed_schemas())
def test_rules_are_those_of_the_written_definition(schema: Json) -> None:
    assert derived(schema) == oracle.rules_of(schema)


@given(closed_schemas())
def test_a_plan_names_its_schema(schema: Json) -> None:
    found = derive("r", schema)
    assert (found.plan is None) == (found.reason is not None)
    if found.plan is not None:
        assert (found.plan.ref, found.plan.base_schema_digest) == ("r", digest(schema))


@given(closed_schemas(), st.randoms(use_true_random=False))
def test_the_order_of_declarations_changes_nothing(schema: Json, rng: Any) -> None:
    properties = list(schema["properties"].items())
    rng.shuffle(properties)
    assert derive("r", schema | {"properties": dict(properties)}) == derive("r", schema)


@given(json_values())
def test_derivation_takes_any_value_for_a_schema(schema: Any) -> None:
    found = derive("r", schema)
    assert found.plan is not None or found.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"type": "array"}, 'the type is not "object"'),
        ({"type": ["object"]}, 'the type is not "object"'),
        ({"additionalProperties": True}, "the object is open"),
        ({"additionalProperties": {}}, "the object is open"),
        ({"properties": []}, "it declares no properties"),
        ({"properties": {}}, "no convention applies to its properties"),
        ({"properties": {"é": True}}, "no convention applies to its properties"),
        ({"properties": {f"p{n}": {} for n in range(129)}}, "more than 128 properties"),
        ({"properties": {"constructor": {}}}, "a property name is unsafe"),
        ({"properties": {"é" * 129: {}}}, "longer than 128 units"),
        ({"properties": {"a": {"pattern": "("}}}, "the schema cannot be judged"),
        ({"properties": {"a": {"maximum": 10**400}}}, "the schema cannot be judged"),
        *[
            ({word: {}}, f"it uses {word}")
            for word in ("patternProperties", "$ref", "if", "not", "anyOf", "oneOf", "allOf")
        ],
    ],
)
def test_what_is_outside_the_language_has_no_plan_and_a_reason(change: Json, reason: str) -> None:
    found = derive("r", PLAIN | change)
    assert found.plan is None
    assert reason in (found.reason or "")


@pytest.mark.parametrize("schema", [None, True, [], "object", 5])
def test_what_is_no_object_has_no_plan(schema: Any) -> None:
    assert derive("r", schema).reason == "the schema is not an object"


@pytest.mark.parametrize(
    ("ref", "has_plan"), [("", False), ("é" * 1024, True), ("é" * 1025, False)]
)
def test_a_ref_has_1_to_1024_units(ref: str, has_plan: bool) -> None:
    assert (derive(ref, PLAIN).plan is not None) == has_plan


@pytest.mark.parametrize(
    "extra", ["then", "else", "dependentRequired", "dependentSchemas", "$defs", "x-note"]
)
def test_other_keywords_do_not_block(extra: str) -> None:
    assert derived(PLAIN | {extra: {}}) == derived(PLAIN)


def test_all_four_conventions_come_in_their_order() -> None:
    properties = {"b": {"type": "string", "enum": ["x y"]}, "a": {"type": "number"}}
    assert derived(PLAIN | {"properties": properties}) == [
        ("key-form", "a"),
        ("optional-null", "a"),
        ("numeric-string", "a"),
        ("key-form", "b"),
        ("optional-null", "b"),
        ("enum-form", "b"),
    ]


def test_ambiguous_names_and_members_have_no_rule() -> None:
    properties = {"maxItems": True, "max_items": {"type": "string", "enum": ["aB", "a_b"]}}
    rules = derived(PLAIN | {"properties": properties, "required": ["max_items"]})
    assert rules == []


@pytest.mark.parametrize("required", [["limit"], ["limit", 5, None], "limit", None, {"limit": 1}])
def test_only_a_list_of_names_requires(required: Any) -> None:
    schema = PLAIN | {"required": required}
    if required == ["limit"]:
        assert ("optional-null", "limit") not in derived(schema)
    else:
        # The validator refuses a malformed list, so there is no plan that could rest on it.
        assert derived(schema) == []


def test_a_nullable_definition_keeps_its_null() -> None:
    note = {"$ref": "#/$defs/note"}
    schema = PLAIN | {"properties": {"note": note}, "$defs": {"note": {"type": ["string", "null"]}}}
    assert derived(schema) == [("key-form", "note")]


def test_rules_beyond_128_are_cut_and_counted() -> None:
    wide = PLAIN | {"properties": {f"k{n:02}": {"type": "integer"} for n in range(60)}}
    found = derive("r", wide)
    assert found.plan is not None
    assert (len(found.plan.rules), found.cut) == (128, 52)
    assert found.plan.rules[-1] == Rule("optional-null", "k42")
    assert proves(found.plan, wide)


@given(closed_schemas(), st.data())
def test_only_the_derived_plan_is_proven(schema: Json, data: st.DataObject) -> None:
    plan = derive("r", schema).plan
    if plan is None:
        return
    assert proves(plan, schema)
    forged = data.draw(st.sampled_from(forgeries(plan)))
    assert not proves(forged, schema)


def forgeries(plan: Plan) -> list[Plan]:
    """Plans that differ from a derived one in one thing each."""
    ref, base, rules = plan.ref, plan.base_schema_digest, plan.rules
    found = [
        Plan(1, ref, "0" * 64, rules),
        Plan(1, ref, base, (*rules, rules[0])),
        Plan(1, ref, base, rules[1:]),
        Plan(1, ref, base, (Rule(rules[0].kind, "other"), *rules[1:])),
    ]
    others = [Rule(kind, rules[0].key) for kind in RULE_KINDS if kind != rules[0].kind]
    found += [Plan(1, ref, base, (other, *rules[1:])) for other in others]
    if len(rules) > 1:
        found.append(Plan(1, ref, base, rules[::-1]))
    return found


@given(closed_schemas())
def test_a_drifted_schema_does_not_prove_the_old_plan(schema: Json) -> None:
    plan = derive("r", schema).plan
    if plan is not None:
        assert not proves(plan, schema | {"description": "changed"})


@given(closed_schemas())
def test_a_plan_survives_the_wire(schema: Json) -> None:
    plan = derive("r", schema).plan
    if plan is not None:
        assert plan_of(json.loads(text(plan_value(plan), as_given))) == plan
        assert list(plan_value(plan)) == ["version", "ref", "baseSchemaDigest", "rules"]


WIRE: Json = {
    "version": 1,
    "ref": "r",
    "baseSchemaDigest": "a" * 64,
    "rules": [{"kind": "key-form", "key": "a"}],
}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"ref": ""},
        {"ref": 1},
        {"ref": "x" * 1025},
        {"baseSchemaDigest": "A" * 64},
        {"baseSchemaDigest": "a" * 63},
        {"baseSchemaDigest": "a" * 64 + "\n"},
        {"rules": []},
        {"rules": {}},
        {"rules": [{"kind": "key-form"}]},
        {"rules": [{"kind": "key-form", "key": "prototype"}]},
        {"rules": [{"kind": "key-form", "key": "a", "at": ""}]},
        {"rules": [{"kind": "trim", "key": "a"}]},
        {"rules": WIRE["rules"] * 129},
        {"more": 1},
    ],
)
def test_the_wire_check_is_closed(change: Json) -> None:
    assert plan_of(WIRE) is not None
    assert plan_of(WIRE | {"version": 1.0}) is not None
    assert plan_of(WIRE | change) is None


@pytest.mark.parametrize("value", [None, [], "plan", {}])
def test_what_is_no_object_is_no_plan(value: Any) -> None:
    assert plan_of(value) is None


@given(st.lists(st.tuples(names, closed_schemas()), max_size=20))
def test_derivations_come_in_the_order_given(rows: list[tuple[str, Json]]) -> None:
    actions = [Action(ref, schema) for ref, schema in rows]
    assert finish(derive_steps(actions)) == [derive(ref, schema) for ref, schema in rows]
    assert sum(1 for _ in derive_steps(actions)) == len(rows) // 8
