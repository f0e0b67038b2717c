from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.clocks import JUMP_SECONDS, Jump, Reading, jump_between

START = Reading(10**18, 500.0)


def later(wall: float, monotonic: float) -> Reading:
    return Reading(START.wall_ns + int(wall * 1e9), START.monotonic + monotonic)


@pytest.mark.parametrize(
    ("wall", "monotonic", "found"),
    [
        (2.0, 2.0, None),
        (6.9, 2.0, None),
        (7.5, 2.0, Jump("ahead", 5.5)),
        (28_802.0, 2.0, Jump("ahead", 28_800.0)),
        (-3600.0, 2.0, Jump("back", 3602.0)),
        (62.0, 62.0, Jump("stopped", 60.0)),
        (6.9, 6.9, None),
        # Asleep where the monotonic clock runs on, and set back meanwhile: the clocks say enough.
        (10.0, 62.0, Jump("back", 52.0)),
    ],
)
def test_a_jump_is_named(wall: float, monotonic: float, found: Jump | None) -> None:
    assert jump_between(START, later(wall, monotonic), 2.0) == found


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_small_differences_are_none_and_large_ones_one(wall: float, monotonic: float) -> None:
    found = jump_between(START, later(wall, monotonic), 2.0)
    if abs(wall - monotonic) < JUMP_SECONDS - 0.01 and monotonic - 2.0 < JUMP_SECONDS - 0.01:
        assert found is None
    if abs(wall - monotonic) > JUMP_SECONDS + 0.01 or monotonic - 2.0 > JUMP_SECONDS + 0.01:
        assert found is not None and found.seconds > 0
