"""The bytes of a trajectory as they fall: available, shown first, shown later, shown in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from fabricd.core.plain import counted
from fabricd.core.trajectory.measurement import Measurement


class Fall(Struct, frozen=True):
    """Bytes of one operation, or of several. `unavailable` counts what was asked for in vain."""

    name: str
    available: int
    initial: int
    escalated: int
    unavailable: int = 0

    @property
    def final(self) -> int:
        """What was shown in all."""
        return self.initial + self.escalated

    @property
    def avoided(self) -> int:
        """What was never shown; negative where more was shown than there was."""
        return self.available - self.final


class Waterfall(Struct, frozen=True):
    """A trajectory as it is drawn.

    Attributes:
        falls: the operations with the most available bytes, these first.
        others: the sum of the other operations; None if there are none.
        additional: bytes of sources beside the raw evidence, part of the total alone.
    """

    run_id: str
    task_id: str
    arm_id: str
    total: Fall
    falls: list[Fall]
    others: Fall | None
    additional: int


def falls_of(measurement: Measurement) -> list[Fall]:
    """The operations of a measured trajectory, in order of declaration."""
    escalated, unavailable = Counter[str](), Counter[str]()
    for one in (measurement.figures or {}).get("escalations", ()):
        if one["exposure"] is not None:
            escalated[one["operation_id"]] += int(one["exposure"]["model_visible_bytes"])
        unavailable[one["operation_id"]] += one["status"] == "UNAVAILABLE"
    return [
        Fall(
            row.operation_id,
            int(row.raw_available_bytes),
            int(row.initial_model_visible_bytes),
            escalated[row.operation_id],
            unavailable[row.operation_id],
        )
        for row in measurement.operations()
    ]


def _sum(name: str, falls: Iterable[Fall]) -> Fall:
    available = initial = escalated = unavailable = 0
    for fall in falls:
        available += fall.available
        initial += fall.initial
        escalated += fall.escalated
        unavailable += fall.unavailable
    return Fall(name, available, initial, escalated, unavailable)


def waterfall(measurement: Measurement, limit: int) -> Waterfall:
    """How a measured trajectory is drawn, with at most `limit` operations of their own."""
    figures, head = measurement.figures or {}, measurement.head
    # Equal ones stay in order of declaration.
    falls = sorted(falls_of(measurement), key=lambda fall: -max(fall.available, fall.final))
    rest = falls[limit:]
    whole = _sum("in all", falls)
    additional = figures["raw_available_bytes"] - figures["initial_raw_available_bytes"]
    total = Fall(
        whole.name,
        whole.available + additional,
        whole.initial,
        whole.escalated,
        whole.unavailable,
    )
    others = _sum(counted(len(rest), "other", "others"), rest) if rest else None
    return Waterfall(
        str(head["run_id"]),
        str(head["task_id"]),
        str(head["arm_id"]),
        total,
        falls[:limit],
        others,
        additional,
    )
