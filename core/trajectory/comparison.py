"""`comparison/v1`: several measured trajectories beside each other, and whether they compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fabricd.core.canonical import utf8
from fabricd.core.identity import canonical_text
from fabricd.core.javascript import utf16_key
from fabricd.core.trajectory.measurement import Measurement
from fabricd.core.trajectory.values import same, text_of

PROTOCOL = "opsle.agent-trajectory-profiler.comparison/v1"
INVALID = "invalid-measurement"
OTHER_TASK = "task-identity-mismatch"


def reason_against(measurements: Sequence[Measurement]) -> str | None:
    """Why trajectories do not compare; None if they do."""
    if not all(one.is_measured for one in measurements):
        return INVALID
    tasks = [one.head["task_id"] for one in measurements]
    return None if all(same(task, tasks[0]) for task in tasks) else OTHER_TASK


def in_order(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Measurements by arm, configuration and run, as texts and by UTF-16 code unit."""
    return sorted(measurements, key=_place)


def _place(measurement: Measurement) -> tuple[bytes, ...]:
    names = ("arm_id", "configuration_id", "run_id")
    return tuple(utf16_key(text_of(measurement.head[name])) for name in names)


def comparison_value(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """The comparison as plain JSON."""
    reason = reason_against(measurements)
    profiles = [one.value() for one in in_order(measurements)]
    return {
        "comparable": reason is None,
        "profiles": profiles,
        "protocol_version": PROTOCOL,
        "reason": reason,
    }


def comparison_pieces(measurements: Sequence[Measurement]) -> Iterator[bytes]:
    """The canonical text of the comparison, a piece at a time, without a line feed.

    Raises:
        NotCanonical: it holds a number that is not finite.
    """
    reason = reason_against(measurements)
    yield b'{"comparable":%s,"profiles":' % (b"false" if reason else b"true")
    opener = b"["
    for one in in_order(measurements):
        yield opener
        yield from one.pieces()
        opener = b","
    yield b"[]" if opener == b"[" else b"]"
    rest = canonical_text({"protocol_version": PROTOCOL, "reason": reason})
    yield b"," + utf8(rest[1:])
