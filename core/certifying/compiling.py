"""Checks of the compile: artifacts come from schemas alone, repeatably, and take nothing away."""

from __future__ import annotations

import json
from typing import Any

from fabricd.core.certifying.claims import Claim, Claims, Table
from fabricd.core.certifying.examples import (
    ACTIONS,
    ALPHA,
    BETA,
    COMPILE_DIGEST,
    OPEN,
    PLANS,
    RATE,
    SEARCH,
    SEARCH_SCHEMA,
    SURFACE,
    SURFACE_DIGEST,
    UPDATE,
    UPDATE_SCHEMA,
    artifact_json,
    surface_text,
    written,
)
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import heard, recorded_in
from fabricd.core.certifying.measuring import catalog, measured
from fabricd.core.compiling.artifact import plan_values
from fabricd.core.compiling.compile import Compilation
from fabricd.core.model import Surface

# Accepted as they are: among them what no session ever used, and what a narrower reading of the
# schemas would take for a mistake.
_ACCEPTED: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    (SEARCH, SEARCH_SCHEMA, {"query": ""}),
    (SEARCH, SEARCH_SCHEMA, {"query": "null"}),
    (SEARCH, SEARCH_SCHEMA, {"query": "5", "maxResults": 1}),
    (SEARCH, SEARCH_SCHEMA, {"query": "a", "maxResults": 10**15}),
    (SEARCH, SEARCH_SCHEMA, {"query": "a", "order": "newest"}),
    (SEARCH, SEARCH_SCHEMA, {"query": "a", "order": "oldest"}),
    (SEARCH, SEARCH_SCHEMA, {"query": "a", "order": "bestMatch"}),
    (SEARCH, SEARCH_SCHEMA, {"query": "a", "note": "best-match"}),
    (UPDATE, UPDATE_SCHEMA, {"id": "1", "due": None}),
    (UPDATE, UPDATE_SCHEMA, {"id": "1", "due": "true", "archived": False}),
    (OPEN, {"type": "object"}, {"anything": [None, {"a": "5"}]}),
)


def compiled(laws: Laws, *sessions: bytes, surface: bytes = SURFACE) -> Compilation:
    """A compile of sessions and a surface, with nothing before."""
    declared = laws.surface(surface)
    score = laws.measure(heard(laws, *sessions), catalog(laws)).score
    return laws.compile(laws.plans(declared).plans, declared.digest, score, None)


def _static(laws: Laws) -> Claims:
    found = laws.plans(laws.surface(SURFACE))
    yield Claim("the plans of the surface", PLANS, plan_values(found.plans))
    yield Claim("actions without a plan", [OPEN], [each.ref for each in found.without])
    for words, sessions in (("calls of all actions", (ALPHA, BETA)), ("calls of some", (BETA,))):
        made = compiled(laws, *sessions).artifact
        yield Claim(f"the plans beside {words}", PLANS, made and plan_values(made.plans))


def _empty_corpus(laws: Laws) -> Claims:
    made = compiled(laws)
    yield Claim("the status without any session", "compiled", made.status)
    yield Claim(
        "the artifact without any session",
        written(artifact_json(0, COMPILE_DIGEST)),
        made.artifact and laws.artifact_bytes(made.artifact),
    )
    bare = compiled(laws, surface=surface_text([ACTIONS[0]]))
    yield Claim("the status without any plan", "converged", bare.status)
    yield Claim("an artifact without any plan", None, bare.artifact and bare.artifact.version)


def _history(laws: Laws) -> Claims:
    evidence = heard(laws, ALPHA, BETA)
    made = compiled(laws, ALPHA, BETA)
    gate = made.gate
    yield Claim("the score before", RATE, gate and gate.before_score)
    yield Claim("the score after", RATE, gate and gate.after_score)
    surface = laws.surface(SURFACE)
    trial = yield from laws.trial(recorded_in(laws, ALPHA, BETA), surface, None)
    yield Claim("the declared score of a trial", RATE, trial.declared_score)
    yield Claim("the effective score of a trial", RATE, trial.effective_score)
    yield Claim("the difference that a trial claims", 0, trial.delta)
    after = laws.measure(evidence, catalog(laws)).totals
    outcomes = (after.succeeded, after.failed, after.aborted, after.timed_out)
    yield Claim("succeeded, failed, aborted and timed out afterwards", (4, 4, 1, 1), outcomes)
    yield Claim("refusals afterwards", 2, after.invocation_rejections)


def _repeatable(laws: Laws) -> Claims:
    expected = written(artifact_json(RATE, COMPILE_DIGEST))
    for turn in ("first", "second"):
        made = compiled(laws, ALPHA, BETA).artifact
        yield Claim(
            f"the bytes of the {turn} compile", expected, made and laws.artifact_bytes(made)
        )
        compiled(laws, BETA, surface=surface_text([ACTIONS[2]]))


def _converging(laws: Laws) -> Claims:
    surface = laws.surface(SURFACE)
    plans = laws.plans(surface).plans
    before = laws.artifact_of(artifact_json(0.75, "of another corpus"))
    again = laws.compile(plans, surface.digest, RATE, before)
    yield Claim("the status beside equal plans", "converged", again.status)
    yield Claim("that the artifact is the one there was", True, again.artifact is before)
    fewer = laws.compile(plans[1:], surface.digest, RATE, before)
    yield Claim("the status beside other plans", "compiled", fewer.status)
    yield Claim(
        "the plans that replace others",
        PLANS[1:],
        fewer.artifact and plan_values(fewer.artifact.plans),
    )


def _preserving(laws: Laws) -> Claims:
    surface = laws.surface(SURFACE)
    made = compiled(laws, ALPHA, BETA).artifact
    value: dict[str, Any] = {} if made is None else json.loads(laws.artifact_bytes(made))
    for name in ("actions", "quarantined"):
        yield Claim(f"the artifact's {name}", "[]", str(value.get(name)))
    yield Claim("the surface after a compile", ACTIONS, _listed(surface))
    yield Claim("its digest", SURFACE_DIGEST, surface.digest)
    plans = {} if made is None else {plan.ref: plan for plan in made.plans}
    for ref, schema, args in _ACCEPTED:
        normalizer = laws.normalizer(ref, schema, plans.get(ref))
        found = normalizer.apply(dict(args)).args
        yield Claim(f"accepted arguments of {ref}", args, dict(found))
    measured(laws, ALPHA)
    yield Claim("the surface after a measurement", ACTIONS, _listed(surface))


def _listed(surface: Surface) -> list[dict[str, Any]]:
    return [{"ref": each.ref, "inputSchema": each.input_schema} for each in surface.actions]


CHECKS: Table = (
    (
        "static-compilation",
        "plans are what the declared schemas permit, whatever was called",
        _static,
    ),
    (
        "empty-corpus-compilation",
        "without any session the same plans are compiled, and without any plan no artifact",
        _empty_corpus,
    ),
    (
        "historical-outcomes-unchanged",
        "compiling and trying plans leaves what happened as it was recorded",
        _history,
    ),
    (
        "compile-determinism",
        "an artifact has the very bytes that were written down for it",
        _repeatable,
    ),
    (
        "identical-plans-converge",
        "equal plans keep the artifact that is there, others replace it",
        _converging,
    ),
    (
        "static-preservation",
        "no action and no accepted argument is taken away",
        _preserving,
    ),
)
