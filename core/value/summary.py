"""`opsle.agent-trajectory-profiler.value-summary/v1`: what one run or several came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from fabricd.core.identity import identity
from fabricd.core.javascript import sorted_by_units
from fabricd.core.plain import is_list
from fabricd.core.trajectory.violations import Violation, violation_values
from fabricd.core.value.entries import entries_of, mechanism_groups
from fabricd.core.value.findings import Findings, beneath, by_path
from fabricd.core.value.record import Checked, check_record, checked_identity
from fabricd.core.value.totals import add_up

PROTOCOL: Final = "opsle.agent-trajectory-profiler.value-summary/v1"
MEASURED: Final = "MEASURED"
_REJECTED = "UNAVAILABLE_INVALID_RUN_RECORD"
_CARRIED = ("run", "telemetry", "events", "outcome", "evidence_refs")

Scope: TypeAlias = Literal["RUN", "CUMULATIVE"]
Summary: TypeAlias = dict[str, Any]


def summarize_record(value: object) -> Summary:
    """The summary of one decoded record."""
    checked = check_record(value)
    if checked.violations:
        return _rejected("RUN", checked.violations)
    record = checked.record
    carried = {name: record[name] for name in _CARRIED if name in record}
    return _summary("RUN", [checked], {"record_identity": checked_identity(checked), **carried})


def summarize_records(value: object) -> Summary:
    """The summary of an array of decoded records."""
    findings = Findings()
    if not is_list(value) or not value:
        findings.add("RUN_RECORDS_REQUIRED", "/records")
        return _rejected("CUMULATIVE", findings.found)
    return _cumulated([check_record(record) for record in value])


def _cumulated(records: list[Checked]) -> Summary:
    findings = Findings()
    identities: dict[str, str] = {}
    # Of records and of receipts: they cannot be mixed up.
    seen: set[str] = set()
    for index, checked in enumerate(records):
        path = f"/records/{index}"
        findings.found.extend(beneath(checked.violations, path))
        if not checked.violations:
            _join(findings, checked, path, identities, seen)
    if findings.found:
        return _rejected("CUMULATIVE", by_path(findings.found))
    runs = [
        {"record_identity": identities[run_id], "run_id": run_id}
        for run_id in sorted_by_units(identities)
    ]
    return _summary("CUMULATIVE", records, {"runs": runs})


def _join(
    findings: Findings, checked: Checked, path: str, identities: dict[str, str], seen: set[str]
) -> None:
    """Add a valid record to those before it, whose identities stand under their run ids."""
    run_id, name = str(checked.run_id), checked_identity(checked)
    if run_id in identities:
        findings.add("DUPLICATE_RUN_ID", f"{path}/run/id")
    if name in seen:
        findings.add("DUPLICATE_RUN_RECORD", path)
    for accepted in checked.receipts:
        if accepted.identity in seen:
            findings.add("DUPLICATE_VALUE_RECEIPT", f"{path}/value_receipts")
    seen.add(name)
    seen.update(accepted.identity for accepted in checked.receipts)
    identities.setdefault(run_id, name)


def _rejected(scope: Scope, violations: Iterable[Violation]) -> Summary:
    return _identified(
        {
            "measurement_status": _REJECTED,
            "protocol_version": PROTOCOL,
            "scope": scope,
            "valid": False,
            "violations": violation_values(violations),
        }
    )


def _identified(summary: Summary) -> Summary:
    return {**summary, "summary_identity": identity(summary)}


def _summary(scope: Scope, records: list[Checked], more: Mapping[str, Any]) -> Summary:
    entries = entries_of(records)
    totals = add_up(entries)
    if totals.violations:
        return _rejected(scope, by_path(totals.violations))
    visible = [entry.visible() for entry in entries if entry.is_displayed]
    return _identified(
        {
            **more,
            "aggregates": totals.aggregates,
            "class_counts": dict(Counter(entry.measurement["class"] for entry in entries)),
            "excluded_from_aggregation": totals.excluded,
            "measurement_count": len(entries),
            "measurement_status": MEASURED,
            "mechanisms": mechanism_groups(entries),
            "operator_display_measurement_count": len(visible),
            "protocol_version": PROTOCOL,
            "receipt_count": sum(len(checked.receipts) for checked in records),
            "run_count": len(records),
            "scope": scope,
            "valid": True,
            "violations": [],
            "visible_measurements": visible,
        }
    )
