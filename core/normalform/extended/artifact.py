"""`normal-forms.json`: the extended plans of a surface, a function of that surface alone.

The guard judges form only. A plan in the file is no authority: it is proven against the live schema
where it is used.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from fabricd.core.canonical import digest, pretty, utf8
from fabricd.core.compiling.compile import ordered_actions
from fabricd.core.javascript import utf16_key
from fabricd.core.model import Surface
from fabricd.core.normalform.extended.derive import ExtendedDerivation, derive_extended_steps
from fabricd.core.normalform.extended.plan import (
    ExtendedPlan,
    extended_plan_of,
    extended_plan_value,
    is_digest,
)
from fabricd.core.plain import is_list, is_number, is_object
from fabricd.core.steps import Steps

MAX_PLANS = 5000


class NormalForms(Struct, frozen=True):
    """The file: version 3, plans sorted by ref."""

    plans: tuple[ExtendedPlan, ...]
    surface_digest: str
    evidence_digest: str
    conventions: Literal["extended"] = "extended"


class ExtendedPlans(Struct, frozen=True):
    """Everything derivation found: plans by ref, refs without one, actions left out."""

    plans: tuple[ExtendedPlan, ...]
    without: tuple[ExtendedDerivation, ...]
    beyond_limit: int


def normal_forms_steps(surface: Surface) -> Steps[ExtendedPlans]:
    """Derive the plans of the first 5,000 actions by ref, yielding between actions."""
    actions = ordered_actions(surface)
    derived = yield from derive_extended_steps(actions[:MAX_PLANS])
    return ExtendedPlans(
        plans=tuple(found.plan for found in derived if found.plan is not None),
        without=tuple(found for found in derived if found.plan is None),
        beyond_limit=max(0, len(actions) - MAX_PLANS),
    )


def fresh_normal_forms(plans: tuple[ExtendedPlan, ...], surface_digest: str) -> NormalForms:
    """The file of one derivation: clock-free, a function of its arguments alone."""
    return NormalForms(plans, surface_digest, plans_digest(plans))


def plans_digest(plans: tuple[ExtendedPlan, ...]) -> str:
    """What `evidenceDigest` says: the digest of the plans as they are written."""
    return digest([extended_plan_value(plan) for plan in plans])


def normal_forms_value(found: NormalForms) -> dict[str, Any]:
    """The file as plain values, members in the order in which they are written."""
    return {
        "version": 3,
        "conventions": found.conventions,
        "plans": [extended_plan_value(plan) for plan in found.plans],
        "surfaceDigest": found.surface_digest,
        "evidenceDigest": found.evidence_digest,
    }


def normal_forms_bytes(found: NormalForms) -> bytes:
    """The very bytes of the durable file."""
    return utf8(pretty(normal_forms_value(found)) + "\n")


def normal_forms_of(value: object) -> NormalForms | None:
    """The load guard: the normal forms a JSON value is, or None. Unknown members are dropped."""
    if not is_object(value) or not is_number(value.get("version"), 3):
        return None
    plans = _plans_of(value.get("plans"))
    surface, evidence = value.get("surfaceDigest"), value.get("evidenceDigest")
    if value.get("conventions") != "extended" or plans is None:
        return None
    if not is_digest(surface) or evidence != (found := plans_digest(plans)):
        return None
    return NormalForms(plans, surface, found)


def _plans_of(value: object) -> tuple[ExtendedPlan, ...] | None:
    if not is_list(value) or len(value) > MAX_PLANS:
        return None
    found = [extended_plan_of(item) for item in value]
    plans = tuple(plan for plan in found if plan is not None)
    refs = [utf16_key(plan.ref) for plan in plans]
    is_sound = len(plans) == len(found) and refs == sorted(set(refs))
    return plans if is_sound else None
