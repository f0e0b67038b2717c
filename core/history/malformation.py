"""How arguments miss their declared schema, in the words of the malformation table.

Each kind is a question to the schema about one property, so that a call may show several. What fits
no kind (a float where an integer is declared, a number for a text) has none.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fabricd.core.normalform.forms import form, number_of
from fabricd.core.plain import is_list, is_object
from fabricd.core.validation import Validator

SLUGS = (
    "json-text",
    "python-literal",
    "number-text",
    "number-lossy",
    "list-for-number",
    "boolean-text",
    "null-optional",
    "null-required",
    "enum-form",
    "enum-unknown",
    "key-form",
    "undeclared-key",
    "missing-required",
    "bad-item",
    "scalar-for-array",
    "container-for-scalar",
    "not-json",
    "unknown-tool",
)
_BIT = {slug: 1 << index for index, slug in enumerate(SLUGS)}
NOT_JSON = _BIT["not-json"]
UNKNOWN_TOOL = _BIT["unknown-tool"]

_LITERAL_LIMIT = 65_536
_SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})


def slugs_in(kinds: int) -> list[str]:
    """The names of a set of kinds."""
    return [slug for slug in SLUGS if kinds & _BIT[slug]]


def bits_of(slugs: Iterable[object]) -> int:
    """A set of kinds by their names; what is no name of a kind is passed over."""
    return sum({_BIT[slug] for slug in slugs if isinstance(slug, str) and slug in _BIT})


def malformations(schema: Mapping[str, Any], validator: Validator, args: object) -> int:
    """The kinds of malformation in arguments that the schema rejects, as bits."""
    if not is_object(args):
        return _BIT["json-text"] if isinstance(args, str) and _is_container_text(args) else 0
    found = 0
    for slug in _kinds(schema, validator, args):
        found |= _BIT[slug]
    return found


def _kinds(
    schema: Mapping[str, Any], validator: Validator, args: Mapping[str, Any]
) -> Iterator[str]:
    declared = schema.get("properties")
    properties: Mapping[str, Any] = declared if is_object(declared) else {}
    listed = schema.get("required")
    required = {name for name in listed if isinstance(name, str)} if is_list(listed) else set[str]()
    respelt: set[str] = set()
    if schema.get("additionalProperties") is False:
        absent = {form(name): name for name in properties if name not in args}
        for name in args:
            if name not in properties:
                target = absent.get(form(name)) if form(name) is not None else None
                if target is not None:
                    respelt.add(target)
                yield "undeclared-key" if target is None else "key-form"
    if required - set(args) - respelt:
        yield "missing-required"
    for name, value in args.items():
        if name in properties and not validator.property_accepts(name, value):
            yield from _kind_of(properties[name], value, name in required)


def _kind_of(declared: object, value: object, is_required: bool) -> Iterator[str]:
    types = _types(declared)
    members = _members(declared)
    if value is None:
        yield "null-required" if is_required else "null-optional"
    elif isinstance(value, str):
        yield from _kind_of_text(types, members, value)
    elif is_list(value) or is_object(value):
        kind = "array" if is_list(value) else "object"
        if kind in types or not types:
            yield "bad-item"
        elif types <= _SCALARS:
            yield "container-for-scalar"
    elif members:
        yield "enum-unknown"
    elif "array" in types and types <= {"array", "null"}:
        yield "scalar-for-array"


def _kind_of_text(types: frozenset[str], members: list[str], text: str) -> Iterator[str]:
    if members:
        folded = form(text)
        alike = [member for member in members if folded is not None and form(member) == folded]
        yield "enum-form" if len(alike) == 1 else "enum-unknown"
    elif types & {"array", "object"}:
        if _is_container_text(text):
            yield "json-text"
        elif _is_python_container(text):
            yield "python-literal"
        elif "array" in types:
            yield "scalar-for-array"
    elif types & {"number", "integer"}:
        if text.lstrip().startswith("["):
            yield "list-for-number"
        elif number_of(text) is not None:
            yield "number-text"
        elif _is_number(text):
            yield "number-lossy"
    elif "boolean" in types and text.lower() in ("true", "false"):
        yield "boolean-text"


def _alternatives(declared: object) -> Iterator[Mapping[str, Any]]:
    if not is_object(declared):
        return
    yield declared
    for word in ("anyOf", "oneOf"):
        branches = declared.get(word)
        if is_list(branches):
            for branch in branches:
                yield from _alternatives(branch)


def _types(declared: object) -> frozenset[str]:
    found: set[str] = set()
    for each in _alternatives(declared):
        types = each.get("type")
        if isinstance(types, str):
            found.add(types)
        elif is_list(types):
            found.update(name for name in types if isinstance(name, str))
    return frozenset(found)


def _members(declared: object) -> list[str]:
    found: list[str] = []
    for each in _alternatives(declared):
        members = each.get("enum")
        if is_list(members):
            found += [member for member in members if isinstance(member, str)]
        if isinstance(each.get("const"), str):
            found.append(each["const"])
    return found


def _is_container_text(text: str) -> bool:
    stripped = text.strip(" \t\r\n")
    if stripped[:1] not in ("[", "{"):
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True


def _is_python_container(text: str) -> bool:
    stripped = text.strip()
    if stripped[:1] not in ("[", "{", "(") or len(stripped) > _LITERAL_LIMIT:
        return False
    try:
        value: object = ast.literal_eval(stripped)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, (list, dict, tuple, set))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
