"""What a rule about verdicts does to a verdict, to a call, and to the plan behind it.

Where several such rules concern a case, the first takes the reading in which the reference is
followed in all of them and makes its own point ours, and so on to the last. A rule changes nothing
where the reading before it does not give exactly what is expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.conformance.dialects import dialects_differ
from tests.conformance.drafts import NEWEST, compiles, declared_draft
from tests.conformance.format_details import strays
from tests.conformance.numbers import has_long_integers
from tests.conformance.oracle_plans import UNCHANGED, outcome, properties_of, rules_of
from tests.conformance.oracles import digest, graphemes
from tests.conformance.plan_changes import RULES_OF_A_PLAN, Change, on_artifacts, on_calls, proves
from tests.conformance.readings import (
    DOUBLES,
    DRAFTS,
    FORMATS,
    GRAPHEMES,
    MULTIPLES,
    PATTERNS,
    Reading,
    judge,
)
from tests.conformance.values import Case, keys_of, same, walk

_HALF = re.compile("[\ud800-\udfff]")


# --- texts without a UTF-8 form


def has_half_characters(value: Any) -> bool:
    """Whether some text or key holds a surrogate without its other half."""
    texts = keys_of(value).union(inner for inner in walk(value) if isinstance(inner, str))
    return any(_HALF.search(text) for text in texts)


def _without_unwritable(ref: str, schema: Any, plan: Any) -> Any:
    return None if has_half_characters(schema) else plan


def _unwritable_verdict(case: Case, expected: Any) -> Any:
    return False if has_half_characters([case["schema"], case["value"]]) else expected


def _unwritable_call(case: Case, expected: Any) -> Any:
    adjusted = on_calls(_without_unwritable)(case, expected)
    return {**adjusted, **UNCHANGED} if has_half_characters(case["args"]) else adjusted


ON_UNWRITABLE: Mapping[str, Change] = {
    "compile": on_artifacts(_without_unwritable),
    "derive_apply": _unwritable_call,
    "validator": _unwritable_verdict,
}


# --- readings


def _given(case: Case) -> list[Any]:
    return [case.get("value"), case.get("args")]


def counts_otherwise(case: Case) -> bool:
    """Whether lengths are bounded and some text has more code points than graphemes."""
    bounded = not keys_of(case["schema"]).isdisjoint(("minLength", "maxLength"))
    texts = (inner for inner in walk(case) if isinstance(inner, str))
    return bounded and any(graphemes(text) != len(text) for text in texts)


def _strays(case: Case) -> bool:
    return strays(case["schema"], _given(case))


def _differs_in_dialect(case: Case) -> bool:
    return dialects_differ(case["schema"], _given(case))


def _divides(case: Case) -> bool:
    return "multipleOf" in keys_of(case["schema"])


def _exceeds_doubles(case: Case) -> bool:
    return has_long_integers([case["schema"], *_given(case)])


def _declares_older(case: Case) -> bool:
    return declared_draft(case["schema"]) not in (None, NEWEST)


# In the order of the rules. Drafts come last: as doubles, whole numbers are none to draft 4.
_CONCERNS: Mapping[str, Callable[[Case], bool]] = {
    GRAPHEMES: counts_otherwise,
    FORMATS: _strays,
    PATTERNS: _differs_in_dialect,
    MULTIPLES: _divides,
    DOUBLES: _exceeds_doubles,
    DRAFTS: _declares_older,
}
VERDICT_RULES = tuple(_CONCERNS)


def _readings(name: str, case: Case) -> tuple[Reading, Reading] | None:
    """The readings before and after a rule, or None where it does not concern the case."""
    unjudged = has_half_characters([case["schema"], *_given(case)])
    if unjudged or not _CONCERNS[name](case) or not compiles(case["schema"]):
        return None
    later = VERDICT_RULES[VERDICT_RULES.index(name) + 1 :]
    after = frozenset(other for other in later if _CONCERNS[other](case))
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

    return {"validator": on_verdict, "derive_apply": on_call, "compile": on_artifacts(on_plan)}


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
