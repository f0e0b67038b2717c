"""The schemas inside a schema that judge a value of a call: which there are, and where they stand.

A reference is followed to its target, which is where a finding then points to; each place is
visited once, so that recursive schemas end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from fabricd.core.plain import is_list, is_object

_UNIONS = ("anyOf", "oneOf")
_ITEMS = ("items", "additionalItems", "contains", "additionalProperties")
_LISTS = ("prefixItems", "items")
_BESIDE = ("allOf",)


class Place(Struct, frozen=True):
    """A schema and where it stands: the pointer inside the document that declares it."""

    pointer: str
    schema: Any


def pointer_to(pointer: str, *steps: str | int) -> str:
    """A pointer, some steps further."""
    return pointer + "".join(f"/{_escaped(str(step))}" for step in steps)


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def target_of(document: object, reference: object) -> Place | None:
    """What a local reference leads to; None where it leads nowhere, or elsewhere."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    value: Any = document
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if is_object(value) and name in value:
            value = value[name]
        elif is_list(value) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    # An anchor is a name of its own.
    return None if pointer and not pointer.startswith("/") else Place(pointer, value)


def alternatives(document: object, place: Place) -> tuple[list[Place], bool]:
    """The branches that a value may take, unions and references resolved.

    Gives them in order, and whether a reference led back to itself on the way.
    """
    seen: set[str] = set()
    branches: list[Place] = []
    is_circular = False
    waiting: list[tuple[Place, frozenset[str]]] = [(place, frozenset())]
    while waiting:
        at, above = waiting.pop()
        if at.pointer in seen:
            # One that others lead to as well goes round in no circle.
            is_circular = is_circular or at.pointer in above
            continue
        seen.add(at.pointer)
        inner = _branches(document, at)
        if inner is None:
            branches.append(at)
        else:
            path = above | {at.pointer}
            waiting.extend((each, path) for each in reversed(inner))
    return branches, is_circular


def _branches(document: object, place: Place) -> list[Place] | None:
    schema = place.schema
    if not is_object(schema):
        return None
    if "$ref" in schema:
        target = target_of(document, schema["$ref"])
        return None if target is None else [target]
    for name in _UNIONS:
        if is_list(schema.get(name)) and schema[name]:
            return [
                Place(pointer_to(place.pointer, name, index), _within(schema, branch))
                for index, branch in enumerate(schema[name])
            ]
    return None


def _within(union: Mapping[str, Any], branch: object) -> object:
    """A branch under what stands beside the union: a type there holds for all of them."""
    if is_object(branch) and "type" in union and not {"type", "$ref", *_UNIONS} & set(branch):
        return {"type": union["type"], **branch}
    return branch


def admits(schema: object, kind: str) -> bool:
    """Whether a branch lets values of a JSON type through, by its type, enum and const alone."""
    if not is_object(schema):
        return schema is not False
    if "enum" in schema and is_list(schema["enum"]):
        return any(_is_kind(member, kind) for member in schema["enum"])
    if "const" in schema:
        return _is_kind(schema["const"], kind)
    declared = schema.get("type")
    if declared is None:
        return "$ref" not in schema
    types = declared if is_list(declared) else [declared]
    return kind in types or (kind == "number" and "integer" in types)


def _is_kind(value: object, kind: str) -> bool:
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "boolean": bool,
        "array": list,
        "object": dict,
        "null": type(None),
    }
    if kind in kinds:
        return isinstance(value, kinds[kind])
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def places(document: object) -> Iterator[Place]:
    """Every schema that judges the arguments or a part of them, the root first, each once."""
    seen: set[str] = set()
    waiting = [Place("", document)]
    while waiting:
        place = waiting.pop()
        if place.pointer in seen:
            continue
        seen.add(place.pointer)
        yield place
        waiting.extend(reversed(list(_inner(document, place))))


def _inner(document: object, place: Place) -> Iterator[Place]:
    schema, pointer = place.schema, place.pointer
    if not is_object(schema):
        return
    if (target := target_of(document, schema.get("$ref"))) is not None:
        yield target
    for table in ("properties", "patternProperties"):
        declared = schema.get(table)
        if is_object(declared):
            for name, inner in declared.items():
                yield Place(pointer_to(pointer, table, name), inner)
    for name in _ITEMS:
        if is_object(schema.get(name)):
            yield Place(pointer_to(pointer, name), schema[name])
    for name in (*_LISTS, *_UNIONS, *_BESIDE):
        if is_list(schema.get(name)):
            for index, inner in enumerate(schema[name]):
                yield Place(pointer_to(pointer, name, index), inner)
