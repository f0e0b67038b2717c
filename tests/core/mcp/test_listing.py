"""Listings: the digest of what was declared, and what is too much to be one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from fabricd.core.canonical import digest
from fabricd.core.mcp.conversation import Surfaced
from fabricd.core.mcp.listing import Listing
from fabricd.core.mcp.records import surface_record
from fabricd.core.mcp.replies import Page, Reply, page_of

_NAMES = st.text("tö.\U0001f600", max_size=3)
_SCHEMAS = st.dictionaries(st.text("éa1", max_size=2), st.none() | st.integers() | st.text("x\n"))


def page(tools: list[Any], following: str | None = None) -> Page | None:
    """A page as a server sends it."""
    value: dict[str, Any] = {"tools": tools, "x": [[]]}
    if following is not None:
        value["nextCursor"] = following
    return page_of(Reply(1, Raw(json.dumps(value, indent=1).replace("\n", "\r").encode())))


@given(st.dictionaries(_NAMES, _SCHEMAS, max_size=5))
def test_the_digest_is_that_of_the_surface(schemas: dict[str, Any]) -> None:
    listing = Listing("s", "extended")
    tools = [{"name": k, "description": "d", "inputSchema": v} for k, v in schemas.items()]
    assert listing.page(None, page(tools))
    found = listing.declared
    assert found is not None and listing.names == set(schemas)
    actions = [{"ref": f"mcp.s.{k}", "inputSchema": v} for k, v in schemas.items()]
    actions.sort(key=lambda action: str(action["ref"]).encode("utf-16-be"))
    assert found.actions == actions
    assert found.digest == digest({"version": 1, "actions": actions})
    line = surface_record(Surfaced(found))
    assert line.count(b"\n") == 1 and b"\r" not in line
    assert json.loads(line) == {"type": "surface", "digest": found.digest, "actions": actions}


def declared(tools: list[Any]) -> list[dict[str, Any]]:
    """The actions of a listing of one page."""
    listing = Listing("s", "extended")
    assert listing.page(None, page(tools)) and listing.declared is not None
    return listing.declared.actions


def test_a_schema_that_nobody_can_judge_by_is_declared_as_nothing() -> None:
    deep: Any = {}
    for _ in range(70):
        deep = {"a": deep}
    heavy = {"enum": [{"a": 1}] * 100_000}
    for schema in (deep, heavy, {"maximum": 10**400}, None):
        assert declared([{"name": "t", "inputSchema": schema}])[0]["inputSchema"] is None


def test_a_tool_listed_twice_alike_is_judged() -> None:
    one, same = {"type": "object", "title": "x"}, {"title": "x", "type": "object"}
    twice = [{"name": "t", "inputSchema": one}, {"name": "t", "inputSchema": same}]
    assert declared(twice)[0]["inputSchema"] == one
    assert declared([*twice, {"name": "t"}])[0]["inputSchema"] is None


def test_what_would_fill_the_memory_is_no_listing() -> None:
    assert page_of(Reply(1, Raw(b'{"tools":[' + b"[]," * 1_000_000 + b"[]]}"))) is None
    many = b'{"tools":[' + b'{"name":"a"},' * 100_000 + b'{"name":"a"}]}'
    assert page_of(Reply(1, Raw(many))) is None
    assert page([{"name": str(number)} for number in range(10_001)]) is None


def test_pages_may_not_take_more_together_than_a_large_one_alone() -> None:
    schema = {"description": "x" * 900_000}
    small, large = Listing("s", "extended"), Listing("s", "extended")
    for number in range(6):
        tools = [{"name": f"t{number}", "inputSchema": schema}]
        small.page(str(number) if number else None, page(tools, str(number + 1)))
    assert not small.is_open
    tools = [{"name": f"t{number}", "inputSchema": schema} for number in range(6)]
    large.page(None, page(tools, "1"))
    assert large.page("1", page(tools[:1]))
