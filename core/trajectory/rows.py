"""Operations as a measurement lists them, made of events that were found to be without fault."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType

from fabricd.core.canonical import utf8
from fabricd.core.identity import canonical_text
from fabricd.core.trajectory.evidence import PACKET, RAW
from fabricd.core.trajectory.shapes import PacketEvent, RawEvent, plain_event, write_sorted

Subsets = dict[object, int]
T = TypeVar("T")


class Row(Struct, frozen=True, gc=False):
    """An operation. `escalated_subset_bytes` is left out where no raw evidence was shown later."""

    ambiguous_evidence_count: Any
    disposition: Any
    escalation_reasons: Any
    initial_model_visible_bytes: Any
    operation_id: Any
    original_evidence_count: Any
    payload: Any
    raw_available_bytes: Any
    raw_evidence_locator_present: Any
    reducer: Any
    reduction_requires_escalation: Any
    retained_evidence_count: Any
    source: Any
    suppressed_evidence_count: Any
    validation: Any
    escalated_subset_bytes: int | UnsetType = UNSET

    def value(self) -> dict[str, Any]:
        """The row as plain JSON."""
        # What an event only passes through may nest deeper than native code can call itself.
        told = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: plain_event(member) for name, member in told if member is not UNSET}


def rows_of(events: list[Any], subsets: Subsets) -> tuple[list[Row], bool]:
    """The operations among some events, and whether all are written natively."""
    rows: list[Row] = []
    is_native = True
    for event in events:
        if isinstance(event, PacketEvent):
            rows.append(_packet(event, subsets))
        elif isinstance(event, RawEvent):
            rows.append(_raw(event, subsets))
        elif event["type"] == RAW or event["type"] == PACKET:
            rows.append(_any(event, subsets))
            is_native = False
    return rows, is_native


def rows_text(rows: list[Row], is_native: bool) -> bytes:
    """The canonical texts of rows, with commas between them.

    Raises:
        NotCanonical: a number in them is not finite.
    """
    if is_native:
        return write_sorted(rows)[1:-1]
    return utf8(canonical_text([row.value() for row in rows])[1:-1])


def _raw(event: RawEvent, subsets: Subsets) -> Row:
    counts, raw = event.suppression, event.raw_evidence
    return Row(
        counts.ambiguous_evidence_count,
        "RAW_BASELINE",
        [],
        event.initial_model_visible.bytes,
        event.operation_id,
        counts.original_evidence_count,
        None,
        raw.bytes,
        raw.locator_present,
        None,
        False,
        counts.retained_evidence_count,
        None,
        counts.suppressed_evidence_count,
        None,
        subsets.get(event.operation_id, UNSET),
    )


def _packet(event: PacketEvent, subsets: Subsets) -> Row:
    counts, raw = event.suppression, event.raw_evidence
    return Row(
        counts.ambiguous_evidence_count,
        event.disposition,
        event.escalation_reasons,
        event.initial_model_visible.bytes,
        event.operation_id,
        counts.original_evidence_count,
        event.payload,
        raw.bytes,
        raw.locator_present,
        _given(event.reducer),
        event.reduction_requires_escalation,
        counts.retained_evidence_count,
        _given(event.source),
        counts.suppressed_evidence_count,
        event.validation,
        subsets.get(event.operation_id, UNSET),
    )


def _any(event: dict[str, Any], subsets: Subsets) -> Row:
    counts, raw, operation = event["suppression"], event["raw_evidence"], event["operation_id"]
    return Row(
        counts["ambiguous_evidence_count"],
        _or(event.get("disposition"), "RAW_BASELINE"),
        _or(event.get("escalation_reasons"), []),
        event["initial_model_visible"]["bytes"],
        operation,
        counts["original_evidence_count"],
        event.get("payload"),
        raw["bytes"],
        raw.get("locator_present"),
        event.get("reducer"),
        _or(event.get("reduction_requires_escalation"), False),
        counts["retained_evidence_count"],
        event.get("source"),
        counts["suppressed_evidence_count"],
        event.get("validation"),
        subsets.get(operation, UNSET),
    )


def _given(value: T | UnsetType) -> T | None:
    return None if value is UNSET else value


def _or(value: object, otherwise: object) -> object:
    return otherwise if value is None else value
