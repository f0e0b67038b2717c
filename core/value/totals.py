"""Adding up: only what is alike in all that matters, and only what says that it may be added."""

from __future__ import annotations

import math
from typing import Any

from msgspec import Struct

from fabricd.core.plain import MAX_SAFE_INTEGER
from fabricd.core.trajectory.violations import Violation
from fabricd.core.value.entries import Entry, by_text, sources
from fabricd.core.value.findings import Findings
from fabricd.core.value.measurement import COUNTED


class Totals(Struct, frozen=True):
    """Totals, and the measurements that are in none, both by canonical text."""

    aggregates: list[dict[str, Any]]
    excluded: list[dict[str, Any]]
    violations: list[Violation]


def add_up(entries: list[Entry]) -> Totals:
    """Add up measurements, in the order given."""
    findings = Findings()
    partitions: dict[tuple[object, ...], list[Entry]] = {}
    excluded: list[dict[str, Any]] = []
    for entry in entries:
        aggregation = entry.measurement["aggregation"]
        if aggregation["safe"] is True and aggregation["method"] == "SUM":
            partitions.setdefault(_key(_partition(entry)), []).append(entry)
        else:
            excluded.append(_exclusion(entry))
    aggregates = [_aggregate(findings, members) for members in partitions.values()]
    if findings.found:
        return Totals([], [], findings.found)
    return Totals(by_text(aggregates), by_text(excluded), [])


def _partition(entry: Entry) -> dict[str, Any]:
    """What figures must have in common: no name of anything is among it."""
    measurement, mechanism = entry.measurement, entry.mechanism
    return {
        "class": measurement["class"],
        "configuration_id": mechanism["configuration_id"],
        "direction": measurement["direction"],
        "evidence_trust": sorted({cited["trust"] for cited in entry.cited}),
        "mechanism_id": mechanism["id"],
        "mechanism_revision": mechanism["revision"],
        "mechanism_version": mechanism["version"],
        "measurement_id": measurement["id"],
        "method": measurement["aggregation"]["method"],
        "policy_id": mechanism["policy_id"],
        "source_verification": measurement["source_verification"],
        "unit": measurement["unit"],
    }


def _key(partition: dict[str, Any]) -> tuple[object, ...]:
    trust = tuple(partition["evidence_trust"])
    return (trust, *(value for name, value in partition.items() if name != "evidence_trust"))


def _exclusion(entry: Entry) -> dict[str, Any]:
    return {
        "class": entry.measurement["class"],
        "measurement_id": entry.measurement["id"],
        "mechanism_id": entry.mechanism["id"],
        "reason": "NOT_MARKED_SAFE",
        "receipt_identity": entry.accepted.identity,
        "run_id": entry.run_id,
        "unit": entry.measurement["unit"],
    }


def _aggregate(findings: Findings, members: list[Entry]) -> dict[str, Any]:
    partition = _partition(members[0])
    path = f"/measurements/{partition['measurement_id']}"
    with_baseline = {entry.measurement["baseline"] is not None for entry in members}
    totals: dict[str, float | None] = {"baseline_total": None, "delta_total": None}
    if len(with_baseline) > 1:
        findings.add("INCOMPATIBLE_AGGREGATE_STATE", path)
        return partition
    summed = ("baseline", "delta", "result") if with_baseline == {True} else ("result",)
    for name in summed:
        totals[f"{name}_total"] = _total(members, name)
    if not all(total is None or _is_exact(total, partition["unit"]) for total in totals.values()):
        findings.add("AGGREGATE_OVERFLOW", path)
    return {**partition, **totals, **sources(members)}


def _total(members: list[Entry], name: str) -> float:
    """The sum of doubles from left to right; infinite if it once was beyond the safe range."""
    total = 0.0
    for entry in members:
        total += float(entry.measurement[name])
        if not _is_exact(total, entry.measurement["unit"]):
            return math.inf
    return total


def _is_exact(total: float, unit: str) -> bool:
    return math.isfinite(total) and (unit not in COUNTED or abs(total) <= MAX_SAFE_INTEGER)
