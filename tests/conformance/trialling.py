"""Trials: recorded calls replayed through an artifact's plans beside a live surface."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from fabricd.core.compiling.trial import trial_steps
from fabricd.core.compiling.verdict import trial_value
from fabricd.core.model import AuditCall, Operation, Plan, Trace, TraceCounts
from fabricd.core.normalform.derive import plan_of
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import finish
from tests.conformance.plans import surface_of
from tests.conformance.values import Case, Check

_OURS_ALONE = ("costs", "coverage", "plans", "notJudged")


def trials(case: Case) -> Check:
    """The verdict on an artifact, without what we say beside it."""
    # The audits come last: the operations that they replace were heard before.
    recordings = [_recording(trace["operations"], []) for trace in case["traces"]]
    recordings.append(_recording([], case["auditCalls"]))
    steps = trial_steps(recordings, surface_of(case["live"]), _plans(case["artifact"]))
    found = trial_value(finish(steps))
    for name in _OURS_ALONE:
        del found[name]
    return Check(case["expected"], found)


def _recording(operations: list[Case], audits: list[Case]) -> Recording:
    calls = tuple(
        Operation(
            "call",
            index,
            row["ref"],
            row["args"],
            row["outcome"],
            failure_stage=row.get("failureStage", UNSET),
        )
        for index, row in enumerate(operations)
    )
    trace = Trace("pi-fabric.execution", 1, "succeeded", (), calls, TraceCounts(0, 0, 0, 0))
    return Recording(trace, tuple(AuditCall(row["ref"], row["args"]) for row in audits))


def _plans(artifact: Any) -> list[Plan]:
    """The plans of an artifact that the load guard has not looked at: a trial may be given any."""
    if artifact is None or artifact["version"] != 2:
        return []
    found = map(plan_of, artifact.get("normalizations") or [])
    return [plan for plan in found if plan is not None]
