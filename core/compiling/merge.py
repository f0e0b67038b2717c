"""Merge: the plans of several artifacts that the live surface proves, as one fresh artifact.

Nothing in an artifact is believed. A plan is kept if it is exactly what its live schema derives,
whoever made it; all else is dropped and named with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias

from msgspec import Struct

from fabricd.core.canonical import digest, text, utf8
from fabricd.core.compiling.artifact import MAX_PLANS, Artifact, fresh
from fabricd.core.javascript import utf16_key
from fabricd.core.model import Plan, Surface
from fabricd.core.normalform.derive import Derivation, derive, plan_value
from fabricd.core.steps import ACTIONS, Steps

Origin: TypeAlias = Literal["local", "incoming"]
Kind: TypeAlias = Literal["plan", "overlay", "quarantine"]
Cause: TypeAlias = Literal[
    "unknown-ref", "drifted", "no-plan", "not-derived", "legacy", "beyond-limit"
]
Proof: TypeAlias = tuple[Cause, str] | None

_LEGACY = "a restriction of the version 1 format, which has no effect any more"
_BEYOND = f"beyond the first {MAX_PLANS:,} plans"


class Dropped(Struct, frozen=True):
    """An entry that did not make it. `source` counts the incoming artifacts from 0."""

    origin: Origin
    kind: Kind
    ref: str
    cause: Cause
    reason: str
    source: int | None = None


class Merged(Struct, frozen=True):
    """A merge's outcome.

    Of the `offered` incoming plans `added` are new and `known` were there already, in the local
    artifact or an earlier incoming one; the others are among the dropped entries.
    """

    artifact: Artifact
    offered: int
    added: int
    known: int
    dropped: tuple[Dropped, ...]

    @property
    def dropped_overlays(self) -> int:
        """Legacy restrictions of schemas, in all artifacts."""
        return sum(entry.kind == "overlay" for entry in self.dropped)

    @property
    def dropped_quarantines(self) -> int:
        """Legacy removals of actions, in all artifacts."""
        return sum(entry.kind == "quarantine" for entry in self.dropped)

    @property
    def dropped_normalizations(self) -> int:
        """Plans that the live surface does not prove."""
        return sum(entry.kind == "plan" for entry in self.dropped) - self.beyond_limit

    @property
    def beyond_limit(self) -> int:
        """Proven plans that fell to the limit of 1,000."""
        return sum(entry.cause == "beyond-limit" for entry in self.dropped)


class Prover:
    """Judges plans by a live surface, deriving each of its actions at most once."""

    def __init__(self, surface: Surface) -> None:
        self._schemas = surface.schema_of()
        self._derived: dict[str, Derivation] = {}

    def against(self, plan: Plan) -> Proof:
        """What speaks against a plan: a cause and a reason in words; None where it is proven."""
        if plan.ref not in self._schemas:
            return "unknown-ref", "the surface declares no such action"
        schema = self._schemas[plan.ref]
        derived = self._derived.get(plan.ref)
        if derived is None:
            derived = self._derived[plan.ref] = derive(plan.ref, schema)
        if derived.plan == plan:
            return None
        live = digest(schema) if derived.plan is None else derived.plan.base_schema_digest
        if plan.base_schema_digest != live:
            return "drifted", "it was derived from another schema than the live one"
        if derived.plan is None:
            return "no-plan", f"the live schema permits no plan: {derived.reason}"
        return "not-derived", _deviation(plan, derived.plan)


def _deviation(plan: Plan, derived: Plan) -> str:
    foreign = next((rule for rule in plan.rules if rule not in derived.rules), None)
    if foreign is not None:
        return f"the live schema does not derive its rule {foreign.kind} of {foreign.key}"
    distinct = len(set(plan.rules))
    if distinct < len(derived.rules):
        return f"it holds {distinct} of the {len(derived.rules)} rules that the live schema derives"
    if distinct < len(plan.rules):
        return "it holds a rule twice"
    return "its rules are not in the order in which they are derived"


class _Merging:
    """The plans kept so far, by ref, and what was dropped on the way."""

    def __init__(self, prover: Prover) -> None:
        self._prover = prover
        self.kept: dict[str, Plan] = {}
        self.dropped: list[Dropped] = []

    def add_steps(self, artifact: Artifact, origin: Origin, source: int | None) -> Steps[None]:
        """Walk one artifact, yielding between plans."""

        def drop(kind: Kind, ref: str, cause: Cause, reason: str) -> None:
            self.dropped.append(Dropped(origin, kind, ref, cause, reason, source))

        for overlay in artifact.overlays:
            drop("overlay", overlay.ref, "legacy", _LEGACY)
        for quarantine in artifact.quarantined:
            drop("quarantine", quarantine.ref, "legacy", _LEGACY)
        for index, plan in enumerate(artifact.plans, start=1):
            proof = self._prover.against(plan)
            if proof is None and plan.ref not in self.kept and len(self.kept) >= MAX_PLANS:
                proof = "beyond-limit", _BEYOND
            if proof is None:
                self.kept.setdefault(plan.ref, plan)
            else:
                drop("plan", plan.ref, *proof)
            if index % ACTIONS == 0:
                yield


def merge_digest_steps(plans: Iterable[Plan]) -> Steps[str]:
    """What `evidenceDigest` says of a merged artifact: the digest of its plans alone."""
    state = sha256(b"[")
    for index, plan in enumerate(plans):
        state.update(utf8(("," if index else "") + text(plan_value(plan))))
        if index % ACTIONS == ACTIONS - 1:
            yield
    state.update(b"]")
    return state.hexdigest()


def merge_steps(
    prover: Prover, local: Artifact | None, incoming: Sequence[Artifact]
) -> Steps[Merged]:
    """Merge the local artifact, if any, and then the incoming ones, yielding between plans.

    The first plan of a ref counts; a proven repetition is no dropped entry. The result has a
    ledger and a gate of its own and depends on no score.
    """
    merging = _Merging(prover)
    if local is not None:
        yield from merging.add_steps(local, "local", None)
    before = len(merging.kept)
    for source, artifact in enumerate(incoming):
        yield from merging.add_steps(artifact, "incoming", source)
    plans = tuple(sorted(merging.kept.values(), key=lambda plan: utf16_key(plan.ref)))
    evidence_digest = yield from merge_digest_steps(plans)
    offered = sum(len(artifact.plans) for artifact in incoming)
    added = len(plans) - before
    lost = sum(entry.origin == "incoming" and entry.kind == "plan" for entry in merging.dropped)
    return Merged(
        artifact=fresh(plans, evidence_digest, 0),
        offered=offered,
        added=added,
        known=offered - added - lost,
        dropped=tuple(merging.dropped),
    )
