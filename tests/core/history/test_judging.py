"""Calls are judged by the schema in force then, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import INVALID, NO_SCHEMA, UNDATED, UNDECLARED, VALID, Row
from fabricd.core.history.judging import Judge, Snapshot, in_force, version_key
from fabricd.core.history.malformation import SLUGS, slugs_in

CLOSED = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
EDITS = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "edits": {"type": "array"}},
    "required": ["path", "edits"],
    "additionalProperties": False,
}


def verdict(
    judge: Judge, args: object, at: int = UNDATED, version: str = "", tool: str = "edit"
) -> int:
    """What a judge says of a call of pi."""
    row = Row(0, 0, 0, 0, 0, at, 0)
    judge.judge(row, "pi", tool, args, version)
    return row.verdict


def test_without_a_schema_there_is_no_claim() -> None:
    assert verdict(Judge(), {"path": 5}, 1) == NO_SCHEMA
    other = Judge([Snapshot("codex", {"edit": CLOSED}, seen=(0, 9))])
    assert verdict(other, {"path": 5}, 1) == NO_SCHEMA


@pytest.mark.parametrize(
    ("at", "expected"),
    [(9, NO_SCHEMA), (10, INVALID), (20, INVALID), (21, NO_SCHEMA), (-1, NO_SCHEMA)],
)
def test_a_snapshot_judges_the_time_in_which_it_was_seen(at: int, expected: int) -> None:
    judge = Judge([Snapshot("pi", {"edit": CLOSED}, seen=(10, 20))])
    assert verdict(judge, {"path": 5}, at) == expected


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.9.9", NO_SCHEMA), ("1.0.0-alpha.2", INVALID), ("1.0.0", INVALID), ("1.2.0", INVALID),
        ("1.10.0", NO_SCHEMA), ("1.0.0-alpha.1", NO_SCHEMA), ("1.0.0-beta", INVALID),
    ],
)  # fmt: skip
def test_a_version_decides_before_the_time(version: str, expected: int) -> None:
    snapshot = Snapshot("pi", {"edit": CLOSED}, ("1.0.0-alpha.2", "1.9"), seen=(10, 20))
    assert verdict(Judge([snapshot]), {"path": 5}, 1000, version) == expected
    # Without a version the time is all there is.
    assert verdict(Judge([snapshot]), {"path": 5}, 15) == INVALID


def test_a_drifted_schema_rejects_nothing_of_its_past() -> None:
    old = Snapshot("pi", {"edit": CLOSED}, seen=(0, 9))
    new = Snapshot("pi", {"edit": EDITS}, seen=(10, 20))
    judge = Judge([new, old])
    assert verdict(judge, {"path": "a"}, 5) == VALID
    assert verdict(judge, {"path": "a"}, 15) == INVALID
    assert verdict(judge, {"path": "a", "edits": []}, 15) == VALID


def test_of_two_snapshots_in_force_one_that_accepts_is_enough() -> None:
    both = [Snapshot("pi", {"edit": each}, seen=(0, 20)) for each in (CLOSED, EDITS)]
    for judge in (Judge(both), Judge(reversed(both))):
        assert verdict(judge, {"path": "a"}, 5) == VALID
        assert verdict(judge, {"path": 5}, 5) == INVALID


def test_an_unlisted_name_is_undeclared_only_where_a_snapshot_covers_it() -> None:
    tools: dict[str, Any] = {"mcp__git__log": CLOSED}
    covering = Judge([Snapshot("pi", tools, seen=(0, 9), covers="mcp__git__")])
    assert verdict(covering, {}, 5, tool="mcp__git__push") == UNDECLARED
    assert verdict(covering, {}, 15, tool="mcp__git__push") == NO_SCHEMA
    assert verdict(covering, {}, 5, tool="mcp__other__push") == NO_SCHEMA
    assert verdict(covering, {"path": "x"}, 5, tool="mcp__git__log") == VALID
    assert verdict(Judge([Snapshot("pi", tools, seen=(0, 9))]), {}, 5, tool="x") == NO_SCHEMA


def test_a_schema_that_cannot_be_judged_judges_nothing() -> None:
    for schema in (None, True, "x", {"type": "no-such-type"}, {"$ref": "http://example.com/s"}):
        assert verdict(Judge([Snapshot("pi", {"edit": schema}, seen=(0, 9))]), {}, 5) == NO_SCHEMA


def test_the_digest_tells_judges_apart_and_not_their_order() -> None:
    a, b = Snapshot("pi", {"edit": CLOSED}, seen=(0, 9)), Snapshot("pi", {"edit": EDITS})
    assert Judge([a, b]).digest == Judge([b, a]).digest
    others = [
        a,
        b,
        Snapshot("pi", {"edit": CLOSED}, seen=(0, 8)),
        Snapshot("codex", {"edit": EDITS}),
    ]
    assert len({Judge([each]).digest for each in others}) == len(others)


def test_the_order_of_versions() -> None:
    ordered = [
        "0.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2",
        "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2", "1.10",
    ]  # fmt: skip
    assert sorted(reversed(ordered), key=version_key) == ordered


@pytest.mark.parametrize(
    ("left", "right"), [("1.2", "1.2.0"), ("v1.2.0+abc", "1.2.0"), ("1.0.0-a.1+b", "1.0.0-a.1")]
)
def test_equal_versions(left: str, right: str) -> None:
    assert version_key(left) == version_key(right)


@pytest.mark.parametrize("label", ["²", "٣", "9" * 5000, "9" * 18])
def test_any_label_has_a_place(label: str) -> None:
    first, version, last = f"1.0.0-{label}", "1.0.0", f"{label}.0.0"
    assert in_force(Snapshot("pi", {}, (first, version)), version, UNDATED)
    assert sorted([first, version, last], key=version_key)[0] != version


@given(st.text(max_size=20), st.text(max_size=20), st.integers(-1, 99))
def test_no_version_is_too_strange(first: str, version: str, at: int) -> None:
    in_force(Snapshot("pi", {}, (first, first), seen=(0, 50)), version, at)


def kinds(declared: object, value: object, required: bool = True, closed: bool = True) -> list[str]:
    """The malformations of a call with one property."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"p": declared},
        "additionalProperties": not closed,
    }
    if required:
        schema["required"] = ["p"]
    row = Row(0, 0, 0, 0, 0, 5, 0)
    Judge([Snapshot("pi", {"edit": schema}, seen=(0, 9))]).judge(
        row, "pi", "edit", {"p": value}, ""
    )
    assert row.verdict == INVALID
    return slugs_in(row.kinds)


NUMBER, TEXT, FLAG = {"type": "number"}, {"type": "string"}, {"type": "boolean"}
LIST, OBJECT = {"type": "array", "items": {"type": "integer"}}, {"type": "object"}
ENUM = {"enum": ["fast", "slow_safe"]}


@pytest.mark.parametrize(
    ("declared", "value", "slug"),
    [
        (LIST, "[1, 2]", "json-text"),
        (OBJECT, ' {"a": 1}\n', "json-text"),
        ({"anyOf": [LIST, {"type": "null"}]}, "[1]", "json-text"),
        ({"type": ["array", "null"]}, "[1]", "json-text"),
        (LIST, "['a', 'b']", "python-literal"),
        (OBJECT, "{'a': True}", "python-literal"),
        (NUMBER, "5", "number-text"),
        ({"type": "integer"}, "-12", "number-text"),
        (NUMBER, "1e-7", "number-text"),
        (NUMBER, "007", "number-lossy"),
        (NUMBER, "12345678901234567890", "number-lossy"),
        (NUMBER, " 5", "number-lossy"),
        (NUMBER, "[382, 430]", "list-for-number"),
        (FLAG, "true", "boolean-text"),
        (FLAG, "False", "boolean-text"),
        ({"anyOf": [FLAG, {"type": "null"}]}, "true", "boolean-text"),
        (NUMBER, None, "null-required"),
        (ENUM, "FAST", "enum-form"),
        (ENUM, "slow-safe", "enum-form"),
        (ENUM, '"fast"', "enum-unknown"),
        (ENUM, 5, "enum-unknown"),
        ({"const": "on"}, "ON", "enum-form"),
        (LIST, [1, "2"], "bad-item"),
        ({"type": "object", "required": ["x"]}, {"y": 1}, "bad-item"),
        (LIST, 5, "scalar-for-array"),
        (LIST, "five", "scalar-for-array"),
        (TEXT, ["a"], "container-for-scalar"),
        (NUMBER, {"a": 1}, "container-for-scalar"),
    ],
)
def test_each_kind(declared: object, value: object, slug: str) -> None:
    assert kinds(declared, value) == [slug]


def test_a_null_for_an_optional_property() -> None:
    assert kinds(NUMBER, None, required=False) == ["null-optional"]


@pytest.mark.parametrize(
    ("declared", "value"), [({"type": "integer"}, 1.5), (TEXT, 5), (NUMBER, "five"), (OBJECT, 3)]
)
def test_what_fits_no_kind_has_none(declared: object, value: object) -> None:
    assert kinds(declared, value) == []


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"Max-Count": 1, "path": "x"}, ["key-form"]),
        ({"path": "x", "max_count": 1, "file": 2}, ["undeclared-key"]),
        ({"max_count": 1}, ["missing-required"]),
        ({"PATH": "x"}, ["key-form"]),
        ({"path": "x", "PATH": "y"}, ["undeclared-key"]),
        ({"file_path": "x"}, ["undeclared-key", "missing-required"]),
        ("{\"path\": 1}", ["json-text"]),
        (5, []),
        (None, []),
    ],
)  # fmt: skip
def test_keys_and_whole_arguments(args: object, expected: list[str]) -> None:
    schema = {
        "type": "object",
        "properties": {"path": TEXT, "max_count": NUMBER},
        "required": ["path"],
        "additionalProperties": False,
    }
    row = Row(0, 0, 0, 0, 0, 5, 0)
    Judge([Snapshot("pi", {"edit": schema}, seen=(0, 9))]).judge(row, "pi", "edit", args, "")
    assert (row.verdict, slugs_in(row.kinds)) == (INVALID, expected)


def test_several_kinds_and_whether_a_normal_form_repairs_the_whole() -> None:
    schema = {
        "type": "object",
        "properties": {"n": NUMBER, "mode": {"type": "string", **ENUM}, "list": LIST},
        "additionalProperties": False,
    }
    judge = Judge([Snapshot("pi", {"edit": schema}, seen=(0, 9))])
    row = Row(0, 0, 0, 0, 0, 5, 0)
    judge.judge(row, "pi", "edit", {"n": "5", "MODE": "FAST"}, "")
    assert (slugs_in(row.kinds), row.repairable) == (["number-text", "key-form"], True)
    judge.judge(row, "pi", "edit", {"n": "5", "list": "[1]"}, "")
    assert (slugs_in(row.kinds), row.repairable) == (["json-text", "number-text"], False)
    judge.judge(row, "pi", "edit", {"n": 5}, "")
    assert (row.verdict, row.kinds, row.repairable) == (VALID, 0, False)


def test_every_slug_has_a_bit_of_its_own() -> None:
    assert [slugs_in(1 << index) for index in range(len(SLUGS))] == [[slug] for slug in SLUGS]
