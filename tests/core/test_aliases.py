"""Learning: what a refused call proves, and that nothing else is ever learned."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from fabricd.core.aliases import (
    learned_action_alias,
    learned_actions,
    learned_key_alias,
    learned_keys_steps,
    misfit,
    renamed,
    supposed_key_alias,
)
from fabricd.core.evidence import RefTally
from fabricd.core.model import AuditCall
from fabricd.core.repairs import ActionAlias, KeyAlias, row_value, table_of
from fabricd.core.steps import finish
from fabricd.core.validation import Validator
from tests.core.making import Json
from tests.core.repairing import surface, table
from tests.core.schemas import (
    SPELLINGS,
    cases,
    closed_schemas,
    judged,
    oracle_unique,
    valid_calls,
)

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string"},
        "maxResults": {"type": "integer"},
        "sort by": {"type": "string"},
        "Twin": {},
        "twin": {},
    },
}
EMPTY: Json = {"version": 1, "catalogDigest": "c"}
ROW = KeyAlias("mcp.a.b", "maxresults", "maxResults")


def learned(args: Json, schema: Any = SCHEMA, ref: str = "mcp.a.b") -> KeyAlias | None:
    call = AuditCall(ref, args)
    row = learned_key_alias(call, schema, Validator(schema))
    assert finish(learned_keys_steps([call], {ref: schema})) == (() if row is None else (row,))
    return row


def without(name: str, **more: Any) -> Json:
    return {key: value for key, value in SCHEMA.items() if key != name} | more


def test_one_misspelt_argument_is_learned() -> None:
    assert learned({"query": "x", "maxresults": 5}) == ROW
    assert learned({"QUERY": "x"}) == KeyAlias("mcp.a.b", "QUERY", "query")


@pytest.mark.parametrize(
    "args",
    [
        {"query": "x"},
        {"query": "x", "maxResults": 5},
        {"query": "x", "maxresults": "5"},
        {"query": "x", "maxresults": 5, "note": 1},
        {"query": "x", "maxresults": 5, "max_results": 5},
        {"query": "x", "maxresults": 5, "maxResults": 5},
        {"maxresults": 5},
        {"query": "x", "limit": 5},
        {"query": "x", "TWIN": 5},
        {"query": "x", "-maxresults": 5},
        {"query": "x", "é": 5},
        {"query": "x", "sortby ": "new"},
        {"query": "x", "maxresults" + "_" * 119: 5},
        {"query": "\ud800", "maxresults": 5},
        {},
    ],
)
def test_whatever_is_not_one_unique_misspelling_is_not_learned(args: Json) -> None:
    assert learned(args) is None


def test_a_name_of_128_units_is_learned() -> None:
    name = "maxresults" + "_" * 118
    assert learned({"query": "x", name: 5}) == KeyAlias("mcp.a.b", name, "maxResults")


@pytest.mark.parametrize(
    "schema",
    [
        without("additionalProperties"),
        without("", additionalProperties=True),
        without("", additionalProperties={}),
        without("", patternProperties={"^y": {}}),
        without("", **{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/$defs/a"}),
        without("properties"),
        without("", properties={"query": {}, "maxResults": {}, "constructor": {}}, required=["x"]),
    ],
)
def test_where_an_alias_could_change_an_accepted_call_nothing_is_learned(schema: Json) -> None:
    schema.setdefault("$defs", {"a": {"required": ["maxResults"]}})
    for args in ({"query": "x", "maxresults": 5}, {"maxresults": 5}, {"Constructor": 5}):
        assert learned(args, schema) is None


@pytest.mark.parametrize("ref", ["", " mcp.a.b", "r" * 1025])
def test_a_ref_that_a_table_could_not_hold_is_not_learned(ref: str) -> None:
    assert learned({"query": "x", "maxresults": 5}, ref=ref) is None


def test_a_member_that_every_object_inherits_is_not_learned() -> None:
    schema = without("", properties={"query": {}, "constructor": {}})
    assert learned({"query": 1, "Constructor": 5}, schema) is None


@st.composite
def misspelt(draw: st.DrawFn) -> tuple[Json, Json]:
    """A schema and a call that was right until one argument was spelled in another way."""
    schema = draw(closed_schemas())
    args = draw(valid_calls(schema))
    if not args:
        return schema, args
    name = draw(st.sampled_from(sorted(args)))
    spelt = draw(st.sampled_from([name.upper(), f"{name}_", name.replace("R", "-r")]))
    return schema, {spelt if key == name else key: value for key, value in args.items()}


@settings(max_examples=150)
@given(st.one_of(misspelt(), cases()))
def test_what_is_learned_reproves_itself(case: tuple[Json, Json]) -> None:
    schema, args = case
    row = learned(args, schema)
    target(row is not None)
    if row is None:
        return
    assert not judged(schema, args) and judged(schema, renamed(args, row))
    assert [name for name in args if name not in schema["properties"]] == [row.given]
    assert row.meant in oracle_unique(list(schema["properties"])).values()
    assert row.meant not in args
    assert misfit(row, {row.ref: schema}) is None
    assert table_of({**EMPTY, "repairs": [row_value(row)]}).rows == (row,)
    assert list(renamed(args, row).values()) == list(args.values())


@given(cases())
def test_no_row_ever_concerns_an_accepted_call(case: tuple[Json, Json]) -> None:
    schema, args = case
    if judged(schema, args):
        for given in SPELLINGS:
            row = supposed_key_alias(AuditCall("a", {given: 1}), schema)
            assert row is None or row.given not in args


def test_calls_are_learned_from_once_and_in_order() -> None:
    calls = [
        AuditCall("mcp.a.b", {"query": "x", "maxresults": "5"}),
        AuditCall("gone", {"query": "x", "maxresults": 5}),
        AuditCall("bad", {"x": 1}),
        *[AuditCall("mcp.a.b", {"query": "x", "maxresults": 5})] * 40,
        AuditCall("mcp.a.b", {"Query": "x"}),
    ]
    bad = {"additionalProperties": False, "properties": {"X": {"pattern": "(["}}}
    steps = learned_keys_steps(calls, {"mcp.a.b": SCHEMA, "bad": bad})
    pauses = 0
    while True:
        try:
            next(steps)
            pauses += 1
        except StopIteration as end:
            assert end.value == (ROW, KeyAlias("mcp.a.b", "Query", "query"))
            break
    assert pauses >= 2


NAMES = surface(mcp__x__create_issue={}, mcp__x__close={}, mcp__x__Close={}, mcp__y__open={}, z={})


@pytest.mark.parametrize(
    ("ref", "meant"),
    [
        ("mcp.x.createIssue", "create_issue"),
        ("mcp.x.CREATE-ISSUE", "create_issue"),
        ("mcp.x.create_issue", None),
        ("mcp.x.CLOSE", None),
        ("mcp.x.createIssues", None),
        ("mcp.x.open", None),
        ("mcp.x.", None),
        ("mcp.x.createIssue ", None),
        ("mcp.x.createissue" + "_" * 118, None),
        (" mcp.x.createIssue", None),
        ("Z", None),
        ("mcp.x.y.createIssue", None),
        ("", None),
    ],
)
def test_an_unresolved_ref_means_the_one_action_spelled_like_it(
    ref: str, meant: str | None
) -> None:
    row = learned_action_alias(ref, NAMES)
    expected = None if meant is None else ActionAlias("mcp.x", ref.rpartition(".")[2], meant)
    assert row == expected
    if row is not None:
        assert misfit(row, NAMES.schema_of()) is None
        assert table(row).rows == (row,)


def test_only_refs_that_ended_at_resolve_are_learned_from() -> None:
    tallies = {
        "mcp.x.createIssue": RefTally(failed=1, stages={"resolve": 1}),
        "mcp.x.CREATE_ISSUE": RefTally(failed=1, stages={"validate": 1}),
        "mcp.y.OPEN": RefTally(failed=2, stages={"invoke": 1, "resolve": 1}),
        "mcp.y.Open": RefTally(succeeded=1),
    }
    assert learned_actions(tallies, NAMES) == (
        ActionAlias("mcp.x", "createIssue", "create_issue"),
        ActionAlias("mcp.y", "OPEN", "open"),
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (ROW, None),
        (KeyAlias("mcp.a.b", "sessionId", "query"), None),
        (KeyAlias("mcp.a.gone", "x", "query"), "the action is not on the surface"),
        (KeyAlias("mcp.a.b", "x", "gone"), '"gone" is not among its arguments'),
        (KeyAlias("mcp.a.b", "twin", "query"), '"twin" is an argument itself'),
        (KeyAlias("mcp.a.odd", "x", "y"), '"y" is not among its arguments'),
        (ActionAlias("mcp.a", "search", "b"), None),
        (ActionAlias("mcp.a", "b", "odd"), '"b" is an action itself'),
        (ActionAlias("mcp.a", "search", "gone"), '"gone" is not on the surface'),
    ],
)
def test_a_row_that_the_surface_does_not_bear_is_named(row: Any, words: str | None) -> None:
    schemas = surface(mcp__a__b=SCHEMA, mcp__a__odd=5).schema_of()
    assert misfit(row, schemas) == words
