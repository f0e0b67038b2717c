from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import SCHEMA, Cli, action, surface_of


def derived(cli: Cli, place: Path, *actions: object) -> dict[str, Any]:
    (place / "surface.json").write_bytes(surface_of(*actions))
    found = cli("derive", place / "surface.json")
    assert (found.code, found.err) == (0, "")
    value: dict[str, Any] = found.json
    return value


def test_a_plan_lists_the_proven_rules_of_its_schema(cli: Cli, place: Path) -> None:
    value = derived(cli, place, action("mcp.demo.search"))
    [plan] = value["plans"]
    assert list(plan) == ["version", "ref", "baseSchemaDigest", "rules"]
    assert (plan["version"], plan["ref"]) == (1, "mcp.demo.search")
    assert [(rule["kind"], rule["key"]) for rule in plan["rules"]] == [
        ("key-form", "maxResults"),
        ("optional-null", "maxResults"),
        ("numeric-string", "maxResults"),
        ("key-form", "note"),
        ("optional-null", "note"),
        ("key-form", "order"),
        ("optional-null", "order"),
        ("enum-form", "order"),
        ("key-form", "query"),
    ]


def test_the_digests_are_those_of_the_canonical_text(cli: Cli, place: Path) -> None:
    value = derived(cli, place, action("mcp.demo.search"))
    schema = cli("digest", stdin=json.dumps(SCHEMA).encode()).out.decode().strip()
    whole = cli("digest", place / "surface.json").out.decode().strip()
    assert value["plans"][0]["baseSchemaDigest"] == schema
    assert value["surfaceDigest"] == whole


def test_plans_come_by_ref_and_actions_without_one_say_why(cli: Cli, place: Path) -> None:
    value = derived(
        cli,
        place,
        action("z.last"),
        action("b.open", {"type": "object", "properties": {"a": {}}}),
        action("a.first"),
        {"ref": "c.none"},
    )
    assert [plan["ref"] for plan in value["plans"]] == ["a.first", "z.last"]
    reasons = {row["ref"]: row["reason"] for row in value["withoutPlan"]}
    assert list(reasons) == ["b.open", "c.none"]
    assert "open" in reasons["b.open"] and all(reasons.values())


def test_json_is_the_default_and_output_is_ready_to_save(cli: Cli, surface: Path) -> None:
    plain = cli("derive", surface)
    assert cli("derive", surface, "--json") == plain
    assert plain.out.endswith(b"}\n") and plain.json["plans"]


def test_beyond_1000_actions_the_first_by_ref_are_planned_and_said(cli: Cli, place: Path) -> None:
    actions = [action(f"mcp.demo.a{number:04}") for number in reversed(range(5000))]
    (place / "surface.json").write_bytes(surface_of(*actions))
    found = cli("derive", place / "surface.json")
    assert found.code == 0
    assert [plan["ref"] for plan in found.json["plans"]] == [
        f"mcp.demo.a{number:04}" for number in range(1000)
    ]
    assert found.json["beyondLimit"] == 4000
    found.says("4000", "1,000")


def test_of_two_actions_with_one_ref_the_first_counts(cli: Cli, place: Path) -> None:
    value = derived(cli, place, action("a.b"), action("a.b", {"type": "object"}))
    assert [plan["ref"] for plan in value["plans"]] == ["a.b"]
    assert value["withoutPlan"] == []


def test_rules_that_fell_to_the_limit_are_counted(cli: Cli, place: Path) -> None:
    wide = {f"p{number}": {"type": "integer"} for number in range(100)}
    schema = {"type": "object", "additionalProperties": False, "properties": wide}
    value = derived(cli, place, action("a.wide", schema))
    assert len(value["plans"][0]["rules"]) == 128
    assert value["cutRules"] == [{"ref": "a.wide", "rules": 300 - 128}]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "no-such-type"}}},
        {"properties": {"a": {"type": "string", "pattern": "([a-z"}}},
        {"properties": {"a": {"minimum": "three"}}},
        {"properties": {"a": {"$ref": "#/$defs/missing"}}},
    ],
)
def test_a_schema_that_does_not_compile_has_no_plan_and_one_reason(
    cli: Cli, place: Path, schema: dict[str, Any]
) -> None:
    closed = {"type": "object", "additionalProperties": False, **schema}
    value = derived(cli, place, action("a.bad", closed), action("b.good"))
    assert [plan["ref"] for plan in value["plans"]] == ["b.good"]
    [row] = value["withoutPlan"]
    assert row["ref"] == "a.bad" and "cannot be judged" in row["reason"]
    assert "\n" not in row["reason"]


def test_lone_surrogates_in_refs_are_kept_as_escapes(cli: Cli, place: Path) -> None:
    (place / "surface.json").write_bytes(surface_of(action("a.\ud800"), action("a.\ufffd")))
    found = cli("derive", place / "surface.json")
    assert b"a.\\ud800" in found.out
    assert [plan["ref"] for plan in found.json["plans"]] == ["a.\ud800", "a.\ufffd"]
