"""What is wrong with a trajectory: a code, a place, and a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

MESSAGES = {
    "ADDITIONAL_SOURCE_EXPLANATION_REQUIRED": "an additional source needs a reason",
    "AMBIGUOUS_COUNT_EXCEEDS_ORIGINAL": "more evidence is ambiguous than there was",
    "ARM_IDENTITY_MISMATCH": "this is not the arm of the run",
    "BOOLEAN_REQUIRED": "this must be true or false",
    "CONFIGURATION_IDENTITY_MISMATCH": "this is not the configuration of the run",
    "CONTENT_IDENTITY_SIZE_MISMATCH": "this content was given with another size before",
    "DECLARED_TOTAL_MISMATCH": "the declared total is not the one derived",
    "DUPLICATE_ESCALATION_REQUEST": "this escalation was requested before",
    "DUPLICATE_ESCALATION_TERMINAL": "this escalation has ended before",
    "DUPLICATE_EVENT_ID": "another event has this id",
    "DUPLICATE_OPERATION_ID": "this operation was declared before",
    "ESCALATION_CONTRADICTION": "raw evidence is needed, yet no escalation is required",
    "ESCALATION_EXCEEDS_RAW_SOURCE": "more was shown of the raw evidence than there is",
    "ESCALATION_OPERATION_MISMATCH": "the escalation was requested for another operation",
    "ESCALATION_REASON_MISSING": "raw evidence is needed, and no reason says why",
    "ESCALATION_REASON_REQUIRED": "a reason category is needed",
    "ESCALATION_REQUEST_MISSING": "the escalation ends without a request",
    "EVENTS_REQUIRED": "events must be an array",
    "EVENT_OBJECT_REQUIRED": "an event must be an object",
    "EVIDENCE_ACCOUNTING_MISMATCH": "retained and suppressed evidence do not add up",
    "EXPOSURE_EXCEEDS_ADDITIONAL_SOURCE": "more was shown than the source holds",
    "FULFILLED_EXPOSURE_EMPTY": "a fulfilled escalation must show something",
    "FULFILLED_EXPOSURE_REQUIRED": "a fulfilled escalation needs an exposure",
    "IDENTITY_REQUIRED": "a text that is not empty is needed",
    "INCOHERENT_VALIDATION_STATE": "the validation contradicts itself",
    "INTEGER_OVERFLOW": "a total is beyond 2^53-1",
    "INVALID_DISPOSITION": "the disposition is not one of the two there are",
    "INVALID_ESCALATION_REASONS": "reasons must be an array of texts, none of them empty",
    "INVALID_ESCALATION_STATUS": "the status is not one of the three there are",
    "INVALID_MEASUREMENT": "a whole number from 0 to 2^53-1 is needed",
    "INVALID_PAYLOAD_CEILING": "the ceiling must be null or a positive whole number",
    "INVALID_PAYLOAD_SEMANTICS": "the semantics are not one of the two there are",
    "INVALID_SOURCE_RELATION": "the source relation is not one of the two there are",
    "INVALID_TOKEN_MEASUREMENT_SOURCE": "tokens must be recorded by the provider",
    "MISSING_PAYLOAD_CEILING": "a ceiling took effect that is not given",
    "OBJECT_REQUIRED": "an object is needed",
    "PAYLOAD_CEILING_EXCEEDED": "more is visible than the ceiling allows",
    "REDUCED_EXCEEDS_RAW": "a pure reduction cannot be larger than the raw evidence",
    "REQUEST_HAS_EXPOSURE": "a request shows nothing: its exposure must be null",
    "RUN_REQUIRED": "run must be an object",
    "SUFFICIENCY_CONTRADICTION": "the evidence suffices, yet an escalation is required",
    "SUFFICIENCY_REASON_CONTRADICTION": "the evidence suffices, yet reasons to escalate are given",
    "SUPPRESSION_CATEGORY_TOTAL_MISMATCH": "the categories do not add up to what was suppressed",
    "TOKEN_COMPONENT_MISMATCH": "initial and escalated tokens do not add up to the final ones",
    "UNAVAILABLE_HAS_EXPOSURE": "what is unavailable shows nothing: its exposure must be null",
    "UNKNOWN_EVENT_TYPE": "there is no such type of event",
    "UNKNOWN_OPERATION_ID": "no evidence was declared for this operation so far",
    "UNSUPPORTED_PROTOCOL": "this is not trajectory/v1",
    "UNTRUSTED_EVIDENCE_MEASUREMENTS": "figures of evidence that is not valid are not used",
    "VALIDATION_REQUIRED": "a validation object is needed",
    "VALIDATION_SUFFICIENCY_MISMATCH": "the validation and the disposition disagree",
}


class Violation(Struct, frozen=True, gc=False):
    """One finding. The path is slash-joined and not escaped; `/` is the whole document."""

    code: str
    message: str
    path: str


def violation_values(violations: Iterable[Violation]) -> list[dict[str, Any]]:
    """Violations as plain JSON."""
    return [{"code": v.code, "message": v.message, "path": v.path} for v in violations]
