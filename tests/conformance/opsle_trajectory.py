"""Trajectories: the functions that vectors call by name, and where we answer otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from fabricd.core.canonical import by_units, deep_text
from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_text, identity
from fabricd.core.steps import finish
from fabricd.core.trajectory.accounts import violations_steps
from fabricd.core.trajectory.documents import trajectory_of
from fabricd.core.trajectory.escalations import ESCALATION, SUBSET
from fabricd.core.trajectory.evidence import RAW
from fabricd.core.trajectory.indicators import profile_line
from fabricd.core.trajectory.measurement import Measurement, measure_steps
from fabricd.core.trajectory.mutations import metrics_compare, metrics_profile, metrics_ratio
from fabricd.core.trajectory.packets import escalation_event, packet_event, raw_event
from fabricd.core.trajectory.values import ABSENT, members
from fabricd.core.trajectory.violations import violation_values
from fabricd.daemon.cli.profiler.command import Answer
from tests.conformance.commands import files_of, outcome, ran
from tests.conformance.values import Case, is_list, is_object


def measured(value: Any) -> Measurement:
    """The measurement of a decoded trajectory."""
    return finish(measure_steps(trajectory_of(value)))


def _validate(value: Any) -> Any:
    violations = finish(violations_steps(trajectory_of(value)))
    return {"valid": not violations, "violations": violation_values(violations)}


def _of(given: Any, *names: str) -> list[Any]:
    return [given.get(name, ABSENT) for name in names]


def _packet(given: Any) -> Any:
    event, arm, configuration = _of(given, "eventId", "armId", "configurationId")
    written = given.get("packetBytesText")
    return packet_event(
        event,
        arm,
        configuration,
        given.get("packet"),
        given.get("validation"),
        None if written is None else written.encode("utf-8", "replace"),
        given.get("payloadSemantics"),
    )


def _raw(given: Any) -> Any:
    event, operation, arm, configuration = _of(
        given, "eventId", "operationId", "armId", "configurationId"
    )
    size, content = _of(given, "rawBytes", "contentIdentity")
    count = given.get("evidenceCount", 0)
    return raw_event(event, operation, arm, configuration, size, content, count)


def _escalation(given: Any) -> Any:
    event, operation, escalation = _of(given, "eventId", "operationId", "escalationId")
    status, category = _of(given, "status", "reasonCategory")
    return escalation_event(
        event,
        operation,
        escalation,
        status,
        category,
        given.get("reason"),
        given.get("exposure"),
        given.get("sourceRelation", SUBSET),
    )


def _ratio(given: Any) -> Any:
    told = members(given)
    more = [told["epsilon"]] if "epsilon" in told else []
    return metrics_ratio(*_of(told, "numerator", "denominator"), *more)


def _comparison(given: Any) -> Any:
    return metrics_compare(*_of(members(given), "left", "right"))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "canonicalJson": canonical_text,
    "canonicalSha256": identity,
    "contextFirewallEventFromPacket": _packet,
    "escalationEvent": _escalation,
    "metricsCompare": _comparison,
    "metricsProfile": metrics_profile,
    "metricsRatio": _ratio,
    "profileTrajectory": lambda value: measured(value).value(),
    "rawBaselineEvent": _raw,
    "trajectoryOperatorIndicator": lambda value: profile_line(measured(value)),
    "validateTrajectory": _validate,
}


# --- differences on purpose

_OPTIONAL = ("raw_evidence_locator_present", "reason")
# Nothing gives it a meaning, so no sane document holds it.
_STAND_IN = "\uf8ff"


def _documents(case: Case) -> dict[str, Any]:
    return {name: read_doubles(data) for name, data in files_of(case).items()}


def _trajectory(document: Any) -> Any:
    inner = document.get("trajectory") if is_object(document) else None
    return document if inner is None else inner


def _naive_identity(value: Any) -> str:
    return "sha256:" + sha256((deep_text(value, by_units) + "\n").encode()).hexdigest()


def _answer_for(case: Case, others: dict[str, Any]) -> Answer:
    """What we answer to other documents, with the identities that the given ones have."""
    files = {name: json.dumps(other).encode() for name, other in others.items()}
    given = ran(case["argv"], files)
    out = b"".join(given.out)
    for name, document in _documents(case).items():
        theirs = _naive_identity(_trajectory(others[name]))
        out = out.replace(theirs.encode(), _naive_identity(_trajectory(document)).encode())
    return given._replace(out=(out,))


def _filled(document: Any) -> Any:
    """A document in which every event has the members that may be missing."""
    trajectory = _trajectory(document)
    events = trajectory.get("events") if is_object(trajectory) else None
    for event in filter(is_object, events if is_list(events) else ()):
        if event.get("type") == RAW and is_object(event.get("raw_evidence")):
            event["raw_evidence"].setdefault("locator_present", None)
        if event.get("type") == ESCALATION:
            event.setdefault("reason", None)
    return document


def _with_missing_members(case: Case, expected: Any) -> Any:
    """The reference cannot print a result that lacks a member; we put null there."""
    if case["kind"] == "call":
        return _with_nulls(case, expected)
    if expected["exit"] != 2 or case["argv"][:1] not in (["profile"], ["compare"]):
        return expected
    try:
        filled = {name: _filled(document) for name, document in _documents(case).items()}
    except ValueError:
        return expected
    if filled == _documents(case):
        return expected
    return outcome(_answer_for(case, filled), case["expect"])


def _with_nulls(case: Case, expected: Any) -> Any:
    if case["fn"] != "profileTrajectory":
        return expected
    result = json.loads(json.dumps(expected))
    for path in case["expect"].get("undefined_at", ()):
        *steps, last = path.split("/")[1:]
        place = result
        for step in steps:
            place = place[int(step) if is_list(place) else step]
        if last in _OPTIONAL:
            place[last] = None
    return result


def _replaced(value: Any, old: str, new: str) -> Any:
    return json.loads(json.dumps(value).replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1]))


def _with_nul_apart(case: Case, expected: Any) -> Any:
    """To the reference NUL parts an operation from a content; others are parts of ids."""
    if case["kind"] != "cli":
        return expected
    try:
        documents = _documents(case)
    except ValueError:
        return expected
    others = {name: _replaced(value, "\0", _STAND_IN) for name, value in documents.items()}
    if others == documents or _STAND_IN in json.dumps(documents, ensure_ascii=False):
        return expected
    given = _answer_for(case, others)
    out = b"".join(given.out).replace(_STAND_IN.encode(), b"\\u0000")
    err = given.err.replace(_STAND_IN.encode(), b"\0")
    return outcome(given._replace(out=(out,), err=err), case["expect"])


# By name, what becomes of the expected result of a case.
CHANGES: dict[str, Callable[[Case, Any], Any]] = {
    "missing-members": _with_missing_members,
    "nul-in-identities": _with_nul_apart,
}
