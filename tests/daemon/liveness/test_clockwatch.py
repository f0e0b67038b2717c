from __future__ import annotations

import anyio
import pytest

from fabricd.daemon.liveness import clockwatch
from fabricd.daemon.liveness.clockwatch import TICK_SECONDS, ClockWatch
from tests.daemon.hand import HandClock
from tests.daemon.recording import Recording


def test_only_a_jump_is_told_of_and_followed() -> None:
    clock, telemetry, looks = HandClock(), Recording(), [0]

    def look() -> None:
        looks[0] += 1

    watch = ClockWatch(clock, telemetry, look)
    for _ in range(5):
        clock.turn(TICK_SECONDS)
        watch.tick()
    assert telemetry.told == [] and looks == [0]
    clock.wall += 3600 * 10**9
    clock.turn(TICK_SECONDS)
    watch.tick()
    clock.turn(90.0)
    watch.tick()
    clock.wall -= 7200 * 10**9
    clock.turn(TICK_SECONDS)
    watch.tick()
    clock.turn(TICK_SECONDS)
    watch.tick()
    assert telemetry.told == [
        ("clock_jumped", ("ahead", 3600.0)),
        ("clock_jumped", ("stopped", 90.0 - TICK_SECONDS)),
        ("clock_jumped", ("back", 7200.0)),
    ]
    assert looks == [3]


@pytest.mark.asyncio
async def test_it_looks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clockwatch, "TICK_SECONDS", 0.01)
    clock, telemetry, jumped = HandClock(), Recording(), anyio.Event()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(ClockWatch(clock, telemetry, jumped.set).run)
            await anyio.sleep(0.05)
            clock.wall += 60 * 10**9
            await jumped.wait()
            group.cancel_scope.cancel()
    assert telemetry.names() == ["clock_jumped"]
