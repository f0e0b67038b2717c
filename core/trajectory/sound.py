"""The short way through the checks, for events in which there is nothing to find.

`admitted` asks of a whole event what the checks ask one by one. Where it is not sure it adds
nothing up and says so; the event then goes through the checks, which find the fault and name it.
"""

from __future__ import annotations

from fabricd.core.plain import MAX_SAFE_INTEGER
from fabricd.core.trajectory.ledger import Ledger, Operation
from fabricd.core.trajectory.reductions import PURE, SUFFICIENT
from fabricd.core.trajectory.shapes import PacketEvent, RawEvent, Suppression, Validation
from fabricd.core.trajectory.trust import PROVEN


def admitted(ledger: Ledger, event: RawEvent | PacketEvent) -> bool:
    """Add an event up if it has no fault; gives whether it did."""
    operation = event.operation_id
    if (
        event.event_id in ledger.event_ids
        or event.arm_id != ledger.arm
        or event.configuration_id != ledger.configuration
        or operation in ledger.operations
        or not _adds_up(event.suppression)
        or (type(event) is PacketEvent and not _is_coherent(event))
        or not ledger.raw_contents.is_new_to(operation)
        or not ledger.visible_contents.is_new_to(operation)
        or not _fits(ledger, event)
    ):
        return False
    raw, visible = event.raw_evidence, event.initial_model_visible
    ledger.event_ids.add(event.event_id)
    ledger.raw_contents.seen(operation, raw.content_identity, raw.bytes)
    ledger.visible_contents.seen(operation, visible.content_identity, visible.bytes)
    ledger.operations[operation] = Operation(raw.bytes)
    if type(event) is PacketEvent and event.reduction_requires_escalation:
        ledger.requires_escalation = True
    return True


def _fits(ledger: Ledger, event: RawEvent | PacketEvent) -> bool:
    """Add the figures to the totals, if none of these becomes too large."""
    totals, given = ledger.totals, event.suppression
    raw_bytes = event.raw_evidence.bytes
    raw, initial_raw = totals.raw + raw_bytes, totals.initial_raw + raw_bytes
    visible = totals.initial_visible + event.initial_model_visible.bytes
    retained = totals.retained + given.retained_evidence_count
    suppressed = totals.suppressed + given.suppressed_evidence_count
    ambiguous = totals.ambiguous + given.ambiguous_evidence_count
    if max(raw, visible, retained, suppressed, ambiguous) > MAX_SAFE_INTEGER:
        return False
    totals.raw, totals.initial_raw, totals.initial_visible = raw, initial_raw, visible
    totals.retained, totals.suppressed, totals.ambiguous = retained, suppressed, ambiguous
    return True


def _adds_up(given: Suppression) -> bool:
    suppressed, original = given.suppressed_evidence_count, given.original_evidence_count
    return (
        given.retained_evidence_count + suppressed == original
        and given.ambiguous_evidence_count <= original
        and sum(given.suppressed_categories.values()) == suppressed
    )


def _is_coherent(event: PacketEvent) -> bool:
    payload, visible_bytes = event.payload, event.initial_model_visible.bytes
    ceiling, needs = payload.ceiling_bytes, event.disposition != SUFFICIENT
    if payload.affected_by_ceiling if ceiling is None else visible_bytes > ceiling:
        return False
    return (
        event.reduction_requires_escalation is needs
        and bool(event.escalation_reasons) is needs
        and (payload.semantics != PURE or visible_bytes <= event.raw_evidence.bytes)
        and _is_trusted(event.validation, event.disposition)
    )


def _is_trusted(given: Validation, disposition: str) -> bool:
    classification, is_backed = PROVEN.get(given.trust, (None, False))
    return (
        given.classification == classification
        and given.source_backed_verification_performed is is_backed
        and given.valid
        and given.evidence_packet_validated
        and given.structural_valid
        and given.sufficiency == disposition
        and given.evidence_sufficient is (disposition == SUFFICIENT)
    )
