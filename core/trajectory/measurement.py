"""`measurement/v1`: the figures of a trajectory, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import by_units, string_text, utf8
from fabricd.core.identity import canonical_text
from fabricd.core.steps import Steps
from fabricd.core.trajectory.accounts import account_steps
from fabricd.core.trajectory.documents import Events, Trajectory, items_text
from fabricd.core.trajectory.ledger import Escalation, Ledger, Status, Totals
from fabricd.core.trajectory.rows import Row, rows_of, rows_text
from fabricd.core.trajectory.values import members
from fabricd.core.trajectory.violations import violation_values

PROTOCOL = "opsle.agent-trajectory-profiler.measurement/v1"
MEASURED = "MEASURED"
UNTRUSTED = "UNAVAILABLE_UNTRUSTED_EVIDENCE"
INVALID = "UNAVAILABLE_INVALID_TRAJECTORY"


class Measurement(Struct, frozen=True):
    """A measured trajectory. Its operations are made from the events when they are asked for.

    Attributes:
        head: all members but `measurements`.
        figures: the members of `measurements` but `operations`; None if there are none.
        subsets: by operation, new bytes of raw evidence that escalations have shown.
    """

    head: dict[str, Any]
    figures: dict[str, Any] | None
    events: Events | None
    subsets: dict[object, int]

    @property
    def is_measured(self) -> bool:
        """Whether there are figures."""
        return self.figures is not None

    def operations(self) -> Iterator[Row]:
        """The operations, in order of declaration."""
        for events in () if self.events is None else self.events.batches():
            yield from rows_of(events, self.subsets)[0]

    def value(self) -> dict[str, Any]:
        """The measurement as plain JSON."""
        if self.figures is None:
            return {**self.head, "measurements": None}
        operations = [row.value() for row in self.operations()]
        return {**self.head, "measurements": {**self.figures, "operations": operations}}

    def pieces(self) -> Iterator[bytes]:
        """The canonical text of the measurement, a piece at a time, without a line feed.

        Raises:
            NotCanonical: it holds a number that is not finite.
        """
        if self.figures is None:
            yield utf8(canonical_text(self.value()))
        else:
            inner = _object({**self.figures, "operations": self._operations_text()})
            yield from _object({**self.head, "measurements": inner})

    def _operations_text(self) -> Iterator[bytes]:
        opener = b"["
        for events in () if self.events is None else self.events.batches():
            rows, is_native = rows_of(events, self.subsets)
            if rows:
                yield opener
                yield rows_text(rows, is_native)
                opener = b","
        yield b"[]" if opener == b"[" else b"]"


def measure_steps(trajectory: Trajectory | None) -> Steps[Measurement]:
    """Measure a trajectory, None for what is no object; yields between batches of events.

    Raises:
        BadDocument: an event is no JSON.
        NotCanonical: a number in the trajectory is not finite.
    """
    text = _IdentityText(trajectory)
    ledger = yield from account_steps(trajectory, text.add)
    outer = {} if trajectory is None else trajectory.members
    run = members(outer.get("run"))
    status = UNTRUSTED if ledger.is_untrusted else INVALID if ledger.violations else MEASURED
    head = {
        "arm_id": run.get("arm_id"),
        "configuration_id": run.get("configuration_id"),
        "measurement_status": status,
        "protocol_version": PROTOCOL,
        "run_id": run.get("run_id"),
        "task_id": run.get("task_id"),
        "token_measurements": outer.get("token_measurements"),
        "trajectory_identity": None if trajectory is None else text.identity(),
        "valid": not ledger.violations,
        "violations": violation_values(ledger.violations),
    }
    if trajectory is None or status != MEASURED:
        return Measurement(head, None, None, {})
    subsets = {
        key: operation.subset_bytes
        for key, operation in ledger.operations.items()
        if operation.subset_bytes is not None
    }
    return Measurement(head, _figures(ledger), trajectory.events, subsets)


class _IdentityText:
    """Hashes a trajectory's canonical bytes while its events go by."""

    def __init__(self, trajectory: Trajectory | None) -> None:
        self._state = sha256()
        self._events = 0
        self._members = {} if trajectory is None else trajectory.members
        self._has_events = trajectory is not None and trajectory.events is not None
        names = by_units([*self._members, "events"] if self._has_events else self._members)
        at = names.index("events") if self._has_events else len(names)
        self._opener = "{"
        self._later = names[at:]
        for name in names[:at]:
            self._put(name, canonical_text(self._members[name]))

    def _put(self, name: str, text: str) -> None:
        self._state.update(utf8(f"{self._opener}{string_text(name)}:{text}"))
        self._opener = ","

    def add(self, events: list[Any]) -> None:
        if self._events == 0:
            self._put("events", "[")
        else:
            self._state.update(b",")
        self._state.update(items_text(events))
        self._events += len(events)

    def identity(self) -> str:
        if self._has_events:
            if self._events == 0:
                self._put("events", "[]")
            else:
                self._state.update(b"]")
        for name in self._later[1:] if self._has_events else ():
            self._put(name, canonical_text(self._members[name]))
        self._state.update(b"}\n" if self._opener == "," else b"{}\n")
        return f"sha256:{self._state.hexdigest()}"


def _object(parts: dict[str, Any]) -> Iterator[bytes]:
    """An object's canonical text; a member that is an iterator is its own text."""
    opener = b"{"
    for name in by_units(parts):
        yield opener + utf8(string_text(name)) + b":"
        opener = b","
        part = parts[name]
        if isinstance(part, Iterator):
            yield from part
        else:
            yield utf8(canonical_text(part))
    yield b"}"


def _figures(ledger: Ledger) -> dict[str, Any]:
    totals, escalations = ledger.totals, ledger.escalations.values()
    fulfilled = sum(one.status is Status.FULFILLED for one in escalations)
    unavailable = sum(one.status is Status.UNAVAILABLE for one in escalations)
    return {
        **_bytes(totals),
        "ambiguous_evidence_count": totals.ambiguous,
        "escalation_fulfilled": fulfilled > 0,
        "escalation_fulfilled_count": fulfilled,
        "escalation_requested": len(escalations) > 0,
        "escalation_requested_count": len(escalations),
        "escalation_unavailable": unavailable > 0,
        "escalation_unavailable_count": unavailable,
        "escalations": [_escalation(one) for one in escalations],
        "reducer_requires_escalation": ledger.requires_escalation,
        "retained_evidence_count": totals.retained,
        "suppressed_evidence_count": totals.suppressed,
    }


def _bytes(totals: Totals) -> dict[str, Any]:
    return {
        "deduplicated_reexposure_bytes": totals.escalated_events - totals.escalated_visible,
        "effective_reduction": reduction(totals.raw, totals.final_visible),
        "escalated_event_bytes": totals.escalated_events,
        "escalated_model_visible_bytes": totals.escalated_visible,
        "final_model_visible_bytes": totals.final_visible,
        "final_raw_available_bytes": totals.raw,
        "initial_model_visible_bytes": totals.initial_visible,
        "initial_raw_available_bytes": totals.initial_raw,
        "initial_reduction": reduction(totals.initial_raw, totals.initial_visible),
        "raw_available_bytes": totals.raw,
    }


def reduction(raw: int, visible: int) -> dict[str, Any]:
    """How much less was visible than there was; negative where it was more. Nothing is rounded."""
    avoided = raw - visible
    value = avoided / raw if raw else None
    ratio = {
        "denominator": raw,
        "kind": "FINITE" if raw else "ZERO_RAW_PAYLOAD",
        "numerator": avoided,
        "value": value,
    }
    # The quotient times 100: 100 times the bytes, divided, would round otherwise.
    percentage = None if value is None else value * 100
    return {"bytes_avoided": avoided, "percentage": percentage, "ratio": ratio}


def _escalation(one: Escalation) -> dict[str, Any]:
    terminal = one.terminal
    ended = (
        {**_told(terminal), "source_relation": terminal["source_relation"]} if terminal else None
    )
    return {
        "escalation_id": one.request["escalation_id"],
        "exposure": _exposure(one),
        "operation_id": one.request["operation_id"],
        "request": _told(one.request),
        "status": one.status.value,
        "terminal": ended,
    }


def _told(event: dict[str, Any]) -> dict[str, Any]:
    return {
        "event_id": event["event_id"],
        "reason": event.get("reason"),
        "reason_category": event["reason_category"],
    }


def _exposure(one: Escalation) -> dict[str, Any] | None:
    if one.terminal is None or one.status is not Status.FULFILLED:
        return None
    shown = one.terminal["exposure"]
    size = shown["bytes"]
    return {
        "content_identity": shown["content_identity"],
        "deduplicated_bytes": size if one.is_repeat else 0,
        "event_bytes": size,
        "model_visible_bytes": 0 if one.is_repeat else size,
        "source_available_bytes": shown.get("source_available_bytes"),
        "source_identity": shown.get("source_identity"),
    }
