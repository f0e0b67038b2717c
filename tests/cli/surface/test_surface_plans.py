"""`fabricd surface capture` tells what repairs a listing yields, and which tools get none."""

from __future__ import annotations

import sys
from typing import Any

from fabricd.daemon.cli.surface.plans import json_of, words_of, yields_of
from tests.cli.running import Cli
from tests.cli.surface.test_surface import SERVER

TOOLS: dict[str, Any] = {
    "search": {
        "type": "object",
        "additionalProperties": False,
        "required": ["query"],
        "properties": {"query": {"type": "string"}, "maxResults": {"type": "integer"}},
    },
    "open": {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}},
    "free": {},
    "none": None,
    "bad": {"type": "x\x1b"},
}


def test_each_tool_has_a_plan_or_a_reason() -> None:
    found = json_of(yields_of(TOOLS))
    assert found["conventions"] == "extended"
    plans = {plan["tool"]: plan["rules"] for plan in found["plans"]}
    assert plans["search"] == {
        "key-form": 2,
        "optional-null": 1,
        "numeric-string": 1,
        "json-container": 1,
    }
    reasons = {row["tool"]: row["reason"] for row in found["withoutPlan"]}
    assert set(plans) | set(reasons) == set(TOOLS) and not set(plans) & set(reasons)
    assert reasons["none"] == "it declares no schema" and "cannot be judged" in reasons["bad"]


def test_the_words_say_the_same_on_one_line_a_tool() -> None:
    lines = words_of(yields_of(TOOLS))
    assert len(lines) == len(TOOLS) + 1 and "of 5 tools" in lines[0]
    assert all(line.isprintable() for line in lines)
    assert words_of([]) == []


def test_a_server_is_told_of_when_it_is_captured(cli: Cli) -> None:
    words = ("surface", "capture", "--agent", "claude-code", "--prefix", "mcp__x__")
    server = ("--", sys.executable, SERVER, "pages")
    found = cli(*words, "--json", *server)
    assert found.code == 0, found.err
    assert [plan["tool"] for plan in found.json["plans"]] == [f"mcp__x__tool_{n}" for n in range(6)]
    assert found.json["withoutPlan"] == []
    told = cli(*words, *server).out.decode()
    assert "Repairs can be proven for 6 of 6 tools:" in told
    assert "mcp__x__tool_5  1 numeric-string" in told
