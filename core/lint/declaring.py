"""Which keys an object schema tells of: its own, and those of what judges the same object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fabricd.core.lint.places import target_of
from fabricd.core.plain import is_list, is_object

_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else")
_NAMED = ("dependentSchemas", "dependencies")
_ELSEWHERE = frozenset({"$dynamicRef", "$recursiveRef"})
_BRANCH = re.compile(r"/(?:allOf|anyOf|oneOf)/[0-9]+\Z")


def tells_of(document: object, pointer: str, name: str) -> bool:
    """Whether a key is declared for the object that the schema at a pointer judges.

    By the schema itself, by what stands in it for the same object (branches, conditions,
    references), or by a schema that it is itself a branch of. True too where nobody can say.
    """
    while True:
        place = target_of(document, "#" + pointer.replace("%", "%25"))
        if place is None or _declares(document, place.schema, name):
            return True
        branch = _BRANCH.search(pointer)
        if branch is None:
            return False
        pointer = pointer[: branch.start()]


def _declares(document: object, schema: object, name: str) -> bool:
    waiting = [schema]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if not is_object(part) or id(part) in seen:
            continue
        seen.add(id(part))
        declared = part.get("properties")
        if is_object(declared) and name in declared:
            return True
        if part.get("patternProperties") or not _ELSEWHERE.isdisjoint(part):
            return True
        if "$ref" in part:
            target = target_of(document, part["$ref"])
            if target is None:
                return True
            waiting.append(target.schema)
        waiting.extend(_in_place(part))
    return False


def _in_place(schema: Mapping[str, Any]) -> Iterator[object]:
    """The schemas inside that judge the same object."""
    for word in _LISTS:
        if is_list(found := schema.get(word)):
            yield from found
    for word in _SINGLE:
        yield schema.get(word)
    for word in _NAMED:
        if is_object(found := schema.get(word)):
            yield from found.values()
