"""Checks of the trial: it repairs as the runtime does, and it restricts nothing."""

from __future__ import annotations

from typing import Any

from fabricd.core.certifying.claims import Claim, Claims, Table
from fabricd.core.certifying.examples import (
    OPEN,
    OPEN_SCHEMA,
    SEARCH,
    SEARCH_DIGEST,
    SEARCH_SCHEMA,
    SURFACE,
    UPDATE,
    UPDATE_SCHEMA,
    artifact_json,
)
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import audit, called, log, recorded_in, result, traced
from fabricd.core.compiling.verdict import Trial

_SCHEMAS: dict[str, dict[str, Any]] = {
    SEARCH: SEARCH_SCHEMA,
    OPEN: OPEN_SCHEMA,
    UPDATE: UPDATE_SCHEMA,
}
_ACCEPTED, _WON, _REJECTED = "both-accept", "normalization-win", "both-reject"
# What becomes of each call, and the arguments that the runtime would pass on.
_CALLS: tuple[tuple[str, dict[str, Any], str, dict[str, Any]], ...] = (
    (SEARCH, {"query": "x"}, _ACCEPTED, {"query": "x"}),
    (SEARCH, {"query": "x", "order": "oldest"}, _ACCEPTED, {"query": "x", "order": "oldest"}),
    (SEARCH, {"query": "x", "MAX_RESULTS": "5"}, _WON, {"query": "x", "maxResults": 5}),
    (SEARCH, {"Query": "x", "note": None}, _WON, {"query": "x"}),
    (SEARCH, {"query": "x", "limit": 5}, _REJECTED, {"query": "x", "limit": 5}),
    (SEARCH, {"query": 5}, _REJECTED, {"query": 5}),
    (SEARCH, {"args": {"query": "x"}}, _REJECTED, {"args": {"query": "x"}}),
    (UPDATE, {"id": "1", "due": None}, _ACCEPTED, {"id": "1", "due": None}),
    (UPDATE, {"ID": "1", "due": None}, _WON, {"id": "1", "due": None}),
    (UPDATE, {"id": ["1"]}, _REJECTED, {"id": ["1"]}),
    (OPEN, {"ID": None}, _ACCEPTED, {"ID": None}),
)


def _classes(trial: Trial) -> dict[str, int]:
    totals = trial.totals
    return {
        _ACCEPTED: totals.both_accept,
        _WON: totals.normalization_win,
        _REJECTED: totals.both_reject,
        "tightening-cost": totals.tightening_cost,
    }


def _expected(*kinds: str) -> dict[str, int]:
    return {kind: kinds.count(kind) for kind in (_ACCEPTED, _WON, _REJECTED, "tightening-cost")}


def _same(laws: Laws) -> Claims:
    surface = laws.surface(SURFACE)
    for place, (ref, args, kind, passed_on) in enumerate(_CALLS, start=1):
        applied = laws.normalizer(ref, _SCHEMAS[ref], None).apply(dict(args))
        yield Claim(f"what the runtime passes on of call {place}", passed_on, dict(applied.args))
        session = log(result(traced(called(ref, {})), audit(ref, args)))
        trial = yield from laws.trial(recorded_in(laws, session), surface, None)
        yield Claim(f"what a trial makes of call {place}", _expected(kind), _classes(trial))
        yield Claim(f"what speaks against the plan of call {place}", (), trial.costs)
    calls = [called(ref, {}) for ref, *_ in _CALLS]
    rows = [audit(ref, args) for ref, args, *_ in _CALLS]
    together = log(result(traced(*calls), *rows))
    trial = yield from laws.trial(recorded_in(laws, together), surface, None)
    kinds = [kind for _, _, kind, _ in _CALLS]
    yield Claim("what a trial makes of all calls", _expected(*kinds), _classes(trial))
    yield Claim("accepted calls that were held against their plan", 4, _checks(trial))
    yield Claim("the verdict", "clean", trial.verdict)


def _checks(trial: Trial) -> int:
    return trial.totals.canonical_identity_checks


# More failures than successes, at several stages: reason enough, once, to take an action away.
_NOISY = log(
    result(
        traced(
            called(OPEN, {"id": 1}, "failed", "validate"),
            called(OPEN, {"id": 2}, "failed", "invoke"),
            called(OPEN, {"id": 3}, "failed", "resolve"),
            called(OPEN, {"id": 4}, "timed_out"),
            called(OPEN, {"id": 5}),
            called(SEARCH, {"query": "x"}, "failed", "validate"),
        )
    )
)


def _unrestricted(laws: Laws) -> Claims:
    surface = laws.surface(SURFACE)
    legacy = laws.artifact_of(
        {
            **artifact_json(0, "legacy"),
            "version": 1,
            "quarantined": [{"ref": OPEN, "baseSchemaDigest": SEARCH_DIGEST}],
        }
    )
    yield Claim("that a legacy removal loads", True, legacy is not None)
    removed = () if legacy is None else legacy.plans
    for words, plans in (("derived plans", None), ("a legacy removal", removed)):
        trial = yield from laws.trial(recorded_in(laws, _NOISY), surface, plans)
        totals = trial.totals
        gained = (totals.quarantine_win, totals.quarantine_cost, totals.typed_failure_win)
        yield Claim(
            f"wins and costs of removals, and wins of failures, under {words}", (0, 0, 0), gained
        )
        yield Claim(f"calls tried under {words}", 6, totals.operations)
        yield Claim(f"calls accepted under {words}", 6, totals.both_accept)
        scores = (trial.declared_score, trial.effective_score)
        yield Claim(f"the scores under {words}", (0.5, 0.5), scores)


CHECKS: Table = (
    (
        "same-normalizer-trial",
        "a trial makes of a call what the runtime makes of it",
        _same,
    ),
    (
        "no-quarantine-wins",
        "an action that mostly fails stays, and its failures are no win for anything",
        _unrestricted,
    ),
)
