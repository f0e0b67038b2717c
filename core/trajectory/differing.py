"""Two trajectories of one task beside each other: what B has more or less of than A."""

from __future__ import annotations

from typing import Any

from fabricd.core.trajectory.measurement import Measurement
from fabricd.core.trajectory.waterfall import Fall, falls_of

_TOTALS = (
    "raw_available_bytes",
    "initial_model_visible_bytes",
    "escalated_model_visible_bytes",
    "final_model_visible_bytes",
    "retained_evidence_count",
    "suppressed_evidence_count",
    "ambiguous_evidence_count",
    "escalation_requested_count",
    "escalation_fulfilled_count",
    "escalation_unavailable_count",
)


def differences(left: Measurement, right: Measurement) -> dict[str, Any]:
    """The differences of two measured trajectories, as plain JSON. Deltas are B minus A."""
    return {
        "a": _named(left),
        "b": _named(right),
        "effective_reduction_percentage": _percentages(left, right),
        "operations": _operations(falls_of(left), falls_of(right)),
        "totals": {name: _figures(_figure(left, name), _figure(right, name)) for name in _TOTALS},
    }


def _named(measurement: Measurement) -> dict[str, Any]:
    names = ("arm_id", "configuration_id", "run_id", "task_id", "trajectory_identity")
    return {name: measurement.head[name] for name in names}


def _figure(measurement: Measurement, name: str) -> int:
    return int((measurement.figures or {})[name])


def _figures(left: float, right: float) -> dict[str, Any]:
    return {"a": left, "b": right, "delta": right - left}


def _percentages(left: Measurement, right: Measurement) -> dict[str, Any]:
    a, b = ((one.figures or {})["effective_reduction"]["percentage"] for one in (left, right))
    return {"a": a, "b": b, "delta": None if a is None or b is None else b - a}


def _operations(left: list[Fall], right: list[Fall]) -> list[dict[str, Any]]:
    """Operations of A in their order, then those that only B has."""
    a, b = {fall.name: fall for fall in left}, {fall.name: fall for fall in right}
    rows: list[dict[str, Any]] = []
    for name in {**a, **b}:
        mine, theirs = a.get(name), b.get(name)
        row = {"a": _bytes(mine), "b": _bytes(theirs), "operation_id": name}
        delta = None if mine is None or theirs is None else theirs.final - mine.final
        rows.append({**row, "final_delta": delta})
    return rows


def _bytes(fall: Fall | None) -> dict[str, int] | None:
    if fall is None:
        return None
    return {
        "available": fall.available,
        "escalated": fall.escalated,
        "final": fall.final,
        "initial": fall.initial,
    }
