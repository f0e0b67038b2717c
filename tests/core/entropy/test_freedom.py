from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.entropy.freedom import FreedomRow, freedom_steps, static_freedom, surface_freedom
from fabricd.core.model import Action, Surface
from fabricd.core.steps import finish
from tests.core.making import Json
from tests.oracle import naive

leaves: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([True, False, None, [], "string", {}, 5]),
    st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"]).map(
        lambda kind: {"type": kind}
    ),
    st.just({"type": ["string", "null"]}),
    st.lists(st.integers(0, 70), max_size=70).map(lambda members: {"enum": members}),
    st.just({"const": None}),
)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas that hold other schemas."""
    properties = st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    required = st.sampled_from([None, [], ["a"], ["a", "b", 1, None], "a"])
    return st.one_of(
        st.builds(
            lambda p, r, more: {"type": "object", "properties": p, "required": r} | more,
            properties,
            required,
            st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": True}]),
        ),
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(
            lambda name, branches: {name: branches},
            st.sampled_from(["anyOf", "oneOf", "allOf"]),
            st.one_of(st.lists(inner, max_size=3), st.just({})),
        ),
    )


@settings(max_examples=150)
@given(st.recursive(leaves, deeper, max_leaves=8))
def test_freedom_is_the_oracles(schema: Any) -> None:
    assert static_freedom(schema) == naive.freedom(schema)


@pytest.mark.parametrize(
    ("schema", "freedom"),
    [
        ({"type": "string"}, 1.0),
        ({"enum": [1]}, 0.0),
        ({"enum": list(range(64))}, 1.0),
        ({"enum": list(range(8)), "type": "string"}, 0.5),
        ({"anyOf": [{"type": "number"}, {"const": 1}]}, 0.6),
        ({"anyOf": []}, 0.0),
        ({"oneOf": [{"type": "boolean"}] * 3, "enum": [1]}, 0.3),
        ({"type": "array"}, 0.75),
        ({"type": "array", "items": {"type": "string"}}, 1.0),
        ({"type": "object", "properties": {}}, 1.0),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}, 0.6),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "boolean"}},
                "additionalProperties": False,
            },
            0.35,
        ),
        ({"$ref": "#/x"}, 0.75),
        (None, 0.5),
    ],
)
def test_freedom_examples(schema: Any, freedom: float) -> None:
    assert static_freedom(schema) == freedom


def test_deep_schemas_are_not_opened_beyond_the_third_level() -> None:
    schema: Json = {"type": "string"}
    for _ in range(3):
        schema = {"type": "array", "items": schema}
    assert static_freedom(schema) == 1.0
    assert static_freedom({"type": "array", "items": schema}) == 0.96875


def test_a_surface_lists_the_freest_first() -> None:
    found = surface_freedom({"b": 1.0, "a": 1.0, "\uffff": 2.0, "\U0001f600": 2.0})
    assert [row.ref for row in found.rows] == ["\U0001f600", "\uffff", "a", "b"]
    assert (found.total, found.mean) == (6.0, 1.5)
    assert surface_freedom({}).mean == 0
    assert found.rows[0] == FreedomRow("\U0001f600", 2.0)


def test_the_first_action_of_a_name_speaks_for_it() -> None:
    actions = tuple(
        Action(ref, {"type": kind}) for ref, kind in [("a", "string"), ("a", "boolean")]
    )
    assert finish(freedom_steps(Surface(actions, ""))) == {"a": 1.0}
