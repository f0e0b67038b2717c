"""Checks of proof: a plan is what its live schema derives, whoever offers it, or it is nothing."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from fabricd.core.certifying.claims import Claim, Claims, Table
from fabricd.core.certifying.examples import (
    COMPILE_DIGEST,
    MERGE_DIGEST,
    OPEN,
    PLANS,
    RATE,
    SEARCH,
    SEARCH_DIGEST,
    SEARCH_PLAN,
    SEARCH_RULES,
    SEARCH_SCHEMA,
    SURFACE,
    SURFACE_DIGEST,
    UPDATE,
    UPDATE_DIGEST,
    UPDATE_PLAN,
    UPDATE_RULES,
    artifact_json,
    plan_json,
    surface_text,
    written,
)
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import Json, audit, called, log, recorded_in, result, traced
from fabricd.core.compiling.artifact import Artifact, Gate, plan_values
from fabricd.core.model import Plan, Rule

_BROKEN: dict[str, Any] = {"query": "x", "MAX_RESULTS": "5"}


def _plan(ref: str, base: str, rules: list[tuple[Any, str]]) -> Plan:
    return Plan(1, ref, base, tuple(Rule(kind, key) for kind, key in rules))


_PROVEN = _plan(SEARCH, SEARCH_DIGEST, SEARCH_RULES)
# Each names the right schema: its digest alone proves nothing.
_FORGED: tuple[tuple[str, Plan], ...] = (
    ("a rule more", _plan(SEARCH, SEARCH_DIGEST, [*SEARCH_RULES, ("numeric-string", "query")])),
    ("a rule less", _plan(SEARCH, SEARCH_DIGEST, SEARCH_RULES[:-1])),
    ("a rule twice", _plan(SEARCH, SEARCH_DIGEST, [*SEARCH_RULES, SEARCH_RULES[0]])),
    ("rules in another order", _plan(SEARCH, SEARCH_DIGEST, SEARCH_RULES[::-1])),
    ("a rule of another kind", _plan(SEARCH, SEARCH_DIGEST, [("enum-form", "note")])),
    ("a rule of an undeclared key", _plan(SEARCH, SEARCH_DIGEST, [("key-form", "limit")])),
)
# A word of the description is enough: whoever changed it may have changed what it means.
_DRIFTED: tuple[tuple[str, Json], ...] = (
    ("a description", {**SEARCH_SCHEMA, "description": "Search the notes."}),
    ("a requirement", {**SEARCH_SCHEMA, "required": ["query", "order"]}),
    ("an opening", {**SEARCH_SCHEMA, "additionalProperties": True}),
    (
        "a property",
        {**SEARCH_SCHEMA, "properties": {**SEARCH_SCHEMA["properties"], "page": {}}},
    ),
)
_CALLS = log(
    result(traced(called(SEARCH, {}, "failed", "validate")), audit(SEARCH, _BROKEN)),
)


def _forged(laws: Laws) -> Claims:
    yield Claim("that the true plan is proven", True, laws.proves(_PROVEN, SEARCH_SCHEMA))
    applied = laws.normalizer(SEARCH, SEARCH_SCHEMA, _PROVEN).apply(dict(_BROKEN))
    yield Claim("the true plan's repair", {"query": "x", "maxResults": 5}, dict(applied.args))
    surface = laws.surface(SURFACE)
    for words, plan in _FORGED:
        yield Claim(f"that a plan with {words} is proven", False, laws.proves(plan, SEARCH_SCHEMA))
        yield from _powerless(laws, words, SEARCH_SCHEMA, plan)
        merged = laws.merge(surface, None, [_artifact(plan)])
        yield Claim(f"plans merged from one with {words}", 0, len(merged.artifact.plans))
        yield Claim(f"plans dropped of one with {words}", 1, merged.dropped_normalizations)
    stolen = structs.replace(_PROVEN, ref=OPEN)
    yield Claim(
        "that a plan of another ref is proven", False, laws.proves(stolen, {"type": "object"})
    )


def _powerless(laws: Laws, words: str, schema: Json, plan: Plan) -> Claims:
    """A plan that is not proven is not applied, and no other takes its place."""
    normalizer = laws.normalizer(SEARCH, schema, plan)
    applied = normalizer.apply(args := dict(_BROKEN))
    yield Claim(f"that a plan with {words} repairs nothing", True, applied.args is args)
    yield Claim(f"arguments under a plan with {words}", _BROKEN, args)
    yield Claim(
        f"that there is no plan in place of one with {words}", True, normalizer.plan is None
    )


def _artifact(*plans: Plan) -> Artifact:
    return Artifact(2, 3, plans, (), Gate(True, 0, 0), "of somebody else")


def _drifted(laws: Laws) -> Claims:
    for words, schema in _DRIFTED:
        change = f"{words} that is new"
        yield Claim(f"that a plan is proven beside {change}", False, laws.proves(_PROVEN, schema))
        yield from _powerless(laws, change, schema, _PROVEN)
        surface = laws.surface(surface_text([{"ref": SEARCH, "inputSchema": schema}]))
        trial = yield from laws.trial(recorded_in(laws, _CALLS), surface, [_PROVEN])
        left_out = [row.ref for row in trial.plans.unproven]
        yield Claim(f"plans left out of a trial beside {change}", [SEARCH], left_out)
        yield Claim(f"calls repaired beside {change}", 0, trial.totals.normalization_win)
    live = yield from laws.trial(recorded_in(laws, _CALLS), laws.surface(SURFACE), [_PROVEN])
    yield Claim("calls repaired beside the schema as it was", 1, live.totals.normalization_win)


def _merging(laws: Laws) -> Claims:
    surface = laws.surface(SURFACE)
    local = laws.artifact_of({**artifact_json(0.5, "local"), "normalizations": [UPDATE_PLAN]})
    unknown = plan_json("mcp.gone.away", SEARCH_DIGEST, SEARCH_RULES)
    drifted = plan_json(UPDATE, SEARCH_DIGEST, UPDATE_RULES)
    without = plan_json(OPEN, SEARCH_DIGEST, SEARCH_RULES)
    theirs = laws.artifact_of(
        {**artifact_json(0.5, "theirs"), "normalizations": [SEARCH_PLAN, UPDATE_PLAN, unknown]}
    )
    bad = laws.artifact_of({**artifact_json(0.5, "bad"), "normalizations": [without, drifted]})
    yield Claim("that the artifacts load", True, None not in (local, theirs, bad))
    incoming = [artifact for artifact in (theirs, bad) if artifact is not None]
    merged = laws.merge(surface, local, incoming)
    expected = written(artifact_json(0, MERGE_DIGEST))
    yield Claim("the merged artifact", expected, laws.artifact_bytes(merged.artifact))
    counts = (merged.offered, merged.added, merged.known, merged.dropped_normalizations)
    yield Claim("plans offered, added, known and dropped", (5, 1, 1, 3), counts)
    dropped = [(entry.ref, entry.cause) for entry in merged.dropped]
    causes = [("mcp.gone.away", "unknown-ref"), (OPEN, "drifted"), (UPDATE, "drifted")]
    yield Claim("what was dropped, and why", causes, dropped)
    other = laws.merge(surface, None, incoming[::-1])
    yield Claim("plans merged the other way round", PLANS, plan_values(other.artifact.plans))


def _legacy_json() -> Json:
    """Restrictions of the old format: a narrower enum, and an action that was taken away."""
    properties = {**SEARCH_SCHEMA["properties"], "order": {"type": "string", "enum": ["newest"]}}
    return {
        **artifact_json(RATE, "legacy"),
        "version": 1,
        "actions": [
            {
                "ref": SEARCH,
                "inputSchema": {**SEARCH_SCHEMA, "properties": properties},
                "baseSchemaDigest": SEARCH_DIGEST,
            }
        ],
        "quarantined": [{"ref": UPDATE, "baseSchemaDigest": UPDATE_DIGEST}],
        "applied": [{"kind": "enum-tighten", "ref": SEARCH, "detail": "order: 1 of 3"}],
    }


_RESTRICTED = log(
    result(
        traced(called(SEARCH, {}), called(UPDATE, {})),
        audit(SEARCH, {"query": "x", "order": "oldest"}),
        audit(UPDATE, {"id": "1"}),
    )
)


def _legacy(laws: Laws) -> Claims:
    legacy = laws.artifact_of(_legacy_json())
    yield Claim("that an artifact of version 1 loads", True, legacy is not None)
    if legacy is None:
        return
    yield Claim("its plans", (), legacy.plans)
    surface = laws.surface(SURFACE)
    made = laws.compile(laws.plans(surface).plans, SURFACE_DIGEST, RATE, legacy)
    fresh = written(artifact_json(RATE, COMPILE_DIGEST))
    yield Claim("a compile's status beside it", "compiled", made.status)
    yield Claim("what replaces it", fresh, made.artifact and laws.artifact_bytes(made.artifact))
    bare = laws.compile((), SURFACE_DIGEST, RATE, legacy)
    yield Claim("a compile's status without a plan", "compiled", bare.status)
    merged = laws.merge(surface, legacy, [legacy])
    dropped = (merged.dropped_overlays, merged.dropped_quarantines, len(merged.artifact.plans))
    yield Claim("restrictions dropped by a merge, and plans kept", (2, 2, 0), dropped)
    trial = yield from laws.trial(recorded_in(laws, _RESTRICTED), surface, legacy.plans)
    yield Claim("restricted calls that are accepted as ever", 2, trial.totals.both_accept)
    current = {**artifact_json(RATE, "mixed"), "actions": _legacy_json()["actions"]}
    yield Claim("restrictions in version 2", True, laws.artifact_of(current) is None)


CHECKS: Table = (
    (
        "forged-plan-refusal",
        "a plan that its schema does not derive is not proven, not merged and not applied",
        _forged,
    ),
    (
        "schema-drift-refusal",
        "a plan of an earlier schema does nothing, and no other takes its place",
        _drifted,
    ),
    (
        "exact-plan-merge",
        "a merge keeps the plans that the live surface proves, and names all others",
        _merging,
    ),
    (
        "legacy-inert-migration",
        "restrictions of the old format load, have no effect, and are replaced",
        _legacy,
    ),
)
