"""The measurements of valid records, one beside the other, in the order they are added up in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from fabricd.core.identity import canonical_text
from fabricd.core.javascript import sorted_by_units, utf16_key
from fabricd.core.value.ingestion import Accepted
from fabricd.core.value.record import Checked, mechanism_of


class Entry(Struct, frozen=True):
    """One measurement of one receipt of one run; `cited` is its evidence, by id."""

    run_id: str
    accepted: Accepted
    measurement: dict[str, Any]
    mechanism: dict[str, Any]
    cited: list[dict[str, Any]]

    @property
    def is_displayed(self) -> bool:
        """Whether it is meant for the eyes of an operator."""
        return self.measurement["operator_display"] is True

    def visible(self) -> dict[str, Any]:
        """What a summary shows of it."""
        measurement, operation = self.measurement, self.accepted.receipt["operation"]
        return {
            "baseline": measurement["baseline"],
            "class": measurement["class"],
            "delta": measurement["delta"],
            "direction": measurement["direction"],
            "evidence": self.cited,
            "limitations": measurement["limitations"],
            "measurement_id": measurement["id"],
            "mechanism": self.mechanism,
            "operation_id": operation["id"],
            "operation_name": operation["name"],
            "receipt_identity": self.accepted.identity,
            "result": measurement["result"],
            "run_id": self.run_id,
            "source_verification": measurement["source_verification"],
            "unit": measurement["unit"],
        }


def entries_of(records: Iterable[Checked]) -> list[Entry]:
    """All measurements of valid records, by run, receipt and id."""
    entries = [
        Entry(str(checked.run_id), accepted, measurement, mechanism, _cited(accepted, measurement))
        for checked in records
        for accepted in checked.receipts
        for mechanism in [mechanism_of(accepted.receipt)]
        for measurement in accepted.receipt["measurements"]
    ]
    return sorted(
        entries,
        key=lambda entry: (
            utf16_key(entry.run_id),
            entry.accepted.identity,
            str(entry.measurement["id"]),
        ),
    )


def _cited(accepted: Accepted, measurement: dict[str, Any]) -> list[dict[str, Any]]:
    """The evidence that a measurement cites, by id."""
    refs = set(measurement["evidence_refs"])
    cited = [entry for entry in accepted.receipt["evidence"] if entry["id"] in refs]
    return sorted(cited, key=_id) if len(cited) > 1 else cited


def _id(entry: dict[str, Any]) -> str:
    name: str = entry["id"]
    return name


def sources(entries: Iterable[Entry]) -> dict[str, Any]:
    """The runs and receipts that some measurements come from."""
    listed = list(entries)
    runs = sorted_by_units({entry.run_id for entry in listed})
    receipts = sorted({entry.accepted.identity for entry in listed})
    return {
        "receipt_count": len(receipts),
        "receipt_identities": receipts,
        "run_count": len(runs),
        "run_ids": runs,
    }


def mechanism_groups(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """The mechanisms, with what each contributed, by canonical text."""
    grouped: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        grouped.setdefault(tuple(entry.mechanism.values()), []).append(entry)
    return by_text(
        {
            **members[0].mechanism,
            "measurement_count": len(members),
            "operator_display_measurement_count": sum(one.is_displayed for one in members),
            **sources(members),
        }
        for members in grouped.values()
    )


def by_text(values: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Objects in the order of their canonical texts."""
    return sorted(values, key=lambda value: utf16_key(canonical_text(value)))
