"""The smallest schema for each rule, and where the rule finds it."""

from __future__ import annotations

from typing import Any, TypeAlias

DRAFT7 = "http://json-schema.org/draft-07/schema#"
NEWEST = "https://json-schema.org/draft/2020-12/schema"

Place: TypeAlias = tuple[str, str, str]


def closed(**more: Any) -> dict[str, Any]:
    """A closed object schema of the newest draft."""
    return {"$schema": NEWEST, "type": "object", "additionalProperties": False, **more}


def prop(declared: object, **more: Any) -> dict[str, Any]:
    """One with a property `a`."""
    return closed(properties={"a": declared}, **more)


EXAMPLES: list[tuple[dict[str, Any], Place]] = [
    (prop({"pattern": "("}), ("unjudged-property", "error", "/properties/a")),
    (closed(minProperties="x"), ("unjudgeable-schema", "error", "")),
    (
        {"$schema": NEWEST, "properties": {"a": {"type": "string"}}},
        ("root-not-object", "error", ""),
    ),
    (
        prop({"type": "string"}, anyOf=[{}, {"required": ["a"]}]),
        ("root-union", "warning", "/anyOf"),
    ),
    (
        {
            "$schema": NEWEST,
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "string"}},
        },
        ("open-object", "note", ""),
    ),
    (
        prop({"type": "object", "required": ["b"], "properties": {"b": {"type": "null"}}}),
        ("open-object", "note", "/properties/a"),
    ),
    (
        prop(
            {"type": "array", "items": {"$ref": "#/$defs/I"}},
            **{
                "$defs": {
                    "I": {
                        "type": "object",
                        "required": ["b"],
                        "properties": {"b": {"type": "integer"}},
                    }
                }
            },
        ),
        ("open-object", "note", "/$defs/I"),
    ),
    (
        closed(properties={"maxResults": {"type": "integer"}, "max_results": {"type": "integer"}}),
        ("colliding-keys", "warning", "/properties/max_results"),
    ),
    (
        prop({"type": "string", "enum": ["best match", "x", "BestMatch"]}),
        ("colliding-members", "warning", "/properties/a/enum/2"),
    ),
    (
        prop({"anyOf": [{"const": "fit"}, {"const": "FIT"}]}),
        ("colliding-members", "warning", "/properties/a/anyOf/1/const"),
    ),
    (prop({"description": "anything"}), ("untyped-property", "warning", "/properties/a")),
    (prop(True), ("untyped-property", "warning", "/properties/a")),
    (prop({"type": "string"}, required=["b"]), ("undeclared-required", "error", "/required")),
    (
        prop({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("nullable-optional", "warning", "/properties/a"),
    ),
    (
        prop({"type": ["string", "null"], "default": None}),
        ("nullable-optional", "note", "/properties/a"),
    ),
    (prop({"enum": ["x", None]}), ("nullable-optional", "warning", "/properties/a")),
    (
        prop({"type": "integer", "default": "5"}),
        ("refused-default", "warning", "/properties/a/default"),
    ),
    (
        prop({"type": "string", "enum": ["a", 1]}),
        ("refused-member", "warning", "/properties/a/enum/1"),
    ),
    (prop({"type": ["string", "integer"]}), ("text-or-other", "note", "/properties/a")),
    (
        {"type": "object", "properties": {"a": {"type": "string"}}},
        ("dialect-absent", "note", ""),
    ),
    ({"$schema": "urn:mine", "type": "object"}, ("dialect-unknown", "warning", "/$schema")),
    (
        {
            "$schema": DRAFT7,
            "type": "object",
            "properties": {"a": {"prefixItems": [{}], "type": "array"}},
        },
        ("dialect-mixed", "warning", "/properties/a/prefixItems"),
    ),
    (
        {
            "$schema": DRAFT7,
            "type": "object",
            "properties": {"a": {"$ref": "#/d/A", "minimum": 1}},
            "d": {"A": {"type": "integer"}},
        },
        ("dialect-mixed", "warning", "/properties/a/$ref"),
    ),
    (
        prop({"type": "string", "nullable": True}),
        ("foreign-keyword", "warning", "/properties/a/nullable"),
    ),
    (
        prop({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}}),
        ("circular-reference", "warning", "/properties/a"),
    ),
    (
        prop({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}}),
        ("circular-reference", "warning", "/properties/a"),
    ),
]
