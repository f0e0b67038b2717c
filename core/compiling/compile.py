"""Compile: measure → derive → gate. Here is the middle: what an artifact holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import (
    MAX_PLANS,
    Artifact,
    Gate,
    compile_digest_steps,
    fresh,
    plan_values,
)
from fabricd.core.javascript import utf16_key
from fabricd.core.model import Action, Plan, Surface
from fabricd.core.normalform.derive import Derivation, derive_steps
from fabricd.core.steps import Steps, finish


class Compilation(Struct, frozen=True):
    """The outcome of a compile. `converged` keeps the previous artifact, or has none to give."""

    status: Literal["compiled", "converged"]
    artifact: Artifact | None
    gate: Gate | None
    proposals: tuple[dict[str, Any], ...]


class Plans(Struct, frozen=True):
    """Everything derivation found: plans by ref, refs without one, rules cut, actions left out."""

    plans: tuple[Plan, ...]
    without: tuple[Derivation, ...]
    cut: tuple[Derivation, ...]
    beyond_limit: int

    @property
    def rules(self) -> int:
        """How many rules the plans hold together."""
        return sum(len(plan.rules) for plan in self.plans)


def ordered_actions(surface: Surface) -> list[Action]:
    """Actions by ref in code-unit order; of several with one name the first counts."""
    first: dict[str, Action] = {}
    for action in surface.actions:
        first.setdefault(action.ref, action)
    return sorted(first.values(), key=lambda action: utf16_key(action.ref))


def plans_steps(surface: Surface) -> Steps[Plans]:
    """Derive the plans of the first 1,000 actions by ref, yielding between actions."""
    actions = ordered_actions(surface)
    derived = yield from derive_steps(actions[:MAX_PLANS])
    return Plans(
        plans=tuple(found.plan for found in derived if found.plan is not None),
        without=tuple(found for found in derived if found.plan is None),
        cut=tuple(found for found in derived if found.cut),
        beyond_limit=max(0, len(actions) - MAX_PLANS),
    )


def compile_plans(
    plans: Sequence[Plan], surface_digest: str, score: float, previous: Artifact | None = None
) -> Compilation:
    """What a compile of these plans amounts to, beside the artifact that was there before.

    Equal plans converge on the previous artifact; no plans and nothing before is no artifact; a
    legacy artifact is always replaced, even by one without plans.
    """
    if previous is not None and _same_plans(previous, plans):
        return Compilation("converged", previous, None, ())
    if previous is None and not plans:
        return Compilation("converged", None, None, ())
    evidence_digest = finish(compile_digest_steps(surface_digest, plans))
    artifact = fresh(tuple(plans), evidence_digest, score)
    return Compilation("compiled", artifact, artifact.gate, _proposals(plans))


def _same_plans(previous: Artifact, plans: Sequence[Plan]) -> bool:
    if previous.version != 2 or previous.overlays or previous.quarantined:
        return False
    return digest(plan_values(previous.plans)) == digest(plan_values(plans))


def _proposals(plans: Sequence[Plan]) -> tuple[dict[str, Any], ...]:
    rows = zip(plan_values(plans), plans, strict=True)
    return tuple(
        {
            "kind": "normal-form",
            "ref": plan.ref,
            "baseSchemaDigest": plan.base_schema_digest,
            "rules": value["rules"],
        }
        for value, plan in rows
    )
