"""The daemon's side of the context worker: started at need, ended when idle, replaced when it dies.

A request that a dying worker leaves unanswered is asked once more of the next one. One that the
worker does not get on with ends by its deadline; a worker that gives no sign of life is killed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import anyio
import anyio.lowlevel
from anyio.abc import TaskStatus
from msgspec import UNSET, Raw

from fabricd.core.context.asking import Refused
from fabricd.daemon.context.child import Child
from fabricd.ipc.context.wire import (
    MAX_TOLD,
    Asked,
    BadFrame,
    Lines,
    Progress,
    Told,
    frame,
    told_of,
)

Start: TypeAlias = Callable[[], Awaitable[Child]]
Ending: TypeAlias = Literal[
    "idle", "heavy", "stopped", "died", "silent", "garbled", "refused", "other-code"
]

_ATTEMPTS = 2
_LOOK_SECONDS = 5.0
_LAST_WORDS_SECONDS = 1.0
_MOST_LINES = 100
_SEE = "see: fabricd logs"
_OTHER_CODE = "fabricd was replaced since the daemon was started: fabricd restart"
_BUSY = "too many context requests wait already; try again in a moment"


@dataclass(frozen=True)
class Limits:
    """How long and how much. Seconds and counts."""

    idle: float = 600.0
    silence: float = 60.0
    hello: float = 60.0
    # To index a large tree for the first time takes minutes, whoever asks first.
    request: float = 900.0
    queue: int = 64
    at_once: int = 16
    # What a first index leaves behind is given back with the process, once in a while and only
    # while nobody waits. Bytes, and seconds.
    heavy: int = 190 * 1024 * 1024
    lighter: float = 3600.0


class Events(Protocol):
    """What is told of the worker."""

    def worker_started(self, pid: int) -> None:
        """A worker was started."""

    def worker_ended(self, pid: int, how: Ending, code: int) -> None:
        """A worker has ended; `code` is negative for a signal."""

    def worker_said(self, words: str) -> None:
        """A line that a worker wrote to its standard error."""


@dataclass(eq=False)
class _Pending:
    id: int
    data: bytes
    done: anyio.Event = field(default_factory=anyio.Event)
    outcome: bytes | Refused | None = None
    attempts: int = 0

    def end(self, outcome: bytes | Refused) -> None:
        self.outcome = outcome
        self.done.set()


class Attendant:
    """One worker at most. `run` has to run for as long as anything is asked."""

    def __init__(
        self, start: Start, version: str, events: Events, limits: Limits | None = None
    ) -> None:
        """Nothing is started before it is needed."""
        self._start = start
        self._version = version
        self._events = events
        self._limits = limits or Limits()
        self._pending: dict[int, _Pending] = {}
        self._outbox: deque[bytes | _Pending] = deque()
        self._sent: dict[int, _Pending] = {}
        self._news = anyio.Event()
        self._last_id = 0
        self._child: Child | None = None
        self._progress: tuple[Progress, ...] = ()
        self._greeted = anyio.Event()
        self._heard = self._used = 0.0
        self._how: Ending = "died"
        self._lightened: float | None = None
        self._said_since, self._said_lines = 0.0, 0

    @property
    def value(self) -> dict[str, Any] | None:
        """The worker as `status` tells it; None where none runs."""
        child = self._child
        if child is None:
            return None
        value: dict[str, Any] = {"pid": child.pid, "requests": len(self._pending)}
        if (size := child.rss_bytes) is not None:
            value["rssBytes"] = size
        return value

    @property
    def rss_bytes(self) -> int | None:
        """The resident memory of the worker, where one runs and the system tells it."""
        return None if self._child is None else self._child.rss_bytes

    @property
    def progress(self) -> tuple[Progress, ...]:
        """What the worker said last of what it is indexing."""
        return self._progress if self._sent else ()

    async def ask(self, method: str, params: bytes) -> bytes:
        """Have the worker answer.

        Raises:
            Refused: it does not, or not in time.
        """
        if len(self._pending) >= self._limits.queue:
            raise Refused("busy", _BUSY)
        self._last_id += 1
        asked = frame(Asked(self._last_id, method, Raw(params)))
        pending = _Pending(self._last_id, asked)
        self._pending[pending.id] = pending
        self._put(pending)
        try:
            with anyio.move_on_after(self._limits.request):
                await pending.done.wait()
        finally:
            self._forget(pending)
        match pending.outcome:
            case bytes() as result:
                return result
            case Refused() as refused:
                raise refused
            case _:
                words = f"the context engine has not answered for {self._limits.request:g} s"
                raise Refused("busy", words)

    def _forget(self, pending: _Pending) -> None:
        del self._pending[pending.id]
        if pending in self._outbox:
            self._outbox.remove(pending)
        if self._sent.pop(pending.id, None) is not None:
            self._put(frame(Asked(pending.id, cancel=True)))

    def _put(self, what: bytes | _Pending) -> None:
        self._outbox.append(what)
        self._news.set()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Attend until cancelled."""
        task_status.started()
        while True:
            while not any(isinstance(what, _Pending) for what in self._outbox):
                self._outbox.clear()
                self._news = anyio.Event()
                await self._news.wait()
            try:
                child = await self._start()
            except Exception as error:
                # No process, no descriptor, no thread is left: the daemon lives on without.
                reason = getattr(error, "strerror", None) or type(error).__name__
                self._end_all(Refused("failed", f"the context worker cannot be started: {reason}"))
                # Whoever was refused goes first.
                await anyio.lowlevel.checkpoint()
                continue
            try:
                await self._attend(child)
            except Exception as error:
                self._events.worker_said(f"the daemon could not attend it: {type(error).__name__}")

    async def _attend(self, child: Child) -> None:
        self._child, self._how = child, "died"
        self._events.worker_started(child.pid)
        code = 0
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(child.words, self._said)
                try:
                    await self._converse(child)
                except anyio.get_cancelled_exc_class():
                    self._how = "stopped" if self._how == "died" else self._how
                    raise
                finally:
                    code = await child.end()
                # What it said last is read to its end, unless somebody else holds the pipe open.
                group.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS_SECONDS
        finally:
            child.close()
            self._child, self._progress = None, ()
            self._events.worker_ended(child.pid, self._how, code)
            self._take_back()

    def _said(self, words: str) -> None:
        # A worker in trouble may say more than anybody wants to keep.
        now = anyio.current_time()
        if now - self._said_since > 60:
            self._said_since, self._said_lines = now, 0
        self._said_lines += 1
        if self._said_lines <= _MOST_LINES:
            self._events.worker_said(words)

    async def _converse(self, child: Child) -> None:
        """Ask and hear until it is over; `_how` says why."""
        self._greeted = anyio.Event()
        self._heard = self._used = anyio.current_time()
        async with anyio.create_task_group() as group:
            group.start_soon(self._write, child)
            group.start_soon(self._watch, child, group.cancel_scope)
            await self._hear(child)
            group.cancel_scope.cancel()

    async def _write(self, child: Child) -> None:
        await self._greeted.wait()
        while True:
            while not self._outbox or self._is_full(self._outbox[0]):
                self._news = anyio.Event()
                await self._news.wait()
            what = self._outbox.popleft()
            if isinstance(what, _Pending):
                what.attempts += 1
                self._sent[what.id] = what
                what = what.data
            self._used = anyio.current_time()
            if not await child.send(what):
                return

    def _is_full(self, what: bytes | _Pending) -> bool:
        return isinstance(what, _Pending) and len(self._sent) >= self._limits.at_once

    async def _watch(self, child: Child, scope: anyio.CancelScope) -> None:
        limits = self._limits
        while True:
            await anyio.sleep(min(_LOOK_SECONDS, limits.idle / 4, limits.silence / 4))
            now = anyio.current_time()
            is_late = not self._greeted.is_set() and now - self._heard > limits.hello
            silent = now - max(self._heard, self._used) > limits.silence
            if is_late or (self._sent and silent):
                self._how = "silent"
                child.kill()
            elif not self._pending and now - self._used > limits.idle:
                self._how = "idle"
                scope.cancel()
            elif not self._pending and self._is_heavy(child, now):
                self._lightened = now
                self._how = "heavy"
                scope.cancel()

    def _is_heavy(self, child: Child, now: float) -> bool:
        if self._lightened is not None and now - self._lightened < self._limits.lighter:
            return False
        return (child.rss_bytes or 0) > self._limits.heavy

    async def _hear(self, child: Child) -> None:
        lines = Lines(MAX_TOLD)
        while piece := await child.receive():
            self._heard = anyio.current_time()
            try:
                for line in lines.take(piece):
                    if not self._take(told_of(line)):
                        return
            except BadFrame:
                self._how = "garbled"
                child.kill()
                return

    def _take(self, told: Told) -> bool:
        """Take a frame; False where it is the last."""
        if told.id is not None:
            self._take_answer(told)
        elif told.beat is not None:
            self._progress = told.beat.progress
        elif told.refused is not None:
            self._how = "refused"
            self._end_all(told.refused.error())
            return False
        elif told.hello is None:
            raise BadFrame("a frame says nothing")
        elif told.hello.version != self._version:
            self._how = "other-code"
            self._end_all(Refused("failed", _OTHER_CODE))
            return False
        else:
            self._greeted.set()
        return True

    def _take_answer(self, told: Told) -> None:
        pending = self._sent.pop(told.id or 0, None)
        self._used = self._heard
        self._news.set()
        if pending is None:
            # It was not wanted any more.
            return
        if told.result is not UNSET:
            pending.end(bytes(told.result))
        elif told.refused is not None:
            pending.end(told.refused.error())
        else:
            pending.end(Refused("failed", f"the context engine failed ({told.failed}); {_SEE}"))

    def _take_back(self) -> None:
        """What the worker has left unanswered is asked again, but not for ever."""
        waiting = [what for what in self._outbox if isinstance(what, _Pending)]
        if self._how not in ("idle", "heavy", "stopped") and not self._greeted.is_set():
            for pending in waiting:
                pending.attempts += 1
        self._outbox.clear()
        for pending in (*self._sent.values(), *waiting):
            if pending.done.is_set():
                continue
            if pending.attempts < _ATTEMPTS:
                self._outbox.append(pending)
            else:
                pending.end(Refused("failed", f"the context worker ended over this twice; {_SEE}"))
        self._sent.clear()

    def _end_all(self, refused: Refused) -> None:
        for pending in self._pending.values():
            pending.end(refused)
        self._outbox.clear()
        self._sent.clear()
