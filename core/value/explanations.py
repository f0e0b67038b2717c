"""What each code means, and what to do about it: for the person who wrote the document."""

from __future__ import annotations

EXPLANATIONS = {
    "AGGREGATE_OVERFLOW": (
        "Totals are exact up to 2^53-1; money must stay finite. Summarize fewer records at once."
    ),
    "ARRAY_REQUIRED": "Write an array here, an empty one if there is nothing to list.",
    "ASSUMPTIONS_EXCEED_CLASS": (
        "A figure that needs assumptions is ESTIMATED or MODELED. Lower the class, or remove the "
        "assumptions if it does without."
    ),
    "BOOLEAN_REQUIRED": "Write true or false; a text, a number or null is neither.",
    "CONTROLLED_EXPERIMENT_REQUIRED": (
        "An EXPERIMENTAL figure has a `derivation` with an `experiment_id` and the "
        "`comparability` CONTROLLED."
    ),
    "COUNTERFACTUAL_CLASS_MISUSE": (
        "Nobody can observe a failure that did not happen. Prevented failures are MODELED or "
        "EXPERIMENTAL, never EXACT or OBSERVED."
    ),
    "DELTA_MISMATCH": (
        "Delta is result minus baseline, to 1e-12, computed in doubles. Take the difference that "
        "a program prints, not the decimal one."
    ),
    "DELTA_WITHOUT_NUMERIC_STATE": (
        "There is a difference of two numbers only. Where baseline or result is none, delta is "
        "null."
    ),
    "DERIVATION_REQUIRED": (
        "An ESTIMATED or MODELED figure has a `derivation` that names its `method` and at least "
        "one assumption."
    ),
    "DUPLICATE_EVENT_ID": "Give each event of the record an id of its own.",
    "DUPLICATE_EVIDENCE_ID": "Give each entry of the evidence an id of its own.",
    "DUPLICATE_MEASUREMENT_ID": "Give each measurement of the receipt an id of its own.",
    "DUPLICATE_MECHANISM": "Declare a mechanism once. Null and the empty text are one here.",
    "DUPLICATE_RUN_ID": "Records of one summary are of different runs. Leave out one of the two.",
    "DUPLICATE_RUN_RECORD": "The same record was given twice. Leave out one of the two.",
    "DUPLICATE_VALUE_RECEIPT": (
        "Two receipts are one if nothing but `observed_at` differs. Leave out one of the two; two "
        "events that are alike need different operation ids."
    ),
    "EVENT_ID_REQUIRED": "Write the event's id as a text of at least one character.",
    "EVIDENCE_REFS_REQUIRED": "List the ids of the evidence that the figure rests on.",
    "EVIDENCE_REQUIRED": "A receipt without evidence claims nothing. List at least one entry.",
    "EXACT_REQUIRES_VERIFIED_SOURCE": (
        "Set `source_verification` to VERIFIED if the source was verified, else the class to "
        "OBSERVED."
    ),
    "EXPERIMENTAL_IN_OBSERVATIONAL_RECORD": (
        "A record tells of one run, an experiment compares several. Keep experimental receipts "
        "elsewhere. Receipts are numbered here in the order of their identities."
    ),
    "INCOMPATIBLE_AGGREGATE_STATE": (
        "Figures of one partition all have a baseline, or none has. Use another measurement id, "
        "or mark one kind as not safe to add."
    ),
    "INVALID_AGGREGATION": (
        'Write {"safe": true, "method": "SUM"} for what may be added, else '
        '{"safe": false, "method": null}.'
    ),
    "INVALID_BOOLEAN_MEASUREMENT": "In the unit boolean, both states are true, false or null.",
    "INVALID_COMPARABILITY": "Write NOT_APPLICABLE, NOT_COMPARABLE or CONTROLLED.",
    "INVALID_DERIVATION": "Write null where a figure is not derived, else an object.",
    "INVALID_DIRECTION": (
        "Write HIGHER_IS_VALUE, LOWER_IS_VALUE, NEUTRAL, PROTECTION_SIGNAL or NOT_APPLICABLE."
    ),
    "INVALID_EVENT_TYPE": "Write ESCALATION, FAILURE or RECOVERY.",
    "INVALID_EVIDENCE_ID": "Write an id such as `packet` or `log-1.stdout`.",
    "INVALID_EVIDENCE_KIND": (
        "Write CONTENT_HASH, JSON_POINTER, RUN_ARTIFACT, PROVIDER_RECORD, URI or CALLER_ASSERTION."
    ),
    "INVALID_EVIDENCE_LOCATOR": "Say where the evidence is, in a text of at least one character.",
    "INVALID_IDENTITY": "Write null where there is no name; an empty text is no name.",
    "INVALID_JSON_VALUE": (
        "A number such as 1e400 is infinite to a double and has no canonical text. Write it as a "
        "text, or leave it out."
    ),
    "INVALID_MEASUREMENT": "Write a whole number from 0 to 9007199254740991, or leave it out.",
    "INVALID_MEASUREMENT_CLASS": "Write EXACT, OBSERVED, ESTIMATED, MODELED or EXPERIMENTAL.",
    "INVALID_MEASUREMENT_ID": "Write an id such as `bytes_avoided`.",
    "INVALID_MECHANISM_ID": "Write an id such as `opsle.context-firewall`.",
    "INVALID_NONNEGATIVE_INTEGER": (
        "Bytes, events, counts, milliseconds and tokens are whole numbers from 0 to "
        "9007199254740991, or null; only a delta may be negative."
    ),
    "INVALID_OBSERVED_AT": (
        "Write a time such as 2026-05-01T12:00:00Z or 2026-05-01T14:00:00+02:00, or leave it out."
    ),
    "INVALID_OPERATION_NAME": "Write a name such as `reduce-test-output`.",
    "INVALID_SOURCE_VERIFICATION": (
        "Write VERIFIED, OBSERVED, CALLER_SUPPLIED, UNVERIFIED or NOT_APPLICABLE."
    ),
    "INVALID_STATE_MEASUREMENT": "In the unit state, baseline and result are texts or null.",
    "INVALID_TOKEN_SOURCE": (
        "Tokens count only as the provider recorded them: `source` is PROVIDER_RECORDED."
    ),
    "INVALID_TRUST_STATE": (
        "Write VERIFIED, OBSERVED, CALLER_SUPPLIED, UNVERIFIED or NOT_APPLICABLE."
    ),
    "INVALID_UNIT": (
        "Write byte, event, count, ratio, percent, boolean, millisecond, token, usd or state."
    ),
    "INVALID_VALUE": "A value is a finite number, a text, true, false or null.",
    "MALFORMED_CONTENT_HASH": "Write sha256: and the 64 hex digits in small letters.",
    "MEASUREMENTS_REQUIRED": "A receipt without figures says nothing. List at least one.",
    "MECHANISM_DECLARATION_MISMATCH": (
        "A record that declares mechanisms declares all of its receipts', alike in id, name, "
        "version, revision, configuration and policy. Receipts are numbered here in the order of "
        "their identities."
    ),
    "MONETARY_ESTIMATE_WITHOUT_TOKENS": (
        "Estimated money names a measurement in tokens of the same receipt in "
        "`input_measurement_ids`; bytes are no price."
    ),
    "NONEMPTY_STRING_REQUIRED": "Write a text of at least one character.",
    "OBJECT_REQUIRED": "Write an object here: not null, not an array. An optional one is left out.",
    "REQUIRED_FIELD_MISSING": "Add the member; where it says nothing it is null, if it may be.",
    "RUN_IDENTITY_MISMATCH": (
        "A receipt belongs to the run that it names. Put it into that record, or set its run id to "
        "null if it is of none."
    ),
    "RUN_ID_REQUIRED": "Write the run's id as a text of at least one character.",
    "RUN_RECORDS_REQUIRED": "Name at least one record.",
    "RUN_REQUIRED": "Add `run`, an object with the run's id.",
    "TOKEN_TOTAL_MISMATCH": "Correct the total, or leave it out.",
    "UNKNOWN_FIELD": (
        "The member is not part of the format, or is misspelled. A receipt's own additions belong "
        "into `extensions`."
    ),
    "UNRESOLVED_EVIDENCE_REF": "Cite the id of an entry of this receipt's evidence.",
    "UNSAFE_AGGREGATION": (
        "Safe to add are EXACT and OBSERVED numbers with method SUM, in a unit that adds up (not "
        "ratio, percent, boolean, state), with both baseline and delta or neither."
    ),
    "UNSAFE_AGGREGATION_METHOD": "What is not marked safe has the method null.",
    "UNSUPPORTED_PROTOCOL": (
        "`protocol_version` of a record is opsle.agent-trajectory-profiler.run-record/v1."
    ),
    "UNSUPPORTED_SCHEMA": "`schema` of a receipt is opsle.value-receipt.v1.",
}
