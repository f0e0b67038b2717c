"""`fabricd value`: what mechanisms did for an agent's runs, with receipts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.moments import since as moment_given
from fabricd.daemon.cli.profiler.options import (
    max_bytes_option,
    pretty_option,
    quiet_option,
    without_effect,
)
from fabricd.daemon.cli.talk import FAILED, Complaint, out, say

if TYPE_CHECKING:
    from fabricd.core.value.summary import Summary

_PATH = click.Path(allow_dash=True)
_SINCE = click.option(
    "--since",
    callback=moment_given,
    metavar="WHEN",
    help="What fabricd itself did since then: 30d, 12h, 2w, or a date.",
)


@click.group("value")
def command() -> None:
    """Sum up what mechanisms did for agents, with receipts.

    A receipt says what a mechanism did in an operation, a record holds a run's receipts, and a
    summary adds up what may be added. A file is `-` for standard input.
    """


@command.command("validate")
@click.argument("file", type=_PATH, shell_complete=files)
@pretty_option
@quiet_option
@max_bytes_option
@without_effect("--summary", "--cumulative")
def validate(file: str, pretty: bool, quiet: bool, max_bytes: int) -> int:
    """Say what is wrong with a receipt or a run record.

    Standard error explains every code that was found. Exit code 1: there is something wrong.
    """
    from fabricd.core.trajectory.violations import violation_values
    from fabricd.core.value.indicators import receipt_line, record_line
    from fabricd.core.value.receipt import validate_receipt
    from fabricd.core.value.record import check_record
    from fabricd.daemon.cli.trajectory.words import indicate
    from fabricd.daemon.cli.value.inputs import document_at, is_receipt
    from fabricd.daemon.cli.value.words import explained

    document = document_at(file, max_bytes)
    if is_receipt(document):
        violations = validate_receipt(document)
        line = receipt_line(document, len(violations))
    else:
        checked = check_record(document)
        violations, line = checked.violations, record_line(checked)
    _print({"valid": not violations, "violations": violation_values(violations)}, pretty)
    indicate(quiet, line, *explained(violations))
    return int(bool(violations))


@command.command("record")
@click.option("--run", "run_id", required=True, metavar="ID", help="The id of the run.")
@click.argument("names", metavar="RECEIPT...", nargs=-1, type=_PATH, shell_complete=files)
@pretty_option
@quiet_option
@max_bytes_option
def record(run_id: str, names: tuple[str, ...], pretty: bool, quiet: bool, max_bytes: int) -> int:
    """Write the record of a run that has these receipts.

    They stand in the order of their identities, whatever the order of the files. Exit code 1: the
    record would not be valid, and is not written.
    """
    from fabricd.core.value.indicators import record_line
    from fabricd.core.value.ingestion import ingest_receipts
    from fabricd.core.value.record import PROTOCOL, check_record
    from fabricd.daemon.cli.trajectory.words import indicate
    from fabricd.daemon.cli.value.inputs import documents_at
    from fabricd.daemon.cli.value.words import explained

    receipts = documents_at(names, max_bytes)
    ingested = ingest_receipts(receipts, run_id)
    if ingested.receipts is not None:
        receipts = [accepted.receipt for accepted in ingested.receipts]
    made = {"protocol_version": PROTOCOL, "run": {"id": run_id}, "value_receipts": receipts}
    checked = check_record(made)
    if not checked.violations:
        _print(made, pretty)
    # The paths of the later checks number the receipts as sorted, which is how they stand here.
    indicate(quiet, record_line(checked), *explained(checked.violations))
    return int(bool(checked.violations))


@command.command("summary")
@click.argument("names", metavar="[FILE...]", nargs=-1, type=_PATH, shell_complete=files)
@_SINCE
@click.option("--cumulative", is_flag=True, help="Summarize one record as if it were several.")
@pretty_option
@quiet_option
@max_bytes_option
@without_effect("--summary")
def summary(
    names: tuple[str, ...],
    since: datetime | None,
    cumulative: bool,
    pretty: bool,
    quiet: bool,
    max_bytes: int,
) -> int:
    """Summarize run records: one by itself, several together.

    With --since, those of what fabricd itself did. Exit code 1: nothing can be said, since a record
    is not valid or the figures do not add up.
    """
    from fabricd.core.value.indicators import summary_line
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.trajectory.words import indicate
    from fabricd.daemon.cli.value.inputs import documents_at

    _require_one(names, since)
    with without_collections():
        found = _summary_of(documents_at(names, max_bytes), since, cumulative)
        if found is None:
            return 0
        _print(found, pretty)
    indicate(quiet, summary_line(found))
    return int(not found["valid"])


@command.command("show")
@click.argument("name", metavar="[FILE]", required=False, type=_PATH, shell_complete=files)
@_SINCE
@max_bytes_option
def show(name: str | None, since: datetime | None, max_bytes: int) -> int:
    """Show a receipt, a record or a summary as tables.

    With --since, what fabricd itself did. Every figure stands beside its class and what its source
    is worth. Exit code 1: the document is not valid.
    """
    from fabricd.core.value.showing import Unshowable, shown_receipt, shown_summary
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.value.inputs import document_at, is_receipt, is_summary
    from fabricd.daemon.cli.value.tables import render
    from fabricd.daemon.cli.value.words import complaint

    _require_one(() if name is None else (name,), since)
    with without_collections():
        document = None if name is None else document_at(name, max_bytes)
        if is_receipt(document):
            found = shown_receipt(document)
        else:
            told = document if is_summary(document) else _summary_of([document], since, False)
            if told is None:
                return 0
            try:
                found = shown_summary(told)
            except Unshowable as error:
                raise Complaint(f"{name} is no summary: {error}") from None
        if isinstance(found, list):
            raise Complaint(complaint(found), FAILED)
        out(render(found))
    return 0


def _require_one(names: Sequence[str], since: datetime | None) -> None:
    if bool(names) == (since is not None):
        raise click.UsageError("Name a file or give --since, and not both.")


def _summary_of(documents: list[Any], since: datetime | None, cumulative: bool) -> Summary | None:
    """The summary of documents, or of the home's records; None if there are none of these."""
    from fabricd.core.value.summary import summarize_record, summarize_records
    from fabricd.daemon.cli.value.inputs import records_since

    if since is not None:
        records = records_since(since)
        if not records:
            say(f"no call was repaired since {since.isoformat(timespec='minutes')}")
            return None
        return summarize_records(records)
    is_one = len(documents) == 1 and not cumulative
    return summarize_record(documents[0]) if is_one else summarize_records(documents)


def _print(value: Any, pretty: bool) -> None:
    from fabricd.core.identity import canonical_line
    from fabricd.daemon.cli.trajectory.words import indented

    for piece in indented(value) if pretty else (canonical_line(value),):
        out(piece)
