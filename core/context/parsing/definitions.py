"""From a query's captures to a tree of definitions with their rows (0-based, inclusive)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from fabricd.core.context.model import Kind
from fabricd.core.context.parsing.blocks import is_blank
from fabricd.core.context.parsing.grammars import Captures
from fabricd.core.context.parsing.naming import body_of, kind_of, name_of, signature_of

# An anonymous function of more rows is a wrapper round a program, and transparent.
SHORT_SCOPE = 80
# A comment of no more rows, the blank one with it, also belongs to what follows a blank row.
SHORT_COMMENT = 6
# A file with more of them, anonymous ones with them, was made by a machine: it is blocks.
MOST = 20_000
# Shorter ones are units only where they stand alone: many in a row would be shards.
LEAST_ROWS: dict[str, int] = {"constant": 5, "type": 3}

_KINDS = (
    "function", "method", "class", "interface", "struct", "enum", "trait", "impl", "type", "module",
    "constant", "member", "overload",
)  # fmt: skip
# Of captures of the same node the lowest counts.
_RANK = {"wrap": 0, **dict.fromkeys(_KINDS, 1), "type": 2, "constant": 3, "scope": 4}


@dataclass(slots=True, eq=False)
class Definition:
    """Something with a name.

    Attributes:
        first: the first row, with what is attached and what wraps it.
        row: the first row of the signature.
        opened: the last row of the signature.
        last: the last row.
        weak: a definition only in a constant that is split.
        bare: without a body, so nothing without the one that follows.
        short: no unit unless it stands alone.
        documented: rows of the documentation inside it; (0, -1) where there is none.
        qualifier: the container that its own name tells (`Client` of Go's `(c *Client) Do`).
    """

    kind: Kind
    name: str
    qualifier: str
    first: int
    row: int
    opened: int
    last: int
    weak: bool = False
    bare: bool = False
    short: bool = False
    documented: tuple[int, int] = (0, -1)
    inner: list[Definition] = field(default_factory=list["Definition"])


@dataclass(slots=True, eq=False)
class _Open:
    """A capture whose end has not come yet."""

    role: str
    end: int
    first: int
    last: int
    definition: Definition | None = None
    spent: bool = False


def definitions_of(
    captures: Captures, source: bytes, lines: Sequence[str], language: str
) -> list[Definition]:
    """The outermost definitions in order, each with those in it; none of more than `MOST`."""
    found = [(role, node) for role in captures if role in _RANK for node in captures[role]]
    if len(found) > MOST:
        return []
    # The number keeps what is equal in order, and nodes from being compared.
    items = sorted(
        (node.start_byte, -node.end_byte, _RANK[role], number, role, node)
        for number, (role, node) in enumerate(found)
    )
    attached = _attached(captures.get("attach", ()), lines)
    documented = {node.start_byte: _rows(node) for node in captures.get("doc", ())}
    top: list[Definition] = []
    stack: list[_Open] = []
    before = (-1, 0, -1)
    for start, negative, rank, _, role, node in items:
        if before[:2] == (start, negative) and 0 < before[2] <= rank and role != "scope":
            continue
        before = (start, negative, rank)
        while stack and stack[-1].end <= start:
            stack.pop()
        first, last = _rows(node)
        if rank == 0:
            stack.append(_Open("wrap", -negative, first, last))
            continue
        if role == "scope":
            if not _transparent(stack, -negative, last - first):
                stack.append(_Open("scope", -negative, first, last))
            continue
        holder, first, last = _unwrap(stack, first, last)
        if holder is not None and (holder.role == "scope" or _is_typedefs(node, holder)):
            continue
        made = _define(role, node, (first, last), source, lines, language, documented)
        if made is None:
            continue
        made.first = _with_attached(made.first, attached, lines)
        siblings = holder.definition.inner if holder and holder.definition else top
        siblings.append(made)
        kind = "typedef" if node.type == "type_definition" else "definition"
        stack.append(_Open(kind, -negative, first, last, made))
    return top


def _is_typedefs(node: Node, holder: _Open) -> bool:
    """Whether it is what a `typedef` names, and so no definition in it."""
    parent = node.parent if holder.role == "typedef" else None
    return parent is not None and parent.type == "type_definition"


def _with_attached(first: int, attached: dict[int, int], lines: Sequence[str]) -> int:
    """The first row with the comments that touch it, else with a short one a blank row away."""
    start = _upwards(first, attached)
    if start < first or first < 2 or not is_blank(lines[first - 1]):
        return start
    start = _upwards(first - 1, attached)
    # What a file begins with is about the file.
    return start if 0 < start < first - 1 and first - start <= SHORT_COMMENT else first


def _upwards(first: int, attached: dict[int, int]) -> int:
    while first - 1 in attached:
        first = attached[first - 1]
    return first


def _define(
    role: str,
    node: Node,
    rows: tuple[int, int],
    source: bytes,
    lines: Sequence[str],
    language: str,
    documented: dict[int, tuple[int, int]],
) -> Definition | None:
    first, last = rows
    naming = name_of(node, source)
    if not naming.name:
        return None
    body = body_of(node)
    row, opened = signature_of(node, body, naming, last, lines, language)
    made = Definition(
        kind_of(role), naming.name, naming.qualifier, min(first, row), row, opened, last
    )
    made.weak = role == "member"
    made.short = last - first + 1 < LEAST_ROWS.get(role, 0)
    made.bare = role == "overload"
    if body is not None:
        made.documented = documented.get(body.start_byte, (0, -1))
    return made


def _unwrap(stack: Sequence[_Open], first: int, last: int) -> tuple[_Open | None, int, int]:
    """What holds the next definition, and its rows with those of its wraps."""
    for holder in reversed(stack):
        if holder.role != "wrap":
            return holder, first, last
        if not holder.spent:
            holder.spent = True
            first, last = min(first, holder.first), max(last, holder.last)
    return None, first, last


def _transparent(stack: Sequence[_Open], end: int, height: int) -> bool:
    """Whether an anonymous function hides nothing: a definition's own value, or a long wrapper."""
    if height > SHORT_SCOPE:
        return True
    return bool(stack) and stack[-1].definition is not None and stack[-1].end == end


def _attached(nodes: Sequence[Node], lines: Sequence[str]) -> dict[int, int]:
    """The last row of each comment that has its rows for itself, and its first."""
    rows: dict[int, int] = {}
    for node in nodes:
        row, column = node.start_point
        if not column or lines[row][:column].isspace():
            last, width = node.end_point
            rows[last if width or last == row else last - 1] = row
    return rows


def _rows(node: Node) -> tuple[int, int]:
    first = node.start_point[0]
    last, column = node.end_point
    return first, last if column or last == first else last - 1
