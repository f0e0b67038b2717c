"""The laws of application, over generated schemas and calls."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import assume, example, given, settings, target
from hypothesis import strategies as st

from fabricd.core.canonical import digest
from fabricd.core.entropy.fingerprint import signature
from fabricd.core.javascript import number_text
from fabricd.core.model import Plan, Rule
from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.core.normalform.derive import derive
from fabricd.core.sessions.trace import witness_of
from tests.core.making import Json
from tests.core.normalform import oracle
from tests.core.schemas import DEFS, PROPERTIES, cases, judged, oracle_form
from tests.core.strategies import json_objects

Case = tuple[Json, Json]
many = settings(max_examples=60)


def applied(schema: Json, args: Json) -> Applied:
    return Normalizer("r", schema).apply(args)


def rules(found: Applied) -> list[tuple[str, str]]:
    return [(rule.kind, rule.key) for rule in found.rules]


@settings(max_examples=150)
@given(cases())
def test_a_repair_is_the_one_of_the_written_definition(case: Case) -> None:
    schema, args = case
    found = applied(schema, args)
    target(len(found.rules))
    expected = oracle.repaired(schema, args)
    assert (found.args, rules(found)) == (expected or (args, []))


@many
@given(cases())
def test_identity_accepted_arguments_come_back_untouched(case: Case) -> None:
    schema, args = case
    normalizer = Normalizer("r", schema)
    assert normalizer.plan is None or normalizer.accepts(args) == judged(schema, args)
    if judged(schema, args):
        found = normalizer.apply(args)
        assert found.args is args
        assert not found.changed
        assert normalizer.witness(args, found) is None


@many
@given(cases())
def test_validated_output_satisfies_the_declared_schema_or_is_the_input(case: Case) -> None:
    schema, args = case
    before = copy.deepcopy(args)
    found = applied(schema, args)
    assert args == before
    assert list(args) == list(before)
    assert found.args is args or judged(schema, found.args)
    assert found.changed == (found.args is not args)


@many
@given(cases())
def test_idempotence_a_second_application_changes_nothing(case: Case) -> None:
    schema, args = case
    once = applied(schema, args)
    again = applied(schema, dict(once.args))
    assert again.args == once.args
    assert not (once.changed and again.changed)


def same_meaning(declared: Any, before: Any, after: Any) -> bool:
    """Whether a value is the same, or the number or the enum member that a text spells."""
    if type(before) is type(after) and before == after:
        return True
    if not isinstance(before, str) or not isinstance(declared, dict):
        return False
    if isinstance(after, int | float) and not isinstance(after, bool):
        return declared["type"] in ("number", "integer") and number_text(after) == before
    if not isinstance(after, str) or after not in declared["enum"]:
        return False
    return oracle_form(before) == oracle_form(after) is not None


@many
@given(cases())
def test_losslessness_every_argument_keeps_its_meaning(case: Case) -> None:
    schema, args = case
    found = applied(schema, args)
    properties: Json = schema["properties"]
    left = dict(found.args)
    for name, value in args.items():
        kept = name if name in left else next((k for k in left if respelt(name, k, args)), None)
        if kept is None:
            folded = name if name in properties else folding(name, properties)
            assert value is None and folded not in schema.get("required", [])
            continue
        assert same_meaning(properties.get(kept), value, left.pop(kept))
    assert left == {}


def respelt(name: str, target: str, args: Json) -> bool:
    return target not in args and oracle_form(name) == oracle_form(target) is not None


def folding(name: str, properties: Json) -> str:
    [declared] = [key for key in properties if oracle_form(key) == oracle_form(name)]
    return declared


@many
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_arguments_and_declarations_changes_nothing(case: Case, rng: Any) -> None:
    schema, args = case
    members, properties = list(args.items()), list(schema["properties"].items())
    rng.shuffle(members)
    rng.shuffle(properties)
    there = applied(schema, args)
    back = applied(schema | {"properties": dict(properties)}, dict(members))
    assert (back.args, back.rules) == (there.args, there.rules)


@many
@given(cases())
def test_a_witness_is_valid_and_tells_shapes_before_and_after(case: Case) -> None:
    schema, args = case
    normalizer = Normalizer("r", schema)
    found = normalizer.apply(args)
    witness = normalizer.witness(args, found)
    assert (witness is not None) == found.changed
    if witness is None:
        return
    assert witness_of(msgspec.json.decode(msgspec.json.encode(witness))) == witness
    assert (witness.base_schema_digest, witness.rules) == (digest(schema), found.rules)
    assert witness.before_shape == digest(signature(args))
    assert witness.after_shape == digest(signature(found.args))


@given(cases(), st.data())
def test_exact_proof_a_plan_that_is_not_derived_repairs_nothing(
    case: Case, data: st.DataObject
) -> None:
    schema, args = case
    plan = derive("r", schema).plan
    assume(plan is not None)
    assert plan is not None
    exact = Normalizer("r", schema, plan)
    assert exact.apply(args) == applied(schema, args)
    changes: list[Json] = [
        {"ref": "s"},
        {"base_schema_digest": "0" * 64},
        {"rules": plan.rules[1:]},
        {"rules": (*plan.rules, Rule("enum-form", "x"))},
        {"rules": (plan.rules[-1], *plan.rules[:-1])},
    ]
    forged: Plan = msgspec.structs.replace(plan, **data.draw(st.sampled_from(changes)))
    assume(forged != plan)
    refused = Normalizer("r", schema, forged)
    assert refused.plan is None
    assert "not what the live schema derives" in (refused.reason or "")
    assert refused.apply(args).args is args


@given(
    st.sampled_from([{"type": "object"}, True, None, {"type": "object", "properties": {}}]),
    json_objects,
)
def test_without_a_plan_every_call_passes(schema: Any, args: Json) -> None:
    normalizer = Normalizer("r", schema)
    assert (normalizer.plan, bool(normalizer.reason)) == (None, True)
    assert normalizer.apply(args) == Applied(args)


def closed(properties: Json, *required: str) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": list(required),
        "$defs": DEFS,
    }


INTEGER: Json = {"type": "integer"}
MODE: Json = {"type": "string", "enum": ["bestMatch", "newest", "new est", "10"]}


@pytest.mark.parametrize(
    ("properties", "args", "repaired"),
    [
        ({"maxResults": INTEGER}, {"MAX_RESULTS": 5}, {"maxResults": 5}),
        ({"limit": INTEGER}, {"limit": None}, {}),
        ({"limit": INTEGER}, {"limit": "5"}, {"limit": 5}),
        ({"ratio": {"type": "number"}}, {"ratio": "1e-7"}, {"ratio": 1e-7}),
        ({"mode": MODE}, {"mode": "best-match"}, {"mode": "bestMatch"}),
        (
            {"mode": MODE, "limit": INTEGER},
            {"Mode": "Best Match", "LIMIT": "5"},
            {"mode": "bestMatch", "limit": 5},
        ),
        ({"limit": INTEGER}, {"Limit": None}, {}),
        ({"a": INTEGER, "note": PROPERTIES[13]}, {"a": "1", "note": None}, {"a": 1, "note": None}),
    ],
)
def test_each_convention_repairs_its_mistake(properties: Json, args: Json, repaired: Json) -> None:
    found = applied(closed(properties), args)
    assert found.changed
    assert found.args == repaired


@pytest.mark.parametrize(
    ("properties", "args"),
    [
        ({"limit": INTEGER}, {"LIMIT": 1, "limit_": 1}),
        ({"limit": INTEGER}, {"LIMIT": 1, "limit": 1}),
        ({"limit": INTEGER, "Limit": INTEGER}, {"LIMIT": 1}),
        ({"mode": MODE}, {"mode": "NEWEST"}),
        ({"mode": MODE}, {"mode": "1 0"}),
        ({"limit": INTEGER}, {"limit": "5.0"}),
        ({"limit": INTEGER}, {"limit": "9007199254740993"}),
        ({"limit": INTEGER}, {"limit": "05"}),
        ({"limit": INTEGER}, {"limit": "5", "other": 1}),
        ({"limit": INTEGER}, {"limit": True}),
        ({"open": {"type": "boolean"}}, {"open": "true"}),
        ({"text": {"type": "string"}}, {"text": 5}),
        ({"items": {"type": "array", "items": INTEGER}}, {"items": "[1]"}),
        ({"items": {"type": "array", "items": INTEGER}}, {"items": ["1"]}),
        ({"items": {"type": "array", "items": INTEGER}}, {"items": 1}),
    ],
)
def test_what_is_ambiguous_lossy_or_beyond_the_conventions_stays(
    properties: Json, args: Json
) -> None:
    found = applied(closed(properties), args)
    assert found.args is args


def test_one_mistake_without_a_cure_leaves_the_whole_call_as_it_was() -> None:
    schema = closed({"limit": INTEGER, "text": {"type": "string"}}, "text")
    assert applied(schema, {"LIMIT": "5"}).changed is False
    assert applied(schema, {"LIMIT": "5", "text": "x"}).args == {"text": "x", "limit": 5}


def test_a_required_null_is_never_dropped() -> None:
    assert not applied(closed({"limit": INTEGER}, "limit"), {"limit": None}).changed


@example({"a": "\ud800", "LIMIT": "5"})
@given(json_objects)
def test_no_arguments_make_it_raise(args: Json) -> None:
    schema = closed({"limit": INTEGER, "mode": MODE, "": {"type": "string"}})
    found = applied(schema, args)
    assert found.args is args or judged(schema, found.args)
