"""Timers of one period are due together, and none twice at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.beats import until_beat


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=5), st.sampled_from([0.02, 2.0, 4.0, 10.0]))
def test_whenever_they_began_they_meet(begun: list[float], period: float) -> None:
    due = [now + until_beat(now, period) for now in begun]
    second = [now + until_beat(now, period) for now in due]
    for before, after in (*zip(begun, due, strict=True), *zip(due, second, strict=True)):
        assert 0.49 * period <= after - before <= 1.51 * period
        # On a multiple, as far as floats go.
        assert abs(after / period - round(after / period)) < 1e-4
