"""What each convention repairs, and what stays as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from fabricd.core.canonical import digest
from fabricd.core.entropy.fingerprint import shape_digest
from fabricd.core.normalform.extended import Edit, ExtendedNormalizer, Repaired
from tests.core.making import Json
from tests.core.strategies import json_values

INTEGER: Json = {"type": "integer"}
BOOLEAN: Json = {"type": "boolean"}
MODE: Json = {"type": "string", "enum": ["bestMatch", "newest"]}
NODE: Json = {
    "type": "object",
    "properties": {"v": INTEGER, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "additionalProperties": False,
}
TREE: Json = {
    "type": "object",
    "properties": {"t": {"$ref": "#/$defs/node"}},
    "$defs": {"node": NODE},
}


def opened(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def closed(**properties: Any) -> Json:
    return {**opened(**properties), "additionalProperties": False}


def applied(schema: Any, args: Any) -> Repaired:
    return ExtendedNormalizer("r", schema).apply(args)


@pytest.mark.parametrize(
    ("schema", "args", "repaired"),
    [
        (opened(n=INTEGER), {"n": "5"}, {"n": 5}),
        (opened(n=INTEGER), {"n": "5", "more": "6"}, {"n": 5, "more": "6"}),
        (opened(n=INTEGER), {"n": None}, {}),
        (opened(b=BOOLEAN), {"b": "True"}, {"b": True}),
        (opened(m=MODE), {"m": "BEST_MATCH"}, {"m": "bestMatch"}),
        (opened(m={"const": "a b"}), {"m": "A-B"}, {"m": "a b"}),
        (opened(a={"type": "array"}), {"a": "[1, 2]"}, {"a": [1, 2]}),
        (opened(o={"type": ["object", "null"]}), {"o": ' {"a":{}}\n'}, {"o": {"a": {}}}),
        (closed(n=INTEGER), {"N": "5"}, {"n": 5}),
        (closed(n=INTEGER), {"N": None}, {}),
        (opened(o=closed(n=INTEGER)), {"o": {"N": "5"}}, {"o": {"n": 5}}),
        (opened(a={"type": "array", "items": INTEGER}), {"a": ["1", 2]}, {"a": [1, 2]}),
        (closed(n=INTEGER), '{"n": 5}', {"n": 5}),
        (
            TREE,
            {"t": {"V": "1", "kids": [{"v": "2", "KIDS": [{"v": None}]}]}},
            {"t": {"v": 1, "kids": [{"v": 2, "kids": [{}]}]}},
        ),
        (
            opened(u={"anyOf": [INTEGER, {"enum": ["all"]}]}),
            {"u": "ALL"},
            {"u": "all"},
        ),
        (
            opened(u={"anyOf": [INTEGER, {"enum": ["all"]}]}),
            {"u": "7"},
            {"u": 7},
        ),
        (
            opened(u={"oneOf": [{"type": "array", "items": INTEGER}, opened(n=INTEGER), BOOLEAN]}),
            {"u": {"n": "7"}},
            {"u": {"n": 7}},
        ),
        (
            opened(n={"type": "integer", "maximum": 9}, m=INTEGER),
            {"n": 9, "m": "1"},
            {"n": 9, "m": 1},
        ),
    ],
)
def test_each_convention_repairs_its_mistake(schema: Json, args: Any, repaired: Any) -> None:
    found = applied(schema, args)
    assert found.changed
    assert found.args == repaired


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        # Undeclared, or what an open object allows.
        (opened(n=INTEGER), {"N": "5", "n": "x"}),
        (opened(n=INTEGER), {"N": "5"}),
        ({**opened(n=INTEGER), "additionalProperties": INTEGER}, {"m": "5"}),
        ({**closed(n=INTEGER), "patternProperties": {"^z": INTEGER}}, {"N": 5}),
        # Ambiguous.
        (closed(n=INTEGER), {"N": 1, "n": 1}),
        (closed(n=INTEGER), {"N": 1, "n_": 1}),
        (opened(o=closed(n=INTEGER), m=INTEGER), {"o": {"N": 1, "n_": 1}, "m": "1"}),
        (closed(n=INTEGER, N=INTEGER), {"n_": 1}),
        (opened(u={"anyOf": [BOOLEAN, {"enum": ["TRUE"]}]}), {"u": "true"}),
        (opened(u={"anyOf": [{"enum": ["a b"]}, {"enum": ["A B"]}]}), {"u": "ab"}),
        (opened(m={"enum": ["a b", "AB"]}), {"m": "a_b"}),
        # Texts that are meant.
        (opened(u={"type": ["integer", "string"], "minLength": 3}), {"u": "7"}),
        (opened(u={"anyOf": [INTEGER, {"type": "string", "format": "date"}]}), {"u": "7"}),
        (opened(u={"pattern": "^x"}), {"u": "7"}),
        (opened(u={"allOf": [INTEGER]}), {"u": "7"}),
        # Lossy, or beyond the conventions.
        (opened(n=INTEGER), {"n": "5.0"}),
        (opened(n=INTEGER), {"n": "9007199254740993"}),
        (opened(n=INTEGER), {"n": 5.5}),
        (opened(n=INTEGER), {"n": ["5"]}),
        (opened(s={"type": "string"}), {"s": 5}),
        (opened(a={"type": "array"}), {"a": "x"}),
        (opened(a={"type": "array"}), {"a": 5}),
        (opened(a={"type": "array", "items": INTEGER}), {"a": ["1", None]}),
        (opened(a={"type": "array", "items": INTEGER}), {"a": '["1"]'}),
        (opened(a={"type": "array"}), {"a": "['x']"}),
        (opened(a={"type": "object"}), {"a": '{"a": 1, "a": 2}'}),
        ({**opened(n=INTEGER), "required": ["n"]}, {"n": None}),
        (opened(n=INTEGER), '{"n": "5"}'),
        (opened(n=INTEGER), "5"),
        (opened(n=INTEGER), ["5"]),
        (opened(n=INTEGER), None),
        # One value without a cure.
        (opened(n=INTEGER, b=BOOLEAN), {"n": "5", "b": "yes"}),
        ({**closed(n=INTEGER), "minProperties": 1}, {"n": None}),
    ],
)
def test_what_is_ambiguous_lossy_or_beyond_the_conventions_stays(schema: Json, args: Any) -> None:
    before = json.dumps(args)
    found = applied(schema, args)
    assert found.args is args and json.dumps(args) == before
    assert (found.rules, found.edits) == ((), ())


def test_what_is_in_a_container_that_was_read_is_not_repaired_further() -> None:
    schema = opened(a={"type": "array", "items": {"type": ["integer", "string"]}})
    assert applied(schema, {"a": '["1"]'}).args == {"a": ["1"]}


def test_rules_are_counted_and_stand_in_the_order_of_the_plan() -> None:
    schema = closed(b={"type": "array", "items": INTEGER}, a=BOOLEAN)
    args = {"B": ["1", 2, "3"], "a": "true"}
    normalizer = ExtendedNormalizer("r", schema)
    found = normalizer.apply(args)
    rules = [(rule.kind, rule.at, rule.count) for rule in found.rules]
    assert rules == [
        ("boolean-string", "/properties/a", 1),
        ("key-form", "/properties/b", 1),
        ("numeric-string", "/properties/b/items", 2),
    ]
    witness = normalizer.witness(args, found)
    assert witness is not None
    assert (witness.version, witness.base_schema_digest) == (2, digest(schema))
    assert witness.before_shape == shape_digest(args)
    assert witness.after_shape == shape_digest({"a": True, "b": [1, 2, 3]})
    assert witness.rules == found.rules


def test_the_rule_is_that_of_the_branch_that_accepts_the_value() -> None:
    lists = [{"type": "array", "items": part} for part in (BOOLEAN, INTEGER)]
    found = applied(opened(u={"anyOf": lists}), {"u": "[1]"})
    assert [rule.at for rule in found.rules] == ["/properties/u/anyOf/1"]


def test_edits_are_in_terms_of_what_was_sent() -> None:
    schema = closed(o=closed(aB=INTEGER, c={"type": "object"}, d=INTEGER, m=MODE), t=BOOLEAN)
    sent = {"O": {"A_B": "5", "c": ' {"x" : 1.10} ', "D": None, "m": "best match"}, "t": "TRUE"}
    assert set(applied(schema, sent).edits) == {
        Edit(("O",), "rename", "o"),
        Edit(("O", "A_B"), "rename", "aB"),
        Edit(("O", "A_B"), "replace", "5"),
        Edit(("O", "c"), "replace", ' {"x" : 1.10} '),
        Edit(("O", "D"), "drop", ""),
        Edit(("O", "m"), "replace", '"bestMatch"'),
        Edit(("t",), "replace", "true"),
    }
    assert applied(schema, '{"t": true}').edits == (Edit((), "replace", '{"t": true}'),)


def test_a_null_that_may_stay_is_renamed_as_any_value() -> None:
    found = applied(closed(n={"type": ["integer", "null"]}), {"N": None})
    assert found.args == {"n": None}
    assert found.edits == (Edit(("N",), "rename", "n"),)


def test_renamed_members_stay_in_their_places_and_others_are_shared() -> None:
    kept: Json = {"x": [1]}
    schema = closed(b=INTEGER, a={"type": "object"}, c=INTEGER)
    found = applied(schema, {"B": 1, "a": kept, "C": 2})
    assert json.dumps(found.args) == '{"b": 1, "a": {"x": [1]}, "c": 2}'
    assert isinstance(found.args, dict) and found.args["a"] is kept


def test_a_value_may_nest_deeper_than_the_interpreter_likes() -> None:
    args: Json = {"t": {"v": "1"}}
    inner = args["t"]
    for _ in range(240):
        inner["kids"] = [{"v": "2"}]
        inner = inner["kids"][0]
    found = applied(TREE, args)
    assert [rule.count for rule in found.rules] == [241]


def test_a_text_without_a_utf_8_form_is_never_an_answer() -> None:
    assert not applied(opened(o={"type": "object"}), {"o": '{"a": "\\ud800"}'}).changed
    assert not applied(opened(n=INTEGER), {"n": "5", "s": "\ud800"}).changed


@pytest.mark.parametrize("schema", [None, True, {}, {"type": "nothing"}, {"type": "string"}])
def test_without_a_plan_every_call_passes(schema: Any) -> None:
    args = {"n": "5"}
    normalizer = ExtendedNormalizer("r", schema)
    assert (normalizer.plan, bool(normalizer.reason)) == (None, True)
    assert normalizer.apply(args).args is args
    assert normalizer.accepts(args) == (schema == {})


@given(json_values())
def test_no_arguments_make_it_raise(args: Any) -> None:
    normalizer = ExtendedNormalizer("r", {**TREE, **closed(t=NODE, m=MODE, n=INTEGER)})
    found = normalizer.apply(args)
    assert found.args is args or normalizer.accepts(found.args)
