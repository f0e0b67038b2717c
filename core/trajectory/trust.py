"""Whether a packet's evidence was validated, and whether what is said about that is coherent."""

from __future__ import annotations

from typing import Any

from fabricd.core.plain import is_object
from fabricd.core.trajectory.ledger import Ledger
from fabricd.core.trajectory.values import ABSENT, members, same

VERIFIED = "SOURCE_BACKED_VERIFIED"
UNVERIFIED = "STRUCTURALLY_VALID_UNVERIFIED_SOURCE"
TAMPERED = "INVALID_OR_TAMPERED"
VALID = "VALID"
VALID_UNVERIFIED = "VALID_WITH_UNVERIFIED_SOURCE"
PROVEN = {VERIFIED: (VALID, True), UNVERIFIED: (VALID_UNVERIFIED, False)}


def check_validation(ledger: Ledger, given: object, disposition: object, path: str) -> None:
    """Check the normalized validation of a packet; untrusted evidence marks the whole ledger."""
    validation = members(given)
    sufficient = disposition == "SUFFICIENT"
    if not is_object(given):
        ledger.report("VALIDATION_REQUIRED", path)
    elif not _is_coherent_valid(validation, disposition) and not _is_coherent_invalid(validation):
        ledger.report("INCOHERENT_VALIDATION_STATE", path)
    valid = validation.get("valid") is True
    if not valid or validation.get("trust") == TAMPERED:
        ledger.is_untrusted = True
        ledger.report("UNTRUSTED_EVIDENCE_MEASUREMENTS", path)
    if valid and validation.get("evidence_sufficient") is not sufficient:
        ledger.report("VALIDATION_SUFFICIENCY_MISMATCH", path)


def _is_coherent_valid(validation: dict[str, Any], disposition: object) -> bool:
    trust = validation.get("trust")
    if not isinstance(trust, str) or trust not in PROVEN:
        return False
    classification, is_backed = PROVEN[trust]
    return (
        validation.get("valid") is True
        and validation.get("evidence_packet_validated") is True
        and validation.get("structural_valid") is True
        and validation.get("classification") == classification
        and validation.get("source_backed_verification_performed") is is_backed
        and validation.get("cryptographic_verification") in ("PARTIAL", "VERIFIED")
        and same(validation.get("sufficiency", ABSENT), disposition)
        and validation.get("evidence_sufficient") is (disposition == "SUFFICIENT")
        and validation.get("violation_codes") == []
    )


def _is_coherent_invalid(validation: dict[str, Any]) -> bool:
    return (
        validation.get("valid") is False
        and validation.get("trust") == TAMPERED
        and validation.get("evidence_sufficient") is False
        and validation.get("sufficiency") == "INVALID"
        and validation.get("classification") not in (VALID, VALID_UNVERIFIED)
    )
