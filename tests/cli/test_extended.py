"""The extended conventions on the command line: derive, apply and compile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.normalform.derive import derive, plan_value
from fabricd.core.normalform.extended.derive import derive_extended
from fabricd.core.normalform.extended.plan import extended_plan_value
from tests.cli.running import SCHEMA, Cli, action, surface_of

Json = dict[str, Any]
OPEN: Json = {"type": "object", "properties": {"a": {"type": "array"}, "n": {"type": "integer"}}}


def line(args: object, schema: object = OPEN, **more: Any) -> bytes:
    call = {"tool": "demo", "schema": schema, "args": args, **more}
    return json.dumps(call).encode() + b"\n"


def applied(cli: Cli, data: bytes, conventions: str = "extended") -> Json:
    found = cli("apply", "--conventions", conventions, stdin=data)
    assert (found.code, found.err) == (0, "")
    [result] = found.lines
    assert list(result) == ["args", "witness"]
    answer: Json = result
    return answer


def extended_plan(schema: object = OPEN, ref: str = "demo") -> Json:
    plan = derive_extended(ref, schema).plan
    assert plan is not None
    return extended_plan_value(plan)


def test_derive_gives_version_2_plans_by_ref(cli: Cli, place: Path) -> None:
    actions = [action("z.open", OPEN), action("a.closed"), {"ref": "c.none"}]
    (place / "surface.json").write_bytes(surface_of(*actions))
    found = cli("derive", "--conventions", "extended", place / "surface.json")
    assert (found.code, found.err) == (0, "")
    value = found.json
    assert value["conventions"] == "extended"
    assert [plan["ref"] for plan in value["plans"]] == ["a.closed", "z.open"]
    assert value["plans"][1] == extended_plan(ref="z.open")
    assert [row["ref"] for row in value["withoutPlan"]] == ["c.none"]
    assert value["surfaceDigest"] == cli("derive", place / "surface.json").json["surfaceDigest"]


def test_classic_is_the_default_and_stays_as_it_was(cli: Cli, surface: Path) -> None:
    plain = cli("derive", surface).out
    assert cli("derive", "--conventions", "classic", surface).out == plain
    assert b"conventions" not in plain
    assert applied(cli, line({"a": "[1]"}), "classic") == {"args": {"a": "[1]"}, "witness": None}


def test_apply_repairs_by_the_extended_conventions(cli: Cli) -> None:
    result = applied(cli, line({"a": "[1.0]", "n": "5", "x": "6"}))
    assert result["args"] == {"a": [1.0], "n": 5, "x": "6"}
    witness = result["witness"]
    assert list(witness) == ["version", "baseSchemaDigest", "beforeShape", "afterShape", "rules"]
    assert witness["version"] == 2
    assert witness["rules"] == [
        {"kind": "json-container", "at": "/properties/a", "count": 1},
        {"kind": "numeric-string", "at": "/properties/n", "count": 1},
    ]


def test_the_whole_arguments_may_be_a_text(cli: Cli) -> None:
    assert applied(cli, line('{"n": 5}'))["args"] == {"n": 5}
    assert applied(cli, line("{"))["args"] == "{"
    for args in ([], None, 5):
        found = cli("apply", "--conventions", "extended", stdin=line(args))
        assert found.code == 1 and "args to be an object or its text" in found.lines[0]["error"]


@pytest.mark.parametrize("conventions", ["classic", "extended"])
def test_a_plan_that_is_given_decides_by_its_version(cli: Cli, conventions: str) -> None:
    args = {"query": "a", "maxResults": "5"}
    classic = derive("demo", SCHEMA).plan
    assert classic is not None
    first = applied(cli, line(args, SCHEMA, plan=plan_value(classic)), conventions)
    second = applied(cli, line(args, SCHEMA, plan=extended_plan(SCHEMA)), conventions)
    assert first["args"] == second["args"] == {"query": "a", "maxResults": 5}
    assert (first["witness"]["version"], second["witness"]["version"]) == (1, 2)
    text = json.dumps({"query": "a"})
    assert applied(cli, line(text, SCHEMA, plan=extended_plan(SCHEMA)), conventions)["args"] == {
        "query": "a"
    }


@pytest.mark.parametrize(
    "change",
    [{"version": 1}, {"ref": "other"}, {"baseSchemaDigest": "0" * 64}, {"rules": []}, {"x": 1}],
)
def test_a_forged_plan_changes_nothing(cli: Cli, change: Json) -> None:
    plan = {**extended_plan(), **change}
    assert applied(cli, line({"n": "5"}, plan=plan)) == {"args": {"n": "5"}, "witness": None}


def test_ref_speaks_where_there_is_a_tool_too(cli: Cli) -> None:
    plan = extended_plan(ref="demo.ref")
    result = applied(cli, line({"n": "5"}, ref="demo.ref", plan=plan))
    assert result["args"] == {"n": 5}
    found = cli("apply", stdin=b'{"schema": {}, "args": {}}\n')
    assert found.code == 1 and "ref (or tool)" in found.lines[0]["error"]


def test_compile_prints_the_normal_forms_that_the_daemon_would_save(
    cli: Cli, sessions: Path, surface: Path
) -> None:
    given = ("compile", "--sessions", sessions, "--surface", surface)
    found = cli(*given, "--conventions", "extended")
    derived = cli("derive", "--conventions", "extended", surface).json
    assert found.code == 0
    assert (found.json["version"], found.json["plans"]) == (3, derived["plans"])
    assert found.json["surfaceDigest"] == derived["surfaceDigest"]
    assert "extended plans" in found.err.splitlines()[-1]
    assert cli(*given).json["version"] == 2


@pytest.mark.parametrize("command", ["derive", "apply", "compile"])
def test_unknown_conventions_are_a_usage_error(cli: Cli, command: str) -> None:
    found = cli(command, "--conventions", "guess")
    assert found.code == 2 and "guess" in found.err
