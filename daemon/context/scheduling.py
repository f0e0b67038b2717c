"""Many requests in one thread: each is driven for a slice, then it is the next one's turn.

Requests of one root come one after the other; those of other roots and look-ups go on meanwhile,
and what has taken long already gets the shorter slices. To forget rows is done alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from fabricd.core.context.asking import Refused
from fabricd.core.steps import Steps

SLICE_SECONDS = 0.02
LONG_SLICE_SECONDS = 0.005
LONG_SECONDS = 0.5
ALONE: Final = "*"

Start = Callable[[], Steps[bytes]]


@dataclass(frozen=True)
class Ended:
    """How a request ended: with a result, a refusal, or an error that nobody foresaw."""

    id: int
    outcome: bytes | Refused | Exception


@dataclass(eq=False)
class _Job:
    id: int
    lane: str | None
    start: Start
    steps: Steps[bytes] | None = None
    spent: float = 0.0


@dataclass
class Scheduler:
    """`now` gives seconds that never jump."""

    now: Callable[[], float]
    _waiting: deque[_Job] = field(default_factory=deque[_Job])
    _running: deque[_Job] = field(default_factory=deque[_Job])

    def __len__(self) -> int:
        return len(self._waiting) + len(self._running)

    def add(self, id: int, lane: str | None, start: Start) -> None:
        """Queue a request. `lane`: what it shares with those that it waits for; None for nobody,
        `ALONE` for all."""
        self._waiting.append(_Job(id, lane, start))

    def cancel(self, id: int) -> None:
        """Leave a request where it is; it does not end."""
        for queue in (self._waiting, self._running):
            for job in queue:
                if job.id == id:
                    queue.remove(job)
                    _close(job)
                    return

    def close(self) -> None:
        """Leave all."""
        for job in (*self._waiting, *self._running):
            _close(job)
        self._waiting.clear()
        self._running.clear()

    def turn(self) -> Ended | None:
        """Drive one request for a slice; how it ended, if it did."""
        self._running.extend(self._admitted())
        if not self._running:
            return None
        job = self._running.popleft()
        began = self.now()
        slice_ = LONG_SLICE_SECONDS if job.spent > LONG_SECONDS else SLICE_SECONDS
        try:
            if job.steps is None:
                job.steps = job.start()
            while (elapsed := self.now() - began) < slice_:
                next(job.steps)
        except StopIteration as end:
            return Ended(job.id, end.value)
        except Refused as refused:
            return Ended(job.id, refused)
        except Exception as error:
            # The border of a request: one that breaks must not end those beside it.
            return Ended(job.id, error)
        job.spent += elapsed
        self._running.append(job)
        return None

    def _admitted(self) -> Iterator[_Job]:
        lanes = {job.lane for job in self._running}
        is_closed = ALONE in lanes
        held: deque[_Job] = deque()
        while self._waiting:
            job = self._waiting.popleft()
            is_late = job.lane is not None and (job.lane in lanes or ALONE in lanes)
            if is_closed or is_late or (job.lane == ALONE and lanes):
                held.append(job)
            else:
                is_closed = job.lane == ALONE
                yield job
            # Those behind it in its lane wait for it, whether it runs or not.
            lanes.add(job.lane)
        self._waiting = held


def _close(job: _Job) -> None:
    if job.steps is not None:
        job.steps.close()
