"""Drives the long pure steps on the event loop, giving way once 4 ms have passed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from fabricd.core.steps import Steps
from fabricd.store.reading import Log, Pass, ReadSteps, fetch

T = TypeVar("T")

SLICE_SECONDS = 0.004


class Pacer:
    """Notices when a slice of the loop's time is used up."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._since = now()

    async def breathe(self) -> None:
        """Let others run, if this task has had its slice."""
        if self._now() - self._since >= SLICE_SECONDS:
            await anyio.lowlevel.checkpoint()
            self._since = self._now()

    def rested(self) -> None:
        """The task has just waited for something else: its slice starts anew."""
        self._since = self._now()


async def drive(steps: Steps[T], pacer: Pacer | None = None) -> T:
    """Run steps to their end without holding the loop."""
    pacer = pacer or Pacer()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        await pacer.breathe()


async def drive_reading(steps: ReadSteps, log: Log) -> Pass:
    """Run a pass over a log, reading in a worker thread."""
    pacer = Pacer()
    try:
        want = next(steps)
        while True:
            if want is None:
                await pacer.breathe()
                want = next(steps)
            else:
                # Not abandoned on cancellation: the thread uses a descriptor that is closed next.
                data = await anyio.to_thread.run_sync(fetch, log, want)
                pacer.rested()
                want = steps.send(data)
    except StopIteration as end:
        found: Pass = end.value
        return found
