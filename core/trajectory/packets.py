"""Events made of what other tools give: a Context Firewall packet with its Decision Evidence."""

from __future__ import annotations

from typing import Any

from fabricd.core.identity import canonical_line, identity
from fabricd.core.javascript import sorted_by_units
from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.escalations import ESCALATION, SUBSET
from fabricd.core.trajectory.evidence import PACKET, RAW
from fabricd.core.trajectory.reductions import OVERHEAD
from fabricd.core.trajectory.trust import (
    TAMPERED,
    UNVERIFIED,
    VALID,
    VALID_UNVERIFIED,
    VERIFIED,
)
from fabricd.core.trajectory.values import ABSENT, double, is_text, members

PACKET_PROTOCOL = "opsle.context-firewall.evidence-packet/v1"
_ALWAYS_VERIFIED = ("reduced_bytes", "semantic_payload_hash", "configuration_identity")
_AMBIGUOUS = ("unclassified", "unclassified_binary")


class BadPacket(ValueError):
    """Raised by `packet_event`: the packet or its validation cannot become an event."""


def packet_event(
    event_id: object,
    arm_id: object,
    configuration_id: object,
    packet: object,
    validation: object,
    packet_bytes: bytes | None = None,
    semantics: object = None,
) -> dict[str, Any]:
    """The event of a packet. A member that the packet does not have is left out.

    Args:
        validation: what Decision Evidence said of the packet.
        packet_bytes: the packet as it was sent; it must be in canonical form.
        semantics: a claim of the caller, not checked here.

    Raises:
        BadPacket: the packet, its bytes or its validation are not what they should be.
        NotCanonical: a number in the packet is not finite.
    """
    whole = _checked(packet, packet_bytes)
    result = _checked_result(validation, packet_bytes is not None)
    evidence, receipt = members(whole["decision_evidence"]), members(whole["receipt"])
    measured, limit = members(receipt["measurements"]), members(receipt.get("payload_limit"))
    raw, reasons = members(receipt.get("raw_evidence")), evidence.get("reason_codes")
    event = {
        "arm_id": arm_id,
        "configuration_id": configuration_id,
        "disposition": evidence.get("disposition", ABSENT),
        "escalation_reasons": [*reasons] if is_list(reasons) else [],
        "event_id": event_id,
        "initial_model_visible": {
            "bytes": measured.get("reduced_bytes", ABSENT),
            "content_identity": identity(whole),
        },
        "operation_id": whole.get("operation_id", ABSENT),
        "payload": {
            "affected_by_ceiling": limit.get("affected", ABSENT),
            "ceiling_bytes": limit.get("requested_bytes"),
            "semantics": OVERHEAD if semantics is None else semantics,
        },
        "raw_evidence": {
            "bytes": measured.get("original_bytes", ABSENT),
            "content_identity": receipt.get("input_hash", ABSENT),
            "locator_present": raw.get("reference") is not None,
        },
        "reducer": _reducer(receipt),
        "reduction_requires_escalation": raw.get("escalation_required") is True,
        "source": _source(receipt),
        "suppression": _suppression(evidence, receipt),
        "type": PACKET,
        "validation": _normalized(result),
    }
    return _present(event)


def _present(event: dict[str, Any]) -> dict[str, Any]:
    """An event without the members that nobody gave."""
    return {
        name: {key: inner for key, inner in value.items() if inner is not ABSENT}
        if is_object(value)
        else value
        for name, value in event.items()
        if value is not ABSENT
    }


def _checked(packet: object, packet_bytes: bytes | None) -> dict[str, Any]:
    if not is_object(packet) or not is_object(packet.get("receipt")):
        raise BadPacket("a packet is an object with a receipt")
    if packet.get("protocol_version") != PACKET_PROTOCOL:
        raise BadPacket(f"the protocol of the packet is not {PACKET_PROTOCOL}")
    has_measurements = is_object(packet["receipt"].get("measurements"))
    if not has_measurements or not is_object(packet.get("decision_evidence")):
        raise BadPacket("the packet has no measurements or no decision evidence")
    if packet_bytes is not None and packet_bytes != canonical_line(packet):
        raise BadPacket("the bytes are not the canonical bytes of the packet")
    return packet


def _checked_result(validation: object, has_bytes: bool) -> dict[str, Any]:
    if not is_object(validation) or not isinstance(validation.get("valid"), bool):
        raise BadPacket("a validation says whether the packet is valid")
    if validation.get("protocol_version") != PACKET_PROTOCOL:
        raise BadPacket("the validation is of another protocol")
    if validation["valid"] and not _is_proven(validation, has_bytes):
        raise BadPacket("the validation calls the packet valid and does not show it")
    return validation


def _is_proven(validation: dict[str, Any], has_bytes: bool) -> bool:
    verification = members(validation.get("verification"))
    serialization = ("VERIFIED",) if has_bytes else ("VERIFIED", "NOT_SUPPLIED")
    return (
        validation.get("structural_valid") is True
        and validation.get("internally_consistent") is True
        and validation.get("classification") in (VALID, VALID_UNVERIFIED)
        and validation.get("violations") == []
        and verification.get("packet_serialization") in serialization
        and all(verification.get(name) == "VERIFIED" for name in _ALWAYS_VERIFIED)
    )


def _reducer(receipt: dict[str, Any]) -> dict[str, Any]:
    configuration, reducer = members(receipt.get("configuration")), members(receipt.get("reducer"))
    return {
        "configuration_identity": configuration.get("identity", ABSENT),
        "name": reducer.get("name", ABSENT),
        "policy_revision": configuration.get("policy_revision", ABSENT),
        "version": reducer.get("version", ABSENT),
    }


def _source(receipt: dict[str, Any]) -> dict[str, Any]:
    source = members(receipt.get("source"))
    return {"id": source.get("id"), "run_id": source.get("run_id")}


def _suppression(evidence: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
    measured = members(receipt["measurements"])
    categories = members(receipt.get("suppressed")).get("categories")
    unclassified = evidence.get("unclassified_evidence")
    ambiguous = len(unclassified) if is_list(unclassified) else _ambiguous(categories)
    return {
        "ambiguous_evidence_count": ambiguous,
        "original_evidence_count": measured.get("original_event_count", ABSENT),
        "retained_evidence_count": measured.get("retained_evidence_count", ABSENT),
        "suppressed_categories": {} if categories is None else categories,
        "suppressed_evidence_count": measured.get("suppressed_evidence_count", ABSENT),
    }


def _ambiguous(categories: object) -> float:
    counts = [members(categories).get(name) for name in _AMBIGUOUS]
    return sum(
        double(count)
        for count in counts
        if isinstance(count, (int, float)) and not isinstance(count, bool)
    )


def _normalized(result: dict[str, Any]) -> dict[str, Any]:
    verification, valid = members(result.get("verification")), result["valid"]
    is_backed = valid and all(
        verification.get(name) == "VERIFIED" for name in ("input_hash", "source_accounting")
    )
    trust = TAMPERED if not valid else VERIFIED if is_backed else UNVERIFIED
    violations = result.get("violations")
    codes = [members(one).get("code") for one in violations] if is_list(violations) else []
    return {
        "classification": _or(result.get("classification"), "UNAVAILABLE"),
        "cryptographic_verification": _or(result.get("cryptographic_verification"), "UNAVAILABLE"),
        "evidence_packet_validated": True,
        "evidence_sufficient": result.get("evidence_sufficient") is True,
        "source_backed_verification_performed": is_backed,
        "structural_valid": result.get("structural_valid") is True,
        "sufficiency": _or(result.get("sufficiency"), "INVALID"),
        "trust": trust,
        "valid": valid,
        "violation_codes": sorted_by_units(filter(is_text, codes)),
    }


def _or(value: object, otherwise: str) -> object:
    return otherwise if value is None else value


def raw_event(
    event_id: object,
    operation_id: object,
    arm_id: object,
    configuration_id: object,
    raw_bytes: object,
    content_identity: object,
    evidence_count: object = 0,
) -> dict[str, Any]:
    """The event of a tool result that was shown as it was."""
    shown = {"bytes": raw_bytes, "content_identity": content_identity}
    event: dict[str, Any] = {
        "arm_id": arm_id,
        "configuration_id": configuration_id,
        "event_id": event_id,
        "initial_model_visible": shown,
        "operation_id": operation_id,
        "raw_evidence": {**shown, "locator_present": True},
        "suppression": {
            "ambiguous_evidence_count": 0,
            "original_evidence_count": evidence_count,
            "retained_evidence_count": evidence_count,
            "suppressed_categories": {},
            "suppressed_evidence_count": 0,
        },
        "type": RAW,
    }
    return _present(event)


def escalation_event(
    event_id: object,
    operation_id: object,
    escalation_id: object,
    status: object,
    reason_category: object,
    reason: object = None,
    exposure: object = None,
    source_relation: object = SUBSET,
) -> dict[str, Any]:
    """The event of one step of an escalation."""
    event = {
        "escalation_id": escalation_id,
        "event_id": event_id,
        "exposure": exposure,
        "operation_id": operation_id,
        "reason": reason,
        "reason_category": reason_category,
        "source_relation": source_relation,
        "status": status,
        "type": ESCALATION,
    }
    return _present(event)
