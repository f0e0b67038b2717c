"""What each code means, and what to do about it: for the person who wrote the trajectory."""

from __future__ import annotations

EXPLANATIONS = {
    "ADDITIONAL_SOURCE_EXPLANATION_REQUIRED": (
        "Evidence from a source that was not reduced counts as available only with a reason that "
        "says why it was needed. Put a text into `reason` of the event that fulfils the escalation."
    ),
    "AMBIGUOUS_COUNT_EXCEEDS_ORIGINAL": (
        "Ambiguous evidence is part of the original evidence, so there cannot be more of it."
    ),
    "ARM_IDENTITY_MISMATCH": (
        "A trajectory is of one arm: `arm_id` of each piece of evidence repeats that of the run, "
        "as the same type. Events of another arm belong into a file of their own."
    ),
    "BOOLEAN_REQUIRED": "A packet says this outright: true or false, not null and not a text.",
    "CONFIGURATION_IDENTITY_MISMATCH": (
        "A trajectory is of one configuration: `configuration_id` of each piece of evidence "
        "repeats that of the run, as the same type."
    ),
    "CONTENT_IDENTITY_SIZE_MISMATCH": (
        "Within an operation an identity stands for one content, and that has one size. Hash what "
        "was really shown, or correct the bytes."
    ),
    "DECLARED_TOTAL_MISMATCH": (
        "All five declared totals must be there and equal what the events add up to. Correct the "
        "number, or leave out `declared_totals`."
    ),
    "DUPLICATE_ESCALATION_REQUEST": (
        "An escalation is requested once. What is asked for again gets an `escalation_id` of its "
        "own."
    ),
    "DUPLICATE_ESCALATION_TERMINAL": (
        "An escalation ends once, as FULFILLED or as UNAVAILABLE, and nothing follows."
    ),
    "DUPLICATE_EVENT_ID": "No two events of a trajectory share an id; missing ids are alike too.",
    "DUPLICATE_OPERATION_ID": (
        "An operation has one piece of evidence, and this one adds nothing. Use another "
        "`operation_id`, or an escalation if more of the same evidence was shown later."
    ),
    "ESCALATION_CONTRADICTION": (
        "A disposition of NEEDS_RAW_EVIDENCE goes with `reduction_requires_escalation` true."
    ),
    "ESCALATION_EXCEEDS_RAW_SOURCE": (
        "The new contents shown from the raw evidence are together larger than it. Overlapping "
        "pieces, or ones that came from elsewhere (ADDITIONAL_SOURCE), are the usual causes."
    ),
    "ESCALATION_OPERATION_MISMATCH": (
        "The event that ends an escalation names the operation that its request named."
    ),
    "ESCALATION_REASON_MISSING": (
        "A packet that needs raw evidence gives at least one reason in `escalation_reasons`."
    ),
    "ESCALATION_REASON_REQUIRED": (
        "Every event of an escalation has a `reason_category`, a text of your own choice."
    ),
    "ESCALATION_REQUEST_MISSING": (
        "FULFILLED and UNAVAILABLE follow a REQUESTED event with the same `escalation_id`. Check "
        "the order of events and the spelling of the id."
    ),
    "EVENTS_REQUIRED": "`events` is an array; it may be empty, but not missing or null.",
    "EVENT_OBJECT_REQUIRED": "Each entry of `events` is an object.",
    "EVIDENCE_ACCOUNTING_MISMATCH": (
        "Every piece of the original evidence was either retained or suppressed: the two counts "
        "must add up to the original one."
    ),
    "EXPOSURE_EXCEEDS_ADDITIONAL_SOURCE": (
        "No more can be shown of an additional source than `source_available_bytes`."
    ),
    "FULFILLED_EXPOSURE_EMPTY": (
        "A fulfilled escalation showed at least one byte. If nothing could be shown, it ended as "
        "UNAVAILABLE."
    ),
    "FULFILLED_EXPOSURE_REQUIRED": (
        "A fulfilled escalation has an `exposure` with `bytes` and `content_identity`."
    ),
    "IDENTITY_REQUIRED": (
        "Ids and content identities are texts of at least one character; numbers and null are not. "
        "In an additional source this is about `source_identity`, reported once more at "
        "`content_identity`."
    ),
    "INCOHERENT_VALIDATION_STATE": (
        "The members of `validation` must fit one of three states: valid and verified against the "
        "source, valid with an unverified source, or tampered. Do not write it by hand; take what "
        "the validator says."
    ),
    "INTEGER_OVERFLOW": (
        "A sum is beyond 9,007,199,254,740,991. What the event would have added after that point "
        "is left out, so later events may find its operation unknown."
    ),
    "INVALID_DISPOSITION": "`disposition` is SUFFICIENT or NEEDS_RAW_EVIDENCE.",
    "INVALID_ESCALATION_REASONS": (
        "`escalation_reasons` is an array, empty if there are none, of texts that are not empty."
    ),
    "INVALID_ESCALATION_STATUS": "`status` is REQUESTED, FULFILLED or UNAVAILABLE.",
    "INVALID_MEASUREMENT": (
        "Bytes, counts and tokens are whole numbers from 0 to 9,007,199,254,740,991. A bad byte "
        "count is reported twice: where it is read, and where its content is registered."
    ),
    "INVALID_PAYLOAD_CEILING": (
        "`ceiling_bytes` is null where there is no ceiling, else a positive whole number; it may "
        "not be missing."
    ),
    "INVALID_PAYLOAD_SEMANTICS": "`semantics` is PURE_REDUCTION or PACKET_WITH_OVERHEAD.",
    "INVALID_SOURCE_RELATION": (
        "`source_relation` is SUBSET_OF_RAW or ADDITIONAL_SOURCE, in requests too."
    ),
    "INVALID_TOKEN_MEASUREMENT_SOURCE": (
        "Only tokens that the provider recorded are taken; `source` says PROVIDER_RECORDED. "
        "Estimates have no place here."
    ),
    "MISSING_PAYLOAD_CEILING": (
        "`affected_by_ceiling` says that a ceiling cut the packet, so `ceiling_bytes` must say "
        "which."
    ),
    "OBJECT_REQUIRED": "An object is expected here, not null, a text or an array.",
    "PAYLOAD_CEILING_EXCEEDED": (
        "More bytes are visible than `ceiling_bytes` allows: either the ceiling was not honored or "
        "one of the numbers is wrong."
    ),
    "REDUCED_EXCEEDS_RAW": (
        "A pure reduction only leaves out, so it cannot grow. A packet that adds fields of its own "
        "is PACKET_WITH_OVERHEAD."
    ),
    "REQUEST_HAS_EXPOSURE": ("A request shows nothing yet. Its `exposure` must be there and null."),
    "RUN_REQUIRED": (
        "`run` is an object with `run_id`, `task_id`, `arm_id` and `configuration_id`. Nothing "
        "else can be checked without it."
    ),
    "SUFFICIENCY_CONTRADICTION": (
        "A disposition of SUFFICIENT goes with `reduction_requires_escalation` false."
    ),
    "SUFFICIENCY_REASON_CONTRADICTION": (
        "A packet whose evidence suffices gives no reasons to escalate: an empty array."
    ),
    "SUPPRESSION_CATEGORY_TOTAL_MISMATCH": (
        "The counts in `suppressed_categories` must add up to `suppressed_evidence_count`."
    ),
    "TOKEN_COMPONENT_MISMATCH": (
        "`final_tool_evidence_tokens` is the sum of the initial and the escalated ones."
    ),
    "UNAVAILABLE_HAS_EXPOSURE": (
        "Where evidence was not to be had, nothing was shown. `exposure` must be there and null."
    ),
    "UNKNOWN_EVENT_TYPE": (
        "Events are raw_tool_evidence, context_firewall_reduction or raw_evidence_escalation."
    ),
    "UNKNOWN_OPERATION_ID": (
        "An escalation follows the evidence it is about. Check the order of events, and whether "
        "that evidence was itself refused."
    ),
    "UNSUPPORTED_PROTOCOL": (
        "`protocol_version` is opsle.agent-trajectory-profiler.trajectory/v1, letter by letter."
    ),
    "UNTRUSTED_EVIDENCE_MEASUREMENTS": (
        "The packet was found tampered or was never found valid, so the whole trajectory has no "
        "figures. Leave the operation out, or have the packet made anew."
    ),
    "VALIDATION_REQUIRED": (
        "A packet carries the `validation` object that Decision Evidence gave for it."
    ),
    "VALIDATION_SUFFICIENCY_MISMATCH": (
        "`evidence_sufficient` is true exactly where the disposition is SUFFICIENT."
    ),
}
