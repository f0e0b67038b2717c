"""What a hook may repair, agent by agent."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.normalform.extended import ExtendedNormalizer
from fabricd.core.normalform.hooking import may_repair, repair_for

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string"},
        "maxResults": {"type": "integer", "minimum": 1},
        "note": {"type": "string"},
        "on": {"type": "boolean"},
    },
}
NORMALIZER = ExtendedNormalizer("mcp__x__search", SCHEMA)


@pytest.mark.parametrize(
    ("agent", "tool", "allowed"),
    [
        ("claude-code", "mcp__x__search", True),
        ("claude-code", "Bash", False),
        ("opencode", "x_search", True),
        ("pi", "search", True),
        ("gemini-cli", "mcp_x_search", True),
        ("codex", "mcp__x__search", False),
        ("copilot-cli", "search", False),
        ("gateway", "search", False),
        ("", "mcp__x__search", False),
    ],
)
def test_who_may(agent: str, tool: str, allowed: bool) -> None:
    assert may_repair(agent, tool) is allowed


@pytest.mark.parametrize(
    ("given", "wanted", "merges"),
    [
        ({"query": "a", "maxResults": "5"}, {"query": "a", "maxResults": 5}, True),
        ({"query": "a", "on": "True"}, {"query": "a", "on": True}, True),
        ({"query": "a", "note": None}, {"query": "a"}, False),
        ({"query": "a", "max_results": 5}, {"query": "a", "maxResults": 5}, False),
        ({"query": "a", "max_results": "5"}, {"query": "a", "maxResults": 5}, False),
    ],
)
def test_an_agent_that_merges_takes_no_key_away(
    given: dict[str, Any], wanted: dict[str, Any], merges: bool
) -> None:
    for agent in ("claude-code", "opencode", "pi"):
        found = repair_for(agent, NORMALIZER, given)
        assert found is not None and found.arguments == wanted and found.witness.rules
    found = repair_for("gemini-cli", NORMALIZER, given)
    assert (found is not None) is merges


@pytest.mark.parametrize(
    "given",
    [
        {"query": "a"},
        {"query": "a", "maxResults": "0"},
        {"query": "a", "maxResults": "05"},
        {"query": "a", "maxResults": "5", "note": 7},
        {},
        '{"query": "a", "maxResults": "5"}',
        ["a"],
        None,
    ],
)
def test_silence_on_any_doubt(given: object) -> None:
    assert repair_for("claude-code", NORMALIZER, given) is None
