"""What a person is shown of a receipt or a summary: figures with their class and source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from fabricd.core.history.tables import Column, Table
from fabricd.core.javascript import number_text
from fabricd.core.plain import counted, is_object, printable
from fabricd.core.trajectory.violations import Violation
from fabricd.core.value.entries import entries_of
from fabricd.core.value.ingestion import Accepted
from fabricd.core.value.receipt import accepted_identity, validate_receipt
from fabricd.core.value.record import Checked
from fabricd.core.value.summary import Summary

Value: TypeAlias = "int | float | str | bool | None"
ROWS = 30
_NONE = "-"
_NOTES = 10


class Unshowable(ValueError):
    """Raised by `shown_summary`: the document has another shape. The message says where."""


class Shown(Struct, frozen=True):
    """A headline, tables under titles, and sentences."""

    headline: str
    tables: tuple[tuple[str, Table], ...]
    notes: tuple[str, ...]


class _Cited(Struct, frozen=True):
    trust: str


class _Mechanism(Struct, frozen=True):
    name: str
    version: str


class _Figure(Struct, frozen=True):
    """A visible measurement."""

    measurement_id: str
    unit: str
    direction: str
    source_verification: str
    baseline: Value
    result: Value
    delta: Value
    run_id: str
    operation_name: str
    mechanism: _Mechanism
    evidence: tuple[_Cited, ...]
    limitations: tuple[str, ...]
    claimed: str = field(name="class")


class _Total(Struct, frozen=True):
    """An aggregate."""

    measurement_id: str
    unit: str
    source_verification: str
    mechanism_id: str
    mechanism_version: str
    evidence_trust: tuple[str, ...]
    receipt_count: int
    run_count: int
    baseline_total: Value
    delta_total: Value
    result_total: Value
    claimed: str = field(name="class")


class _Violated(Struct, frozen=True):
    code: str
    message: str
    path: str


class _Summary(Struct, frozen=True):
    valid: bool
    scope: str
    violations: tuple[_Violated, ...]
    aggregates: tuple[_Total, ...] = ()
    visible_measurements: tuple[_Figure, ...] = ()
    excluded_from_aggregation: tuple[dict[str, Any], ...] = ()
    measurement_count: int = 0
    receipt_count: int = 0
    run_count: int = 0
    run: dict[str, Any] = {}
    telemetry: dict[str, Any] = {}
    outcome: dict[str, Any] = {}


def shown_summary(summary: Summary) -> Shown | list[Violation]:
    """A summary as a person reads it; what is wrong, where it was rejected.

    Raises:
        Unshowable: it is none of this version.
    """
    try:
        found = msgspec.convert(summary, _Summary)
    except msgspec.ValidationError as error:
        raise Unshowable(str(error)) from None
    if not found.valid:
        return [Violation(one.code, one.message, one.path) for one in found.violations]
    tables = (
        ("Totals of what may be added", _totals(found.aggregates)),
        ("Figures", _figures(found.visible_measurements)),
    )
    return Shown(
        _headline(found),
        tuple((title, table) for title, table in tables if table.columns[0].cells),
        tuple(_summary_notes(found)),
    )


def shown_receipt(receipt: object) -> Shown | list[Violation]:
    """A receipt as a person reads it, all of its figures; what is wrong, where it is not valid."""
    violations = validate_receipt(receipt)
    if violations or not is_object(receipt):
        return violations
    name = accepted_identity(receipt)
    run_id = receipt["run"]["id"] or _NONE
    checked = Checked({"run": {"id": run_id}}, [Accepted(name, receipt)], [])
    told = [entry.visible() for entry in entries_of([checked])]
    figures = msgspec.convert(told, tuple[_Figure, ...])
    operation = receipt["operation"]
    head = f"receipt of {operation['name']} in run {run_id}: {_count_of(len(told))}"
    notes = [*receipt["limitations"], *_limitations(figures)]
    return Shown(printable(head), (("Figures", _figures(figures)),), (name, *_told(notes)))


def _count_of(figures: int) -> str:
    return counted(figures, "figure", "figures")


def _headline(summary: _Summary) -> str:
    receipts = counted(summary.receipt_count, "receipt", "receipts")
    name = summary.run.get("id")
    scope = f"run {name}" if summary.scope == "RUN" else counted(summary.run_count, "run", "runs")
    return printable(f"{scope}: {receipts}, {_count_of(summary.measurement_count)}")


def _summary_notes(summary: _Summary) -> list[str]:
    notes: list[str] = []
    hidden = summary.measurement_count - len(summary.visible_measurements)
    if hidden:
        notes.append(f"{_count_of(hidden)} not meant for the eye, counted above")
    if excluded := len(summary.excluded_from_aggregation):
        notes.append(f"{_count_of(excluded)} not marked as safe to add, in no total")
    for title, told in (("recorded", summary.telemetry), ("outcome", summary.outcome)):
        plain = {name: value for name, value in told.items() if not isinstance(value, (dict, list))}
        if plain:
            listed = ", ".join(f"{name} {_cell(value)}" for name, value in plain.items())
            notes.append(f"{title} by the run itself: {listed}")
    return [*_told(notes), *_told(_limitations(summary.visible_measurements))]


def _limitations(figures: Sequence[_Figure]) -> list[str]:
    return [f"{one.measurement_id}: {told}" for one in figures for told in one.limitations]


def _told(notes: Sequence[str]) -> list[str]:
    """Distinct sentences, the first ten of them."""
    distinct = list(dict.fromkeys(map(printable, notes)))
    left = len(distinct) - _NOTES
    return distinct[:_NOTES] + ([f"and {counted(left, 'more note', 'more notes')}"] * (left > 0))


def _figures(figures: Sequence[_Figure]) -> Table:
    rows = figures[:ROWS]
    trusts = [", ".join(sorted({cited.trust for cited in row.evidence})) for row in rows]
    return Table(
        "Figures",
        _filled(
            _words("figure", [row.measurement_id for row in rows]),
            _numbers("result", [row.result for row in rows]),
            _words("unit", [row.unit for row in rows]),
            _words("class", [row.claimed for row in rows]),
            _words("source", [row.source_verification for row in rows]),
            _numbers("change", [row.delta for row in rows]),
            _numbers("before", [row.baseline for row in rows]),
            _words("evidence", trusts),
            _words("mechanism", [f"{row.mechanism.name} {row.mechanism.version}" for row in rows]),
            _words("run", [row.run_id for row in rows]),
            _words("operation", [row.operation_name for row in rows]),
        ),
        _more(len(figures), "more figure", "more figures"),
    )


def _totals(totals: Sequence[_Total]) -> Table:
    rows = totals[:ROWS]
    return Table(
        "Totals",
        _filled(
            _words("figure", [row.measurement_id for row in rows]),
            _numbers("total", [row.result_total for row in rows]),
            _words("unit", [row.unit for row in rows]),
            _words("class", [row.claimed for row in rows]),
            _words("source", [row.source_verification for row in rows]),
            _numbers("change", [row.delta_total for row in rows]),
            _numbers("before", [row.baseline_total for row in rows]),
            _words("evidence", [", ".join(row.evidence_trust) for row in rows]),
            _words("mechanism", [f"{row.mechanism_id} {row.mechanism_version}" for row in rows]),
            _numbers("receipts", [row.receipt_count for row in rows]),
            _numbers("runs", [row.run_count for row in rows]),
        ),
        _more(len(totals), "more total", "more totals"),
    )


def _filled(*columns: Column) -> tuple[Column, ...]:
    """Without the columns in which nothing stands."""
    names, *others = columns
    return (names, *(column for column in others if set(column.cells) != {_NONE}))


def _more(count: int, one: str, many: str) -> str:
    return f"and {counted(count - ROWS, one, many)}" if count > ROWS else ""


def _words(title: str, cells: Sequence[str]) -> Column:
    return Column(title, tuple(map(printable, cells)), is_words=True)


def _numbers(title: str, cells: Sequence[Value]) -> Column:
    return Column(title, tuple(map(_cell, cells)))


def _cell(value: Any) -> str:
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        text = number_text(value)
        return f"{int(text):,}" if text.lstrip("-").isdigit() else text
    return printable(str(value))
