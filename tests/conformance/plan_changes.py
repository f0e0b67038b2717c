"""What a rule of difference does to plans, and through them to calls and artifacts.

A change takes (ref, schema, plan) as the reference has them and gives the plan that we have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.conformance.concerns import concerned
from tests.conformance.drafts import compiles
from tests.conformance.merge_changes import on_merges
from tests.conformance.oracle_plans import compiled, outcome, properties_of, rules_of
from tests.conformance.oracles import INHERITED, digest
from tests.conformance.values import Case, is_object, keys_of, same
from tests.oracle import naive

Change: TypeAlias = Callable[[Case, Any], Any]
PlanChange: TypeAlias = Callable[[str, Any, Any], Any]
Question: TypeAlias = Callable[[Any], bool]

RULES_OF_A_PLAN = 128


def never(value: Any) -> bool:
    """The answer where nothing but the plan is concerned."""
    return False


def without_uncompilable(ref: str, schema: Any, plan: Any) -> Any:
    """No plan where no draft compiles the schema."""
    return plan if plan is None or compiles(schema) else None


def with_references_followed(ref: str, schema: Any, plan: Any) -> Any:
    """Properties that refer to the document's definitions are judged inside the document."""
    names = _referring(schema)
    return _replaced(plan, schema, names) if plan is not None and names else plan


def refers(case: Case) -> bool:
    """Whether a declared property refers to a definition."""
    return bool(_referring(case["schema"]))


def _referring(schema: Any) -> set[str]:
    properties = properties_of(schema) or {}
    return {name for name, declared in properties.items() if "$ref" in keys_of(declared)}


def with_own_names_only(ref: str, schema: Any, plan: Any) -> Any:
    """Properties that are called like inherited members are properties like any other."""
    properties = properties_of(schema) or {}
    names = INHERITED.intersection(properties)
    if not names or not compiles(schema):
        return plan
    if plan is not None:
        return _replaced(plan, schema, {*names})
    empty: Case = {"version": 1, "ref": ref, "baseSchemaDigest": digest(schema), "rules": []}
    return _replaced(empty, schema, {*properties})


def _replaced(plan: Case, schema: Any, names: set[str]) -> Case | None:
    """The plan with the rules of some properties derived anew."""
    fresh = rules_of(schema, concerned({"schema": schema}))
    rules = [
        rule
        for name in sorted(schema["properties"], key=naive.units)
        for rule in (fresh if name in names else plan["rules"])
        if rule["key"] == name
    ][:RULES_OF_A_PLAN]
    return {**plan, "rules": rules} if rules else None


def on_calls(change: PlanChange, concerns_call: Question = never) -> Change:
    """Plan and proof as the change has them; the application anew where it is concerned."""

    def adjusted(case: Case, expected: Any) -> Any:
        before = expected["derived"]
        derived = change(case["ref"], case["schema"], before)
        moved = not same(derived, before)
        if not moved and not concerns_call(case):
            return expected
        given = case.get("plan", derived)
        proven = proves(given, derived) if moved or "plan" not in case else expected["proves"]
        return {
            "derived": derived,
            "proves": proven,
            **outcome(case, given, proven, concerned(case)),
        }

    return adjusted


def proves(given: Any, derived: Any) -> bool | None:
    """Whether a plan given is the derived one; None where none is given."""
    if given is None:
        return None
    if derived is None or not is_object(given):
        return False
    return same(given, {**derived, "ref": given.get("ref")})


def on_artifacts(change: PlanChange, concerns_surface: Question = never) -> Change:
    """The artifact that the changed plans make."""

    def adjusted(case: Case, expected: Any) -> Any:
        surface, artifact = case["input"]["surface"], expected["artifact"]
        listed: list[Case] = artifact.get("normalizations", []) if artifact else []
        before = {plan["ref"]: plan for plan in listed}
        schemas = {row["ref"]: row.get("inputSchema") for row in reversed(surface["actions"])}
        refs = sorted(schemas, key=naive.units)
        found = [change(ref, schemas[ref], before.get(ref)) for ref in refs]
        plans = [plan for plan in found if plan is not None]
        if same(plans, listed) and not concerns_surface(surface):
            return expected
        return compiled(plans, surface, expected["score"], case["input"]["artifact"])

    return adjusted


def on_plans(change: PlanChange, concerns_call: Question = never) -> dict[str, Change]:
    """All kinds of file that hold plans."""
    return {
        "derive_apply": on_calls(change, concerns_call),
        "compile": on_artifacts(change),
        "merges": on_merges(change),
    }
