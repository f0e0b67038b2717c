"""The shipped tool schemas: readable, compilable, in order, and named in the notice."""

from __future__ import annotations

from datetime import datetime
from importlib import resources
from itertools import pairwise
from typing import Any

import pytest

from fabricd.core.documents import strict_json
from fabricd.core.validation import Validator

FOLDER = resources.files("fabricd.surfaces")
AGENTS = ["codex", "gemini-cli", "opencode", "pi"]
LICENCES = {"MIT", "Apache-2.0"}


def surface(agent: str) -> dict[str, Any]:
    read = strict_json(FOLDER.joinpath(f"{agent}.json").read_bytes())
    assert isinstance(read, dict)
    return read


def tools(agent: str) -> list[dict[str, Any]]:
    return surface(agent)["tools"]


def generations(agent: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(a, b) for a, b in pairwise(tools(agent)) if a["name"] == b["name"]]


def rank(version: str) -> tuple[Any, ...]:
    """A semantic version in its order: a release follows its pre-releases."""
    release, _, before = version.partition("-")
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".")]
    return tuple(map(int, release.split("."))), before == "", parts


def instant(text: str) -> datetime:
    assert text.endswith("Z")
    return datetime.fromisoformat(text)


def members(value: object) -> set[str]:
    if isinstance(value, dict):
        keys = {key for key in value if key != "properties"}
        nested = list(value.get("properties", {}).values())
        return keys.union(*map(members, nested), *(members(value[key]) for key in keys))
    if isinstance(value, list):
        return set().union(*map(members, value))
    return set()


def test_these_agents_and_no_others_ship() -> None:
    found = sorted(file.name for file in FOLDER.iterdir() if file.name.endswith(".json"))
    assert found == [f"{agent}.json" for agent in AGENTS]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_file_has_this_form(agent: str) -> None:
    read = surface(agent)
    assert list(read) == ["agent", "licence", "source", "tools"]
    assert read["agent"] == agent
    assert read["licence"] in LICENCES
    for tool in read["tools"]:
        assert list(tool) == ["name", "versions", "seen", "source", "inputSchema"]
        assert tool["source"]


@pytest.mark.parametrize("agent", AGENTS)
def test_every_schema_compiles_and_takes_objects_alone(agent: str) -> None:
    for tool in tools(agent):
        judge = Validator(tool["inputSchema"])
        assert not judge.accepts("text")
        assert not judge.accepts([])
        assert set(tool["inputSchema"].get("required", [])) <= set(
            tool["inputSchema"]["properties"]
        )


@pytest.mark.parametrize("agent", AGENTS)
def test_a_required_member_is_asked_for(agent: str) -> None:
    for tool in tools(agent):
        if tool["inputSchema"].get("required"):
            assert not Validator(tool["inputSchema"]).accepts({})


@pytest.mark.parametrize("agent", AGENTS)
def test_no_schema_carries_prose(agent: str) -> None:
    for tool in tools(agent):
        assert members(tool["inputSchema"]).isdisjoint({"description", "title", "$comment"})


@pytest.mark.parametrize("agent", AGENTS)
def test_tools_stand_by_name_and_then_by_time(agent: str) -> None:
    order = [(tool["name"], tool["seen"]) for tool in tools(agent)]
    assert order == sorted(order)


@pytest.mark.parametrize("agent", AGENTS)
def test_every_interval_begins_before_it_ends(agent: str) -> None:
    for tool in tools(agent):
        first, last = map(instant, tool["seen"])
        assert first < last
        if tool["versions"] is not None:
            low, high = map(rank, tool["versions"])
            assert low <= high


@pytest.mark.parametrize("agent", AGENTS)
def test_generations_of_one_tool_do_not_overlap(agent: str) -> None:
    for earlier, later in generations(agent):
        assert instant(earlier["seen"][1]) < instant(later["seen"][0])
        assert earlier["inputSchema"] != later["inputSchema"]
        if earlier["versions"] is not None and later["versions"] is not None:
            assert rank(earlier["versions"][1]) < rank(later["versions"][0])


@pytest.mark.parametrize("agent", AGENTS)
def test_the_notice_names_source_and_licence(agent: str) -> None:
    read = surface(agent)
    notice = FOLDER.joinpath("NOTICE.md").read_text("utf-8")
    rows = [line for line in notice.splitlines() if f"`{agent}.json`" in line]
    assert len(rows) == 1
    assert read["source"] in rows[0]
    assert f"| {read['licence']} |" in rows[0]


def test_a_release_follows_its_pre_releases() -> None:
    versions = ["0.118.0-alpha.2", "0.118.0-alpha.11", "0.118.0", "0.121.0", "1.15.0-ocv.3.51"]
    assert sorted(versions, key=rank) == versions
