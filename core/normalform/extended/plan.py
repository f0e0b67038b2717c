"""Plans and witnesses of version 2: what they hold, and the check of those that come from outside.

A rule names a place: `at` is the JSON pointer inside the declared schema, after every `$ref` on the
way. For key-form and optional-null it is that of the property, for the others that of the schema
that admits what the text is read as; `""` is the arguments' own.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias, TypeGuard

from msgspec import Meta, Struct

from fabricd.core.javascript import unit_length
from fabricd.core.model import Digest
from fabricd.core.plain import MAX_SAFE_INTEGER, is_list, is_number, is_object

ExtendedKind: TypeAlias = Literal[
    "key-form", "optional-null", "numeric-string", "boolean-string", "json-container", "enum-form"
]
# In the order in which one schema's rules stand in a plan.
EXTENDED_KINDS: tuple[ExtendedKind, ...] = (
    "key-form",
    "optional-null",
    "numeric-string",
    "boolean-string",
    "json-container",
    "enum-form",
)
MAX_RULES = 4096
MAX_REF = 1024

_DIGEST = re.compile(r"[a-f0-9]{64}\Z")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*\Z")


class ExtendedRule(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One repair a plan permits: a convention and the place in the schema it rests on."""

    kind: ExtendedKind
    at: str


class CountedRule(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A rule that was applied, and how many times."""

    kind: ExtendedKind
    at: str
    count: Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER)]


class ExtendedPlan(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The extended normal-form plan of one action (plan version 2)."""

    version: Literal[2]
    ref: str
    base_schema_digest: Digest
    conventions: Literal["extended"]
    rules: tuple[ExtendedRule, ...]


class ExtendedWitness(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What a repaired call leaves behind: shapes before and after, and how often each rule ran."""

    version: Literal[2]
    base_schema_digest: Digest
    before_shape: Digest
    after_shape: Digest
    rules: Annotated[tuple[CountedRule, ...], Meta(min_length=1, max_length=MAX_RULES)]


def is_digest(value: object) -> TypeGuard[str]:
    """Whether a value is a lower-case hex SHA-256."""
    return isinstance(value, str) and _DIGEST.match(value) is not None


def extended_plan_of(value: object) -> ExtendedPlan | None:
    """The wire check: the plan a JSON value is, or None. It proves nothing yet."""
    if not is_object(value) or len(value) != 5 or not is_number(value.get("version"), 2):
        return None
    ref, base, rules = value.get("ref"), value.get("baseSchemaDigest"), value.get("rules")
    if value.get("conventions") != "extended" or not isinstance(ref, str):
        return None
    if not 1 <= unit_length(ref) <= MAX_REF or not is_digest(base):
        return None
    if not is_list(rules) or not 1 <= len(rules) <= MAX_RULES:
        return None
    found = [_rule_of(rule) for rule in rules]
    sound = tuple(rule for rule in found if rule is not None)
    return ExtendedPlan(2, ref, base, "extended", sound) if len(sound) == len(found) else None


def _is_kind(value: object) -> TypeGuard[ExtendedKind]:
    return value in EXTENDED_KINDS


def _rule_of(value: object) -> ExtendedRule | None:
    if not is_object(value) or len(value) != 2:
        return None
    kind, at = value.get("kind"), value.get("at")
    if not _is_kind(kind) or not isinstance(at, str) or _POINTER.match(at) is None:
        return None
    return ExtendedRule(kind, at)


def extended_plan_value(plan: ExtendedPlan) -> dict[str, Any]:
    """The plan as plain values, members in wire order."""
    return {
        "version": plan.version,
        "ref": plan.ref,
        "baseSchemaDigest": plan.base_schema_digest,
        "conventions": plan.conventions,
        "rules": [{"kind": rule.kind, "at": rule.at} for rule in plan.rules],
    }
