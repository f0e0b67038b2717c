"""The commands of `agent-trajectory-profiler` about value: exit code, stdout, line for a person."""

from __future__ import annotations

from collections.abc import Iterable

from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_line
from fabricd.core.value.indicators import record_line, summary_line
from fabricd.core.value.record import check_record
from fabricd.core.value.summary import summarize_record, summarize_records


def validate_record(data: bytes, quiet: bool) -> tuple[int, bytes, str]:
    """Validate a document as a run record.

    Raises:
        BadDocument: it is no JSON.
    """
    document = read_doubles(data)
    checked = check_record(document)
    out = canonical_line(checked.value())
    # Whoever asks for the line too, of a document that is null, is answered and refused.
    code = 2 if document is None and not quiet else int(bool(checked.violations))
    return code, out, record_line(checked)


def value_summary(documents: Iterable[bytes], cumulative: bool) -> tuple[int, bytes, str]:
    """Summarize documents as run records.

    Raises:
        BadDocument: one of them is no JSON.
    """
    records = [read_doubles(data) for data in documents]
    is_one = len(records) == 1 and not cumulative
    summary = summarize_record(records[0]) if is_one else summarize_records(records)
    return int(not summary["valid"]), canonical_line(summary), summary_line(summary)
