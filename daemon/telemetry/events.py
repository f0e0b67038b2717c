"""What the daemon tells, one method an event. Silent code calls it; tests record it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from fabricd.core.clocks import JumpKind
from fabricd.core.javascript import number_text
from fabricd.core.window import Departure
from fabricd.daemon.context.attendant import Ending as WorkerEnding
from fabricd.ipc.connection import Cut
from fabricd.ipc.server import Ending, Refusal

Publish = Callable[[str, dict[str, object]], None]


class Telemetry(Protocol):
    """Every event of the daemon. Names are `<noun>_<past verb>`."""

    def daemon_started(self, fields: Mapping[str, object]) -> None:
        """Ready: homes, socket, versions."""

    def daemon_stopped(self, reason: str, seconds: float) -> None:
        """The last words."""

    def session_read(self, path: str, how: str, size: int, traces: int) -> None:
        """A pass over a session log ended. `how` names the resume decision."""

    def session_failed(self, path: str, reason: str) -> None:
        """A session log could not be read."""

    def session_left(self, path: str, how: Departure) -> None:
        """A session log is not in the window any more."""

    def clock_jumped(self, kind: JumpKind, seconds: float) -> None:
        """The machine slept, somebody set the time, or the process was stopped for a while."""

    def socket_bound_again(self, path: str) -> None:
        """The control socket had been removed, and is there again."""

    def compile_finished(self, fields: Mapping[str, object]) -> None:
        """A compile ended, whatever its outcome."""

    def compile_failed(self, error: BaseException) -> None:
        """A compile raised something it should not have."""

    def compiled(self, notice: str, fields: Mapping[str, object]) -> None:
        """A newly written artifact changes plans, or is better than the one before."""

    def gate_rejected(self, reasons: tuple[str, ...]) -> None:
        """The gate refused an artifact; told once per distinct set of reasons."""

    def review(self, notice: str, lines: Sequence[str], key: str) -> None:
        """There is something for authors to look at; told once per distinct key."""

    def turn_ended(self, agent: str | None, session: str | None) -> None:
        """A hook posted `turn_end`."""

    def transcript_ignored(self, path: str) -> None:
        """A `turn_end` named a path outside the session roots."""

    def health_degraded(self, what: str, why: str, cure: str) -> None:
        """Something does not work as it should, until cured."""

    def health_recovered(self, what: str) -> None:
        """It works again."""

    def code_replaced(self, installed: str, leaving: bool) -> None:
        """Another package lies where ours did. `leaving`: whoever restarts us shall start it."""

    def checkpoint_failed(self, reason: str) -> None:
        """The cursors could not be written; nothing is lost but a re-scan."""

    def client_refused(self, cause: Refusal, reason: str) -> None:
        """A connection was turned away."""

    def client_cut(self, cause: Cut) -> None:
        """A conversation was ended by us."""

    def request_ended(self, method: str, ending: Ending) -> None:
        """A frame was dealt with; `method` is one of those there are, else `unknown`."""

    def request_failed(self, method: str, error: BaseException) -> None:
        """A method raised something it should not have."""

    def worker_started(self, pid: int) -> None:
        """A context worker was started."""

    def worker_ended(self, pid: int, how: WorkerEnding, code: int) -> None:
        """A context worker has ended; `code` is negative for a signal."""

    def worker_said(self, words: str) -> None:
        """A line that a context worker wrote to its standard error."""


class LogTelemetry:
    """Events as log lines and, for those that concern others, as frames to subscribers."""

    def __init__(self, log: Any, publish: Publish) -> None:
        """`log` is a structlog logger."""
        self._log = log
        self._publish = publish

    def _tell(self, name: str, fields: Mapping[str, object], level: str = "info") -> None:
        getattr(self._log, level)(name, **fields)
        self._publish(name, dict(fields))

    def daemon_started(self, fields: Mapping[str, object]) -> None:
        self._tell("daemon_started", fields)

    def daemon_stopped(self, reason: str, seconds: float) -> None:
        self._tell("daemon_stopped", {"reason": reason, "seconds": round(seconds, 3)})

    def session_read(self, path: str, how: str, size: int, traces: int) -> None:
        fields: dict[str, object] = {"path": path, "how": how, "bytes": size, "traces": traces}
        self._tell("session_read", fields, "debug")

    def session_failed(self, path: str, reason: str) -> None:
        self._tell("session_failed", {"path": path, "reason": reason}, "warning")

    def session_left(self, path: str, how: Departure) -> None:
        self._tell("session_left", {"path": path, "how": how})

    def clock_jumped(self, kind: JumpKind, seconds: float) -> None:
        self._tell("clock_jumped", {"kind": kind, "seconds": round(seconds, 3)}, "warning")

    def socket_bound_again(self, path: str) -> None:
        self._tell("socket_bound_again", {"path": path}, "warning")

    def compile_finished(self, fields: Mapping[str, object]) -> None:
        shown = {
            name: number_text(value) if isinstance(value, float) else value
            for name, value in fields.items()
        }
        self._log.info("compile_finished", **shown)
        self._publish("compile_finished", dict(fields))

    def compile_failed(self, error: BaseException) -> None:
        self._log.error("compile_failed", error=repr(error), exc_info=error)

    def compiled(self, notice: str, fields: Mapping[str, object]) -> None:
        self._log.info("compiled", notice=notice)
        self._publish("compiled", {"notice": notice, **fields})

    def review(self, notice: str, lines: Sequence[str], key: str) -> None:
        self._log.info("review", notice=notice)
        self._publish("review", {"notice": notice, "suggestions": list(lines), "key": key})

    def gate_rejected(self, reasons: tuple[str, ...]) -> None:
        self._tell("gate_rejected", {"reasons": list(reasons)}, "warning")

    def turn_ended(self, agent: str | None, session: str | None) -> None:
        self._tell("turn_ended", {"agent": agent, "session": session}, "debug")

    def transcript_ignored(self, path: str) -> None:
        self._tell("transcript_ignored", {"path": path}, "debug")

    def health_degraded(self, what: str, why: str, cure: str) -> None:
        self._tell("health_degraded", {"what": what, "why": why, "cure": cure}, "warning")

    def health_recovered(self, what: str) -> None:
        self._tell("health_recovered", {"what": what})

    def code_replaced(self, installed: str, leaving: bool) -> None:
        self._tell("code_replaced", {"installed": installed, "leaving": leaving}, "warning")

    def checkpoint_failed(self, reason: str) -> None:
        self._tell("checkpoint_failed", {"reason": reason}, "warning")

    def client_refused(self, cause: Refusal, reason: str) -> None:
        self._log.warning("client_refused", cause=cause, reason=reason)

    def client_cut(self, cause: Cut) -> None:
        self._log.debug("client_cut", cause=cause)

    def request_ended(self, method: str, ending: Ending) -> None:
        """Too many to be told one by one."""

    def worker_started(self, pid: int) -> None:
        self._log.info("context_worker_started", worker=pid)

    def worker_ended(self, pid: int, how: WorkerEnding, code: int) -> None:
        level = "info" if how in ("idle", "heavy", "stopped", "refused") else "warning"
        getattr(self._log, level)("context_worker_ended", worker=pid, how=how, code=code)

    def worker_said(self, words: str) -> None:
        self._log.warning("context_worker_said", words=words)

    def request_failed(self, method: str, error: BaseException) -> None:
        self._log.error(
            "request_failed", method=method[:64], error=f"{type(error).__name__}: {error}"
        )
