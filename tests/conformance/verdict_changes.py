"""What a rule about verdicts does to a verdict, to a call, and to the plan behind it.

Where several such rules concern a case, the first takes the reading in which the reference is
followed in all of them and makes its own point ours, and so on to the last. A rule changes nothing
where the reading before it does not give exactly what is expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.conformance.concerns import VERDICT_RULES, concerned
from tests.conformance.drafts import compiles
from tests.conformance.merge_changes import on_merges
from tests.conformance.oracle_plans import UNCHANGED, outcome, properties_of, rules_of
from tests.conformance.oracles import digest
from tests.conformance.plan_changes import RULES_OF_A_PLAN, Change, on_artifacts, on_calls, proves
from tests.conformance.readings import Reading, judge
from tests.conformance.values import Case, has_half_characters, same

# --- texts without a UTF-8 form


def _without_unwritable(ref: str, schema: Any, plan: Any) -> Any:
    return None if has_half_characters(schema) else plan


def _unwritable_verdict(case: Case, expected: Any) -> Any:
    return False if has_half_characters([case["schema"], case["value"]]) else expected


def _unwritable_call(case: Case, expected: Any) -> Any:
    adjusted = on_calls(_without_unwritable)(case, expected)
    return {**adjusted, **UNCHANGED} if has_half_characters(case["args"]) else adjusted


ON_UNWRITABLE: Mapping[str, Change] = {
    "compile": on_artifacts(_without_unwritable),
    "merges": on_merges(_without_unwritable),
    "derive_apply": _unwritable_call,
    "validator": _unwritable_verdict,
}


# --- readings


def _readings(name: str, case: Case) -> tuple[Reading, Reading] | None:
    """The readings before and after a rule, or None where it does not concern the case."""
    reading = concerned(case)
    if name not in reading or not compiles(case["schema"]):
        return None
    after = reading.intersection(VERDICT_RULES[VERDICT_RULES.index(name) + 1 :])
    return after | {name}, after


def on_verdicts(name: str) -> dict[str, Change]:
    """The changes of a rule about verdicts."""

    def on_verdict(case: Case, expected: Any) -> Any:
        readings = _readings(name, case)
        if readings is None:
            return expected
        theirs, ours = (judge(case["schema"], one).accepts(case["value"]) for one in readings)
        return ours if expected is theirs else expected

    def on_call(case: Case, expected: Any) -> Any:
        readings = _readings(name, case)
        if readings is None:
            return expected
        before, after = readings
        theirs = _called(case, expected, expected["derived"], before)
        derived = _replanned(case["ref"], case["schema"], expected["derived"], before, after)
        return _called(case, expected, derived, after) if same(theirs, expected) else expected

    def on_plan(ref: str, schema: Any, plan: Any) -> Any:
        readings = _readings(name, {"schema": schema})
        return plan if readings is None else _replanned(ref, schema, plan, *readings)

    return {
        "validator": on_verdict,
        "derive_apply": on_call,
        "compile": on_artifacts(on_plan),
        "merges": on_merges(on_plan),
    }


def _called(case: Case, expected: Any, derived: Any, reading: Reading) -> Case:
    """What a case of plans comes to with a derived plan, by one reading."""
    moved = not same(derived, expected["derived"])
    given = case.get("plan", derived)
    proven = proves(given, derived) if moved else expected["proves"]
    return {"derived": derived, "proves": proven, **outcome(case, given, proven, reading)}


def _replanned(ref: str, schema: Any, plan: Any, before: Reading, after: Reading) -> Any:
    """The plan by the second reading, where the one given is that by the first."""
    if properties_of(schema) is None:
        return plan
    given = plan["rules"] if plan else []
    if not same(given, rules_of(schema, before)[:RULES_OF_A_PLAN]):
        return plan
    rules = rules_of(schema, after)[:RULES_OF_A_PLAN]
    named: Case = {"version": 1, "ref": ref, "baseSchemaDigest": digest(schema)}
    return {**(plan or named), "rules": rules} if rules else None
