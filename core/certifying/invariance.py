"""Checks of what must not matter: the order of things, and where a log happens to be cut."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import msgspec

from fabricd.core.certifying.claims import Claim, Claims, Table
from fabricd.core.certifying.examples import (
    ACTIONS,
    ALPHA,
    BETA,
    PLANS,
    REPORT_TEXT,
    SEARCH,
    SEARCH_DIGEST,
    SEARCH_SCHEMA,
    SURFACE_DIGEST,
    hashed,
    surface_text,
)
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import (
    assistant,
    audit,
    called,
    line,
    log,
    result,
    scanned,
    traced,
)
from fabricd.core.certifying.measuring import measured
from fabricd.core.compiling.artifact import plan_values
from fabricd.core.evidence import Evidence
from fabricd.core.plain import is_list, is_object
from fabricd.core.sessions.pi import ScanState

_PROSE = log(assistant("m", "gamma", content="nothing was called"))
# Documents, each with its canonical text: names whose order tells one way of sorting from another.
DOCUMENTS: tuple[tuple[str, dict[str, Any], str], ...] = (
    (
        "names in two cases",
        {"properties": 1, "minLength": 2, "maxItems": 3, "max_items": 4, "maxitems": 5},
        '{"max_items":4,"maxitems":5,"maxItems":3,"minLength":2,"properties":1}',
    ),
    (
        "numbers for names",
        {"b": 1, "10": 2, "9": 3, "010": 4, "a": {"2": 1, "1": 2}},
        '{"9":3,"10":2,"010":4,"a":{"1":2,"2":1},"b":1}',
    ),
    (
        "names with controls",
        {"a\u0001": 1, "a": 2, "b": 3},
        '{"a":2,"a\\u0001":1,"b":3}',
    ),
    (
        "names that are not ASCII",
        {"z": 1, "\u00e4": 2, "Z": 3, "\uff5a": 4, "\U0001f600": 5},
        '{"Z":3,"z":1,"\u00e4":2,"\U0001f600":5,"\uff5a":4}',
    ),
)
_CALL: dict[str, Any] = {"query": "x", "MAX_RESULTS": "5", "order": "best-match", "note": None}


def _reversed(value: Any) -> Any:
    """A value with the members of each object in the opposite order; lists stay."""
    if is_object(value):
        return {name: _reversed(value[name]) for name in reversed(list(value))}
    return [_reversed(item) for item in value] if is_list(value) else value


def _orders(laws: Laws) -> Claims:
    for sessions in permutations((ALPHA, BETA, _PROSE)):
        found = laws.report_text(measured(laws, *sessions))
        yield Claim("the report of sessions in some order", REPORT_TEXT, found)
    for actions in permutations(ACTIONS):
        plans = laws.plans(laws.surface(surface_text(list(actions)))).plans
        yield Claim("the plans of actions in some order", PLANS, plan_values(plans))
    for words, document, canonical in DOCUMENTS:
        for each in (document, _reversed(document)):
            yield Claim(f"the digest of {words}", hashed(canonical), laws.digest(each))
    backwards = laws.surface(surface_text([_reversed(action) for action in ACTIONS]))
    yield Claim("the digest of a surface written backwards", SURFACE_DIGEST, backwards.digest)
    yield Claim("its plans", PLANS, plan_values(laws.plans(backwards).plans))
    yield from _repairs(laws)


def _repairs(laws: Laws) -> Claims:
    schema = _reversed(SEARCH_SCHEMA)
    normalizer = laws.normalizer(SEARCH, schema, None)
    rules = [
        ("key-form", "maxResults"),
        ("numeric-string", "maxResults"),
        ("optional-null", "note"),
        ("enum-form", "order"),
    ]
    for names in permutations(_CALL):
        args = {name: _CALL[name] for name in names}
        applied = normalizer.apply(args)
        repaired = {"maxResults": 5, "order": "bestMatch", "query": "x"}
        yield Claim("a call repaired, with its members in some order", repaired, dict(applied.args))
        witness = normalizer.witness(args, applied)
        found = witness and [(rule.kind, rule.key) for rule in witness.rules]
        yield Claim("its rules", rules, found)
        yield Claim("its schema", SEARCH_DIGEST, witness and witness.base_schema_digest)


_TRACE = result(
    traced(called(SEARCH, {"query": "\u00e4"}, "failed", "validate"), called(SEARCH, {"q": "b"})),
    audit(SEARCH, {"query": "\u00e4\u2028"}),
)
_OTHER = result(traced(called("fabric.discovery.list", {}), phase="Look"))
_CUT = log(
    assistant("m", "\u03b1", content="pi-fabric prose"),
    _TRACE,
    b'{ "type": "model_change", "provider": "m", "modelId": "beta" }\r',
    # Two records on one line, one that does not end, and one that is refused.
    line(_OTHER) + b'{"type":"custom"}',
    b'{"details":{"trace":{"kind":"pi-fabric.execution"',
    {"details": {"trace": {"kind": "pi-fabric.execution", "version": 2}}},
    b"",
)
_OPEN_END = _CUT + line(_OTHER)
_COUNTS = {
    "traces": 2,
    "operations": 3,
    "discovery": 1,
    "refused": {"version": 1},
    "losses": {"bad_lines": 1, "glued_lines": 1, "overlong_lines": 0},
    # `(q:str)` after `(query:str)`: four letters of eleven.
    "churn": [363636],
}


def _cuts(laws: Laws) -> Claims:
    for words, session, more in (("a log", _CUT, 0), ("a log with an open end", _OPEN_END, 1)):
        whole = scanned(laws, session)
        counts: dict[str, Any] = {**_COUNTS}
        for name in ("traces", "operations", "discovery"):
            counts[name] += more
        plain = msgspec.to_builtins(whole)
        yield Claim(f"what {words} says", counts, {name: plain[name] for name in counts})
        yield Claim(f"audits that {words} points to", _spans(session), whole.audit_spans)
        models = {name: tally.operations for name, tally in whole.models.items()}
        yield Claim(f"models of {words}", {"m/\u03b1": 2, "m/beta": 1 + more}, models)
        yield from _pieces(laws, words, session, whole)
    yield from _every_cut(laws, _OPEN_END)


def _spans(session: bytes) -> list[tuple[int, int]]:
    trace = line(_TRACE)
    return [(session.index(trace), len(trace))]


def _pieces(laws: Laws, words: str, session: bytes, whole: Evidence) -> Claims:
    said = _said(whole)
    for size in (1, 7):
        pieces = (session[at : at + size] for at in range(0, len(session), size))
        found = _summed(laws, pieces)
        yield Claim(f"{words} in pieces of {size}", said, said if found == whole else _said(found))


def _every_cut(laws: Laws, session: bytes) -> Claims:
    whole = scanned(laws, session)
    said = _said(whole)
    for place in range(len(session) + 1):
        found = _summed(laws, (session[:place], session[place:]))
        yield Claim(f"a log cut at byte {place}", said, said if found == whole else _said(found))


def _summed(laws: Laws, pieces: Iterable[bytes]) -> Evidence:
    total, state = Evidence(), ScanState()
    for piece in pieces:
        found, state = laws.scan(piece, state)
        laws.add(total, found)
    laws.add(total, laws.open_end(state))
    return total


def _said(evidence: Evidence) -> str:
    return msgspec.json.encode(evidence).decode()


CHECKS: Table = (
    (
        "order-invariance",
        "the order of sessions, actions and members changes no figure, plan, digest or repair",
        _orders,
    ),
    (
        "cut-invariance",
        "a log that is cut at any byte, or into single bytes, says the same",
        _cuts,
    ),
)
