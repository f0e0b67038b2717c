"""What of the evidence was kept, what was left out, and under which categories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from fabricd.core.javascript import is_array_index
from fabricd.core.plain import MAX_SAFE_INTEGER, is_object
from fabricd.core.trajectory.ledger import Ledger, added
from fabricd.core.trajectory.values import count_of, members


class Counts(NamedTuple):
    """Pieces of evidence; None where the event has no count."""

    ambiguous: int | None
    original: int | None
    retained: int | None
    suppressed: int | None


def check_suppression(ledger: Ledger, event: dict[str, Any], path: str) -> Counts:
    """Check the counts of an event.

    Raises:
        Overflow: the categories add up to too much.
    """
    given = members(event.get("suppression"))
    path = f"{path}/suppression"
    counts = Counts(
        count_of(given.get("ambiguous_evidence_count")),
        count_of(given.get("original_evidence_count")),
        count_of(given.get("retained_evidence_count")),
        count_of(given.get("suppressed_evidence_count")),
    )
    if None in counts:
        for name, count in zip(Counts._fields, counts, strict=True):
            if count is None:
                ledger.report("INVALID_MEASUREMENT", f"{path}/{name}_evidence_count")
    _check_sums(ledger, counts, path)
    _check_categories(
        ledger,
        given.get("suppressed_categories"),
        counts.suppressed,
        f"{path}/suppressed_categories",
    )
    return counts


def _check_sums(ledger: Ledger, counts: Counts, path: str) -> None:
    ambiguous, original, retained, suppressed = counts
    if original is None:
        return
    if retained is not None and suppressed is not None:
        if retained + suppressed > MAX_SAFE_INTEGER:
            ledger.report("INTEGER_OVERFLOW", path, "retained and suppressed evidence")
        elif retained + suppressed != original:
            detail = f"{retained} and {suppressed} are not {original}"
            ledger.report("EVIDENCE_ACCOUNTING_MISMATCH", path, detail)
    if ambiguous is not None and ambiguous > original:
        ledger.report("AMBIGUOUS_COUNT_EXCEEDS_ORIGINAL", f"{path}/ambiguous_evidence_count")


def _check_categories(ledger: Ledger, given: object, suppressed: int | None, path: str) -> None:
    if not is_object(given):
        ledger.report("OBJECT_REQUIRED", path)
        return
    total = 0
    complete = suppressed is not None
    for value in given.values():
        complete = complete and count_of(value) is not None
    if not complete:
        _report_categories(ledger, given, path)
        return
    for value in given.values():
        total = added(total, count_of(value) or 0, "evidence count")
    if total != suppressed:
        detail = f"{total} instead of {suppressed}"
        ledger.report("SUPPRESSION_CATEGORY_TOTAL_MISMATCH", path, detail)


def _report_categories(ledger: Ledger, given: dict[str, Any], path: str) -> None:
    for name in _in_order(given):
        if count_of(given[name]) is None:
            ledger.report("INVALID_MEASUREMENT", f"{path}/{name}")


def _in_order(names: Iterable[str]) -> list[str]:
    """Array indices first, in numeric order, the others as written."""
    listed = list(names)
    indices = [name for name in listed if is_array_index(name)]
    return sorted(indices, key=int) + [name for name in listed if not is_array_index(name)]
