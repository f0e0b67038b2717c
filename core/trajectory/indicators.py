"""The one line for the person who runs a command."""

from __future__ import annotations

from fabricd.core.javascript import number_text
from fabricd.core.trajectory.measurement import Measurement
from fabricd.core.trajectory.values import text_of

PREFIX = "[Trajectory Profiler] "


def plural(count: int, one: str) -> str:
    """A count with its noun, without thousands separators."""
    return f"{count} {one}{'' if count == 1 else 's'}"


def run_name(run_id: object) -> str:
    """How a line names a run."""
    return "unknown run" if run_id is None else text_of(run_id)


def profile_line(measurement: Measurement) -> str:
    """The line of a profile, with its line feed."""
    name, figures = run_name(measurement.head["run_id"]), measurement.figures
    if figures is None:
        count = len(measurement.head["violations"])
        return f"{PREFIX}{name} rejected | {plural(count, 'violation')}\n"
    initial = number_text(figures["initial_model_visible_bytes"])
    final = number_text(figures["final_model_visible_bytes"])
    fulfilled = plural(figures["escalation_fulfilled_count"], "escalation")
    shown = f"{initial} B initially visible | {final} B final"
    return f"{PREFIX}{name} | {shown} | {fulfilled} fulfilled\n"


def validate_line(run_id: object, violations: int) -> str:
    """The line of a validation, with its line feed. Its `(s)` is literal."""
    verdict = "rejected" if violations else "valid"
    return f"{PREFIX}{run_name(run_id)} | trajectory {verdict} | {violations} violation(s)\n"


def compare_line(count: int, reason: str | None) -> str:
    """The line of a comparison, with its line feed."""
    verdict = f"not comparable: {reason}" if reason else "comparable"
    return f"{PREFIX}{count} trajectories compared | {verdict}\n"


def conformance_line(count: int, verdict: str) -> str:
    """The line of a conformance report, with its line feed."""
    return f"{PREFIX}{count} fixtures checked | {verdict}\n"
