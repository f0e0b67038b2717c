"""Limits that a trajectory must keep, and whether it does."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from fabricd.core.plain import counted
from fabricd.core.trajectory.measurement import Measurement


class Limits(Struct, frozen=True):
    """What is asked of a trajectory; None is not asked.

    Attributes:
        least_reduction: of the effective reduction, in percent.
        most_final_bytes: of the bytes shown in all.
        no_unavailable: no escalation may have been unavailable.
    """

    least_reduction: float | None = None
    most_final_bytes: int | None = None
    no_unavailable: bool = False


def gated(name: str, measurement: Measurement, limits: Limits) -> dict[str, Any]:
    """The verdict on a trajectory as plain JSON, with its reasons in words."""
    reasons = _reasons(measurement, limits)
    figures = measurement.figures
    return {
        "effective_reduction_percentage": None
        if figures is None
        else figures["effective_reduction"]["percentage"],
        "file": name,
        "final_model_visible_bytes": None
        if figures is None
        else figures["final_model_visible_bytes"],
        "pass": not reasons,
        "reasons": reasons,
        "unavailable": None if figures is None else figures["escalation_unavailable_count"],
    }


def _reasons(measurement: Measurement, limits: Limits) -> list[str]:
    figures = measurement.figures
    if figures is None:
        found = counted(len(measurement.head["violations"]), "violation", "violations")
        return [f"it has no figures ({found})"]
    reasons: list[str] = []
    reached, final = (
        figures["effective_reduction"]["percentage"],
        figures["final_model_visible_bytes"],
    )
    least, most = limits.least_reduction, limits.most_final_bytes
    if least is not None and reached is None:
        reasons.append("there was no raw evidence to reduce")
    elif least is not None and reached < least:
        # Not rounded to what it must reach.
        reasons.append(f"the effective reduction is {reached:.6g} %, less than {least:g} %")
    if most is not None and final > most:
        reasons.append(f"{final:,} bytes were shown, more than {most:,}")
    unavailable = figures["escalation_unavailable_count"]
    if limits.no_unavailable and unavailable:
        reasons.append(f"{counted(unavailable, 'escalation was', 'escalations were')} unavailable")
    return reasons
