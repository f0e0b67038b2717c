"""Checks of reading: what counts as a trace, whose it is, and that arguments come as they were."""

from __future__ import annotations

import json
from typing import Any

from fabricd.core.certifying.claims import Claim, Claims, Table
from fabricd.core.certifying.examples import OPEN, SEARCH, SURFACE, UPDATE
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import (
    Json,
    assistant,
    audit,
    audits_in,
    called,
    heard,
    log,
    recorded_in,
    result,
    scanned,
    traced,
)
from fabricd.core.entropy.meter import Catalog

_CALL = called(OPEN, {})


def _nested(levels: int) -> Json:
    value: Json = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


_SOUND: tuple[tuple[str, Json], ...] = (
    ("a plain trace", traced(_CALL)),
    ("gaps between sequence numbers", traced({**_CALL, "sequence": 3}, {**_CALL, "sequence": 9})),
    ("arguments of 15 levels", traced(called(OPEN, _nested(15)))),
    ("an error that says nothing", traced(error="")),
)
_REFUSED: tuple[tuple[str, Any], ...] = (
    ("a text in its place", "pi-fabric.execution"),
    ("nothing but a kind", {"kind": "pi-fabric.execution"}),
    ("another kind", traced(_CALL, kind="pi-fabric.execution.v2")),
    ("another version", traced(_CALL, version=2)),
    ("a version that is no number", traced(_CALL, version=True)),
    ("another outcome", traced(_CALL, outcome="ok")),
    ("a phase that is no text", traced(_CALL, phases=[1])),
    ("no counts", traced(_CALL, counts=None)),
    ("a count too few", traced(_CALL, counts={"droppedValues": 0})),
    ("a negative count", traced(_CALL, counts={**traced()["counts"], "droppedValues": -1})),
    ("an error that is null", traced(_CALL, error=None)),
    ("a member of a later version", traced(_CALL, durationMs=5)),
    ("a call with a member of a later version", traced({**_CALL, "durationMs": 5})),
    ("a call of another type", traced({**_CALL, "type": "note"})),
    ("a call with a list of arguments", traced({**_CALL, "args": []})),
    ("a call with another outcome", traced({**_CALL, "outcome": "done"})),
    ("a call that failed at another stage", traced(called(OPEN, {}, "failed", "parse"))),
    ("equal sequence numbers", traced({**_CALL, "sequence": 1}, {**_CALL, "sequence": 1})),
    ("arguments of 16 levels", traced(called(OPEN, _nested(16)))),
    ("a witness without rules", traced({**_CALL, "normalization": {"version": 1, "rules": []}})),
)


def _envelopes(laws: Laws) -> Claims:
    row = audit(OPEN, {"id": "1"})
    for words, trace in _SOUND:
        session = log(result(trace, row))
        yield Claim(f"traces counted of {words}", 1, scanned(laws, session).traces)
        yield Claim(f"audits heard beside {words}", 1, len(audits_in(laws, session)))
        yield Claim(f"recordings of {words}", 1, len(list(recorded_in(laws, session))))
    for words, trace in _REFUSED:
        session = log(result(trace, row))
        evidence = scanned(laws, session)
        counts = (evidence.traces, evidence.operations, sum(evidence.refused.values()))
        yield Claim(f"traces, calls and refusals counted of {words}", (0, 0, 1), counts)
        yield Claim(f"audits heard beside {words}", 0, len(audits_in(laws, session)))
        yield Claim(f"recordings of {words}", 0, len(list(recorded_in(laws, session))))
    quoted = {"type": "message", "message": {"role": "user", "content": json.dumps(traced(_CALL))}}
    bare = {"type": "custom", "details": {"audits": [row], "kind": "pi-fabric.execution"}}
    for words, record in (("text that quotes a trace", quoted), ("audits without a trace", bare)):
        evidence = scanned(laws, log(record))
        yield Claim(f"traces counted of {words}", 0, evidence.traces)
        yield Claim(f"refusals counted of {words}", 0, sum(evidence.refused.values()))
        yield Claim(f"audits heard of {words}", 0, len(audits_in(laws, log(record))))


_ODD_ARGS: Json = {
    "b": "5",
    "10": "ten",
    "a": [None, {"deep": {"deeper": "\u00e4\u2028"}}],
    "": "",
    "nothing": None,
    "big": 9007199254740993,
    "half": 0.5,
    "yes": True,
    "MAX_RESULTS": " 5 ",
}
_AUDITED = log(
    result(
        traced(called(SEARCH, {}, "failed", "validate"), called(OPEN, {})),
        audit(SEARCH, _ODD_ARGS),
    ),
    result(
        traced(_CALL),
        {"ref": "", "args": {}},
        {"ref": OPEN},
        {"ref": OPEN, "args": []},
        "no row",
        audit(OPEN, {}),
        # A failed attempt says as much of arguments as any other.
        {**audit(OPEN, {"id": None}), "error": "failed"},
    ),
    result(traced(_CALL)),
    result(traced(_CALL), audit("fabric.state.put", {"key": "k"})),
)


def _verbatim(laws: Laws) -> Claims:
    expected = [
        (SEARCH, json.dumps(_ODD_ARGS)),
        (OPEN, "{}"),
        (OPEN, '{"id": null}'),
        ("fabric.state.put", '{"key": "k"}'),
    ]
    # As text: 1, 1.0 and true would be equal values.
    heard_ = [(call.ref, json.dumps(call.args)) for call in audits_in(laws, _AUDITED)]
    yield Claim("the audit calls of a session", expected, heard_)
    recorded = [
        (call.ref, json.dumps(call.args))
        for recording in recorded_in(laws, _AUDITED)
        for call in recording.audits
    ]
    yield Claim("the audit calls of its recordings", expected, recorded)


def _user(content: str) -> Json:
    return {"type": "message", "message": {"role": "user", "content": content}}


_MODELS = log(
    result(traced(_CALL)),
    b'{ "type" : "model_change", "provider" : "p", "modelId" : "one" }',
    result(traced(_CALL)),
    _user('{"type":"message","message":{"role":"assistant","provider":"p","model":"quoted"}}'),
    {"type": "message", "message": {"role": "user", "provider": "p", "model": "user"}},
    result(traced(_CALL, _CALL)),
    assistant("p", ""),
    {"type": "model_change", "provider": None, "modelId": "none"},
    result(traced(_CALL)),
    assistant("p", "two"),
    result(traced(_CALL)),
    assistant("p", "three", details={"trace": traced(_CALL, called("fabric.workflow.step", {}))}),
    result(traced(called(OPEN, {}, "failed", "resolve"))),
)
_NO_MODEL = log(result(traced(_CALL, _CALL, _CALL)))


def _attributed(laws: Laws) -> Claims:
    expected = [("p/one", 4, 4, 0), ("p/three", 3, 2, 1), ("p/two", 1, 1, 0)]
    for words, sessions in (("a session", [_MODELS]), ("it and another", [_MODELS, _NO_MODEL])):
        found = laws.measure(heard(laws, *sessions), Catalog())
        rows = [
            (row.model, row.operations, row.action_operations, row.invocation_rejections)
            for row in found.by_model
        ]
        yield Claim(f"calls by model of {words}", expected, rows)
    total = laws.measure(heard(laws, _MODELS, _NO_MODEL), Catalog()).totals
    yield Claim("calls of both, with and without a model", 12, total.operations)


def _observed(laws: Laws) -> Claims:
    found = [
        (row.ref, row.key, json.dumps(row.value), row.count)
        for row in laws.observed(audits_in(laws, _AUDITED))
    ]
    expected = [
        # Names that are list indices come first, as the host lists them.
        (SEARCH, "10", '"ten"', 1),
        (SEARCH, "b", '"5"', 1),
        (SEARCH, "", '""', 1),
        (SEARCH, "big", "9007199254740993", 1),
        (SEARCH, "half", "0.5", 1),
        (SEARCH, "yes", "true", 1),
        (SEARCH, "MAX_RESULTS", '" 5 "', 1),
    ]
    yield Claim("the plain values of audit calls", expected, found)


# Traces keep few arguments: of a search none. Only its audits tell what was sent.
_TRIED = log(
    result(
        traced(
            called(SEARCH, {}, "failed", "validate"),
            called(SEARCH, {}, "failed", "validate"),
            called(SEARCH, {}),
            called(UPDATE, {"id": "1"}),
            called(UPDATE, {"ID": "1"}, "failed", "validate"),
        ),
        audit(SEARCH, {"query": "x", "MAX_RESULTS": "5"}),
        audit(SEARCH, {"limit": 5}),
        audit(SEARCH, {"query": "x"}),
    )
)


def _tried(laws: Laws) -> Claims:
    surface = laws.surface(SURFACE)
    trial = yield from laws.trial(recorded_in(laws, _TRIED), surface, None)
    totals = trial.totals
    yield Claim("calls tried: three audits, and two calls without any", 5, totals.operations)
    yield Claim("calls accepted as they are", 2, totals.both_accept)
    yield Claim("calls refused before and after", 1, totals.both_reject)
    wins = [(row.ref, row.count) for row in trial.divergences]
    yield Claim("calls repaired", [(SEARCH, 1), (UPDATE, 1)], wins)
    yield Claim("trace operations that audits stand for", 3, trial.coverage.replaced_operations)
    half = log(result(traced(*[called(SEARCH, {})] * 4), audit(SEARCH, {"query": "x"})))
    partial = yield from laws.trial(recorded_in(laws, half), surface, None)
    gaps = [(gap.ref, gap.operations, gap.audits) for gap in partial.coverage.refs]
    yield Claim("actions with fewer audits than calls", [(SEARCH, 4, 1)], gaps)


CHECKS: Table = (
    (
        "ingestion-requires-trace-envelope",
        "what is no sound trace counts for nothing, and neither do the audits beside it",
        _envelopes,
    ),
    (
        "ingestion-verbatim-audits",
        "audit calls come with the arguments that were written down, to the letter",
        _verbatim,
    ),
    (
        "ingestion-model-attribution",
        "a trace belongs to the model in force where it stands, in its own session",
        _attributed,
    ),
    (
        "ingestion-value-observations",
        "texts, numbers and booleans of audit calls are observed, and nothing else",
        _observed,
    ),
    (
        "ingestion-trial-verbatim",
        "a trial replays audits, and traces only where an action has none",
        _tried,
    ),
)
