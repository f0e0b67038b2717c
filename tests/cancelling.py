"""Cancel an operation at its first suspension, at its second, and so on to its end.

Counted is each time that a task of the operation suspends: its own, and every task that it starts.
So a cancellation comes between any two steps of any of them, wherever the code awaits something.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any

import anyio

Operation = Callable[[], Coroutine[Any, Any, object]]
Then = Callable[[int], Awaitable[None]]

MOST = 5000


class _Count:
    """How often an operation has suspended, and when it is to be cancelled."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.seen = 0
        self.scope = anyio.CancelScope()

    def suspended(self) -> None:
        self.seen += 1
        if self.seen == self._at:
            self.scope.cancel()

    @property
    def was_reached(self) -> bool:
        return self.seen >= self._at


_counting: ContextVar[_Count | None] = ContextVar("counting", default=None)


class _Stepped:
    """A coroutine that is driven as `await` would, with each of its suspensions counted."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], count: _Count) -> None:
        self._coroutine = coroutine
        self._count = count

    def __await__(self) -> Generator[Any, Any, Any]:
        step = self._coroutine.send
        value: Any = None
        while True:
            try:
                suspended = step(value)
            except StopIteration as end:
                return end.value
            self._count.suspended()
            try:
                step, value = self._coroutine.send, (yield suspended)
            except BaseException as error:
                step, value = self._coroutine.throw, error


def _new_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **more: Any) -> asyncio.Future[Any]:
    count = _counting.get()
    counted = coroutine if count is None else _awaited(_Stepped(coroutine, count))
    return asyncio.Task(counted, loop=loop, **more)


async def _awaited(stepped: _Stepped) -> Any:
    # A coroutine of its own: tasks are asked for the state of theirs.
    return await stepped


async def cancelled_at(at: int, operation: Operation) -> bool:
    """Run an operation and cancel it at its `at`-th suspension; False if it ended before."""
    loop = asyncio.get_running_loop()
    factory = loop.get_task_factory()
    loop.set_task_factory(_new_task)
    count = _Count(at)
    token = _counting.set(count)
    try:
        with count.scope:
            await _Stepped(operation(), count)
    finally:
        _counting.reset(token)
        loop.set_task_factory(factory)
    return count.was_reached


async def at_every_suspension(operation: Operation, then: Then, step: int = 1) -> int:
    """Cancel at each suspension, and each time do what has to hold then; gives their number.

    Args:
        then: told at which suspension it was; runs undisturbed.
        step: look at every so manieth suspension only.
    """
    at = 1
    while await cancelled_at(at, operation):
        await then(at)
        at += step
        assert at < MOST, "the operation never ends"
    await then(at)
    return at - 1


def descriptors() -> list[str]:
    """What this process has open, by what it leads to; nothing where the system does not tell."""
    if not os.path.isdir("/proc/self/fd"):
        return []
    found: list[str] = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return sorted(_without_number(name) for name in found)


def _without_number(name: str) -> str:
    # Pipes and sockets are told apart by a number that says nothing.
    return name.split(":")[0] if name.startswith(("pipe:", "socket:")) else name
