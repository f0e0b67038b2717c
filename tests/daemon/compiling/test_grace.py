"""The grace queue: many triggers, one compile; none lost, the newest context wins."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from fabricd.daemon.compiling.compiler import Finished, Outcome
from fabricd.daemon.compiling.grace import Context, GraceQueue

pytestmark = pytest.mark.asyncio
GRACE = 0.03


class Recorder:
    """A compile that records its context and can be held up."""

    def __init__(self, outcome: Outcome = "written") -> None:
        self.contexts: list[str | None] = []
        self.outcome: Outcome = outcome
        self.gate: anyio.Event | None = None
        self.running = 0

    async def compile(self, context: Context) -> Finished:
        assert self.running == 0, "two compiles at once"
        self.running += 1
        try:
            self.contexts.append(context.session)
            if self.gate is not None:
                await self.gate.wait()
            return Finished(self.outcome)
        finally:
            self.running -= 1


@asynccontextmanager
async def queue(recorder: Recorder) -> AsyncGenerator[GraceQueue, None]:
    subject = GraceQueue(recorder.compile, GRACE)
    async with anyio.create_task_group() as group:
        await group.start(subject.run)
        yield subject
        group.cancel_scope.cancel()


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await anyio.sleep(0.002)


async def test_triggers_within_the_grace_period_become_one_compile() -> None:
    recorder = Recorder()
    async with queue(recorder) as subject:
        for number in range(20):
            subject.submit(Context(session=str(number)))
        await until(lambda: len(recorder.contexts) == 1)
        await anyio.sleep(GRACE * 3)
    assert recorder.contexts == ["19"]


async def test_triggers_during_a_compile_become_one_follow_up() -> None:
    recorder = Recorder()
    recorder.gate = anyio.Event()
    async with queue(recorder) as subject:
        subject.submit(Context(session="first"))
        await until(lambda: recorder.running == 1)
        for name in ("second", "third", "newest"):
            subject.submit(Context(session=name))
        recorder.gate.set()
        await until(lambda: len(recorder.contexts) == 2 and not recorder.running)
        await anyio.sleep(GRACE * 3)
    assert recorder.contexts == ["first", "newest"]


async def test_a_quiet_queue_compiles_nothing() -> None:
    recorder = Recorder()
    async with queue(recorder):
        await anyio.sleep(GRACE * 4)
    assert recorder.contexts == []


async def test_a_cancelled_compile_leaves_its_trigger_pending() -> None:
    recorder = Recorder()
    recorder.gate = anyio.Event()
    async with queue(recorder) as subject:
        subject.submit(Context(session="owed"))
        await until(lambda: recorder.running == 1)
    assert subject.is_pending
    recorder.gate = None
    assert await subject.serve() == Finished("written")
    assert recorder.contexts == ["owed", "owed"]


async def test_a_compile_that_found_the_lock_taken_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fabricd.daemon.compiling.grace._FIRST_RETRY", 0.02)
    recorder = Recorder("locked")
    async with queue(recorder) as subject:
        subject._backoff = 0.02
        subject.submit(Context(session="again"))
        await until(lambda: len(recorder.contexts) >= 2)
        recorder.outcome = "written"
        await until(lambda: not recorder.running)
        await anyio.sleep(0.3)
        settled = len(recorder.contexts)
        await anyio.sleep(0.2)
    assert len(recorder.contexts) == settled
    assert set(recorder.contexts) == {"again"}


async def test_a_trigger_that_came_too_soon_is_served_once_it_can_be() -> None:
    recorder = Recorder()
    subject = GraceQueue(recorder.compile, GRACE)
    subject.submit(Context(session="early"))
    assert subject.is_pending and not subject.is_open
    async with anyio.create_task_group() as group:
        group.start_soon(subject.run)
        await subject.opened()
        await until(lambda: recorder.contexts == ["early"])
        group.cancel_scope.cancel()
