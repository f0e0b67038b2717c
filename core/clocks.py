"""What two clocks together tell: whether the machine slept, or somebody set the time."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

JUMP_SECONDS = 5.0

# Wall time went ahead (asleep, or set forward), went back, or this process was kept from running.
JumpKind: TypeAlias = Literal["ahead", "back", "stopped"]


class Reading(Struct, frozen=True, gc=False):
    """Both clocks at one moment."""

    wall_ns: int
    monotonic: float


class Jump(Struct, frozen=True, gc=False):
    """Events may have been lost. `seconds` is how far, never negative."""

    kind: JumpKind
    seconds: float


def jump_between(before: Reading, after: Reading, tick: float) -> Jump | None:
    """Compare the progress of both clocks over what should have been `tick` seconds."""
    passed = after.monotonic - before.monotonic
    ahead = (after.wall_ns - before.wall_ns) / 1e9 - passed
    if abs(ahead) > JUMP_SECONDS:
        return Jump("ahead" if ahead > 0 else "back", abs(ahead))
    if passed - tick > JUMP_SECONDS:
        return Jump("stopped", passed - tick)
    return None
