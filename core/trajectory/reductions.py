"""What a packet of reduced evidence claims of itself, beyond what every event of evidence says."""

from __future__ import annotations

from typing import Any

from fabricd.core.plain import is_list
from fabricd.core.trajectory.ledger import Ledger
from fabricd.core.trajectory.trust import check_validation
from fabricd.core.trajectory.values import ABSENT, is_text, is_true, members, safe_integer

SUFFICIENT = "SUFFICIENT"
NEEDS_RAW = "NEEDS_RAW_EVIDENCE"
PURE = "PURE_REDUCTION"
OVERHEAD = "PACKET_WITH_OVERHEAD"


def check_reduction(
    ledger: Ledger,
    event: dict[str, Any],
    path: str,
    raw_bytes: int | None,
    visible_bytes: int | None,
) -> None:
    """Check what only packets have; both byte counts are None where they were refused."""
    disposition = event.get("disposition", ABSENT)
    if disposition not in (SUFFICIENT, NEEDS_RAW):
        ledger.report("INVALID_DISPOSITION", f"{path}/disposition")
    payload = members(event.get("payload"))
    semantics = payload.get("semantics")
    if semantics not in (PURE, OVERHEAD):
        ledger.report("INVALID_PAYLOAD_SEMANTICS", f"{path}/payload/semantics")
    affected = payload.get("affected_by_ceiling")
    if not isinstance(affected, bool):
        ledger.report("BOOLEAN_REQUIRED", f"{path}/payload/affected_by_ceiling")
    if not isinstance(members(event.get("raw_evidence")).get("locator_present"), bool):
        ledger.report("BOOLEAN_REQUIRED", f"{path}/raw_evidence/locator_present")
    if not isinstance(event.get("reduction_requires_escalation"), bool):
        ledger.report("BOOLEAN_REQUIRED", f"{path}/reduction_requires_escalation")
    if semantics == PURE and raw_bytes is not None and (visible_bytes or 0) > raw_bytes:
        detail = f"{visible_bytes} of {raw_bytes} bytes"
        ledger.report("REDUCED_EXCEEDS_RAW", f"{path}/initial_model_visible/bytes", detail)
    _check_ceiling(ledger, payload.get("ceiling_bytes", ABSENT), affected, visible_bytes, path)
    _check_sufficiency(ledger, event, disposition, path)
    check_validation(ledger, event.get("validation"), disposition, f"{path}/validation")


def _check_ceiling(
    ledger: Ledger, ceiling: object, affected: object, visible_bytes: int | None, path: str
) -> None:
    limit = safe_integer(ceiling)
    if ceiling is not None and (limit is None or limit <= 0):
        ledger.report("INVALID_PAYLOAD_CEILING", f"{path}/payload/ceiling_bytes")
    if visible_bytes is not None and limit is not None and visible_bytes > limit:
        detail = f"{visible_bytes} of {limit} bytes"
        ledger.report("PAYLOAD_CEILING_EXCEEDED", f"{path}/payload", detail)
    if affected is True and ceiling is None:
        ledger.report("MISSING_PAYLOAD_CEILING", f"{path}/payload/ceiling_bytes")


def _check_sufficiency(
    ledger: Ledger, event: dict[str, Any], disposition: object, path: str
) -> None:
    required = is_true(event.get("reduction_requires_escalation", ABSENT))
    if disposition == SUFFICIENT and required:
        ledger.report("SUFFICIENCY_CONTRADICTION", path)
    if disposition == NEEDS_RAW and not required:
        ledger.report("ESCALATION_CONTRADICTION", path)
    reasons, path = event.get("escalation_reasons"), f"{path}/escalation_reasons"
    if not is_list(reasons) or not all(map(is_text, reasons)):
        ledger.report("INVALID_ESCALATION_REASONS", path)
    elif disposition == SUFFICIENT and reasons:
        ledger.report("SUFFICIENCY_REASON_CONTRADICTION", path)
    elif disposition == NEEDS_RAW and not reasons:
        ledger.report("ESCALATION_REASON_MISSING", path)
