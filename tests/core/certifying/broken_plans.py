"""Broken laws of deriving, proving, compiling and merging plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import count
from typing import Any

from msgspec import structs

from fabricd.core.canonical import as_given, text
from fabricd.core.certifying.laws import Laws
from fabricd.core.compiling.artifact import Artifact, Overlay
from fabricd.core.compiling.compile import Compilation, Plans
from fabricd.core.compiling.merge import Merged
from fabricd.core.compiling.verdict import Trial
from fabricd.core.model import Plan, Surface
from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.core.plain import is_object
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import Steps

LAWS = Laws()


# --- compiling


def with_plans(change: Callable[[Plans], dict[str, Any]]) -> Laws:
    def plans(surface: Surface) -> Plans:
        found = LAWS.plans(surface)
        return structs.replace(found, **change(found))

    return Laws(plans=plans)


def without_nulls(found: Plans) -> dict[str, Any]:
    """Plans of narrower repairs than the schemas permit."""
    rules = [tuple(r for r in plan.rules if r.kind != "optional-null") for plan in found.plans]
    pairs = zip(found.plans, rules, strict=True)
    return {"plans": tuple(structs.replace(plan, rules=kept) for plan, kept in pairs)}


def in_surface_order(surface: Surface) -> Plans:
    found = LAWS.plans(surface)
    places = [action.ref for action in surface.actions]
    plans = sorted(found.plans, key=lambda plan: places.index(plan.ref))
    return structs.replace(found, plans=tuple(plans))


def with_compile(change: Callable[[Compilation], Compilation]) -> Laws:
    def compile_(
        plans: Sequence[Plan], digest: str, score: float, previous: Artifact | None
    ) -> Compilation:
        return change(LAWS.compile(plans, digest, score, previous))

    return Laws(compile=compile_)


def only_with_evidence(
    plans: Sequence[Plan], digest: str, score: float, previous: Artifact | None
) -> Compilation:
    if not score:
        return Compilation("converged", previous, None, ())
    return LAWS.compile(plans, digest, score, previous)


def always_anew(
    plans: Sequence[Plan], digest: str, score: float, _: Artifact | None
) -> Compilation:
    return LAWS.compile(plans, digest, score, None)


def never_anew(
    plans: Sequence[Plan], digest: str, score: float, previous: Artifact | None
) -> Compilation:
    if previous is not None:
        return Compilation("converged", previous, None, ())
    return LAWS.compile(plans, digest, score, previous)


def claiming_gain(made: Compilation) -> Compilation:
    if made.gate is None:
        return made
    return structs.replace(made, gate=structs.replace(made.gate, after_score=0))


def restricting(made: Compilation) -> Compilation:
    artifact = made.artifact
    if artifact is None:
        return made
    overlays = (Overlay("mcp.notes.search", {"type": "object"}, "0" * 64),)
    return structs.replace(made, artifact=structs.replace(artifact, overlays=overlays))


def dated_artifact() -> Laws:
    turns = count()

    return Laws(artifact_bytes=lambda made: LAWS.artifact_bytes(made) + b"\n" * next(turns))


# --- proving


def proves_by_digest(plan: Plan, schema: object) -> bool:
    derived = LAWS.derive(plan.ref, schema).plan
    return derived is not None and derived.base_schema_digest == plan.base_schema_digest


def proves_by_rules(plan: Plan, schema: object) -> bool:
    derived = LAWS.derive(plan.ref, schema).plan
    return derived is not None and derived.rules == plan.rules


class Substituting(Normalizer):
    """Puts the right plan in place of a wrong one."""

    def __init__(self, ref: str, schema: object, plan: Plan | None = None) -> None:
        super().__init__(ref, schema, None)


def trust_in_trial(
    recordings: Iterable[Recording], surface: Surface, _: Iterable[Plan] | None
) -> Steps[Trial]:
    return LAWS.trial(recordings, surface, None)


def merge_anything(
    surface: Surface, local: Artifact | None, incoming: Sequence[Artifact]
) -> Merged:
    merged = LAWS.merge(surface, local, incoming)
    plans = {plan.ref: plan for artifact in incoming for plan in artifact.plans}
    kept = tuple(sorted(plans.values(), key=lambda plan: plan.ref))
    return structs.replace(merged, artifact=structs.replace(merged.artifact, plans=kept))


def merge_in_silence(
    surface: Surface, local: Artifact | None, incoming: Sequence[Artifact]
) -> Merged:
    return structs.replace(LAWS.merge(surface, local, incoming), dropped=())


def merge_incoming_alone(
    surface: Surface, _: Artifact | None, incoming: Sequence[Artifact]
) -> Merged:
    return LAWS.merge(surface, None, incoming)


def no_legacy(value: object) -> Artifact | None:
    found = LAWS.artifact_of(value)
    return None if found is None or found.version == 1 else found


def restrictions_in_force(value: object) -> Artifact | None:
    found = LAWS.artifact_of(value)
    if found is None and is_object(value) and value.get("version") == 2:
        return LAWS.artifact_of({**value, "actions": [], "quarantined": []})
    return found


# --- what must not matter


def digest_as_given(value: object) -> str:
    return sha256(text(value, as_given).encode()).hexdigest()


def of_text(data: bytes) -> Surface:
    """A surface known by its text."""
    return structs.replace(LAWS.surface(data), digest=sha256(data).hexdigest())


def digest_by_code_unit(value: object) -> str:
    return sha256(text(value, lambda keys: sorted(keys)).encode()).hexdigest()


class FirstOnly(Normalizer):
    """Looks at the first strange name alone."""

    def apply(self, args: dict[str, Any]) -> Applied:
        applied = super().apply(args)
        return applied if next(iter(args), "") != "note" else Applied(args)
