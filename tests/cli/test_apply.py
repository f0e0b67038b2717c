from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from fixtures.make_sessions import SURFACE, arguments, mistakes
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.normalform.apply import Normalizer
from fabricd.core.normalform.derive import derive, plan_value
from fabricd.core.normalform.extended import ExtendedNormalizer
from fabricd.daemon.cli.calls import Calls
from tests.cli.running import SCHEMA, Cli, process
from tests.conformance.values import same
from tests.core.schemas import cases
from tests.harness import ROOT

Json = dict[str, Any]


def line(args: object, ref: str = "mcp.demo.search", schema: object = SCHEMA, **more: Any) -> bytes:
    return json.dumps({"ref": ref, "schema": schema, "args": args, **more}).encode() + b"\n"


def plan_of(ref: str = "mcp.demo.search", schema: object = SCHEMA) -> Json:
    plan = derive(ref, schema).plan
    assert plan is not None
    return plan_value(plan)


def applied(cli: Cli, *lines: bytes) -> list[Json]:
    found = cli("apply", stdin=b"".join(lines))
    assert (found.code, found.err) == (0, "")
    results: list[Json] = found.lines
    assert len(results) == len(lines)
    return results


def rules(result: Json) -> list[tuple[str, str]]:
    return [(rule["kind"], rule["key"]) for rule in result["witness"]["rules"]]


@pytest.mark.parametrize(
    ("wrong", "right", "rule"),
    [
        ({"Query": "b"}, {"query": "b"}, ("key-form", "query")),
        ({"max_results": 5}, {"maxResults": 5}, ("key-form", "maxResults")),
        ({"maxResults": "5"}, {"maxResults": 5}, ("numeric-string", "maxResults")),
        ({"order": "best_match"}, {"order": "bestMatch"}, ("enum-form", "order")),
        ({"note": None}, {}, ("optional-null", "note")),
    ],
)
def test_each_convention_repairs_its_mistake_and_leaves_a_witness(
    cli: Cli, wrong: Json, right: Json, rule: tuple[str, str]
) -> None:
    query = {} if rule == ("key-form", "query") else {"query": "a"}
    [result] = applied(cli, line({**query, **wrong}))
    assert result["args"] == {**query, **right}
    assert rules(result) == [rule]
    witness = result["witness"]
    assert list(witness) == ["version", "baseSchemaDigest", "beforeShape", "afterShape", "rules"]
    schema = cli("digest", stdin=json.dumps(SCHEMA).encode()).out.decode().strip()
    assert witness["baseSchemaDigest"] == schema
    assert all(len(witness[name]) == 64 for name in ("beforeShape", "afterShape"))


def test_all_conventions_together_repair_one_call(cli: Cli) -> None:
    args = {"QUERY": "a", "max-results": "12", "note": None, "order": "BEST MATCH"}
    [result] = applied(cli, line(args))
    assert result["args"] == {"query": "a", "maxResults": 12, "order": "bestMatch"}
    assert sorted(rules(result)) == [
        ("enum-form", "order"),
        ("key-form", "maxResults"),
        ("key-form", "query"),
        ("numeric-string", "maxResults"),
        ("optional-null", "note"),
    ]


@pytest.mark.parametrize(
    "args",
    [
        {"query": "a"},
        {"query": "a", "maxResults": 5},
        {},
        {"query": 5},
        {"query": "a", "other": 1},
        {"query": "a", "maxResults": "5.5"},
        {"query": "a", "maxResults": "05"},
        {"query": "a", "Query": "b"},
        {"query": "a", "order": "worst"},
        {"maxResults": "5"},
    ],
)
def test_a_call_that_is_sound_or_cannot_be_repaired_is_left_whole(cli: Cli, args: Json) -> None:
    assert applied(cli, line(args)) == [{"args": args, "witness": None}]


@pytest.mark.parametrize("schema", [None, True, {}, {"type": "object"}, {"type": "no-such"}, "x"])
def test_a_schema_outside_the_language_repairs_nothing(cli: Cli, schema: object) -> None:
    assert applied(cli, line({"Query": "a"}, schema=schema)) == [
        {"args": {"Query": "a"}, "witness": None}
    ]


def test_a_repaired_call_is_a_sound_one(cli: Cli) -> None:
    rng = random.Random(5)
    actions: Iterable[Json] = SURFACE()["actions"]
    lines = [
        line(wrong, action["ref"], action["inputSchema"])
        for action in actions
        for args in (arguments(rng, action["inputSchema"]) for _ in range(5))
        for _, _, wrong in mistakes(args, action["inputSchema"])
    ]
    results = applied(cli, *lines)
    again = [
        line(result["args"], call["ref"], call["schema"])
        for result, call in zip(results, map(json.loads, lines), strict=True)
    ]
    assert sum(result["witness"] is not None for result in results) > 50
    assert applied(cli, *again) == [{"args": r["args"], "witness": None} for r in results]


def test_the_derived_plan_given_is_the_same_as_none(cli: Cli) -> None:
    args = {"Query": "a", "maxResults": "5"}
    plain, given = applied(cli, line(args), line(args, plan=plan_of()))
    assert plain == given and plain["witness"] is not None


def forged() -> list[tuple[str, object]]:
    plan = plan_of()
    extra = {"kind": "optional-null", "key": "query"}
    return [
        ("another rule", {**plan, "rules": [*plan["rules"], extra]}),
        ("a rule less", {**plan, "rules": plan["rules"][:-1]}),
        ("another order", {**plan, "rules": plan["rules"][::-1]}),
        ("another digest", {**plan, "baseSchemaDigest": "0" * 64}),
        ("another ref", {**plan, "ref": "mcp.demo.open"}),
        ("another version", {**plan, "version": 2}),
        ("one member more", {**plan, "trusted": True}),
        ("of another schema", plan_of(schema={**SCHEMA, "required": []})),
        ("no rules", {**plan, "rules": []}),
        ("no object", "derived"),
        ("null", None),
    ]


@pytest.mark.parametrize("plan", [pytest.param(plan, id=name) for name, plan in forged()])
def test_a_forged_plan_changes_nothing(cli: Cli, plan: object) -> None:
    args = {"Query": "a", "maxResults": "5"}
    assert applied(cli, line(args, plan=plan)) == [{"args": args, "witness": None}]


def test_a_forged_plan_does_not_taint_the_next_line(cli: Cli) -> None:
    args = {"Query": "a"}
    bad = {**plan_of(), "baseSchemaDigest": "0" * 64}
    results = applied(cli, line(args, plan=bad), line(args), line(args, plan=bad))
    assert [result["witness"] is None for result in results] == [True, False, True]


def test_a_file_gives_what_standard_input_gives(cli: Cli, place: Path) -> None:
    data = line({"Query": "a"}) + line({"query": "a"})
    (place / "calls.jsonl").write_bytes(data)
    assert cli("apply", place / "calls.jsonl") == cli("apply", stdin=data)


def test_a_fifo_without_a_writer_holds_nobody_up(place: Path) -> None:
    os.mkfifo(place / "fifo")
    found = process("apply", place / "fifo", seconds=15)
    found.complains(2, "fifo", "nothing was written")


def test_each_answer_is_there_before_the_next_call_is_read() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "fabricd", "apply"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        guard = threading.Timer(10, child.kill)
        guard.start()
        for _ in range(3):
            child.stdin.write(line({"Query": "a"}))
            child.stdin.flush()
            assert json.loads(child.stdout.readline() or b"null")["args"] == {"query": "a"}
        child.stdin.close()
        assert child.wait() == 0
        guard.cancel()


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\r\n\t\n"])
def test_no_lines_give_none(cli: Cli, data: bytes) -> None:
    found = cli("apply", stdin=data)
    assert (found.code, found.out, found.err) == (0, b"", "")


def test_the_last_line_needs_no_line_feed_and_any_may_end_in_crlf(cli: Cli) -> None:
    data = line({"Query": "a"}).rstrip() + b"\r\n" + line({"Query": "b"}).rstrip()
    found = cli("apply", stdin=b"\xef\xbb\xbf" + data)
    assert [result["args"]["query"] for result in found.lines] == ["a", "b"]


def test_lone_surrogates_are_kept(cli: Cli) -> None:
    [kept, fixed] = applied(
        cli, line({"query": "a\ud800", "x\udfff": 1}), line({"Query": "\udc00", "maxResults": "5"})
    )
    assert kept == {"args": {"query": "a\ud800", "x\udfff": 1}, "witness": None}
    assert "\udc00" in fixed["args"].values()


@pytest.mark.parametrize("conventions", ["classic", "extended"])
@pytest.mark.parametrize(
    "args",
    [
        '{"query": "\\u00e9 é \\ud83d\\ude00 \u2028",\t"query\\u0000" :1 }',
        '{"query":"a","n":[0.1234567890123456789,1e-400,-0,1E2,1.0,100000000000000000000001]}',
        '{ "maxResults" : 0.1234567890123456789 }',
        '{"query":5,"query":"a"}',
        '{"Query":"a","Query":"b"}',
        '{"Query":"a","note":{"x":1,"\\u0078":2}}',
        '{"QUERY":"a","note":null,"é":1,"\\u00e9":2}',
        "{}",
    ],
)
def test_what_is_not_changed_comes_back_byte_for_byte(
    cli: Cli, args: str, conventions: str
) -> None:
    data = json.dumps({"ref": "a", "schema": SCHEMA})[:-1] + ', "args": ' + args + "}"
    found = cli("apply", "--conventions", conventions, stdin=data.encode())
    assert found.out.decode() == '{"args":' + args + ',"witness":null}\n'
    assert found.code == 0


@pytest.mark.parametrize("conventions", ["classic", "extended"])
def test_beside_a_repair_everything_keeps_its_characters(cli: Cli, conventions: str) -> None:
    properties: Json = {
        "n": {"type": "integer"},
        "maxResults": {},
        "order": {"type": "string", "enum": ["Ä", "newest"]},
        "note": {"type": "string"},
        "x": {},
    }
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    args = (
        '{ "x" : [0.1234567890123456789, -0, 1E2, "\\u00e9 é"], "max_results":1e-400,'
        '"note" : null, "n":"5", "order": "NEWEST" }'
    )
    data = json.dumps({"ref": "a", "schema": schema})[:-1] + ', "args": ' + args + "}"
    found = cli("apply", "--conventions", conventions, stdin=data.encode())
    wanted = (
        '{ "x" : [0.1234567890123456789, -0, 1E2, "\\u00e9 é"], "maxResults":1e-400,'
        '"n":5, "order": "newest" }'
    )
    assert found.out.decode().startswith('{"args":' + wanted + ',"witness":{')


@given(cases(), st.sampled_from([None, 2]), st.booleans())
def test_the_text_means_what_the_core_repairs(
    case: tuple[Json, Json], indent: int | None, escaped: bool
) -> None:
    schema, args = case
    text = json.dumps(args, indent=indent, ensure_ascii=escaped).replace("\n", " ")
    raw = json.dumps({"ref": "a", "schema": schema})[:-1] + f', "args": {text}}}'
    for is_extended, made in ((False, Normalizer), (True, ExtendedNormalizer)):
        try:
            given_ = raw.encode()
        except UnicodeEncodeError:
            return
        result = json.loads(Calls(is_extended).repaired(given_))
        direct = made("a", schema).apply(args)
        assert same(result["args"], direct.args)
        assert (result["witness"] is not None) == direct.changed


@pytest.mark.parametrize("name", ["ref", "schema", "args", "plan", "tool"])
def test_a_member_of_the_line_that_stands_twice_is_an_error(cli: Cli, name: str) -> None:
    call = {"ref": "a", "tool": "a", "schema": SCHEMA, "args": {"Query": "a"}, "plan": None}
    data = json.dumps(call)[:-1] + f', "{name}": {json.dumps(call[name])}' + "}"
    found = cli("apply", stdin=data.encode())
    assert found.code == 1
    assert found.lines == [{"error": f"line 1: '{name}' stands twice"}]


def test_512_levels_of_arguments_pass_through(cli: Cli) -> None:
    deep: object = 1
    for _ in range(509):
        deep = [deep]
    args = {"query": "a", "deep": deep}
    found = cli("apply", stdin=line(args))
    assert found.code == 0 and found.lines == [{"args": args, "witness": None}]
