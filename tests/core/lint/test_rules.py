"""Each rule of the lint, on the smallest schema that it is about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.lint.findings import RULES, SEVERITIES, Finding
from fabricd.core.lint.linting import lint, lint_steps
from fabricd.core.lint.places import target_of
from fabricd.core.steps import finish
from tests.core.lint.examples import DRAFT7, EXAMPLES, NEWEST, closed, prop
from tests.core.strategies import json_values


def of(schema: object) -> list[tuple[str, str, str]]:
    """Rule, severity and pointer of each finding."""
    return [(each.rule, each.severity, each.pointer) for each in lint("t", schema)]


def one(schema: dict[str, Any]) -> tuple[str, str, str]:
    [found] = of(schema)
    return found


@pytest.mark.parametrize(
    "schema",
    [
        closed(),
        closed(properties={"a": {"type": "string"}}, required=["a"]),
        prop({"enum": ["fit", "contain"]}),
        prop({"type": ["integer", "null"], "minimum": 1}, required=["a"]),
        prop({"type": "object", "properties": {"b": {"type": "string"}}}),
        prop({"$ref": "#/$defs/P"}, **{"$defs": {"P": {"type": "integer", "default": 5}}}),
        prop({"anyOf": [{"$ref": "#/$defs/A"}] * 2}, **{"$defs": {"A": {"type": "integer"}}}),
        prop({"allOf": [{"type": "integer"}, {"minimum": 1}]}),
        prop({"type": "integer", "default": None}),
        {
            "$schema": DRAFT7,
            "type": "object",
            "properties": {"a": {"items": [{}], "type": "array"}},
        },
        {
            **closed(properties={"n": {"$ref": "#/$defs/Node"}}),
            "$defs": {
                "Node": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"next": {"$ref": "#/$defs/Node"}},
                }
            },
        },
    ],
)
def test_a_schema_that_is_easy_to_call_is_passed_over(schema: dict[str, Any]) -> None:
    assert of(schema) == []


@pytest.mark.parametrize(("schema", "expected"), EXAMPLES)
def test_a_rule_finds_its_place(schema: dict[str, Any], expected: tuple[str, str, str]) -> None:
    assert one(schema) == expected


def test_tuple_items_of_the_older_drafts_are_a_surprise_in_the_newest() -> None:
    tuple_ = {"type": "array", "items": [{"type": "number"}, {"type": "number"}]}
    rules = [rule for rule, _, _ in of(prop(tuple_))]
    assert rules == ["unjudged-property", "dialect-mixed"]
    # Where no draft is named the validator can still read it as an older one.
    unnamed = {"type": "object", "properties": {"a": tuple_}}
    assert [rule for rule, _, _ in of(unnamed)] == ["dialect-mixed", "dialect-absent"]


def test_what_is_no_schema_is_said_too() -> None:
    assert of(None) == [("no-schema", "note", "")]
    assert of(5) == of([]) == [("unjudgeable-schema", "error", "")]
    deep: object = {}
    for _ in range(100):
        deep = {"not": deep}
    assert of(deep) == [("unjudgeable-schema", "error", "")]


def test_a_place_that_many_references_lead_to_is_told_once() -> None:
    schema = closed(
        properties={name: {"$ref": "#/$defs/E"} for name in "abc"},
        **{"$defs": {"E": {"type": "string", "enum": ["x", "X"]}}},
    )
    assert one(schema) == ("colliding-members", "warning", "/$defs/E/enum/1")


def test_findings_of_a_tool_begin_with_the_worst() -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {}, "b": {"type": "x"}}}
    severities = [severity for _, severity, _ in of(schema)]
    assert severities == sorted(severities, key=SEVERITIES.index) and severities[0] == "error"


def test_a_listing_is_told_tool_by_tool() -> None:
    found = finish(lint_steps({f"t{n}": None for n in range(20)}))
    assert [each.tool for each in found] == [f"t{n}" for n in range(20)]


def test_every_rule_says_why_and_what_to_do() -> None:
    for rule in RULES.values():
        assert rule.what and rule.why.endswith(".") and rule.fix.endswith(".")


@given(json_values())
def test_nothing_makes_it_fail(value: object) -> None:
    for schema in (value, {"type": "object", "properties": value}, {"properties": {"a": value}}):
        for found in lint("t", schema):
            assert isinstance(found, Finding) and found.rule in RULES
            assert found.pointer == "" or target_of(schema, f"#{found.pointer}") is not None


WORDS = st.sampled_from(
    ["properties", "items", "anyOf", "$ref", "type", "enum", "required", "default", "$schema", "a"]
)
SCHEMAS = st.recursive(
    st.one_of(st.sampled_from(["#", "#/properties/a", "string", True, None, 5, "a", NEWEST])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=20,
)


@given(st.dictionaries(WORDS, SCHEMAS, max_size=5))
def test_no_schema_makes_it_fail(schema: dict[str, Any]) -> None:
    for found in lint("t", schema):
        assert found.rule in RULES


BY_BRANCHES: list[dict[str, Any]] = [
    {word: [{"properties": {"b": {"type": "string"}}}, {"properties": {"c": {"type": "string"}}}]}
    for word in ("anyOf", "oneOf")
] + [
    {"if": {"required": ["a"]}, "then": {"properties": {"b": {"type": "string"}}}},
    {"if": {"required": ["a"]}, "else": {"allOf": [{"properties": {"b": {"type": "string"}}}]}},
    {"dependentSchemas": {"a": {"properties": {"b": {"type": "string"}}}}},
    {"anyOf": [{"$ref": "#/$defs/B"}], "$defs": {"B": {"properties": {"b": {"type": "string"}}}}},
    {"anyOf": [{"patternProperties": {"^b": {"type": "string"}}}]},
    {"anyOf": [{"$ref": "https://example.com/elsewhere"}]},
]


def undeclared(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Severity and pointer of the required keys that nobody declares."""
    found = lint("t", schema)
    return [(each.severity, each.pointer) for each in found if each.rule == "undeclared-required"]


@pytest.mark.parametrize("beside", BY_BRANCHES)
@pytest.mark.parametrize("closing", [{}, {"unevaluatedProperties": False}])
def test_a_required_key_may_be_declared_by_a_branch(
    beside: dict[str, Any], closing: dict[str, Any]
) -> None:
    own: dict[str, Any] = {
        "$schema": NEWEST,
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["b"],
        **closing,
    }
    assert undeclared({**own, **beside}) == []
    severity = "error" if closing else "warning"
    assert undeclared(own) == [(severity, "/required")]
    assert undeclared({**own, "anyOf": [{"minProperties": 1}]}) == [(severity, "/required")]


def test_a_branch_may_require_what_is_declared_around_it() -> None:
    branch = {"properties": {"a": {"const": "x"}}, "required": ["a", "b"]}
    around = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    whole: dict[str, Any] = {"$schema": NEWEST, "type": "object", **around}
    assert undeclared({**whole, "oneOf": [branch, {"allOf": [branch]}]}) == []
    deep = {**whole, "properties": {"50%/~": {"type": "object", **around, "anyOf": [branch]}}}
    assert undeclared(deep) == []
    alone = {**whole, "properties": {"a": {"type": "object"}}, "anyOf": [branch]}
    assert undeclared(alone) == [("warning", "/anyOf/0/required")]


def test_a_closed_object_forbids_what_only_its_branches_declare() -> None:
    branches = [{"properties": {"b": {"type": "string"}}}]
    schema = closed(properties={"a": {"type": "string"}}, required=["b"], anyOf=branches)
    assert undeclared(schema) == [("error", "/required")]
