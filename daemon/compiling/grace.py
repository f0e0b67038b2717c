"""The grace queue: triggers of a quarter second become one compile, and none is lost.

A trigger opens a grace period; those that follow replace its context. A trigger during a compile
waits for its end and then starts at once, with the newest context.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskStatus
from msgspec import Struct

from fabricd.daemon.compiling.compiler import Finished

_FIRST_RETRY = 1.0
_LAST_RETRY = 30.0


class Context(Struct, frozen=True):
    """Who asked for a compile."""

    agent: str | None = None
    session: str | None = None
    cwd: str | None = None


class GraceQueue:
    """Coalesces triggers and runs one compile at a time."""

    def __init__(
        self, compile_now: Callable[[Context], Awaitable[Finished]], grace_seconds: float
    ) -> None:
        self._compile = compile_now
        self._grace = grace_seconds
        self._pending: Context | None = None
        self._wake = anyio.Event()
        self._open = anyio.Event()
        self._backoff = _FIRST_RETRY
        self._retry_due = False
        self._retry_context = Context()

    @property
    def is_pending(self) -> bool:
        """Whether a trigger waits for its compile."""
        return self._pending is not None

    @property
    def is_open(self) -> bool:
        """Whether triggers are served: before, what a compile rests on has not been read."""
        return self._open.is_set()

    async def opened(self) -> None:
        """Wait until triggers are served."""
        await self._open.wait()

    def submit(self, context: Context) -> None:
        """Ask for a compile. Returns at once; the newest context wins."""
        self._pending = context
        self._wake.set()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve triggers until cancelled, those too that came before."""
        self._open.set()
        task_status.started()
        while True:
            await self._woken()
            await anyio.sleep(self._grace)
            while self._pending is not None:
                await self.serve()

    async def serve(self) -> Finished | None:
        """Compile for the pending trigger, if there is one."""
        context, self._pending = self._pending, None
        if context is None:
            return None
        try:
            finished = await self._compile(context)
        except BaseException:
            # A compile that was cancelled has not served its trigger.
            self._pending = self._pending or context
            raise
        self._retry_due = finished.is_retried
        self._retry_context = context
        return finished

    async def _woken(self) -> None:
        """Wait for a trigger, or for the time at which a failed compile is tried again."""
        if self._retry_due:
            # Jitter, so that two daemons that met at a lock do not meet again.
            delay = self._backoff * (0.5 + random.random() * 0.5)
            self._backoff = min(self._backoff * 2, _LAST_RETRY)
            with anyio.move_on_after(delay):
                await self._wake.wait()
            if self._pending is None:
                self._pending = self._retry_context
            self._retry_due = False
        else:
            self._backoff = _FIRST_RETRY
            await self._wake.wait()
        self._wake = anyio.Event()
