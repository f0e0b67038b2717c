"""Plans the plain way: derivation, application and compile, by another validator's verdicts."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.oracles import digest, form, number_of, shape, single_forms
from tests.conformance.readings import OURS, Judge, Reading, judge
from tests.conformance.values import Case, has_half_characters, is_list, is_object, same
from tests.oracle import naive

_BLOCKING = ("patternProperties", "oneOf", "anyOf", "allOf", "$ref", "if", "not")
_UNSAFE = ("__proto__", "prototype", "constructor")

UNCHANGED: Case = {"changed": False, "args": None, "witness": None, "idempotent": True}


def rules_of(schema: Any, reading: Reading = OURS) -> list[Case]:
    """The rules of a schema, empty where it is outside the language."""
    properties = properties_of(schema)
    if properties is None:
        return []
    unique = set(single_forms([*properties]).values())
    whole = judge(schema, reading)
    return [
        {"kind": kind, "key": name}
        for name in sorted(properties, key=naive.units)
        if is_object(properties[name])
        for kind in _kinds(schema, name, name in unique, whole)
    ]


def properties_of(schema: Any) -> Case | None:
    """The declared properties of a schema inside the language, else None."""
    if not is_object(schema) or any(keyword in schema for keyword in _BLOCKING):
        return None
    properties = schema.get("properties")
    closed = schema.get("type") == "object" and schema.get("additionalProperties") is False
    if not closed or not is_object(properties):
        return None
    safe = all(len(naive.units(name)) <= 128 and name not in _UNSAFE for name in properties)
    return properties if safe and len(properties) <= 128 else None


def _kinds(schema: Case, name: str, is_unique: bool, whole: Judge) -> list[str]:
    declared: Case = schema["properties"][name]
    required = schema.get("required")
    needed = is_list(required) and name in required
    kinds = ["key-form"] if is_unique else []
    if not needed and not whole.part(declared).accepts(None):
        kinds.append("optional-null")
    if declared.get("type") in ("number", "integer"):
        kinds.append("numeric-string")
    if _members(declared):
        kinds.append("enum-form")
    return kinds


def _members(declared: Case) -> dict[str, str]:
    members = declared.get("enum")
    if declared.get("type") != "string" or not is_list(members):
        return {}
    return single_forms([*members]) if all(isinstance(m, str) for m in members) else {}


def applied(
    schema: Case, args: Case, rules: list[Case], reading: Reading
) -> tuple[Case, list[Case]] | None:
    """The arguments repaired and the rules used, or None where nothing may change."""
    whole = judge(schema, reading)
    candidate = dict(args)
    used = None if whole.accepts(args) else _renamed(schema, args, candidate, rules)
    if used is None:
        return None
    for rule in rules:
        key = rule["key"]
        if rule["kind"] == "key-form" or key not in candidate:
            continue
        part = whole.part(schema["properties"][key])
        if not part.accepts(candidate[key]) and _repaired(rule, schema, candidate, part):
            used.append(rule)
    return (candidate, used) if used and whole.accepts(candidate) else None


def _renamed(schema: Case, args: Case, candidate: Case, rules: list[Case]) -> list[Case] | None:
    targets = {form(rule["key"]): rule for rule in rules if rule["kind"] == "key-form"}
    used: list[Case] = []
    for name in sorted(args, key=naive.units):
        rule = targets.get(form(name))
        if name in schema["properties"] or rule is None:
            continue
        if rule["key"] in candidate:
            return None
        candidate[rule["key"]] = candidate.pop(name)
        used.append(rule)
    return used


def _repaired(rule: Case, schema: Case, candidate: Case, part: Judge) -> bool:
    key, value = rule["key"], candidate[rule["key"]]
    if rule["kind"] == "optional-null":
        if value is None:
            del candidate[key]
        return value is None
    if not isinstance(value, str):
        return False
    members = _members(schema["properties"][key])
    better = (
        number_of(value) if rule["kind"] == "numeric-string" else members.get(form(value) or "")
    )
    if better is None or not part.accepts(better):
        return False
    candidate[key] = better
    return True


def outcome(case: Case, plan: Any, proven: bool | None, reading: Reading = OURS) -> Case:
    """What applying a plan to a case's arguments comes to."""
    if not proven or plan["ref"] != case["ref"] or has_half_characters(case["args"]):
        return UNCHANGED
    result = applied(case["schema"], case["args"], plan["rules"], reading)
    if result is None:
        return UNCHANGED
    args, rules = result
    witness = {
        "version": 1,
        "baseSchemaDigest": plan["baseSchemaDigest"],
        "beforeShape": shape(case["args"]),
        "afterShape": shape(args),
        "rules": rules,
    }
    return {"changed": True, "args": args, "witness": witness, "idempotent": True}


def compiled(plans: list[Case], surface: Any, score: float, previous: Case | None) -> Case:
    """What a compile of these plans comes to, beside an earlier artifact."""
    if not plans if previous is None else _holds_plans(previous, plans):
        kept: Case = {"status": "converged", "gate": None, "proposals": []}
        return {**kept, "afterIsReport": False, "score": score, **_written(previous)}
    gate: Case = {"passed": True, "beforeScore": score, "afterScore": score, "reasons": []}
    artifact = {
        "version": 2,
        "metricVersion": 3,
        "actions": [],
        "quarantined": [],
        "normalizations": plans,
        "applied": [_ledger(plan) for plan in plans[:256]],
        "gate": gate,
        "evidenceDigest": digest({"surface": digest(surface), "plans": plans}),
    }
    result = {"status": "compiled", "gate": {**gate, "delta": 0}, "afterIsReport": True}
    return {
        **result,
        "score": score,
        "proposals": list(map(_proposal, plans)),
        **_written(artifact),
    }


def _holds_plans(previous: Case, plans: list[Case]) -> bool:
    free = previous["version"] == 2 and not previous["actions"] and not previous["quarantined"]
    return free and same(previous["normalizations"], plans)


def _ledger(plan: Case) -> Case:
    detail = f"{len(plan['rules'])} proven rules"
    return {"kind": "normal-form", "ref": plan["ref"], "detail": detail}


def _proposal(plan: Case) -> Case:
    kept = {name: plan[name] for name in ("ref", "baseSchemaDigest", "rules")}
    return {"kind": "normal-form", **kept}


def _written(artifact: Case | None) -> Case:
    if artifact is None:
        return {"artifact": None, "artifactText": None}
    scores = ("beforeScore", "afterScore")
    # Python spells small numbers otherwise, so they are put in afterwards.
    marked = {**artifact, "gate": {**artifact["gate"], **{name: f"@{name}" for name in scores}}}
    text = json.dumps(marked, indent=2, ensure_ascii=False) + "\n"
    for name in scores:
        text = text.replace(f'"@{name}"', naive.number_text(float(artifact["gate"][name])))
    return {"artifact": artifact, "artifactText": text}
