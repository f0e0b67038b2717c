"""The driver that cancels: it reaches every suspension, of every task."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from tests.cancelling import at_every_suspension, cancelled_at

pytestmark = pytest.mark.asyncio


async def test_it_reaches_every_step_of_the_operation_and_its_tasks() -> None:
    reached: set[str] = set()

    async def child(name: str) -> None:
        for step in range(3):
            reached.add(f"{name}{step}")
            await anyio.lowlevel.checkpoint()

    async def operation() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(child, "a")
            group.start_soon(child, "b")
            await anyio.to_thread.run_sync(reached.add, "thread")
        await child("c")

    stopped: list[set[str]] = []

    async def note(_: int) -> None:
        stopped.append(set(reached))
        reached.clear()

    points = await at_every_suspension(operation, note)
    # Three tasks of three suspensions each, a thread, and the group.
    assert points >= 10
    assert len(stopped) == points + 1
    assert stopped[-1] == {"thread", *(f"{name}{step}" for name in "abc" for step in range(3))}
    assert all(len(before) <= len(stopped[-1]) for before in stopped)
    assert {"a0", "b0"} < stopped[0] | stopped[1] | stopped[2] | {""}


async def test_a_cancelled_operation_is_not_taken_for_one_that_ended() -> None:
    ended: list[int] = []

    async def operation() -> None:
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        ended.append(1)

    assert await cancelled_at(1, operation) and ended == []
    assert await cancelled_at(2, operation) and ended == []
    assert not await cancelled_at(3, operation) and ended == [1]


async def test_what_an_operation_raises_comes_out() -> None:
    async def operation() -> None:
        await anyio.lowlevel.checkpoint()
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        await cancelled_at(5, operation)
