"""Ending the daemon of a home: asked first, then signalled, killed only by order."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fabricd.core.plain import is_object, printable
from fabricd.daemon.service.init_system import first_failure
from fabricd.daemon.service.installing import installed
from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, call
from fabricd.store.addresses import SocketPathTooLong, socket_path
from fabricd.store.durable import shown
from fabricd.store.homes import Homes, find, is_same_home
from fabricd.store.locks import Holder, holder

ASK_SECONDS = 2.0
STOP_SECONDS = 15.0
TERM_SECONDS = 5.0
KILL_SECONDS = 5.0
_POLL = 0.05

How: TypeAlias = Literal["asked", "terminated", "killed"]


@dataclass(frozen=True)
class Stopped:
    """No daemon runs any more. `how` says what it took; None where there was none.

    `note` tells of a daemon that may have been meant.
    """

    state: Literal["stopped", "already_stopped"]
    pid: int | None = None
    how: How | None = None
    note: str | None = None


class CannotStop(RuntimeError):
    """Raised by `stop`: the daemon goes on. The message says what can be done about it."""


def stop(env: Mapping[str, str], force: bool = False) -> Stopped:
    """Have no daemon of this home run: ask it, then signal it; SIGKILL only with `force`.

    Raises:
        CannotStop: it goes on.
    """
    homes = find(env)
    held = holder(homes.lock)
    service = installed(env)
    if held is None:
        # Whoever knocks at a socket that the manager holds would start a daemon.
        knocks = service is None or not service.paths[1:]
        return _stop_unlocked(env, homes) if knocks else Stopped("already_stopped")
    asked = _ask_to_stop(held)
    if service is not None and service.paths[1:]:
        # Whoever knocks at a socket that the manager holds would start the daemon again.
        first_failure(service.system.stop(service.paths[1:]))
    if asked and is_free(homes, STOP_SECONDS):
        return Stopped("stopped", held.pid, "asked")
    pid = _signal(homes, signal.SIGTERM)
    if is_free(homes, TERM_SECONDS):
        return Stopped("stopped", held.pid, "terminated")
    if not force:
        raise CannotStop(
            f"fabricd (pid {pid}) neither answers nor ends: --force kills it, which costs a "
            "re-scan at most"
        )
    if service is not None and service.system.condition().pid == pid:
        # Killed behind its back, the manager would start it again.
        first_failure(service.system.stop(service.paths), 2 * STOP_SECONDS)
    else:
        _signal(homes, signal.SIGKILL)
    if is_free(homes, KILL_SECONDS):
        return Stopped("stopped", held.pid, "killed")
    raise CannotStop(f"fabricd (pid {pid}) still holds {shown(homes.lock)}, even killed")


def _stop_unlocked(env: Mapping[str, str], homes: Homes) -> Stopped:
    """Stop a daemon whose lock was removed: it is known by its socket alone."""
    try:
        socket = socket_path(env)
    except SocketPathTooLong:
        return Stopped("already_stopped")
    pid = _pid_at(socket, homes)
    if pid is None:
        return Stopped("already_stopped", note=_stranger(socket))
    with contextlib.suppress(NoDaemon, NoAnswer, CallFailed):
        call(socket, "shutdown", seconds=ASK_SECONDS)
    ends = time.monotonic() + STOP_SECONDS
    lock = Path(f"{socket}.lock")
    while _pid_at(socket, homes) == pid or holder(lock) or holder(homes.lock):
        if time.monotonic() > ends:
            raise CannotStop(
                f"fabricd (pid {pid}) was asked to end and goes on, without the lock "
                f"{shown(homes.lock)}: end that process yourself"
            )
        time.sleep(_POLL)
    return Stopped("stopped", pid, "asked")


def _pid_at(socket: str, homes: Homes) -> int | None:
    """The daemon that listens there, if it says that it serves this home."""
    told = _told_at(socket)
    if not is_same_home(told.get("home"), homes.home):
        return None
    pid = told.get("pid")
    return pid if isinstance(pid, int) else None


def _told_at(socket: str) -> dict[str, Any]:
    """What the daemon that listens there says of itself; empty where none does."""
    try:
        told = call(socket, "status", seconds=ASK_SECONDS).result
    except (NoDaemon, NoAnswer, CallFailed):
        return {}
    return told if is_object(told) else {}


def _stranger(socket: str) -> str | None:
    """How the daemon of another home that listens there can be ended.

    A home moves, as when Pi is installed: the daemon that `status` shows may serve the old one.
    """
    home = _told_at(socket).get("home")
    if not isinstance(home, str):
        return None
    cure = f"FABRICD_HOME={shlex.quote(printable(home))} fabricd stop"
    return f"the one that listens at {shown(socket)} serves another: end it with {cure}"


def is_free(homes: Homes, seconds: float) -> bool:
    """Whether nobody holds the home, now or within so many seconds."""
    ends = time.monotonic() + seconds
    while holder(homes.lock) is not None:
        if time.monotonic() > ends:
            return False
        time.sleep(_POLL)
    return True


def _ask_to_stop(held: Holder) -> bool:
    if not held.told:
        return False
    try:
        call(os.fsdecode(held.told), "shutdown", seconds=ASK_SECONDS)
    except (NoDaemon, NoAnswer, CallFailed):
        return False
    return True


def _signal(homes: Homes, number: signal.Signals) -> int | None:
    """Signal whoever holds the home now; gives its pid, None where nobody does any more."""
    held = holder(homes.lock)
    if held is None:
        return None
    if held.pid is None:
        raise CannotStop(
            f"a process that cannot be told from here holds {shown(homes.lock)}: it runs on "
            "another host or in a container, or has only just begun"
        )
    try:
        os.kill(held.pid, number)
    except ProcessLookupError:
        # It has ended meanwhile; whether the home is free is asked next.
        pass
    except PermissionError:
        raise CannotStop(f"fabricd (pid {held.pid}) belongs to another user") from None
    return held.pid
