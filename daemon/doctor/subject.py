"""What all checks are about: one environment, its homes, and the daemon that answers there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricd.core.plain import is_object
from fabricd.ipc.client import (
    CallFailed,
    NeedsRestart,
    NoAnswer,
    NoDaemon,
    NotRunning,
    Probe,
    Ready,
    Unreachable,
    call,
    probe,
)
from fabricd.store.addresses import SocketPathTooLong, socket_path
from fabricd.store.homes import Homes, find
from fabricd.store.locks import Holder, holder


@dataclass(frozen=True)
class Subject:
    """`socket` is None where no path can serve; `why_no_socket` then says why.

    `probe` is what answers at the socket, `holder` who holds the lock of the home, `counters` what
    the daemon has counted since it started.
    """

    env: Mapping[str, str]
    version: str
    homes: Homes
    socket: Path | None
    why_no_socket: str
    probe: Probe
    holder: Holder | None
    counters: Mapping[str, Any]

    @property
    def status(self) -> dict[str, Any]:
        """What the daemon says of itself; empty where it says nothing."""
        match self.probe:
            case Ready(reply=reply) | NeedsRestart(reply=reply):
                return reply.result if is_object(reply.result) else {}
            case Unreachable() | NotRunning():
                return {}

    @property
    def pid(self) -> int | None:
        """The running daemon, by its own words or by the lock it holds."""
        told = self.status.get("pid")
        if isinstance(told, int):
            return told
        return None if self.holder is None else self.holder.pid


def subject(env: Mapping[str, str], version: str, seconds: float) -> Subject:
    """Find the homes and ask who is there, for at most so many seconds. Touches nothing."""
    homes = find(env)
    owner = holder(homes.lock)
    try:
        path = Path(socket_path(env))
    except SocketPathTooLong as error:
        return Subject(env, version, homes, None, str(error), NotRunning(), owner, {})
    listening = path
    found = probe(os.fspath(path), version, seconds)
    if isinstance(found, NotRunning) and owner is not None and owner.told:
        # The holder of the home says where it listens, which may be elsewhere.
        listening = Path(os.fsdecode(owner.told))
        found = probe(os.fspath(listening), version, seconds)
    counters = _counters(listening, seconds) if isinstance(found, Ready) else None
    return Subject(env, version, homes, path, "", found, owner, counters or {})


def _counters(path: Path, seconds: float) -> Mapping[str, Any] | None:
    try:
        answer = call(os.fspath(path), "metrics", seconds=seconds).result
    except (NoDaemon, NoAnswer, CallFailed):
        return None
    counters = answer.get("counters") if is_object(answer) else None
    return counters if is_object(counters) else None
