"""The one line for the person who runs a command about value."""

from __future__ import annotations

from fabricd.core.trajectory.indicators import PREFIX, plural, run_name
from fabricd.core.trajectory.values import is_text, members
from fabricd.core.value.record import Checked
from fabricd.core.value.summary import Summary


def record_line(checked: Checked) -> str:
    """The line of a record's validation, with its line feed. Its `(s)` is literal."""
    verdict = "rejected" if checked.violations else "valid"
    count = len(checked.violations)
    name = run_name(checked.run_id)
    return f"{PREFIX}{name} | observational record {verdict} | {count} violation(s)\n"


def summary_line(summary: Summary) -> str:
    """The line of a summary, with its line feed."""
    if not summary["valid"]:
        count = len(summary["violations"])
        return f"{PREFIX}value telemetry rejected | {plural(count, 'violation')}\n"
    is_run = summary["scope"] == "RUN"
    # Of one run too it says runs.
    scope = f"run {summary['run']['id']}" if is_run else f"{summary['run_count']} runs"
    receipts = plural(summary["receipt_count"], "receipt")
    visible = plural(len(summary["visible_measurements"]), "visible measurement")
    totals = plural(len(summary["aggregates"]), "safe aggregate")
    return f"{PREFIX}{scope} | {receipts} ingested | {visible} | {totals}\n"


def receipt_line(receipt: object, violations: int) -> str:
    """The line of a receipt's validation, with its line feed; no other program prints one."""
    operation = members(members(receipt).get("operation")).get("name")
    name = operation if is_text(operation) else "unknown operation"
    verdict = "rejected" if violations else "valid"
    return f"{PREFIX}{name} | value receipt {verdict} | {plural(violations, 'violation')}\n"
