"""Merges: a local and an incoming artifact beside a live surface."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from fabricd.core.compiling.artifact import Artifact, artifact_of, artifact_value
from fabricd.core.compiling.merge import Prover, merge_steps
from fabricd.core.normalform.derive import plan_of
from fabricd.core.steps import finish
from tests.conformance.plans import surface_of
from tests.conformance.values import Case, Check


def merges(case: Case) -> Check:
    """What is left of two artifacts, and how much was dropped."""
    local, incoming = (_artifact(case[name]) for name in ("local", "incoming"))
    given = [] if incoming is None else [incoming]
    merged = finish(merge_steps(Prover(surface_of(case["surface"])), local, given))
    unreadable = sum(map(_unreadable, (case["local"], case["incoming"])))
    found = {
        "file": artifact_value(merged.artifact),
        "droppedOverlays": merged.dropped_overlays,
        "droppedQuarantines": merged.dropped_quarantines,
        "droppedNormalizations": merged.dropped_normalizations + unreadable,
    }
    return Check(case["expected"], found)


def _plans(value: Any) -> list[Any]:
    return [] if value is None else value.get("normalizations") or []


def _artifact(value: Any) -> Artifact | None:
    """An artifact whose plans the load guard has not looked at: a merge may be given any."""
    if value is None:
        return None
    rest = artifact_of({**value, "normalizations": []})
    assert rest is not None
    if rest.version == 1:
        return rest
    plans = (plan_of(plan) for plan in _plans(value))
    return replace(rest, plans=tuple(plan for plan in plans if plan is not None))


def _unreadable(value: Any) -> int:
    """Plans that fail the wire check: they reach no merge of ours, and prove nothing anywhere."""
    if value is None or value["version"] == 1:
        return 0
    return sum(plan_of(plan) is None for plan in _plans(value))
