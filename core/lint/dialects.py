"""Rules on `$schema`: which draft is in force, and what in a schema belongs to another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabricd.core.lint.findings import Finding, found
from fabricd.core.lint.places import Place, pointer_to
from fabricd.core.plain import is_list, is_object

_NAMES = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
_DRAFTS = {
    "json-schema.org/draft-04/schema": 0,
    "json-schema.org/draft-06/schema": 1,
    "json-schema.org/draft-07/schema": 2,
    "json-schema.org/draft/2019-09/schema": 3,
    "json-schema.org/draft/2020-12/schema": 4,
}
NEWEST = 4
# The first and the last draft in which a keyword judges anything.
_KEYWORDS: dict[str, tuple[int, int]] = {
    "const": (1, 4),
    "contains": (1, 4),
    "propertyNames": (1, 4),
    "if": (2, 4),
    "dependencies": (0, 2),
    "additionalItems": (0, 3),
    "dependentRequired": (3, 4),
    "dependentSchemas": (3, 4),
    "unevaluatedItems": (3, 4),
    "unevaluatedProperties": (3, 4),
    "minContains": (3, 4),
    "maxContains": (3, 4),
    "prefixItems": (4, 4),
    "$dynamicRef": (4, 4),
    "$recursiveRef": (3, 3),
}
# What may stand beside a reference without judging anything.
_REMARKS = frozenset(
    {
        "$ref", "$comment", "$id", "$schema", "$defs", "definitions", "title", "description",
        "default", "examples", "deprecated", "readOnly", "writeOnly",
    }
)  # fmt: skip


def draft_of(schema: object) -> int | None:
    """The draft in force, None where `$schema` names an unknown one; none named is the newest."""
    if not is_object(schema) or "$schema" not in schema:
        return NEWEST
    named = schema["$schema"]
    if not isinstance(named, str):
        return None
    return _DRAFTS.get(named.removeprefix("https://").removeprefix("http://").removesuffix("#"))


def root_findings(tool: str, schema: Mapping[str, Any]) -> Iterator[Finding]:
    """What is to be said of the schema's own `$schema`."""
    if "$schema" not in schema:
        yield found("dialect-absent", tool, "", "which draft it is written in is not said")
    elif draft_of(schema) is None:
        named = schema["$schema"]
        what = f'"{named[:80]}"' if isinstance(named, str) else "what is no text"
        yield found("dialect-unknown", tool, "/$schema", f"$schema is {what}")


def dialect_findings(tool: str, draft: int | None, place: Place) -> Iterator[Finding]:
    """What in one schema belongs to another draft, or to no draft at all."""
    schema, pointer = place.schema, place.pointer
    if not is_object(schema):
        return
    if pointer and "$schema" in schema and "$id" not in schema:
        message = "$schema counts at the root alone, or beside an $id"
        yield found("dialect-mixed", tool, pointer_to(pointer, "$schema"), message)
    if "nullable" in schema:
        message = "nullable says nothing to a JSON Schema validator: null is judged by the type"
        yield found("foreign-keyword", tool, pointer_to(pointer, "nullable"), message)
    if draft is not None:
        for name, message in _mixed(draft, schema):
            yield found("dialect-mixed", tool, pointer_to(pointer, name), message)


def _mixed(draft: int, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    here = _NAMES[draft]
    for name, (first, last) in _KEYWORDS.items():
        if name in schema and not first <= draft <= last:
            span = _NAMES[first] if first == last else f"{_NAMES[first]} to {_NAMES[last]}"
            yield name, f"{name} is a keyword of {span}, and {here} is in force"
    if is_list(schema.get("items")) and draft == NEWEST:
        yield "items", f"a list of items is a tuple up to 2019-09; {here} has prefixItems for it"
    for name in ("exclusiveMinimum", "exclusiveMaximum"):
        if isinstance(schema.get(name), bool) == (draft > 0) and name in schema:
            kind = "a boolean in draft-04 and a number ever since"
            yield name, f"{name} is {kind}; {here} is in force"
    if draft <= 2 and "$ref" in schema and (beside := sorted(set(schema) - _REMARKS)):
        yield "$ref", f"up to draft-07 nothing beside a $ref counts, so {beside[0]} does not"
