"""Derivation and application once more, word by word as the formats describe them."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.core.making import Json
from tests.core.schemas import judged, oracle_form, oracle_unique, property_judged
from tests.oracle import naive

NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-][0-9]+)?"
Rules = list[tuple[str, str]]


def rules_of(schema: Json) -> Rules:
    """The rules that a closed schema derives, uncut."""
    properties: Json = schema["properties"]
    keys = set(oracle_unique(list(properties)).values())
    rules: Rules = []
    for name in sorted(properties, key=naive.units):
        declared = properties[name]
        if not isinstance(declared, dict):
            continue
        if name in keys:
            rules.append(("key-form", name))
        if name not in schema.get("required", []) and not property_judged(schema, name, None):
            rules.append(("optional-null", name))
        if declared.get("type") in ("number", "integer"):
            rules.append(("numeric-string", name))
        if declared.get("type") == "string" and oracle_unique(declared.get("enum", [])):
            rules.append(("enum-form", name))
    return rules


def number(text: str) -> float | None:
    """The number that a JavaScript host prints as exactly this text."""
    if re.fullmatch(NUMBER, text) is None or not math.isfinite(float(text)):
        return None
    return float(text) if naive.number_text(float(text)) == text else None


def repaired(schema: Json, args: Json) -> tuple[Json, Rules] | None:
    """The repaired arguments and the rules in the order applied, or None where nothing changes."""
    rules = rules_of(schema)
    if judged(schema, args):
        return None
    targets = {oracle_form(key): key for kind, key in rules if kind == "key-form"}
    copy, applied = dict(args), Rules()
    for name in sorted(args, key=naive.units):
        target = None if name in schema["properties"] else targets.get(oracle_form(name))
        if target is None:
            continue
        if target in args or ("key-form", target) in applied:
            return None
        copy[target] = copy.pop(name)
        applied.append(("key-form", target))
    for kind, key in rules:
        if kind == "key-form" or key not in copy or property_judged(schema, key, copy[key]):
            continue
        if repair(schema, kind, key, copy):
            applied.append((kind, key))
    return (copy, applied) if applied and judged(schema, copy) else None


def repair(schema: Json, kind: str, key: str, copy: Json) -> bool:
    """One rule on one value that its property does not accept."""
    value: Any = copy[key]
    if kind == "optional-null":
        if value is None:
            del copy[key]
        return value is None
    if not isinstance(value, str):
        return False
    better: Any = number(value)
    if kind == "enum-form":
        better = oracle_unique(schema["properties"][key]["enum"]).get(oracle_form(value) or "?")
    if better is None or not property_judged(schema, key, better):
        return False
    copy[key] = better
    return True
