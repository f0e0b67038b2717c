"""Rules on objects: which keys they take, and what is said of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabricd.core.lint.declaring import tells_of
from fabricd.core.lint.findings import Finding, Severity, found
from fabricd.core.lint.folding import folded, quoted
from fabricd.core.lint.places import Place, admits, alternatives, pointer_to
from fabricd.core.plain import is_list, is_object
from fabricd.core.validation import Validator

# What may say something about a value.
_SAYING = frozenset(
    {
        "type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf",
        "not", "if", "properties", "patternProperties", "additionalProperties", "required",
        "items", "prefixItems", "contains", "pattern", "format", "minLength", "maxLength",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip


def object_findings(
    tool: str, document: object, judge: Validator | None, place: Place
) -> Iterator[Finding]:
    """What is to be said of an object schema; nothing of any other.

    Args:
        judge: of the document; None where it cannot be judged.
    """
    schema = place.schema
    if not is_object(schema):
        return
    properties = _table(schema)
    required = _required(schema)
    yield from _keys(tool, place, properties)
    if properties or required:
        yield from _openness(tool, document, place, properties, required)
    for name, declared in properties.items():
        at = Place(pointer_to(place.pointer, "properties", name), declared)
        if judge is not None and not judge.has_place(at.pointer):
            message = f"the validator does not look at {quoted([name])} here"
            yield found("unjudged-property", tool, at.pointer, message)
        yield from _property(tool, document, at, name, name in required)


def is_closed(schema: Mapping[str, Any]) -> bool:
    """Whether an object takes its declared keys alone."""
    if schema.get("unevaluatedProperties") is False:
        return True
    return schema.get("additionalProperties") is False and not schema.get("patternProperties")


def _table(schema: Mapping[str, Any]) -> dict[str, Any]:
    declared = schema.get("properties")
    return declared if is_object(declared) else {}


def _required(schema: Mapping[str, Any]) -> list[str]:
    listed = schema.get("required")
    return [name for name in listed if isinstance(name, str)] if is_list(listed) else []


def _keys(tool: str, place: Place, properties: Mapping[str, Any]) -> Iterator[Finding]:
    for names in folded(properties):
        pointer = pointer_to(place.pointer, "properties", names[-1])
        yield found("colliding-keys", tool, pointer, f"{quoted(names)} are one key once folded")


def _openness(
    tool: str,
    document: object,
    place: Place,
    properties: Mapping[str, Any],
    required: list[str],
) -> Iterator[Finding]:
    schema = place.schema
    # A branch that only requires keys speaks of an object that is declared around it.
    if required and not is_closed(schema) and (properties or schema.get("type") == "object"):
        keys = f"requires {quoted(required)} and takes any other key"
        yield found("open-object", tool, place.pointer, keys)
    patterns = schema.get("patternProperties")
    for name in dict.fromkeys(required):
        if name in properties or patterns or "$ref" in schema or "allOf" in schema:
            continue
        # To `additionalProperties` what others declare is as strange as what nobody does.
        forbids_others = schema.get("additionalProperties") is False
        if not forbids_others and tells_of(document, place.pointer, name):
            continue
        pointer = pointer_to(place.pointer, "required")
        if is_closed(schema):
            message = f"{quoted([name])} is required and forbidden at once"
            yield found("undeclared-required", tool, pointer, message, "error")
        elif properties or not place.pointer:
            message = f"{quoted([name])} is required but not declared"
            yield found("undeclared-required", tool, pointer, message)


def _property(
    tool: str, document: object, place: Place, name: str, is_required: bool
) -> Iterator[Finding]:
    schema = place.schema
    if schema is True or (is_object(schema) and _SAYING.isdisjoint(schema)):
        yield found("untyped-property", tool, place.pointer, f"{quoted([name])} has no type")
        return
    branches, is_circular = alternatives(document, place)
    if is_circular:
        message = f"the references of {quoted([name])} go round in a circle"
        yield found("circular-reference", tool, place.pointer, message)
        return
    if not is_required and any(_takes_null(each.schema) for each in branches):
        both_alike = is_object(schema) and "default" in schema and schema["default"] is None
        message = f"{quoted([name])} may be left out or be null"
        severity: Severity | None = "note" if both_alike else None
        yield found("nullable-optional", tool, place.pointer, message, severity)


def _takes_null(schema: object) -> bool:
    """Whether null is let through on purpose: a branch without a type lets everything through."""
    return (
        is_object(schema)
        and bool({"type", "enum", "const"} & set(schema))
        and admits(schema, "null")
    )
