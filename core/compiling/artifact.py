"""The compiled artifact: its load guard, its values and its bytes.

The guard judges form only. A plan in an artifact is no authority: it is proven against the live
schema where it is used or merged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import digest_members, pretty, utf8
from fabricd.core.javascript import trim
from fabricd.core.model import Plan
from fabricd.core.normalform.derive import plan_of, plan_value
from fabricd.core.plain import is_count, is_list, is_number, is_object
from fabricd.core.steps import ACTIONS, Steps

MAX_PLANS = 1000
MAX_APPLIED = 256
METRIC_VERSION = 3


class Applied(Struct, frozen=True):
    """A ledger row: what was done for which ref."""

    kind: str
    ref: str
    detail: str


class Gate(Struct, frozen=True):
    """The gate's verdict as it is stored."""

    passed: bool
    before_score: float
    after_score: float
    reasons: tuple[str, ...] = ()


class Overlay(Struct, frozen=True):
    """A legacy restriction of a schema. Loaded, shown, never applied."""

    ref: str
    input_schema: dict[str, Any]
    base_schema_digest: str


class Quarantine(Struct, frozen=True):
    """A legacy removal of an action. Loaded, shown, never applied."""

    ref: str
    base_schema_digest: str


class Artifact(Struct, frozen=True):
    """A compiled artifact of version 2, or an inert one of version 1."""

    version: int
    metric_version: int
    plans: tuple[Plan, ...]
    applied: tuple[Applied, ...]
    gate: Gate
    evidence_digest: str
    overlays: tuple[Overlay, ...] = ()
    quarantined: tuple[Quarantine, ...] = ()


def compile_digest_steps(surface_digest: str, plans: Iterable[Plan]) -> Steps[str]:
    """What `evidenceDigest` says of a freshly compiled artifact, yielding between plans."""
    values: list[dict[str, Any]] = []
    for plan in plans:
        values.append(plan_value(plan))
        if len(values) % ACTIONS == 0:
            yield
    members = [("plans", values), ("surface", surface_digest)]
    return (yield from digest_members(members, ACTIONS))


def plan_values(plans: Iterable[Plan]) -> list[dict[str, Any]]:
    """Plans as plain values."""
    return [plan_value(plan) for plan in plans]


def fresh(plans: tuple[Plan, ...], evidence_digest: str, score: float) -> Artifact:
    """The artifact of one compilation: clock-free, a function of its arguments alone.

    Args:
        evidence_digest: `compile_digest_steps` of the surface and these plans.
    """
    return Artifact(
        version=2,
        metric_version=METRIC_VERSION,
        plans=plans,
        applied=tuple(
            Applied("normal-form", plan.ref, f"{len(plan.rules)} proven rules")
            for plan in plans[:MAX_APPLIED]
            # The guard refuses a row with a blank name, and would then refuse the whole file.
            if _word(plan.ref)
        ),
        gate=Gate(True, score, score),
        evidence_digest=evidence_digest,
    )


def artifact_value(artifact: Artifact) -> dict[str, Any]:
    """The artifact as plain values, members in the order in which they are written."""
    value: dict[str, Any] = {
        "version": artifact.version,
        "metricVersion": artifact.metric_version,
        "actions": [
            {
                "ref": overlay.ref,
                "inputSchema": overlay.input_schema,
                "baseSchemaDigest": overlay.base_schema_digest,
            }
            for overlay in artifact.overlays
        ],
        "quarantined": [
            {"ref": row.ref, "baseSchemaDigest": row.base_schema_digest}
            for row in artifact.quarantined
        ],
    }
    if artifact.version == 2:
        value["normalizations"] = plan_values(artifact.plans)
    value["applied"] = [
        {"kind": row.kind, "ref": row.ref, "detail": row.detail} for row in artifact.applied
    ]
    value["gate"] = {
        "passed": artifact.gate.passed,
        "beforeScore": artifact.gate.before_score,
        "afterScore": artifact.gate.after_score,
        "reasons": list(artifact.gate.reasons),
    }
    value["evidenceDigest"] = artifact.evidence_digest
    return value


def artifact_bytes(artifact: Artifact) -> bytes:
    """The very bytes of the durable file."""
    return utf8(pretty(artifact_value(artifact)) + "\n")


def _word(value: object) -> str | None:
    """A trimmed, non-blank text, or None."""
    return trim(value) or None if isinstance(value, str) else None


def _words(value: object, names: tuple[str, ...]) -> list[str] | None:
    if not is_object(value):
        return None
    found = [_word(value.get(name)) for name in names]
    return None if None in found else [text for text in found if text is not None]


def _gate_of(value: object) -> Gate | None:
    if not is_object(value) or not isinstance(value.get("passed"), bool):
        return None
    scores = [value.get("beforeScore"), value.get("afterScore")]
    reasons = value.get("reasons")
    if not all(_is_finite(score) for score in scores) or not is_list(reasons):
        return None
    if not all(isinstance(reason, str) for reason in reasons):
        return None
    before, after = (float(score) for score in scores if score is not None)
    return Gate(value["passed"], before, after, tuple(reasons))


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value)


def _plans_of(value: object) -> tuple[Plan, ...] | None:
    if not is_list(value) or len(value) > MAX_PLANS:
        return None
    plans = [plan_of(item) for item in value]
    sound = tuple(plan for plan in plans if plan is not None)
    if len(sound) != len(plans) or len({plan.ref for plan in sound}) != len(sound):
        return None
    return sound


def _overlays_of(value: object) -> tuple[Overlay, ...] | None:
    if not is_list(value):
        return None
    overlays: list[Overlay] = []
    for item in value:
        words = _words(item, ("ref", "baseSchemaDigest"))
        if words is None or not is_object(item.get("inputSchema")):
            return None
        overlays.append(Overlay(words[0], item["inputSchema"], words[1]))
    refs = {overlay.ref for overlay in overlays}
    return tuple(overlays) if len(refs) == len(overlays) else None


def _quarantined_of(value: object) -> tuple[Quarantine, ...] | None:
    if not is_list(value):
        return None
    found = [_words(item, ("ref", "baseSchemaDigest")) for item in value]
    sound = [words for words in found if words is not None]
    return tuple(Quarantine(*words) for words in sound) if len(sound) == len(found) else None


def _ledger_of(value: object) -> tuple[Applied, ...] | None:
    if not is_list(value) or len(value) > MAX_APPLIED:
        return None
    found = [_words(item, ("kind", "ref", "detail")) for item in value]
    sound = [words for words in found if words is not None]
    return tuple(Applied(*words) for words in sound) if len(sound) == len(found) else None


def artifact_of(value: object) -> Artifact | None:
    """The load guard: the artifact a JSON value is, or None. Unknown members are dropped."""
    if not is_object(value):
        return None
    version = next((n for n in (1, 2) if is_number(value.get("version"), n)), None)
    metric = value.get("metricVersion")
    if version is None or not is_count(metric) or metric < 1:
        return None
    overlays = _overlays_of(value.get("actions"))
    quarantined = _quarantined_of(value.get("quarantined"))
    plans = _plans_of(value.get("normalizations")) if version == 2 else ()
    ledger = _ledger_of(value.get("applied"))
    gate = _gate_of(value.get("gate"))
    evidence = _word(value.get("evidenceDigest"))
    if overlays is None or quarantined is None or plans is None:
        return None
    if ledger is None or gate is None or evidence is None:
        return None
    if version == 2 and (overlays or quarantined):
        return None
    return Artifact(version, int(metric), plans, ledger, gate, evidence, overlays, quarantined)
