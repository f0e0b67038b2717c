"""What has happened since the daemon started, counted in one place: where it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from fabricd.core.clocks import JumpKind
from fabricd.daemon.clock import Clock
from fabricd.daemon.context.attendant import Ending as WorkerEnding
from fabricd.daemon.telemetry.events import LogTelemetry, Publish
from fabricd.ipc.connection import Cut
from fabricd.ipc.server import Ending, Refusal

_TOLD_AGAIN = 60.0
_MOST_TEXT = 256


class Counters(Struct, rename="camel"):
    """Counts that only grow. What comes in kinds is counted by kind; kinds are words of ours."""

    sessions_read: dict[str, int] = field(default_factory=dict[str, int])
    sessions_failed: int = 0
    bytes_read: int = 0
    traces_read: int = 0
    compiles: dict[str, int] = field(default_factory=dict[str, int])
    compile_seconds: float = 0.0
    gate_rejections: int = 0
    reviews: int = 0
    turn_ends: int = 0
    clock_jumps: dict[str, int] = field(default_factory=dict[str, int])
    socket_rebinds: int = 0
    ignored_transcripts: int = 0
    degradations: int = 0
    checkpoint_failures: int = 0
    clients_refused: dict[str, int] = field(default_factory=dict[str, int])
    clients_cut: dict[str, int] = field(default_factory=dict[str, int])
    requests: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    workers_ended: dict[str, int] = field(default_factory=dict[str, int])


def _count(counts: dict[str, int], kind: str) -> None:
    counts[kind] = counts.get(kind, 0) + 1


def _short(text: str | None) -> str | None:
    return None if text is None else text[:_MOST_TEXT]


class CountedTelemetry(LogTelemetry):
    """Telemetry that also counts. Every event goes on to log and subscribers."""

    def __init__(self, log: Any, publish: Publish, clock: Clock) -> None:
        """`log` is a structlog logger."""
        super().__init__(log, publish)
        self.counters = Counters()
        self._refusals = _Seldom(clock.monotonic)

    def session_read(self, path: str, how: str, size: int, traces: int) -> None:
        _count(self.counters.sessions_read, how)
        self.counters.bytes_read += size
        self.counters.traces_read += traces
        super().session_read(path, how, size, traces)

    def session_failed(self, path: str, reason: str) -> None:
        self.counters.sessions_failed += 1
        super().session_failed(path, reason)

    def clock_jumped(self, kind: JumpKind, seconds: float) -> None:
        _count(self.counters.clock_jumps, kind)
        super().clock_jumped(kind, seconds)

    def socket_bound_again(self, path: str) -> None:
        self.counters.socket_rebinds += 1
        super().socket_bound_again(path)

    def compile_finished(self, fields: Mapping[str, object]) -> None:
        _count(self.counters.compiles, str(fields.get("outcome")))
        seconds = fields.get("seconds")
        if isinstance(seconds, float):
            # Microseconds, as they were told: a sum of them has no more digits than they have.
            self.counters.compile_seconds = round(self.counters.compile_seconds + seconds, 6)
        super().compile_finished(fields)

    def gate_rejected(self, reasons: tuple[str, ...]) -> None:
        self.counters.gate_rejections += 1
        super().gate_rejected(reasons)

    def review(self, notice: str, lines: Sequence[str], key: str) -> None:
        self.counters.reviews += 1
        super().review(notice, lines, key)

    def turn_ended(self, agent: str | None, session: str | None) -> None:
        self.counters.turn_ends += 1
        # A client's own words: as long as it likes, and every subscriber would have to hold them.
        super().turn_ended(_short(agent), _short(session))

    def transcript_ignored(self, path: str) -> None:
        self.counters.ignored_transcripts += 1
        super().transcript_ignored(path)

    def health_degraded(self, what: str, why: str, cure: str) -> None:
        self.counters.degradations += 1
        super().health_degraded(what, why, cure)

    def checkpoint_failed(self, reason: str) -> None:
        self.counters.checkpoint_failures += 1
        super().checkpoint_failed(reason)

    def client_refused(self, cause: Refusal, reason: str) -> None:
        _count(self.counters.clients_refused, cause)
        # Whoever is turned away may come back at once, thousands of times.
        if self._refusals.is_due(cause):
            super().client_refused(cause, reason)

    def client_cut(self, cause: Cut) -> None:
        _count(self.counters.clients_cut, cause)
        super().client_cut(cause)

    def worker_ended(self, pid: int, how: WorkerEnding, code: int) -> None:
        _count(self.counters.workers_ended, how)
        super().worker_ended(pid, how, code)

    def request_ended(self, method: str, ending: Ending) -> None:
        _count(self.counters.requests.setdefault(method, {}), ending)
        super().request_ended(method, ending)


class _Seldom:
    """Lets the first of a kind through, and then one a minute."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._told: dict[str, float] = {}

    def is_due(self, kind: str) -> bool:
        now = self._now()
        if now - self._told.get(kind, float("-inf")) < _TOLD_AGAIN:
            return False
        self._told[kind] = now
        return True
