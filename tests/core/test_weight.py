"""Schemas that multiply by reference, and those that only look as if they did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabricd.core.compiling.compile import plans_steps
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps
from fabricd.core.validation import Unjudgeable, Validator
from fabricd.core.weight import is_too_heavy, weighed


def doubling(steps: int, keyword: str = "anyOf") -> dict[str, Any]:
    """A chain of definitions, each of which names the next one twice."""
    definitions: dict[str, Any] = {
        f"d{step}": {keyword: [{"$ref": f"#/$defs/d{step + 1}"}, {"$ref": f"#/$defs/d{step + 1}"}]}
        for step in range(steps)
    }
    definitions[f"d{steps}"] = {"type": "boolean"}
    return {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d0"}},
        "additionalProperties": False,
        "$defs": definitions,
    }


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_a_chain_that_doubles_is_too_heavy_once_it_is_long(keyword: str) -> None:
    assert not is_too_heavy(doubling(8, keyword))
    assert is_too_heavy(doubling(16, keyword))


def test_a_schema_that_would_take_hours_is_refused_at_once() -> None:
    # To unfold forty such steps is the work of days: that this ends is the test.
    for steps in (40, 5000):
        with pytest.raises(Unjudgeable, match="10,000"):
            Validator(doubling(steps))


def test_an_action_with_such_a_schema_gets_no_plan_and_the_others_keep_theirs() -> None:
    sound = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "additionalProperties": False,
    }
    actions = [{"ref": "a", "inputSchema": doubling(60)}, {"ref": "b", "inputSchema": sound}]
    surface = finish(surface_steps(json.dumps({"version": 1, "actions": actions}).encode()))
    plans = finish(plans_steps(surface))
    assert [plan.ref for plan in plans.plans] == ["b"]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"properties": {"x": {"$ref": "#/properties/x"}}},
        {"properties": {"x": {"$ref": "#/nowhere"}, "y": {"$ref": "https://else.where/"}}},
        {"properties": {"x": {"$ref": "#/$defs/a/b/9"}}, "$defs": {"a": {"b": [{}]}}},
        {"properties": {"x": True, "y": 5, "z": None}, "allOf": [True, None, {"$ref": 7}]},
        {"properties": [], "anyOf": {}, "$ref": "#/%zz/~"},
    ],
)
def test_cycles_and_references_to_nothing_weigh_little(schema: dict[str, Any]) -> None:
    assert not is_too_heavy(schema)


def test_a_recursive_type_with_many_kinds_of_node_is_fine() -> None:
    kinds = [{"$ref": f"#/$defs/k{number}"} for number in range(100)]
    nodes = {
        f"k{number}": {"type": "object", "properties": {"inner": {"anyOf": kinds}}}
        for number in range(100)
    }
    schema = {"type": "object", "properties": {"tree": {"anyOf": kinds}}, "$defs": nodes}
    assert not is_too_heavy(schema)
    assert Validator(schema).accepts({"tree": {"inner": {}}})


def test_many_plain_alternatives_are_fine_and_many_that_multiply_are_not() -> None:
    wide = {"anyOf": [{"const": number} for number in range(9_000)]}
    assert not is_too_heavy({"properties": {"x": wide}})
    definitions = {"w": {"anyOf": [{"const": number} for number in range(200)]}}
    many = {"anyOf": [{"$ref": "#/$defs/w"}] * 60}
    assert is_too_heavy({"properties": {"x": many}, "$defs": definitions})


@pytest.mark.parametrize(
    "named", [{"$anchor": "next"}, {"$dynamicAnchor": "next"}, {"$id": "next"}]
)
def test_other_ways_to_name_a_definition_count_too(named: dict[str, str]) -> None:
    definitions: dict[str, Any] = {}
    [(key, _)] = named.items()
    for step in range(20):
        name = f"n{step + 1}" if key == "$id" else f"#n{step + 1}"
        reference = "$dynamicRef" if key == "$dynamicAnchor" else "$ref"
        definitions[f"d{step}"] = {key: f"n{step}", "anyOf": [{reference: name}] * 2}
    schema = {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}
    assert is_too_heavy(schema)


def test_any_part_can_be_weighed() -> None:
    hidden = {"type": "array", "items": doubling(40)["properties"]["x"]}
    schema = {"properties": {"deep": hidden}, "$defs": doubling(40)["$defs"]}
    is_heavy = weighed(schema)
    assert not is_too_heavy(schema)
    assert is_heavy(hidden["items"])
    assert not is_heavy(hidden) and not is_heavy(schema["$defs"]["d39"])
    assert not weighed({"properties": {}})(True)
