"""Values: the functions that vectors call by name, and where we answer otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_line
from fabricd.core.trajectory.violations import violation_values
from fabricd.core.value.indicators import summary_line
from fabricd.core.value.ingestion import ingest_receipts
from fabricd.core.value.receipt import receipt_identity, semantic_receipt, validate_receipt
from fabricd.core.value.record import record_identity
from fabricd.core.value.summary import summarize_record, summarize_records
from tests.conformance.commands import as_bytes, files_of, outcome, ran, without_messages
from tests.conformance.values import Case, is_list, is_object


def _validate(value: Any) -> Any:
    violations = validate_receipt(value)
    return {"valid": not violations, "violations": violation_values(violations)}


def _indicator(value: Any) -> str:
    return summary_line(summarize_records(value) if is_list(value) else summarize_record(value))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "ingestValueReceipts": lambda given: ingest_receipts(
        given["receipts"], given.get("runId")
    ).value(),
    "runRecordIdentity": record_identity,
    "semanticValueReceipt": semantic_receipt,
    "summarizeCumulativeValue": summarize_records,
    "summarizeRunRecord": summarize_record,
    "validateValueReceipt": _validate,
    "valueReceiptIdentity": receipt_identity,
    "valueSummaryOperatorIndicator": _indicator,
}


# --- differences on purpose

_THROWS = {"throws": True}
_VALUE_COMMANDS = (["validate-record"], ["value-summary"])


def _objects(value: Any) -> list[Case]:
    """All objects in a document."""
    found: list[Case] = []
    pending = [value]
    while pending:
        one = pending.pop()
        if is_object(one):
            found.append(one)
            pending.extend(one.values())
        elif is_list(one):
            pending.extend(one)
    return found


def _with_texts_as_ids(document: Any) -> Any:
    """A document in which measurement ids that the reference calls methods of are bad texts."""
    listed = (one.get("measurements") for one in _objects(document))
    for entries in filter(is_list, listed):
        for entry in filter(is_object, entries):
            if isinstance(entry.get("id"), (bool, int, float, dict)):
                entry["id"] = ""
    return document


def _with_texts_as_mechanisms(document: Any) -> Any:
    """A document in which mechanisms that the reference reads members of are texts."""
    for one in _objects(document):
        declared = one.get("mechanisms")
        if is_list(declared):
            one["mechanisms"] = ["" if entry is None else entry for entry in declared]
    return document


def _on(changed: Callable[[Any], Any]) -> Callable[[Case, Any], Any]:
    """Where the reference fails on a document, our answer must be that to the changed one."""

    def of_call(case: Case, expected: Any) -> Any:
        given = read_doubles(as_bytes(case["input_text"]))
        other = changed(read_doubles(as_bytes(case["input_text"])))
        if expected != _THROWS or other == given or case["fn"] not in FUNCTIONS:
            return expected
        try:
            return without_messages(FUNCTIONS[case["fn"]](other))
        except ValueError:
            return expected

    def of_command(case: Case, expected: Any) -> Any:
        if expected["exit"] != 2 or case["argv"][:1] not in _VALUE_COMMANDS:
            return expected
        try:
            given = {name: read_doubles(data) for name, data in files_of(case).items()}
            other = {name: changed(read_doubles(data)) for name, data in files_of(case).items()}
        except ValueError:
            return expected
        if other == given:
            return expected
        files = {name: canonical_line(document) for name, document in other.items()}
        return outcome(ran(case["argv"], files), case["expect"])

    return lambda case, expected: (of_command if case["kind"] == "cli" else of_call)(case, expected)


# By name, what becomes of the expected result of a case.
CHANGES: dict[str, Callable[[Case, Any], Any]] = {
    "measurement-ids": _on(_with_texts_as_ids),
    "null-mechanisms": _on(_with_texts_as_mechanisms),
}
