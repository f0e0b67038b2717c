"""What the rules of difference make of trials: a trial the plain way, by another validator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.conformance.concerns import VERDICT_RULES, concerned
from tests.conformance.drafts import compiles
from tests.conformance.oracle_plans import applied, rules_of
from tests.conformance.oracles import digest
from tests.conformance.plan_changes import RULES_OF_A_PLAN, Change
from tests.conformance.readings import OURS, Reading, judge
from tests.conformance.values import Case, is_object, same
from tests.oracle import naive

Concern: TypeAlias = Callable[[Case], bool]

_SKIPPED = ("fabric.discovery.", "fabric.workflow.")
_REJECTING = ("resolve", "prepare", "validate")
_COUNTS = {"bothAccept": "accepted", "bothReject": "refused", "normalizationWin": "repaired"}


def views_of(case: Case) -> list[Case]:
    """What a trial sees of each called action: its schema, its plan and its samples."""
    actions = [row for row in case["live"]["actions"] if isinstance(row.get("ref"), str)]
    schemas = {row["ref"]: row.get("inputSchema") for row in reversed(actions)}
    operations = _operations(case)
    audited = {call["ref"] for call in case["auditCalls"]}
    calls = [*case["auditCalls"], *(call for call in operations if call["ref"] not in audited)]
    plans = {plan["ref"]: plan for plan in _plans(case["artifact"])}
    return [
        {
            "ref": ref,
            "schema": schemas[ref],
            "plan": plans.get(ref),
            "args": [call["args"] for call in calls if call["ref"] == ref],
        }
        for ref in sorted({call["ref"] for call in calls}, key=naive.units)
        if schemas.get(ref) is not None and not ref.startswith(_SKIPPED)
    ]


def _operations(case: Case) -> list[Case]:
    return [call for trace in case["traces"] for call in trace["operations"]]


def _plans(artifact: Any) -> list[Case]:
    if artifact is None or artifact["version"] != 2:
        return []
    found = filter(is_object, artifact.get("normalizations") or [])
    return [plan for plan in found if isinstance(plan.get("ref"), str)]


def _is_proven(view: Case, reading: Reading) -> bool:
    rules = rules_of(view["schema"], reading)[:RULES_OF_A_PLAN]
    if not rules or not 1 <= len(naive.units(view["ref"])) <= 1024:
        return False
    derived: Case = {"version": 1, "ref": view["ref"], "rules": rules}
    return same(view["plan"], {**derived, "baseSchemaDigest": digest(view["schema"])})


def _judged(view: Case, reading: Reading) -> Counter[str]:
    """The samples of an action by what becomes of them, and how many met a proven plan."""
    if not compiles(view["schema"]):
        return Counter(refused=len(view["args"]))
    whole = judge(view["schema"], reading)
    proven = _is_proven(view, reading)
    found = Counter(proven=len(view["args"])) if proven else Counter[str]()
    for args in view["args"]:
        if whole.accepts(args):
            found["accepted"] += 1
        elif proven and applied(view["schema"], args, view["plan"]["rules"], reading):
            found["repaired"] += 1
        else:
            found["refused"] += 1
    return found


def tried(case: Case, reading_of: Callable[[Case], Reading]) -> Case:
    """A whole trial, each action judged by a reading of its own. Sound plans cost nothing."""
    judged = {view["ref"]: _judged(view, reading_of(view)) for view in views_of(case)}
    total = sum(judged.values(), Counter[str]())
    calls = [call for call in _operations(case) if not call["ref"].startswith(_SKIPPED)]
    failed = [call for call in calls if call["outcome"] == "failed"]
    rejected = sum(call.get("failureStage") in _REJECTING for call in failed)
    score = naive.round6(rejected / len(calls)) if calls else 0
    counts = {name: total[word] for name, word in _COUNTS.items()}
    nothing = ("canonicalIdentityCost", "idempotenceCost", "tighteningCost", "typedFailureWin")
    return {
        "verdict": "clean" if total["proven"] else "no-evidence",
        "declaredScore": score,
        "effectiveScore": score,
        "delta": 0,
        "totals": {
            "operations": sum(counts.values()),
            **counts,
            "canonicalIdentityChecks": total["accepted"],
            **dict.fromkeys((*nothing, "quarantineWin", "quarantineCost"), 0),
        },
        "divergences": [
            {"ref": ref, "trialClass": "normalization-win", "count": found["repaired"]}
            for ref, found in judged.items()
            if found["repaired"]
        ],
    }


def ours(view: Case) -> Reading:
    """Our reading, whatever the action."""
    return OURS


def _elsewhere(result: Case, refs: set[str]) -> Case:
    """What of a result does not depend on some actions."""
    kept = [row for row in result["divergences"] if row["ref"] not in refs]
    scores = [result["declaredScore"], result["effectiveScore"], result["delta"]]
    return {"scores": scores, "divergences": kept, "operations": result["totals"]["operations"]}


def _leaves_room(totals: Case, views: list[Case]) -> bool:
    """Whether the counts of a result add up, with those of some actions among them."""
    others = sum((_judged(view, OURS) for view in views), Counter[str]())
    enough = all(totals[name] >= others[word] for name, word in _COUNTS.items())
    return enough and sum(totals[name] for name in _COUNTS) == totals["operations"]


def on_trials(concerns: Mapping[str, Concern]) -> dict[str, Change]:
    """The change of each rule: where it concerns an action, the trial is ours.

    What is expected of all other actions must be the same. Where nothing but verdicts is at stake,
    the whole must be what the reference's own readings give.
    """

    def explained(views: list[Case], case: Case, expected: Any, mine: Case) -> bool:
        holding = [{name for name, concern in concerns.items() if concern(view)} for view in views]
        if all(names.issubset(VERDICT_RULES) for names in holding):
            return same(tried(case, concerned), expected)
        pairs = [*zip(views, holding, strict=True)]
        touched = {view["ref"] for view, names in pairs if names}
        alike = same(_elsewhere(mine, touched), _elsewhere(expected, touched))
        return alike and _leaves_room(expected["totals"], [v for v, names in pairs if not names])

    def change(concern: Concern) -> Change:
        def adjusted(case: Case, expected: Any) -> Any:
            views = views_of(case)
            if not any(map(concern, views)):
                return expected
            mine = tried(case, ours)
            return mine if explained(views, case, expected, mine) else expected

        return adjusted

    return {name: change(concern) for name, concern in concerns.items()}
