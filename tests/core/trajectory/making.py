"""Trajectories made up: builders of sound events, and strategies over them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from hypothesis import strategies as st

from fabricd.core.steps import finish
from fabricd.core.trajectory.accounts import PROTOCOL, violations_steps
from fabricd.core.trajectory.documents import read_trajectory, trajectory_of
from fabricd.core.trajectory.measurement import Measurement, measure_steps
from fabricd.core.trajectory.packets import escalation_event, raw_event
from fabricd.core.trajectory.violations import Violation

ARM, CONFIGURATION = "arm-a", "cfg-1"
RUN = {"arm_id": ARM, "configuration_id": CONFIGURATION, "run_id": "run-1", "task_id": "task-1"}


def identity_of(text: str) -> str:
    """A content identity."""
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def raw(operation: str, size: int = 100, count: int = 3) -> dict[str, Any]:
    """A result that was shown whole."""
    content = identity_of(operation)
    return raw_event(f"{operation}:ev", operation, ARM, CONFIGURATION, size, content, count)


def packet(operation: str, raw_bytes: int = 1000, visible: int = 300) -> dict[str, Any]:
    """A result that was shown as a packet, sufficient and verified."""
    event = raw(operation, raw_bytes, 5)
    return {
        **event,
        "disposition": "SUFFICIENT",
        "escalation_reasons": [],
        "initial_model_visible": {
            "bytes": visible,
            "content_identity": identity_of(f"{operation} packet"),
        },
        "payload": {
            "affected_by_ceiling": False,
            "ceiling_bytes": None,
            "semantics": "PACKET_WITH_OVERHEAD",
        },
        "reducer": {
            "configuration_identity": "sha256:c",
            "name": "r",
            "policy_revision": "p/v1",
            "version": "1",
        },
        "reduction_requires_escalation": False,
        "source": {"id": "s", "run_id": None},
        "suppression": {
            "ambiguous_evidence_count": 1,
            "original_evidence_count": 5,
            "retained_evidence_count": 2,
            "suppressed_categories": {"structure": 1, "successful_test": 2},
            "suppressed_evidence_count": 3,
        },
        "type": "context_firewall_reduction",
        "validation": {
            "classification": "VALID",
            "cryptographic_verification": "VERIFIED",
            "evidence_packet_validated": True,
            "evidence_sufficient": True,
            "source_backed_verification_performed": True,
            "structural_valid": True,
            "sufficiency": "SUFFICIENT",
            "trust": "SOURCE_BACKED_VERIFIED",
            "valid": True,
            "violation_codes": [],
        },
    }


def asked(operation: str, name: str = "e1") -> dict[str, Any]:
    """A request for raw evidence."""
    return escalation_event(f"{name}:ask", operation, name, "REQUESTED", "DETAIL")


def shown(operation: str, name: str = "e1", size: int = 10, content: str = "") -> dict[str, Any]:
    """A request that was fulfilled from the raw evidence."""
    exposure = {"bytes": size, "content_identity": identity_of(content or f"{operation} {name}")}
    return escalation_event(f"{name}:end", operation, name, "FULFILLED", "DETAIL", None, exposure)


def missed(operation: str, name: str = "e1") -> dict[str, Any]:
    """A request for what was not to be had."""
    return escalation_event(f"{name}:end", operation, name, "UNAVAILABLE", "GONE")


def trajectory(*events: Any, **more: Any) -> dict[str, Any]:
    """A trajectory of some events."""
    return {"protocol_version": PROTOCOL, "run": {**RUN}, "events": [*events], **more}


def measured(value: Any) -> Measurement:
    """The measurement of a decoded trajectory."""
    return finish(measure_steps(trajectory_of(value)))


def read(data: bytes) -> Measurement:
    """The measurement of a document."""
    return finish(measure_steps(read_trajectory(data)))


def found(value: Any) -> list[tuple[str, str]]:
    """Codes and paths of what is wrong with a decoded trajectory."""
    return pairs(finish(violations_steps(trajectory_of(value))))


def pairs(violations: list[Violation]) -> list[tuple[str, str]]:
    """Codes and paths of violations."""
    return [(violation.code, violation.path) for violation in violations]


def written(value: Any) -> bytes:
    """A document."""
    return json.dumps(value).encode()


@dataclass(frozen=True)
class Part:
    """The events of one operation, in order. Parts of other operations may stand between them."""

    events: tuple[dict[str, Any], ...]


_SIZES = st.integers(0, 2000) | st.sampled_from([2**40, 2**53 - 1])
_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


@st.composite
def parts(draw: st.DrawFn, number: int) -> Part:
    """A sound operation with up to three escalations."""
    operation = f"{draw(_NAMES)}-{number}"
    size = draw(st.integers(1, 2000))
    if draw(st.booleans()):
        event = packet(operation, size, draw(st.integers(0, 3000)))
    else:
        event = raw(operation, size, draw(st.integers(0, 9)))
    event["suppression"]["suppressed_categories"] |= draw(
        st.dictionaries(_NAMES, st.just(0), max_size=2)
    )
    if draw(st.booleans()):
        event["more"] = draw(st.sampled_from([1, 1.0, 1.5, "x", [None], {"10": 1, "9": 2}]))
    events, left = [event], size
    for index in range(draw(st.integers(0, 3))):
        name = f"{operation}/{index}"
        events.append(asked(operation, name))
        piece = draw(st.integers(1, 300))
        if draw(st.booleans()):
            events.append(missed(operation, name))
        elif piece <= left:
            left -= piece
            events.append(shown(operation, name, piece))
    return Part(tuple(events))


@st.composite
def several_parts(draw: st.DrawFn) -> list[Part]:
    """Operations of one trajectory."""
    return [draw(parts(number)) for number in range(draw(st.integers(0, 5)))]


@st.composite
def interleaved(draw: st.DrawFn, given: list[Part]) -> list[dict[str, Any]]:
    """The events of all parts in some order that keeps that of each part."""
    waiting = [list(part.events) for part in given]
    events: list[dict[str, Any]] = []
    while any(waiting):
        chosen = draw(st.sampled_from([queue for queue in waiting if queue]))
        events.append(chosen.pop(0))
    return events
