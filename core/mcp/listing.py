"""A server's tools, put together from the pages of its listings.

A listing is complete when its last page was seen. While another one is under way, the tools of the
last complete one stand; a notification that the list has changed drops everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import text, utf8
from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.javascript import NumberOutOfRange, utf16_key
from fabricd.core.mcp.repairing import Conventions, Tool
from fabricd.core.mcp.replies import MAX_TOOLS, Page
from fabricd.core.mcp.weighing import is_heavy

MAX_PAGES = 1000
# What pages may take together, unless one alone is larger.
_MAX_BYTES = 4 * 1024 * 1024
_OPEN = 8
_NOTHING = b"null"


class Declared(Struct, frozen=True):
    """The tools of one complete listing, by the name that calls use, sorted by ref."""

    digest: str
    tools: Mapping[str, Tool]

    @property
    def actions(self) -> list[dict[str, Any]]:
        """`{ref, inputSchema}` of each: what a surface snapshot holds."""
        return [{"ref": tool.ref, "inputSchema": tool.schema} for tool in self.tools.values()]


class _Chain(Struct, frozen=True):
    tools: tuple[tuple[str, bytes], ...] = ()
    pages: int = 0
    size: int = 0
    largest: int = 0

    def with_page(self, page: Page) -> _Chain | None:
        """One page more; None where that is too much."""
        size = sum(len(schema) + len(name) for name, schema in page.tools)
        found = _Chain(
            (*self.tools, *page.tools),
            self.pages + 1,
            self.size + size,
            max(self.largest, size),
        )
        if found.pages > MAX_PAGES or len(found.tools) > MAX_TOOLS:
            return None
        return None if found.size > max(_MAX_BYTES, 2 * found.largest) else found


class Listing:
    """Puts pages together. A page belongs to the one that gave its cursor."""

    def __init__(self, name: str, conventions: Conventions) -> None:
        self.declared: Declared | None = None
        # Of the last complete listing of this run, whether it still stands or not.
        self.names: frozenset[str] = frozenset()
        self._name = name
        self._conventions: Conventions = conventions
        self._open: dict[str, _Chain] = {}

    @property
    def is_open(self) -> bool:
        """Whether there are pages of an unfinished listing."""
        return bool(self._open)

    def drop(self) -> None:
        """The list has changed: what was said of it is void, pages of an unfinished listing too.

        A first page that was asked for before and comes now is the newest that the client knows.
        """
        self.declared = None
        self._open.clear()

    def page(self, cursor: str | None, page: Page | None) -> bool:
        """Take one page; gives whether it completed a listing.

        Args:
            cursor: what was asked for.
            page: None where the reply could not be used.
        """
        begun = _Chain() if not cursor else self._open.pop(cursor, None)
        chain = None if begun is None or page is None else begun.with_page(page)
        if chain is None or page is None:
            return False
        if page.following:
            self._keep(page.following, chain)
            return False
        self.declared = declared(self._name, chain.tools, self._conventions)
        self.names = frozenset(self.declared.tools)
        return True

    def _keep(self, following: str, chain: _Chain) -> None:
        self._open.pop(following, None)
        self._open[following] = chain
        # Those that were begun and left: the oldest go.
        most = max(_MAX_BYTES, 2 * chain.size)
        while len(self._open) > _OPEN or sum(each.size for each in self._open.values()) > most:
            del self._open[next(iter(self._open))]


def declared(
    name: str, listed: tuple[tuple[str, bytes], ...], conventions: Conventions
) -> Declared:
    """The tools that a server listed; one listed twice, or oddly, is declared but not judged."""
    schemas: dict[str, bytes] = {}
    for tool, schema in listed:
        before = schemas.get(tool)
        schemas[tool] = schema if before is None or _is_same(before, schema) else _NOTHING
    refs = sorted(((f"mcp.{name}.{tool}", tool) for tool in schemas), key=_order)
    tools: dict[str, Tool] = {}
    # The digest of `{"actions": [{"inputSchema", "ref"}], "version": 1}`, one at a time.
    said, opener = sha256(b'{"actions":['), ""
    for ref, tool in refs:
        kept, canonical = _sound(schemas.pop(tool))
        tools[tool] = Tool.written(ref, kept, conventions)
        said.update(utf8(f'{opener}{{"inputSchema":{canonical},"ref":{text(ref)}}}'))
        opener = ","
    said.update(b'],"version":1}')
    return Declared(said.hexdigest(), tools)


def _order(each: tuple[str, str]) -> bytes:
    return utf16_key(each[0])


def _is_same(one: bytes, other: bytes) -> bool:
    if one == other:
        return True
    if is_heavy(one) or is_heavy(other):
        return False
    try:
        return bool(strict_json(one) == strict_json(other))
    except BadDocument:
        return False


def _sound(schema: bytes) -> tuple[bytes, str]:
    """The text of a schema and its canonical text; nothing where no one can judge by it."""
    if not is_heavy(schema):
        try:
            return schema, text(strict_json(schema))
        except (BadDocument, NumberOutOfRange):
            pass
    return _NOTHING, "null"
