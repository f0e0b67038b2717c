"""A run as `trajectory/v1`, written in pieces: no more than an event is held as a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from fabricd.core.identity import canonical_text
from fabricd.core.trajectory.accounts import PROTOCOL
from fabricd.core.trajectory.evidence import RAW
from fabricd.core.trajectory.packets import escalation_event
from fabricd.core.trajectory.sessions.joining import Run
from fabricd.core.trajectory.sessions.results import Measured, Result

_BATCH = 256
_REASON = "RE_READ"
_SUPPRESSION: dict[str, Any] = {
    "ambiguous_evidence_count": 0,
    "original_evidence_count": 0,
    "retained_evidence_count": 0,
    "suppressed_categories": {},
    "suppressed_evidence_count": 0,
}


class Named(Struct, frozen=True):
    """What a trajectory says of its run beyond what the logs say."""

    arm: str
    task: str | None = None


def configuration_of(run: Run) -> str:
    """The agent and its version, where the log names one."""
    return f"{run.agent} {run.versions[0]}" if run.versions else run.agent


def pieces(run: Run, named: Named) -> Iterator[bytes]:
    """The line of canonical JSON."""
    about = {
        "arm_id": named.arm,
        "configuration_id": configuration_of(run),
        "run_id": run.session,
        "task_id": run.session if named.task is None else named.task,
    }
    parts = ['{"events":[']
    comma = ""
    for event in _events(run, about):
        parts.append(comma + canonical_text(event))
        comma = ","
        if len(parts) == _BATCH:
            yield "".join(parts).encode()
            parts.clear()
    tail = canonical_text({"protocol_version": PROTOCOL, "run": about})
    yield "".join((*parts, "],", tail[1:], "\n")).encode()


def _events(run: Run, about: dict[str, str]) -> Iterator[dict[str, Any]]:
    operations = _Operations()
    number = 0
    for result in run.results:
        told = operations.told(result)
        made = [_raw(result, told.operation, about)] if told.again is None else _again(told)
        for event in made:
            number += 1
            yield {**event, "event_id": f"event-{number}"}


class _Told(Struct, frozen=True):
    """The operation that a result belongs to; of one that shows an earlier one, what and which."""

    operation: str
    again: Measured | None = None
    repetition: int = 0


class _Operations:
    """The operations so far, and which of them were shown cut."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        # The last number behind a name: whatever is below it is taken.
        self._numbers: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._cut: dict[tuple[bytes, bytes], str] = {}

    def told(self, result: Result) -> _Told:
        """What a result is: an operation of its own, or the rest of an earlier one."""
        all_of_it = result.full or result.shown
        place = (result.asked, all_of_it.digest)
        if result.asked and not result.is_cut and not result.is_absent:
            earlier = self._cut.get(place)
            if earlier is not None:
                self._counts[earlier] = self._counts.get(earlier, 0) + 1
                return _Told(earlier, all_of_it, self._counts[earlier])
        name = self._name(result)
        if result.asked and result.is_cut and result.full is not None:
            self._cut.setdefault(place, name)
        return _Told(name)

    def _name(self, result: Result) -> str:
        base = name = result.call_id or result.tool or "call"
        again = self._numbers.get(base, 1)
        while name in self._names:
            again += 1
            name = f"{base}#{again}"
        self._numbers[base] = again
        self._names.add(name)
        return name


def _raw(result: Result, operation: str, about: dict[str, str]) -> dict[str, Any]:
    all_of_it = result.full or result.shown
    return {
        "arm_id": about["arm_id"],
        "configuration_id": about["configuration_id"],
        "initial_model_visible": _evidence(result.shown),
        "operation_id": operation,
        "raw_evidence": {**_evidence(all_of_it), "locator_present": result.full is not None},
        "suppression": _SUPPRESSION,
        "type": RAW,
    }


def _again(told: _Told) -> list[dict[str, Any]]:
    exposure = None if told.again is None else _evidence(told.again)
    name = f"{told.operation}/re-read-{told.repetition}"
    return [
        escalation_event("", told.operation, name, status, _REASON, exposure=shown)
        for status, shown in (("REQUESTED", None), ("FULFILLED", exposure))
    ]


def _evidence(text: Measured) -> dict[str, Any]:
    return {"bytes": text.size, "content_identity": text.identity}
