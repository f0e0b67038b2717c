"""Which repairs a declared schema permits: derivation and proof of the classic plans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import digest
from fabricd.core.javascript import sorted_by_units, unit_length
from fabricd.core.model import Action, Plan, Rule
from fabricd.core.normalform.forms import unique_forms
from fabricd.core.plain import is_list, is_number, is_object
from fabricd.core.sessions.trace import is_safe_key, rules_of
from fabricd.core.steps import ACTIONS, Steps
from fabricd.core.validation import Unjudgeable, Validator

MAX_RULES = 128
MAX_PROPERTIES = 128
MAX_REF = 1024
_BLOCKING = ("patternProperties", "oneOf", "anyOf", "allOf", "$ref", "if", "not")
_DIGEST = re.compile(r"[a-f0-9]{64}\Z")


class Derivation(Struct, frozen=True):
    """A plan, or the reason why there is none; `cut` rules fell to the 128-rule limit.

    `not_judged` says that the reason is the validator's: it cannot compile the schema.
    """

    ref: str
    plan: Plan | None = None
    reason: str | None = None
    cut: int = 0
    not_judged: bool = False


def refused_schema(ref: str, schema: object) -> str | None:
    """Why a schema is outside the classic language, before any validator is built."""
    if not ref or unit_length(ref) > MAX_REF:
        return "the ref is empty or longer than 1,024 units"
    if not is_object(schema):
        return "the schema is not an object"
    if schema.get("type") != "object":
        return 'the type is not "object"'
    if schema.get("additionalProperties") is not False:
        return "the object is open"
    properties = schema.get("properties")
    if not is_object(properties):
        return "it declares no properties"
    blocking = next((name for name in _BLOCKING if name in schema), None)
    if blocking is not None:
        return f"it uses {blocking}"
    if len(properties) > MAX_PROPERTIES:
        return f"it declares more than {MAX_PROPERTIES} properties"
    if not all(is_safe_key(name) for name in properties):
        return "a property name is unsafe or longer than 128 units"
    return None


def derive(ref: str, schema: object) -> Derivation:
    """The plan of an action, or why it has none. Never raises."""
    reason = refused_schema(ref, schema)
    if reason is not None or not is_object(schema):
        return Derivation(ref, reason=reason)
    try:
        validator = Validator(schema)
    except Unjudgeable as error:
        return Derivation(ref, reason=str(error), not_judged=True)
    return derive_with(ref, schema, validator)


def derive_with(ref: str, schema: Mapping[str, Any], validator: Validator) -> Derivation:
    """Derivation where the schema is in the classic language and its validator is at hand."""
    properties: dict[str, Any] = schema["properties"]
    required = schema.get("required")
    needed = set(filter(_is_text, required)) if is_list(required) else set[str]()
    forms = set(unique_forms(properties).values())
    rules: list[Rule] = []
    for name in sorted_by_units(properties):
        declared = properties[name]
        if not is_object(declared):
            continue
        if name in forms:
            rules.append(Rule("key-form", name))
        if name not in needed and not validator.property_accepts(name, None):
            rules.append(Rule("optional-null", name))
        if declared.get("type") in ("number", "integer"):
            rules.append(Rule("numeric-string", name))
        if enum_forms(declared):
            rules.append(Rule("enum-form", name))
    if not rules:
        return Derivation(ref, reason="no convention applies to its properties")
    plan = Plan(1, ref, validator.digest, tuple(rules[:MAX_RULES]))
    return Derivation(ref, plan, cut=max(0, len(rules) - MAX_RULES))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def enum_forms(declared: Mapping[str, Any]) -> dict[str, str]:
    """Form → member of a string enum; empty where the convention does not apply."""
    members = declared.get("enum")
    if declared.get("type") != "string" or not is_list(members):
        return {}
    return unique_forms(members) if all(_is_text(member) for member in members) else {}


def derive_steps(actions: Iterable[Action]) -> Steps[list[Derivation]]:
    """Derivations of actions in the order given, yielding between them."""
    found: list[Derivation] = []
    for index, action in enumerate(actions, start=1):
        found.append(derive(action.ref, action.input_schema))
        if index % ACTIONS == 0:
            yield
    return found


def plan_of(value: object) -> Plan | None:
    """The wire check: the plan a JSON value is, or None. It proves nothing yet."""
    if not is_object(value) or len(value) != 4 or not is_number(value.get("version"), 1):
        return None
    ref, base, rules = value.get("ref"), value.get("baseSchemaDigest"), value.get("rules")
    if not isinstance(ref, str) or not 1 <= unit_length(ref) <= MAX_REF:
        return None
    if not isinstance(base, str) or _DIGEST.match(base) is None or not is_list(rules):
        return None
    found = rules_of(rules)
    return None if found is None else Plan(1, ref, base, found)


def plan_value(plan: Plan) -> dict[str, Any]:
    """The plan as plain values, members in wire order."""
    rules = [{"kind": rule.kind, "key": rule.key} for rule in plan.rules]
    return {
        "version": plan.version,
        "ref": plan.ref,
        "baseSchemaDigest": plan.base_schema_digest,
        "rules": rules,
    }


def proves(plan: Plan, schema: object) -> bool:
    """Whether a plan equals its re-derivation from the live schema: a digest alone is no proof."""
    derived = derive(plan.ref, schema).plan
    return derived is not None and digest(plan_value(derived)) == digest(plan_value(plan))
