"""Which rules a schema yields, in which order, at which places, and where there is no plan."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.canonical import digest
from fabricd.core.model import Action
from fabricd.core.normalform.extended.derive import (
    derive_extended,
    derive_extended_steps,
)
from fabricd.core.normalform.extended.plan import extended_plan_of, extended_plan_value
from fabricd.core.steps import finish
from tests.core.making import Json

INTEGER: Json = {"type": "integer"}
DRAFT7 = "http://json-schema.org/draft-07/schema#"


def derived(schema: Any, ref: str = "r") -> list[tuple[str, str]]:
    """The rules of a schema's plan; none without a plan."""
    plan = derive_extended(ref, schema).plan
    return [] if plan is None else [(rule.kind, rule.at) for rule in plan.rules]


def of(properties: Json, **more: Any) -> Json:
    return {"type": "object", "properties": properties, "required": sorted(properties), **more}


def test_rules_come_depth_first_by_property_and_by_kind() -> None:
    schema: Json = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "b": {"type": ["integer", "boolean", "array"], "items": {"enum": ["x y"]}},
            "a": {"type": "object", "properties": {"z": INTEGER}},
        },
        "required": ["b"],
    }
    plan = derive_extended("r", schema).plan
    assert plan is not None
    assert (plan.version, plan.ref, plan.conventions) == (2, "r", "extended")
    assert plan.base_schema_digest == digest(schema)
    assert derived(schema) == [
        ("json-container", ""),
        ("key-form", "/properties/a"),
        ("optional-null", "/properties/a"),
        ("json-container", "/properties/a"),
        ("optional-null", "/properties/a/properties/z"),
        ("numeric-string", "/properties/a/properties/z"),
        ("key-form", "/properties/b"),
        ("numeric-string", "/properties/b"),
        ("boolean-string", "/properties/b"),
        ("json-container", "/properties/b"),
        ("enum-form", "/properties/b/items"),
    ]


@pytest.mark.parametrize(
    ("part", "rules"),
    [
        (INTEGER, [("numeric-string", "")]),
        ({"type": "string"}, []),
        ({"type": ["integer", "string"]}, []),
        ({"type": ["integer", "null"]}, [("numeric-string", "")]),
        ({}, []),
        (True, []),
        ({"description": "anything"}, []),
        ({"allOf": [INTEGER]}, []),
        ({"not": {"type": "string"}}, []),
        ({"enum": [1, 2]}, [("numeric-string", "")]),
        ({"enum": [True, None]}, [("boolean-string", "")]),
        ({"enum": ["a", 1]}, []),
        ({"enum": ["a b"]}, [("enum-form", "")]),
        ({"enum": ["a b", None]}, []),
        ({"enum": ["a b", "AB"]}, []),
        ({"type": "string", "enum": ["a b"]}, [("enum-form", "")]),
        ({"type": ["string", "null"], "enum": ["a b"]}, [("enum-form", "")]),
        ({"type": "integer", "enum": ["a b"]}, []),
        ({"const": "a b"}, [("enum-form", "")]),
        ({"const": 5}, [("numeric-string", "")]),
        ({"type": ["array", "object"]}, [("json-container", "")]),
        ({"anyOf": [INTEGER, {"type": "null"}]}, [("numeric-string", "/anyOf/0")]),
        ({"anyOf": [INTEGER, {"type": "string"}]}, []),
        ({"anyOf": [INTEGER, {}]}, []),
        ({"oneOf": [INTEGER, {"anyOf": [True, INTEGER]}]}, []),
        (
            {"oneOf": [INTEGER, {"anyOf": [{"type": "boolean"}, {"enum": ["all"]}]}]},
            [
                ("numeric-string", "/oneOf/0"),
                ("boolean-string", "/oneOf/1/anyOf/0"),
                ("enum-form", "/oneOf/1/anyOf/1"),
            ],
        ),
        ({"type": "integer", "anyOf": [{}, {"minimum": 1}]}, [("numeric-string", "")]),
        ({"type": "integer", "anyOf": [{}, {"type": "string"}]}, [("numeric-string", "")]),
        ({"type": ["integer", "string"], "anyOf": [INTEGER]}, [("numeric-string", "/anyOf/0")]),
    ],
)
def test_a_text_stands_for_something_else_only_where_no_branch_admits_texts(
    part: Any, rules: list[tuple[str, str]]
) -> None:
    found = [rule for rule in derived(of({"p": part})) if rule[1].startswith("/")]
    assert found == [(kind, f"/properties/p{at}") for kind, at in rules]


@pytest.mark.parametrize(
    "branches",
    [
        [of({"a": INTEGER}), of({"a": INTEGER})],
        [of({"a": INTEGER}), {"type": ["object", "null"]}],
        [of({"a": INTEGER}), {}],
    ],
)
def test_below_a_union_of_two_objects_nothing_is_known(branches: list[Any]) -> None:
    assert not any("/properties/a" in at for _, at in derived(of({"p": {"anyOf": branches}})))


def test_below_a_union_with_one_object_and_one_array_both_are_descended() -> None:
    branches = [of({"a": INTEGER}), {"type": "array", "items": INTEGER}, {"type": "null"}]
    assert derived(of({"p": {"oneOf": branches}}))[1:] == [
        ("json-container", "/properties/p/oneOf/0"),
        ("numeric-string", "/properties/p/oneOf/0/properties/a"),
        ("json-container", "/properties/p/oneOf/1"),
        ("numeric-string", "/properties/p/oneOf/1/items"),
    ]


def test_what_stands_beside_a_union_holds_in_every_branch() -> None:
    schema = {**of({"a": INTEGER}), "required": [], "anyOf": [{"required": ["a"]}, {}]}
    assert derived(schema) == [
        ("json-container", ""),
        ("optional-null", "/properties/a"),
        ("numeric-string", "/properties/a"),
    ]


@pytest.mark.parametrize(
    ("more", "is_closed"),
    [
        ({"additionalProperties": False}, True),
        ({}, False),
        ({"additionalProperties": {}}, False),
        ({"additionalProperties": True}, False),
        *[
            ({"additionalProperties": False, word: value}, False)
            for word, value in [
                ("patternProperties", {}),
                ("if", True),
                ("not", False),
                ("allOf", [{}]),
                ("dependentRequired", {}),
                ("dependentSchemas", {}),
            ]
        ],
    ],
)
def test_only_closed_objects_have_key_form_and_nothing_else_is_switched_off(
    more: Json, is_closed: bool
) -> None:
    rules = derived({**of({"a": INTEGER}), "required": [], **more})
    assert (("key-form", "/properties/a") in rules) == is_closed
    assert ("optional-null", "/properties/a") in rules
    assert ("numeric-string", "/properties/a") in rules


def test_each_object_is_closed_or_open_by_itself() -> None:
    inner = of({"a": INTEGER}, additionalProperties=False)
    rules = derived(of({"p": inner}))
    assert ("key-form", "/properties/p/properties/a") in rules
    assert ("key-form", "/properties/p") not in rules


def test_names_that_fold_together_have_no_key_form() -> None:
    schema = of({"aB": {}, "a_b": {}, "é": {}, "c": {}}, additionalProperties=False)
    assert [rule for rule in derived(schema) if rule[0] == "key-form"] == [
        ("key-form", "/properties/c")
    ]


# --- references


def test_a_rule_names_the_place_a_reference_leads_to() -> None:
    schema = of(
        {"p": {"$ref": "#/$defs/a~1b~0c%20d"}, "q": {"$ref": "#/$defs/list"}},
        **{
            "$defs": {"a/b~c d": INTEGER, "list": {"type": "array", "items": {"$ref": "#/$defs/i"}}}
        },
    )
    schema["$defs"]["i"] = of({"x": {"type": "boolean"}})
    assert derived(schema)[1:] == [
        ("numeric-string", "/$defs/a~1b~0c d"),
        ("json-container", "/$defs/list"),
        ("json-container", "/$defs/i"),
        ("boolean-string", "/$defs/i/properties/x"),
    ]


@pytest.mark.parametrize("place", ["$defs", "definitions"])
@pytest.mark.parametrize("draft", [None, DRAFT7, "https://json-schema.org/draft/2020-12/schema"])
def test_both_places_of_definitions_are_followed_in_every_draft(
    place: str, draft: str | None
) -> None:
    schema = of({"p": {"$ref": f"#/{place}/n"}}, **{place: {"n": of({"x": INTEGER})}})
    schema |= {} if draft is None else {"$schema": draft}
    assert ("numeric-string", f"/{place}/n/properties/x") in derived(schema)


def test_one_definition_used_twice_has_its_rules_once_and_only_where_they_hold() -> None:
    uses = {"a": {"$ref": "#/$defs/n"}, "b": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "string"}]}}
    schema = of({**uses, "c": {"$ref": "#/$defs/n"}}, **{"$defs": {"n": INTEGER}})
    assert derived(schema) == [("json-container", ""), ("numeric-string", "/$defs/n")]


def test_a_recursive_schema_has_finitely_many_rules() -> None:
    node = of({"v": INTEGER, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}})
    schema: Json = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    assert derived(schema) == [
        ("json-container", "/$defs/node"),
        ("json-container", "/$defs/node/properties/kids"),
        ("numeric-string", "/$defs/node/properties/v"),
    ]


def test_the_root_may_refer_to_itself() -> None:
    schema: Json = {"type": "object", "properties": {"next": {"$ref": "#"}, "v": INTEGER}}
    assert derived(schema) == [
        ("json-container", ""),
        ("optional-null", "/properties/next"),
        ("optional-null", "/properties/v"),
        ("numeric-string", "/properties/v"),
    ]


def test_a_reference_met_again_within_one_value_yields_no_rule() -> None:
    loop = {"anyOf": [{"$ref": "#/$defs/loop"}, {"type": "boolean"}]}
    alone = {"$ref": "#/$defs/alone"}
    schema = of(
        {"a": {"$ref": "#/$defs/loop"}, "b": alone}, **{"$defs": {"loop": loop, "alone": alone}}
    )
    assert derived(schema)[1:] == [("boolean-string", "/$defs/loop/anyOf/1")]


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#named"},
        {"$ref": "other.json#/x"},
        {"$ref": "#/$defs/inner/properties/x"},
        {"anyOf": [{"$ref": "#named"}, {"type": "boolean"}]},
    ],
)
def test_a_reference_that_is_not_followed_admits_everything(part: Json) -> None:
    defs = {
        "n": {"$anchor": "named", "type": "integer"},
        "inner": {"$id": "urn:inner", "properties": {"x": INTEGER}},
        "other": {"$id": "other.json", "x": INTEGER},
    }
    assert derived(of({"p": part}, **{"$defs": defs})) in ([("json-container", "")], [])


# --- arrays


def test_tuples_are_read_by_their_draft() -> None:
    part: Json = {"type": "array", "items": INTEGER, "prefixItems": [{"type": "boolean"}]}
    assert derived(of({"p": part}))[2:] == [
        ("boolean-string", "/properties/p/prefixItems/0"),
        ("numeric-string", "/properties/p/items"),
    ]
    assert derived(of({"p": part}, **{"$schema": DRAFT7}))[2:] == [
        ("numeric-string", "/properties/p/items")
    ]
    older: Json = {"type": "array", "items": [{"type": "boolean"}], "additionalItems": INTEGER}
    rules = [
        ("boolean-string", "/properties/p/items/0"),
        ("numeric-string", "/properties/p/additionalItems"),
    ]
    assert derived(of({"p": older}, **{"$schema": DRAFT7}))[2:] == rules
    # Draft 2020-12 has no such tuples, so that draft 7 judges a schema that names none.
    assert derived(of({"p": older}))[2:] == rules


# --- no plan


def nested(levels: int) -> Json:
    defs = {f"n{n}": of({"p": {"$ref": f"#/$defs/n{n + 1}"}}) for n in range(levels)}
    return {"$ref": "#/$defs/n0", "$defs": {**defs, f"n{levels}": INTEGER}}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (True, "not an object"),
        (None, "not an object"),
        ([], "not an object"),
        ({"type": "object"}, None),
        ({"type": "string"}, "no convention applies"),
        ({}, "no convention applies"),
        ({"type": "nothing"}, "cannot be judged"),
        (of({f"p{n}": INTEGER for n in range(4095)}), None),
        (of({f"p{n}": INTEGER for n in range(4096)}), "more than 4,096 rules"),
        (nested(32), None),
        (nested(33), "more than 32 levels"),
        ({"type": "object", "description": "x" * 2**20}, "larger than 1 MiB"),
        ({"type": "object", "description": "x" * (2**20 - 60)}, None),
    ],
)
def test_what_is_too_large_or_cannot_be_judged_has_no_plan_and_a_reason(
    schema: Any, reason: str | None
) -> None:
    found = derive_extended("r", schema)
    assert (found.plan is None) == (reason is not None)
    assert (reason or "") in (found.reason or "")


@pytest.mark.parametrize(
    ("ref", "has_plan"), [("", False), ("é" * 1024, True), ("x" * 1025, False)]
)
def test_a_ref_has_1_to_1024_units(ref: str, has_plan: bool) -> None:
    assert (derive_extended(ref, of({"p": INTEGER})).plan is not None) == has_plan


def test_references_that_double_at_every_step_hold_nobody_up() -> None:
    defs: Json = {
        f"n{n}": {"anyOf": [{"$ref": f"#/$defs/n{n + 1}"}, {"$ref": f"#/$defs/n{n + 1}"}]}
        for n in range(60)
    }
    defs["n60"] = {"type": ["integer", "null"]}
    hidden = of({"x": {"$ref": "#/$defs/n0"}})
    schema = of({"p": {"type": "array", "items": hidden}}, **{"$defs": defs})
    assert ("json-container", "/properties/p") in derived(schema)
    assert not any("n60" in at for _, at in derived(schema))


def test_unions_in_unions_without_end_are_no_plan() -> None:
    defs: Json = {f"n{n}": {"anyOf": [{"$ref": f"#/$defs/n{n + 1}"}]} for n in range(3000)}
    defs["n3000"] = INTEGER
    uses = {f"p{n}": {"anyOf": [{"$ref": "#/$defs/n0"}]} for n in range(40)}
    found = derive_extended("r", of(uses, **{"$defs": defs}))
    assert found.plan is None and "alternatives are too many" in (found.reason or "")


# --- the wire


def test_derivations_come_in_the_order_given() -> None:
    actions = [Action(f"r{n}", of({"p": INTEGER})) for n in range(20)]
    found = finish(derive_extended_steps(actions))
    assert [one.ref for one in found] == [action.ref for action in actions]
    assert sum(1 for _ in derive_extended_steps(actions)) == 20


def test_a_drifted_schema_does_not_prove_the_old_plan() -> None:
    schema = of({"p": INTEGER})
    plan = derive_extended("r", schema).plan
    assert plan is not None and derive_extended("r", schema).plan == plan
    assert derive_extended("r", schema | {"description": "changed"}).plan != plan


WIRE: Json = {
    "version": 2,
    "ref": "r",
    "baseSchemaDigest": "a" * 64,
    "conventions": "extended",
    "rules": [{"kind": "json-container", "at": ""}],
}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"version": True},
        {"ref": ""},
        {"ref": 1},
        {"ref": "x" * 1025},
        {"baseSchemaDigest": "A" * 64},
        {"baseSchemaDigest": "a" * 64 + "\n"},
        {"conventions": "classic"},
        {"rules": []},
        {"rules": {}},
        {"rules": [{"kind": "key-form"}]},
        {"rules": [{"kind": "key-form", "at": "a"}]},
        {"rules": [{"kind": "key-form", "at": "/a~2"}]},
        {"rules": [{"kind": "key-form", "at": 1}]},
        {"rules": [{"kind": ["key-form"], "at": ""}]},
        {"rules": [{"kind": "key-form", "at": "", "key": "a"}]},
        {"rules": [{"kind": "trim", "at": ""}]},
        {"rules": WIRE["rules"] * 4097},
        {"more": 1},
    ],
)
def test_the_wire_check_is_closed(change: Json) -> None:
    plan = extended_plan_of(WIRE)
    assert plan is not None and extended_plan_value(plan) == WIRE
    assert extended_plan_of(WIRE | {"version": 2.0}) is not None
    assert extended_plan_of(WIRE | change) is None


@pytest.mark.parametrize("value", [None, [], "plan", {}])
def test_what_is_no_object_is_no_plan(value: Any) -> None:
    assert extended_plan_of(value) is None
