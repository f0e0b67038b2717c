"""Goes through a trajectory, check by check in the order that the protocol gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fabricd.core.plain import is_object
from fabricd.core.steps import Steps
from fabricd.core.trajectory.documents import Trajectory
from fabricd.core.trajectory.escalations import ESCALATION, check_escalation
from fabricd.core.trajectory.evidence import PACKET, RAW, check_evidence
from fabricd.core.trajectory.ledger import Ledger, Overflow, added
from fabricd.core.trajectory.shapes import PacketEvent, RawEvent, plain_event
from fabricd.core.trajectory.sound import admitted
from fabricd.core.trajectory.values import ABSENT, count_of, double, is_text, key_of, same
from fabricd.core.trajectory.violations import Violation

PROTOCOL = "opsle.agent-trajectory-profiler.trajectory/v1"
IDENTITIES = ("run_id", "task_id", "arm_id", "configuration_id")
_TOKENS = (
    "initial_tool_evidence_tokens",
    "escalated_tool_evidence_tokens",
    "final_tool_evidence_tokens",
)


def _ignore(events: list[Any]) -> None:
    """What becomes of a batch when nobody else wants it."""


def account_steps(
    trajectory: Trajectory | None, seen: Callable[[list[Any]], None] = _ignore
) -> Steps[Ledger]:
    """The books of a trajectory, None for what is no object; yields between batches of events.

    Args:
        seen: is given every batch, of a trajectory that cannot be accounted for too.

    Raises:
        BadDocument: an event is no JSON.
    """
    ledger = Ledger()
    if trajectory is None:
        ledger.report("OBJECT_REQUIRED", "/")
        return ledger
    members, events = trajectory.members, trajectory.events
    if members.get("protocol_version") != PROTOCOL:
        ledger.report("UNSUPPORTED_PROTOCOL", "/protocol_version")
    is_open = _opened(ledger, members) and _has_events(ledger, trajectory)
    place = 0
    for batch in () if events is None else events.batches():
        seen(batch)
        if is_open:
            for event in batch:
                if not (isinstance(event, (RawEvent, PacketEvent)) and admitted(ledger, event)):
                    _check_event(ledger, plain_event(event), f"/events/{place}")
                place += 1
        yield
    if is_open:
        _close(ledger, members)
    return ledger


def _opened(ledger: Ledger, members: dict[str, Any]) -> bool:
    run = members.get("run")
    if not is_object(run):
        ledger.report("RUN_REQUIRED", "/run")
        return False
    for name in IDENTITIES:
        if not is_text(run.get(name)):
            ledger.report("IDENTITY_REQUIRED", f"/run/{name}")
    ledger.arm = run.get("arm_id", ABSENT)
    ledger.configuration = run.get("configuration_id", ABSENT)
    return True


def _has_events(ledger: Ledger, trajectory: Trajectory) -> bool:
    if trajectory.events is None:
        ledger.report("EVENTS_REQUIRED", "/events")
    return trajectory.events is not None


def _check_event(ledger: Ledger, event: object, path: str) -> None:
    if not is_object(event):
        ledger.report("EVENT_OBJECT_REQUIRED", path)
        return
    identity = event.get("event_id", ABSENT)
    if not is_text(identity):
        ledger.report("IDENTITY_REQUIRED", f"{path}/event_id")
    key = key_of(identity)
    if key in ledger.event_ids:
        ledger.report("DUPLICATE_EVENT_ID", f"{path}/event_id")
    ledger.event_ids.add(key)
    try:
        _check_type(ledger, event, path)
    except Overflow as overflow:
        ledger.report("INTEGER_OVERFLOW", path, str(overflow))


def _check_type(ledger: Ledger, event: dict[str, Any], path: str) -> None:
    kind = event.get("type")
    if kind == RAW or kind == PACKET:
        check_evidence(ledger, event, path)
    elif kind == ESCALATION:
        check_escalation(ledger, event, path)
    else:
        ledger.report("UNKNOWN_EVENT_TYPE", f"{path}/type")


def _close(ledger: Ledger, members: dict[str, Any]) -> None:
    if "token_measurements" in members:
        _check_tokens(ledger, members["token_measurements"])
    totals = ledger.totals
    try:
        visible = totals.initial_visible, totals.escalated_visible
        totals.final_visible = added(*visible, "final visible bytes")
    except Overflow as overflow:
        ledger.report("INTEGER_OVERFLOW", "/events", str(overflow))
    if "declared_totals" in members:
        _check_declared(ledger, members["declared_totals"])


def _check_tokens(ledger: Ledger, given: object) -> None:
    path = "/token_measurements"
    if not is_object(given):
        ledger.report("OBJECT_REQUIRED", path)
        return
    if given.get("source") != "PROVIDER_RECORDED":
        ledger.report("INVALID_TOKEN_MEASUREMENT_SOURCE", f"{path}/source")
    counts = [count_of(given.get(name)) for name in _TOKENS]
    for name, count in zip(_TOKENS, counts, strict=True):
        if count is None:
            ledger.report("INVALID_MEASUREMENT", f"{path}/{name}")
    initial, escalated, final = counts
    if initial is None or escalated is None or final is None:
        return
    if double(initial + escalated) != final:
        detail = f"{initial} and {escalated} are not {final}"
        ledger.report("TOKEN_COMPONENT_MISMATCH", f"{path}/{_TOKENS[-1]}", detail)


def _check_declared(ledger: Ledger, given: object) -> None:
    if not is_object(given):
        ledger.report("OBJECT_REQUIRED", "/declared_totals")
        return
    totals = ledger.totals
    derived = {
        "escalated_model_visible_bytes": totals.escalated_visible,
        "final_model_visible_bytes": totals.final_visible,
        "initial_model_visible_bytes": totals.initial_visible,
        "initial_raw_available_bytes": totals.initial_raw,
        "raw_available_bytes": totals.raw,
    }
    for name, total in derived.items():
        if not same(given.get(name, ABSENT), total):
            path = f"/declared_totals/{name}"
            ledger.report("DECLARED_TOTAL_MISMATCH", path, f"it is {total}")


def violations_steps(trajectory: Trajectory | None) -> Steps[list[Violation]]:
    """What is wrong with a trajectory, in the order in which it was found."""
    ledger = yield from account_steps(trajectory)
    return ledger.violations
