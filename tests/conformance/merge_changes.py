"""What a rule of difference does to a merge: which plans the live surface proves to us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.oracles import digest
from tests.conformance.values import Case, is_object, same
from tests.oracle import naive

_LIMIT = 1000
_LEDGER = 256


def on_merges(change: Callable[[str, Any, Any], Any]) -> Callable[[Case, Any], Any]:
    """The merge in which a plan is proven if it is what the change makes of the reference's plan.

    The reference's plan of a ref is the one that it kept; where it kept none, the change decides
    whether we have one.
    """

    def adjusted(case: Case, expected: Any) -> Any:
        theirs = {plan["ref"]: plan for plan in expected["file"]["normalizations"]}
        ours = dict(theirs)
        for action in reversed(case["surface"]["actions"]):
            ref = action["ref"]
            ours[ref] = change(ref, action.get("inputSchema"), theirs.get(ref))
        moved = any(not same(ours[ref], theirs.get(ref)) for ref in ours)
        return merged(case, ours) if moved else expected

    return adjusted


def merged(case: Case, proven: Case) -> Case:
    """What two artifacts come to where these plans, by ref, are the proven ones."""
    kept: Case = {}
    dropped = 0
    artifacts: list[Case] = [case[name] for name in ("local", "incoming") if case[name]]
    for artifact in artifacts:
        for plan in artifact.get("normalizations") or [] if artifact["version"] == 2 else []:
            ref = str(plan.get("ref")) if is_object(plan) else ""
            if proven.get(ref) is None or not same(proven[ref], plan):
                dropped += 1
            elif len(kept) < _LIMIT:
                kept.setdefault(ref, plan)
    plans = sorted(kept.values(), key=lambda plan: naive.units(plan["ref"]))
    return {
        "file": _file(plans),
        "droppedOverlays": sum(len(artifact["actions"]) for artifact in artifacts),
        "droppedQuarantines": sum(len(artifact["quarantined"]) for artifact in artifacts),
        "droppedNormalizations": dropped,
    }


def _file(plans: list[Case]) -> Case:
    rows = [(plan["ref"], f"{len(plan['rules'])} proven rules") for plan in plans[:_LEDGER]]
    return {
        "version": 2,
        "metricVersion": 3,
        "actions": [],
        "quarantined": [],
        "normalizations": plans,
        "applied": [{"kind": "normal-form", "ref": ref, "detail": text} for ref, text in rows],
        "gate": {"passed": True, "beforeScore": 0, "afterScore": 0, "reasons": []},
        "evidenceDigest": digest(plans),
    }
