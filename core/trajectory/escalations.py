"""Events of escalation: raw evidence was asked for, and was shown or was not to be had."""

from __future__ import annotations

from typing import Any

from fabricd.core.plain import is_object
from fabricd.core.trajectory.evidence import register
from fabricd.core.trajectory.ledger import Escalation, Ledger, Operation, Seen, Status, added
from fabricd.core.trajectory.values import ABSENT, count_of, is_text, key_of, number_of

ESCALATION = "raw_evidence_escalation"
SUBSET = "SUBSET_OF_RAW"
ADDITIONAL = "ADDITIONAL_SOURCE"
_STATUSES = {status.value: status for status in Status}


def check_escalation(ledger: Ledger, event: dict[str, Any], path: str) -> None:
    """Check one event and add up what it showed.

    Raises:
        Overflow: a total is too large; what was added before stays added.
    """
    operation = event.get("operation_id", ABSENT)
    if not is_text(operation):
        ledger.report("IDENTITY_REQUIRED", f"{path}/operation_id")
    if not is_text(event.get("escalation_id")):
        ledger.report("IDENTITY_REQUIRED", f"{path}/escalation_id")
    operation_key = key_of(operation)
    if operation_key not in ledger.operations:
        ledger.report("UNKNOWN_OPERATION_ID", f"{path}/operation_id")
    written = event.get("status")
    status = _STATUSES.get(written) if isinstance(written, str) else None
    if status is None:
        ledger.report("INVALID_ESCALATION_STATUS", f"{path}/status")
        return
    if not is_text(event.get("reason_category")):
        ledger.report("ESCALATION_REASON_REQUIRED", f"{path}/reason_category")
    if event.get("source_relation") not in (SUBSET, ADDITIONAL):
        ledger.report("INVALID_SOURCE_RELATION", f"{path}/source_relation")
    if status is Status.REQUESTED:
        _request(ledger, event, operation_key, path)
    else:
        _end(ledger, event, status, operation_key, path)


def _request(ledger: Ledger, event: dict[str, Any], operation: object, path: str) -> None:
    key = key_of(event.get("escalation_id", ABSENT))
    if key in ledger.escalations:
        ledger.report("DUPLICATE_ESCALATION_REQUEST", f"{path}/escalation_id")
        return
    if event.get("exposure", ABSENT) is not None:
        ledger.report("REQUEST_HAS_EXPOSURE", f"{path}/exposure")
    ledger.escalations[key] = Escalation(Status.REQUESTED, operation, event)


def _end(
    ledger: Ledger, event: dict[str, Any], status: Status, operation: object, path: str
) -> None:
    escalation = ledger.escalations.get(key_of(event.get("escalation_id", ABSENT)))
    if escalation is None:
        ledger.report("ESCALATION_REQUEST_MISSING", f"{path}/escalation_id")
        return
    if escalation.operation != operation:
        ledger.report("ESCALATION_OPERATION_MISMATCH", f"{path}/operation_id")
    if escalation.terminal is not None:
        ledger.report("DUPLICATE_ESCALATION_TERMINAL", f"{path}/status")
        return
    escalation.status, escalation.terminal = status, event
    exposure = event.get("exposure", ABSENT)
    if status is Status.UNAVAILABLE:
        if exposure is not None:
            ledger.report("UNAVAILABLE_HAS_EXPOSURE", f"{path}/exposure")
    elif not is_object(exposure):
        ledger.report("FULFILLED_EXPOSURE_REQUIRED", f"{path}/exposure")
    else:
        escalation.is_repeat = not _show(ledger, event, exposure, operation, path)


def _show(
    ledger: Ledger, event: dict[str, Any], exposure: dict[str, Any], operation: object, path: str
) -> bool:
    """Add up an exposure; gives whether its content was new."""
    totals, size = ledger.totals, count_of(exposure.get("bytes"))
    if size is None:
        ledger.report("INVALID_MEASUREMENT", f"{path}/exposure/bytes")
    elif size == 0:
        ledger.report("FULFILLED_EXPOSURE_EMPTY", f"{path}/exposure/bytes")
    else:
        totals.escalated_events = added(totals.escalated_events, size, "escalated event bytes")
    identity, contents = exposure.get("content_identity"), ledger.visible_contents
    seen = register(ledger, contents, operation, identity, size, f"{path}/exposure")
    shown = size if size is not None and seen is Seen.NEW else 0
    totals.escalated_visible = added(totals.escalated_visible, shown, "escalated visible bytes")
    relation, known = event.get("source_relation"), ledger.operations.get(operation)
    if relation == SUBSET and known is not None:
        _take_of_raw(ledger, known, shown, path)
    if relation == ADDITIONAL:
        _add_source(ledger, event, exposure, operation, path)
    return seen is Seen.NEW


def _take_of_raw(ledger: Ledger, operation: Operation, shown: int, path: str) -> None:
    total = added(operation.subset_bytes or 0, shown, "operation escalated bytes")
    operation.subset_bytes = total
    # A declared size that was refused is still compared, as far as it resembles a number.
    available = number_of(operation.raw_bytes)
    if available is not None and total > available:
        detail = f"{total} of {available:.0f} bytes"
        ledger.report("ESCALATION_EXCEEDS_RAW_SOURCE", f"{path}/exposure/bytes", detail)


def _add_source(
    ledger: Ledger, event: dict[str, Any], exposure: dict[str, Any], operation: object, path: str
) -> None:
    if not is_text(event.get("reason")):
        ledger.report("ADDITIONAL_SOURCE_EXPLANATION_REQUIRED", f"{path}/reason")
    path = f"{path}/exposure"
    source = exposure.get("source_identity")
    if not is_text(source):
        ledger.report("IDENTITY_REQUIRED", f"{path}/source_identity")
    size, available = (
        count_of(exposure.get("bytes")),
        count_of(exposure.get("source_available_bytes")),
    )
    if available is None:
        ledger.report("INVALID_MEASUREMENT", f"{path}/source_available_bytes")
    elif size is not None and size > available:
        detail = f"{size} of {available} bytes"
        ledger.report("EXPOSURE_EXCEEDS_ADDITIONAL_SOURCE", f"{path}/bytes", detail)
    seen = register(ledger, ledger.raw_contents, operation, source, available, path)
    if seen is Seen.NEW and available is not None:
        ledger.totals.raw = added(ledger.totals.raw, available, "raw available bytes")
