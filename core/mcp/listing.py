"""A server's tools, put together from the pages of its listings.

A listing is complete when its last page was seen. While another one is under way, the tools of the
last complete one stand; a notification that the list has changed drops everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import digest
from fabricd.core.javascript import NumberOutOfRange, utf16_key
from fabricd.core.mcp.repairing import Conventions, Tool
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than
from fabricd.core.plain import is_list, is_object

MAX_PAGES = 1000
MAX_TOOLS = 10_000
_OPEN = 8


class Declared(Struct, frozen=True):
    """The tools of one complete listing.

    Attributes:
        actions: `{ref, inputSchema}`, sorted by ref: what a surface snapshot holds.
        tools: by the name that calls use.
    """

    digest: str
    actions: tuple[dict[str, Any], ...]
    tools: Mapping[str, Tool]


class _Chain(Struct, frozen=True):
    tools: tuple[object, ...] = ()
    pages: int = 0


class Listing:
    """Puts pages together. A page belongs to the one that gave its cursor."""

    def __init__(self, name: str, conventions: Conventions) -> None:
        self.declared: Declared | None = None
        self._name = name
        self._conventions: Conventions = conventions
        self._open: dict[str, _Chain] = {}

    def drop(self) -> None:
        """The list has changed: what was said of it is void, pages of an unfinished listing too.

        A first page that was asked for before and comes now is the newest that the client knows.
        """
        self.declared = None
        self._open.clear()

    def page(self, cursor: str | None, result: object) -> bool:
        """Take one page; gives whether it completed a listing.

        Args:
            cursor: what was asked for.
            result: the decoded result of the reply; None where it could not be used.
        """
        chain = _Chain() if not cursor else self._open.pop(cursor, None)
        if chain is None or not is_object(result):
            return False
        tools, following = result.get("tools"), result.get("nextCursor")
        if not is_list(tools) or chain.pages >= MAX_PAGES:
            return False
        chain = _Chain((*chain.tools, *tools), chain.pages + 1)
        if len(chain.tools) > MAX_TOOLS or not (following is None or isinstance(following, str)):
            return False
        if following:
            if len(self._open) < _OPEN:
                self._open[following] = chain
            return False
        self.declared = declared(self._name, chain.tools, self._conventions)
        return True


def declared(name: str, listed: Sequence[object], conventions: Conventions) -> Declared:
    """The tools that a server listed; one listed twice, or oddly, is declared but not judged."""
    schemas: dict[str, object] = {}
    for each in listed:
        if not is_object(each) or not isinstance(each.get("name"), str):
            continue
        tool, schema = each["name"], each.get("inputSchema")
        if tool in schemas and schemas[tool] != schema:
            schema = None
        schemas[tool] = schema
    tools = {
        tool: Tool(f"mcp.{name}.{tool}", schema, conventions) for tool, schema in schemas.items()
    }
    actions = [{"ref": tool.ref, "inputSchema": _sound(tool.schema)} for tool in tools.values()]
    actions.sort(key=lambda action: utf16_key(str(action["ref"])))
    try:
        said = digest({"version": 1, "actions": actions})
    except NumberOutOfRange:
        said = ""
    return Declared(said, tuple(actions), tools)


def _sound(schema: object) -> object:
    return None if value_deeper_than(schema, SCHEMA_LEVELS) else schema
