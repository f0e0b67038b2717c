"""What a definition's node is called, where its body begins, which lines are its signature."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from fabricd.core.context.model import Kind

_LONGEST = 200
# What exported things are assigned to: no container of theirs.
_EXPORTS = frozenset({"exports", "module.exports", "window", "globalThis", "this", "self"})
# Languages whose signature ends before the body by indentation and not by a bracket.
_OPEN_ENDED = frozenset({"python", "ruby"})
_HEADS = ("return_type", "superclasses", "parameters", "superclass", "name")
_PREFIXES = ("@", "#[", "[")
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*\)?$")
_ARGUMENTS = re.compile("<[^<>]*>")
_UNNAMED = {"operator_declaration": "operator", "indexer_declaration": "this"}


class Naming(NamedTuple):
    """A name.

    Attributes:
        qualifier: the container that it tells itself (`Client` of Go's `(c *Client) Do`).
        name: the simple name.
        node: where the name stands.
    """

    qualifier: str
    name: str
    node: Node | None


def kind_of(role: str) -> Kind:
    """The kind of a definition that was captured under this name."""
    match role:
        case "member" | "method":
            return "method"
        case "class" | "interface" | "struct" | "enum" | "trait" | "impl" | "type" | "module":
            return role
        case "constant":
            return role
        case _:
            return "function"


def text_of(node: Node, source: bytes) -> str:
    """A node's text on one line."""
    text = source[node.start_byte : node.end_byte].decode(errors="replace")
    return " ".join(text.split())[:_LONGEST]


def name_of(node: Node, source: bytes) -> Naming:
    """What a definition is called; an empty name where it has none."""
    named = node.child_by_field_name("name")
    if named is None:
        return _odd_name(node, source)
    name = text_of(named, source)
    if node.type == "method_declaration":
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            found = _RECEIVER.search(text_of(receiver, source))
            return Naming(found[1] if found else "", name, named)
    if node.type == "destructor_declaration":
        name = "~" + name
    return _scoped(name, named)


def body_of(node: Node) -> Node | None:
    """What follows the signature."""
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    if node.type == "declaration":
        node = node.child_by_field_name("declarator") or node
    value = (
        node.child_by_field_name("value")
        or node.child_by_field_name("right")
        or node.child_by_field_name("accessors")
    )
    if value is None:
        return None
    return value.child_by_field_name("body") or value


def signature_of(
    node: Node, body: Node | None, naming: Naming, last: int, lines: Sequence[str], language: str
) -> tuple[int, int]:
    """The rows of a signature, without decorators and annotations above it."""
    row = node.start_point[0]
    named = naming.node
    until = named.start_point[0] if named is not None else row
    for above in range(row, until):
        if lines[above].lstrip().startswith(_PREFIXES):
            row = above + 1
    if language in _OPEN_ENDED:
        heads = map(node.child_by_field_name, _HEADS)
        return row, min(last, max([row, *(head.end_point[0] for head in heads if head)]))
    if body is None:
        opened = last if "type" not in node.type else row
        return row, max(row, opened)
    opened, column = body.start_point
    if opened > row and not lines[opened][:column].strip():
        opened -= 1
    return row, min(last, max(row, until, opened))


def _odd_name(node: Node, source: bytes) -> Naming:
    """Names of what has no field for them."""
    kind = node.type
    if kind == "export_statement":
        return Naming("", "default", None)
    if kind in _UNNAMED:
        return Naming("", _UNNAMED[kind], None)
    if kind == "impl_item":
        typed = node.child_by_field_name("type")
        return _scoped(text_of(typed, source), typed) if typed else Naming("", "", None)
    if kind in ("const_declaration", "var_declaration"):
        return _first_spec(node, source)
    declarator = node.child_by_field_name("declarator")
    if declarator is not None:
        return _declared(declarator, source)
    left = (
        node.child_by_field_name("left")
        or node.child_by_field_name("key")
        or node.child_by_field_name("property")
    )
    if left is None:
        return Naming("", "", None)
    written = text_of(left, source)
    if written in _EXPORTS:
        right = node.child_by_field_name("right")
        own = right.child_by_field_name("name") if right else None
        return Naming("", text_of(own, source) if own else "exports", own or left)
    holder, dot, name = written.rpartition(".")
    if not dot or "]" in name:
        return Naming("", name.strip("'\"`[]"), left)
    holder = holder.removesuffix(".prototype")
    return Naming("" if holder in _EXPORTS else holder.rpartition(".")[2], name, left)


def _declared(declarator: Node, source: bytes) -> Naming:
    """The name inside C's declarators."""
    for _ in range(16):
        inner = declarator.child_by_field_name("declarator")
        if declarator.type == "operator_cast":
            typed = declarator.child_by_field_name("type")
            return Naming("", f"operator {text_of(typed, source) if typed else ''}", declarator)
        if inner is None and declarator.type in (
            "reference_declarator",
            "parenthesized_declarator",
        ):
            inner = declarator.named_child(0)
        if inner is None:
            break
        declarator = inner
    return _scoped(text_of(declarator, source), declarator)


def _first_spec(node: Node, source: bytes) -> Naming:
    """The first name of Go's grouped constants and variables."""
    for _ in range(3):
        if not node.named_child_count:
            break
        node = node.named_children[0]
        named = node.child_by_field_name("name")
        if named is not None:
            return Naming("", text_of(named, source), named)
    return Naming("", "", None)


def _scoped(name: str, node: Node) -> Naming:
    """`a::B<T>` in its last qualifier and its simple name."""
    name, operator, sign = name.strip("'\"&").partition("operator")
    while "<" in name and (plain := _ARGUMENTS.sub("", name)) != name:
        name = plain
    holder, _, simple = name.rpartition("::")
    return Naming(holder.rpartition("::")[2], f"{simple}{operator}{sign}".strip(), node)
