"""Events of evidence: what a tool gave, and how much of it was shown at first."""

from __future__ import annotations

from typing import Any

from fabricd.core.trajectory.ledger import Ledger, Operation, Register, Seen, added
from fabricd.core.trajectory.reductions import check_reduction
from fabricd.core.trajectory.suppression import check_suppression
from fabricd.core.trajectory.values import ABSENT, count_of, is_text, is_true, key_of, members, same

RAW = "raw_tool_evidence"
PACKET = "context_firewall_reduction"


def check_evidence(ledger: Ledger, event: dict[str, Any], path: str) -> None:
    """Check one event and add it up.

    Raises:
        Overflow: a total is too large; what was added before stays added.
    """
    operation = event.get("operation_id", ABSENT)
    if not is_text(operation):
        ledger.report("IDENTITY_REQUIRED", f"{path}/operation_id")
    _check_run(ledger, event, path)
    key = key_of(operation)
    if key in ledger.operations:
        ledger.report("DUPLICATE_OPERATION_ID", f"{path}/operation_id")
        return
    raw = members(event.get("raw_evidence"))
    visible = members(event.get("initial_model_visible"))
    raw_bytes, visible_bytes = count_of(raw.get("bytes")), count_of(visible.get("bytes"))
    _add_bytes(ledger, key, (raw, raw_bytes), (visible, visible_bytes), path)
    counts = check_suppression(ledger, event, path)
    if event["type"] == PACKET:
        check_reduction(ledger, event, path, raw_bytes, visible_bytes)
    ledger.operations[key] = Operation(raw.get("bytes", ABSENT))
    if is_true(event.get("reduction_requires_escalation", ABSENT)):
        ledger.requires_escalation = True
    totals = ledger.totals
    if counts.retained:
        totals.retained = added(totals.retained, counts.retained, "retained_evidence_count")
    if counts.suppressed:
        totals.suppressed = added(totals.suppressed, counts.suppressed, "suppressed_evidence_count")
    if counts.ambiguous:
        totals.ambiguous = added(totals.ambiguous, counts.ambiguous, "ambiguous_evidence_count")


def _check_run(ledger: Ledger, event: dict[str, Any], path: str) -> None:
    if not same(event.get("arm_id", ABSENT), ledger.arm):
        ledger.report("ARM_IDENTITY_MISMATCH", f"{path}/arm_id")
    if not same(event.get("configuration_id", ABSENT), ledger.configuration):
        ledger.report("CONFIGURATION_IDENTITY_MISMATCH", f"{path}/configuration_id")


def _add_bytes(
    ledger: Ledger,
    operation: object,
    raw: tuple[dict[str, Any], int | None],
    visible: tuple[dict[str, Any], int | None],
    path: str,
) -> None:
    raw_bytes, visible_bytes = raw[1], visible[1]
    raw_path, visible_path = f"{path}/raw_evidence", f"{path}/initial_model_visible"
    if raw_bytes is None:
        ledger.report("INVALID_MEASUREMENT", f"{raw_path}/bytes")
    if visible_bytes is None:
        ledger.report("INVALID_MEASUREMENT", f"{visible_path}/bytes")
    contents = ledger.raw_contents
    register(ledger, contents, operation, raw[0].get("content_identity"), raw_bytes, raw_path)
    identity = visible[0].get("content_identity")
    contents = ledger.visible_contents
    seen = register(ledger, contents, operation, identity, visible_bytes, visible_path)
    totals = ledger.totals
    if seen is Seen.NEW and visible_bytes:
        total = added(totals.initial_visible, visible_bytes, "initial visible bytes")
        totals.initial_visible = total
    if raw_bytes:
        totals.raw = added(totals.raw, raw_bytes, "raw available bytes")
        totals.initial_raw = added(totals.initial_raw, raw_bytes, "initial raw available bytes")


def register(
    ledger: Ledger,
    contents: Register,
    operation: object,
    identity: object,
    size: int | None,
    path: str,
) -> Seen | None:
    """Register a content under an operation; None where its identity or size is none."""
    if not is_text(identity):
        ledger.report("IDENTITY_REQUIRED", f"{path}/content_identity")
    if size is None:
        ledger.report("INVALID_MEASUREMENT", f"{path}/bytes")
    if size is None or not is_text(identity):
        return None
    seen = contents.seen(operation, identity, size)
    if seen is Seen.OTHER_SIZE:
        ledger.report("CONTENT_IDENTITY_SIZE_MISMATCH", path)
    return seen
