"""Telemetry that remembers what it was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Recording:
    """Every event, in order, by name."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []
        self.reads: list[tuple[str, str]] = []

    def names(self) -> list[str]:
        return [name for name, _ in self.told]

    def all(self, name: str) -> list[Any]:
        return [fields for told, fields in self.told if told == name]

    def daemon_started(self, fields: Mapping[str, object]) -> None:
        self.told.append(("daemon_started", fields))

    def daemon_stopped(self, reason: str, seconds: float) -> None:
        self.told.append(("daemon_stopped", reason))

    def session_read(self, path: str, how: str, size: int, traces: int) -> None:
        self.reads.append((path, how))

    def session_left(self, path: str, how: str) -> None:
        self.told.append(("session_left", (path, how)))

    def clock_jumped(self, kind: str, seconds: float) -> None:
        self.told.append(("clock_jumped", (kind, seconds)))

    def socket_bound_again(self, path: str) -> None:
        self.told.append(("socket_bound_again", path))

    def session_failed(self, path: str, reason: str) -> None:
        self.told.append(("session_failed", reason))

    def compile_finished(self, fields: Mapping[str, object]) -> None:
        self.told.append(("compile_finished", fields))

    def compile_failed(self, error: BaseException) -> None:
        self.told.append(("compile_failed", error))

    def compiled(self, notice: str, fields: Mapping[str, object]) -> None:
        self.told.append(("compiled", {"notice": notice, **fields}))

    def review(self, notice: str, lines: Sequence[str], key: str) -> None:
        self.told.append(("review", {"notice": notice, "suggestions": [*lines], "key": key}))

    def gate_rejected(self, reasons: tuple[str, ...]) -> None:
        self.told.append(("gate_rejected", reasons))

    def turn_ended(self, agent: str | None, session: str | None) -> None:
        self.told.append(("turn_ended", session))

    def transcript_ignored(self, path: str) -> None:
        self.told.append(("transcript_ignored", path))

    def health_degraded(self, what: str, why: str, cure: str) -> None:
        self.told.append(("health_degraded", what))

    def health_recovered(self, what: str) -> None:
        self.told.append(("health_recovered", what))

    def code_replaced(self, installed: str, leaving: bool) -> None:
        self.told.append(("code_replaced", (installed, leaving)))

    def checkpoint_failed(self, reason: str) -> None:
        self.told.append(("checkpoint_failed", reason))

    def client_refused(self, cause: str, reason: str) -> None:
        self.told.append(("client_refused", cause))

    def client_cut(self, cause: str) -> None:
        self.told.append(("client_cut", cause))

    def request_ended(self, method: str, ending: str) -> None:
        self.told.append(("request_ended", (method, ending)))

    def request_failed(self, method: str, error: BaseException) -> None:
        self.told.append(("request_failed", error))

    def worker_started(self, pid: int) -> None:
        self.told.append(("worker_started", pid))

    def worker_ended(self, pid: int, how: str, code: int) -> None:
        self.told.append(("worker_ended", (pid, how, code)))

    def worker_said(self, words: str) -> None:
        self.told.append(("worker_said", words))
