"""Ending the daemon of a home: asked first, then signalled, killed only by order."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fabricd.daemon.init_system import first_failure
from fabricd.daemon.installing import installed
from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, call
from fabricd.store.durable import shown
from fabricd.store.homes import Homes, find
from fabricd.store.locks import Holder, holder

ASK_SECONDS = 2.0
STOP_SECONDS = 15.0
TERM_SECONDS = 5.0
KILL_SECONDS = 5.0
_POLL = 0.05

How: TypeAlias = Literal["asked", "terminated", "killed"]


@dataclass(frozen=True)
class Stopped:
    """No daemon runs any more. `how` says what it took; None where there was none."""

    state: Literal["stopped", "already_stopped"]
    pid: int | None = None
    how: How | None = None


class CannotStop(RuntimeError):
    """Raised by `stop`: the daemon goes on. The message says what can be done about it."""


def stop(env: Mapping[str, str], force: bool = False) -> Stopped:
    """Have no daemon of this home run: ask it, then signal it; SIGKILL only with `force`.

    Raises:
        CannotStop: it goes on.
    """
    homes = find(env)
    held = holder(homes.lock)
    if held is None:
        return Stopped("already_stopped")
    asked = _ask_to_stop(held)
    service = installed(env)
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
