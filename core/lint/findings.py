"""The rules there are, and what a rule finds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Severity: TypeAlias = Literal["error", "warning", "note"]
# Worst first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Rule(Struct, frozen=True):
    """What is looked for.

    Attributes:
        severity: of its findings, unless one of them says otherwise.
        what: the rule in a few words.
        why: what goes wrong when such a tool is called.
        fix: what its author can do.
    """

    id: str
    severity: Severity
    what: str
    why: str
    fix: str


class Finding(Struct, frozen=True):
    """One place of one tool.

    Attributes:
        pointer: the JSON pointer inside the tool's schema; `""` is the schema itself.
        message: what stands there.
    """

    rule: str
    severity: Severity
    tool: str
    pointer: str
    message: str


_ALL = (
    Rule(
        "unjudgeable-schema",
        "error",
        "The schema cannot be compiled",
        "Nobody can tell a good call from a bad one: strict clients drop the tool, others send "
        "whatever the model wrote, and no repair can be proven.",
        "Correct the schema until a validator compiles it without network access.",
    ),
    Rule(
        "unjudged-property",
        "error",
        "A property cannot be judged",
        "What is sent for it is not judged; where the schema cannot be compiled because of it, no "
        "other argument is judged either.",
        "Correct the property, or leave out what the validator refuses or passes over.",
    ),
    Rule(
        "root-not-object",
        "error",
        'The schema does not say `"type": "object"`',
        "Arguments are always an object; protocol and model interfaces require the schema to say "
        "so, and some clients refuse the whole listing where it does not.",
        'Put `"type": "object"` at the root, beside `properties`.',
    ),
    Rule(
        "root-union",
        "warning",
        "The schema has a union at its root",
        "Model interfaces refuse anyOf, oneOf and allOf at the root of a tool's schema, or flatten "
        "them without a word.",
        "Make it several tools, or put the union into one property.",
    ),
    Rule(
        "no-schema",
        "note",
        "The tool declares no schema",
        "Nobody knows which arguments it takes.",
        'Declare one; for a tool without arguments `{"type": "object", '
        '"additionalProperties": false}`.',
    ),
    Rule(
        "open-object",
        "note",
        "An object with required keys takes undeclared keys too",
        "A misspelt key is no mistake here: the call is refused for the key it lacks, or the "
        "argument is passed over in silence. Spellings of keys cannot be repaired.",
        'Say `"additionalProperties": false`.',
    ),
    Rule(
        "colliding-keys",
        "warning",
        "Keys differ in case and separators alone",
        "Models mix such keys up, and no repair can tell which one was meant.",
        "Keep one of them, or give them names that differ in letters.",
    ),
    Rule(
        "colliding-members",
        "warning",
        "Allowed values differ in case and separators alone",
        "Models mix such values up, and no repair can tell which one was meant.",
        "Keep one of them, or give them spellings that differ in letters.",
    ),
    Rule(
        "untyped-property",
        "warning",
        "A property says nothing about its value",
        "Any value is accepted, so the model has to guess and the server has to check by itself.",
        "Declare a type, or the values it takes (enum or const).",
    ),
    Rule(
        "undeclared-required",
        "warning",
        "A required key is not among the properties",
        "The model is not told what to send for it; in a closed object no call can be valid.",
        "Declare it under properties, or do not require it.",
    ),
    Rule(
        "nullable-optional",
        "warning",
        "An optional property takes null as well",
        "There are two ways to say nothing. Models use both, and a server that tells them apart "
        "does something else than was meant.",
        "Take null out of the type, or require the property. Where both mean the same, say so "
        'with `"default": null`.',
    ),
    Rule(
        "refused-default",
        "warning",
        "The schema refuses its own default",
        "A model that copies the default is refused.",
        "Correct the default, or the type.",
    ),
    Rule(
        "refused-member",
        "warning",
        "The schema refuses one of its own allowed values",
        "A model that picks it from the list is refused.",
        "Leave the value out, or correct the type beside it.",
    ),
    Rule(
        "text-or-other",
        "note",
        "A value may be a text or something else",
        'Whether "5" was meant as a text or as a number cannot be told, so nothing is repaired.',
        "Choose one of them, where the server can do with one.",
    ),
    Rule(
        "dialect-absent",
        "note",
        "There is no `$schema`",
        "Each client picks a draft of its own; the protocol means 2020-12.",
        'Say `"$schema": "https://json-schema.org/draft/2020-12/schema"`.',
    ),
    Rule(
        "dialect-unknown",
        "warning",
        "`$schema` names no draft that validators know",
        "Some clients refuse such a schema, others judge by a draft of their own choice.",
        "Name a published draft, or leave it out for 2020-12.",
    ),
    Rule(
        "dialect-mixed",
        "warning",
        "A keyword belongs to another draft than the one in force",
        "It is passed over in silence or refused, depending on who reads it.",
        "Write it as the draft in force has it, or name the draft it belongs to in `$schema`.",
    ),
    Rule(
        "foreign-keyword",
        "warning",
        "A keyword is none of JSON Schema",
        "Validators pass over it, so what it says is not in force.",
        'Say it in JSON Schema: null, for example, as `"type": ["string", "null"]`.',
    ),
    Rule(
        "circular-reference",
        "warning",
        "A reference leads back to itself before any value",
        "It says nothing about the value, and some readers never come back from it.",
        "Let the reference end at a schema that says what the value is.",
    ),
)
RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}


def found(
    rule: str, tool: str, pointer: str, message: str, severity: Severity | None = None
) -> Finding:
    """A finding, as severe as its rule unless it is told otherwise."""
    return Finding(rule, severity or RULES[rule].severity, tool, pointer, message)
