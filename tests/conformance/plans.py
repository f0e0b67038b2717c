"""Plans: derivation, proof, application, and the artifact that a compile makes of them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import UNSET

from fabricd.core.canonical import as_given, text, utf8
from fabricd.core.compiling.artifact import Artifact, artifact_bytes, artifact_of, artifact_value
from fabricd.core.compiling.compile import Compilation, compile_plans, plans_steps
from fabricd.core.entropy.fingerprint import signature
from fabricd.core.entropy.freedom import freedom_steps
from fabricd.core.entropy.meter import Catalog, lexicon_of, report
from fabricd.core.entropy.observations import Observed, observed_in
from fabricd.core.entropy.signals import Signal, enum_steps, sequence_steps, split_steps
from fabricd.core.evidence import NO_PHASE, Evidence, count_trace
from fabricd.core.model import (
    AuditCall,
    Operation,
    Plan,
    RepairRow,
    Surface,
    Trace,
    TraceCounts,
)
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.normalform.derive import derive, plan_of, plan_value, proves
from fabricd.core.sessions.trace import witness_of
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps
from tests.conformance.values import Case, Check

UNCHANGED: Case = {"changed": False, "args": None, "witness": None, "idempotent": True}


def derive_apply(case: Case) -> Check:
    """A plan derived, proven and applied."""
    ref, schema = case["ref"], case["schema"]
    derived = derive(ref, schema).plan
    # Through its JSON text, because the wire check takes what a reader would see.
    value = None if derived is None else json.loads(text(plan_value(derived), as_given))
    # No plan member means the derived plan; an explicit null means none.
    given = case.get("plan", value)
    plan = plan_of(given)
    proven = None if given is None else plan is not None and proves(plan, schema)
    found = {"derived": value, "proves": proven, **_applied(case, plan)}
    return Check(case["expected"], found)


def _applied(case: Case, plan: Plan | None) -> Case:
    if plan is None or plan.ref != case["ref"]:
        return UNCHANGED
    normalizer = Normalizer(case["ref"], case["schema"], plan)
    args: Case = case["args"]
    applied = normalizer.apply(args)
    witness = normalizer.witness(args, applied)
    again = normalizer.apply(dict(applied.args))
    return {
        "changed": applied.changed,
        "args": None if applied.args is args else applied.args,
        "witness": None if witness is None else msgspec.to_builtins(witness),
        "idempotent": not again.changed,
    }


def surface_of(value: Any) -> Surface:
    """A surface, read from its bytes as the product reads it."""
    return finish(surface_steps(utf8(text(value, as_given))))


def catalog_of(surface: Surface, repairs: list[Case]) -> Catalog:
    """What the declared side contributes to a report."""
    freedom = finish(freedom_steps(surface))
    return Catalog(surface.digest, freedom, lexicon_of(repair_rows(repairs)), len(repairs))


def repair_rows(repairs: list[Case]) -> list[RepairRow]:
    """Rows of a repairs table as the meter takes them."""
    return [
        RepairRow(row["kind"], row["ref"] if "ref" in row else f"{row['provider']}.{row['to']}")
        for row in repairs
    ]


def _operation(index: int, value: Case) -> Operation:
    return Operation(
        "call",
        index,
        value["ref"],
        value["args"],
        value["outcome"],
        failure_stage=value.get("failureStage", UNSET),
        normalization=witness_of(value.get("normalization")) or UNSET,
    )


def measured(traces: list[Case]) -> Evidence:
    """The evidence of traces given as plain values."""
    evidence = Evidence()
    for value in traces:
        task = value.get("taskKey", NO_PHASE)
        phases = () if task == NO_PHASE else (task,)
        calls = tuple(_operation(i, call) for i, call in enumerate(value["operations"]))
        counts = TraceCounts(0, 0, 0, 0)
        trace = Trace("pi-fabric.execution", 1, "succeeded", phases, calls, counts)
        shapes = [signature(call.args) for call in calls]
        finish(count_trace(evidence, trace, shapes, value.get("model")))
    return evidence


def compiling(case: Case) -> Check:
    """A surface and traces compiled beside a previous artifact."""
    given = case["input"]
    surface = surface_of(given["surface"])
    catalog = catalog_of(surface, given.get("repairs") or [])
    score = report(measured(given["traces"]), catalog).score
    plans = finish(plans_steps(surface)).plans
    previous = None if given["artifact"] is None else artifact_of(given["artifact"])
    outcome = compile_plans(plans, surface.digest, score, previous)
    observed = projected(given["traces"])
    signals = signals_of(measured(given["traces"]), surface, observed)
    found = _outcome(outcome, score)
    found["proposals"] += [msgspec.to_builtins(signal) for signal in signals]
    return Check(case["expected"], found)


def projected(traces: list[Case]) -> list[Observed]:
    """The values of the arguments that traces keep."""
    calls = (call for trace in traces for call in trace["operations"])
    return list(observed_in(AuditCall(call["ref"], call["args"]) for call in calls))


def signals_of(evidence: Evidence, surface: Surface, observed: list[Observed]) -> list[Signal]:
    """The signals that the reference knows, in its order."""
    return [
        *finish(enum_steps(observed, surface)),
        *finish(split_steps(report(evidence, Catalog()), evidence)),
        *finish(sequence_steps(evidence)),
    ]


def _outcome(outcome: Compilation, score: float) -> Case:
    gate = outcome.gate
    return {
        "status": outcome.status,
        "score": score,
        "gate": None if gate is None else _gate(outcome),
        "afterIsReport": gate is not None and gate.after_score == score,
        "proposals": list(outcome.proposals),
        **_written(outcome.artifact),
    }


def _gate(outcome: Compilation) -> Case:
    value: Case = msgspec.to_builtins(outcome.gate)
    before, after = value["before_score"], value["after_score"]
    return {
        "passed": value["passed"],
        "beforeScore": before,
        "afterScore": after,
        "delta": after - before,
        "reasons": value["reasons"],
    }


def _written(artifact: Artifact | None) -> Case:
    if artifact is None:
        return {"artifact": None, "artifactText": None}
    written = artifact_bytes(artifact).decode("utf-8")
    return {"artifact": artifact_value(artifact), "artifactText": written}
