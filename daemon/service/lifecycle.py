"""Starting and replacing the daemon of this environment, in bounded time.

The lock of the home says whether a daemon runs; the socket is asked only how that daemon is.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabricd.daemon.exits import FAILED, OK, STALE, CannotStart
from fabricd.daemon.service.init_system import TOO_SLOW, first_failure
from fabricd.daemon.service.installing import Installed, installed
from fabricd.daemon.service.spawning import Child
from fabricd.daemon.service.start import cure_of, in_the_way, places, prepared
from fabricd.daemon.service.stopping import STOP_SECONDS, Stopped, is_free, stop
from fabricd.daemon.telemetry.rotating import not_opened
from fabricd.ipc.client import NeedsRestart, NotRunning, Probe, Ready, Unreachable, probe
from fabricd.store.durable import shown
from fabricd.store.homes import Homes, is_same_home
from fabricd.store.locks import AlreadyHeld, Holder, Ownership, hold, holder

READY_SECONDS = 10.0
# Whoever waits for another start waits for all of it, and for those who came before.
_TURN_SECONDS = 3 * READY_SECONDS
_SERVICE_BEGINS = 2.0
_SILENCE = 2.0
_A_GLANCE = 0.5
_POLL = 0.05


@dataclass(frozen=True)
class Started:
    """A daemon that runs; `ready` says that it has read the window.

    `through` names the service manager that started it, `log` the file where it does not log there.
    """

    state: Literal["started", "already_started"]
    pid: int
    socket: str
    ready: bool
    through: str | None = None
    log: str | None = None


@dataclass(frozen=True)
class _Wanted:
    """A daemon that should run. `log` is asked for where one is started, and nowhere else."""

    env: Mapping[str, str]
    homes: Homes
    socket: Path
    version: str
    log: Callable[[], Path]


def start(env: Mapping[str, str], version: str, log: Callable[[], Path]) -> Started:
    """Have a daemon of this version run; waits until it is ready, up to 10 s.

    Args:
        log: gives the file in which a spawned daemon logs; may raise what it likes.

    Raises:
        CannotStart: with the sentence to print and the code to exit with.
    """
    wanted = _Wanted(env, *places(env), version, log)
    held = holder(wanted.homes.lock)
    if held is not None:
        found = _asked(_address(held, wanted), wanted, _A_GLANCE)
        if isinstance(found, Ready) and _state(found) == "ready":
            return _already(found)
    prepared(env)
    with closing(_turn(wanted.homes)):
        return _start(wanted)


def restart(
    env: Mapping[str, str], version: str, log: Callable[[], Path], force: bool = False
) -> tuple[Stopped, Started]:
    """Stop whatever daemon runs, of whatever version, and start one of this.

    Raises:
        CannotStop, CannotStart: see there.
    """
    wanted = _Wanted(env, *prepared(env), version, log)
    with closing(_turn(wanted.homes)):
        return stop(env, force), _start(wanted)


def _turn(homes: Homes) -> Ownership:
    """One start at a time: from the look whether a daemon runs until the new one is ready."""
    try:
        return hold(homes.start_lock, seconds=_TURN_SECONDS)
    except AlreadyHeld:
        raise CannotStart(
            f"another start holds {shown(homes.start_lock)} for {_TURN_SECONDS:g} s already", STALE
        ) from None
    except OSError as error:
        raise CannotStart(
            f"{shown(homes.start_lock)}: {error.strerror}{cure_of(error)}", FAILED
        ) from None


def _start(wanted: _Wanted) -> Started:
    found = _until_ready(wanted, lambda: False, _SILENCE)
    if isinstance(found, Ready) and _state(found) != "stopping":
        return _already(found)
    if isinstance(found, Ready):
        if not is_free(wanted.homes, STOP_SECONDS):
            raise CannotStart("the daemon that runs here has begun to stop and does not end", STALE)
    elif holder(wanted.homes.lock) is not None:
        raise in_the_way(found, wanted.version)
    # Asked for even where a manager starts it: what is wrong with the configuration is told here.
    log = wanted.log()
    service = installed(wanted.env)
    if service is not None and service.system.answers():
        return _through(service, wanted)
    return _spawned(wanted, log)


def _spawned(wanted: _Wanted, log: Path) -> Started:
    try:
        child = Child(wanted.env, log)
    except OSError as error:
        if error.filename not in (None, sys.executable):
            raise not_opened(log, error) from None
        where = shown(sys.executable)
        raise CannotStart(f"{where} cannot be run: {error.strerror}", FAILED) from None
    found = _until_ready(wanted, lambda: child.ended() is None)
    code = child.ended()
    if code is None:
        child.leave()
        if isinstance(found, Ready):
            return _new(found, None, shown(log))
        raise CannotStart(
            f"fabricd (pid {child.pid}) was started and has not answered for {READY_SECONDS:g} s; "
            f"see {shown(log)}",
            STALE,
        )
    if isinstance(found, Ready) and _pid(found) != child.pid:
        # Somebody who did not queue here has won the race for the home.
        return _already(found)
    if code == OK:
        # It has found one that lost the lock of the home, and told so.
        found = _asked(os.fspath(wanted.socket), wanted, _A_GLANCE)
        if isinstance(found, Ready):
            return _already(found)
    raise _died(code, child.last_words())


def _died(code: int, words: str) -> CannotStart:
    if code < 0:
        name = signal.Signals(-code).name
        return CannotStart(f"the daemon was ended by {name} at once: {words or 'no word'}", FAILED)
    if code == OK:
        return CannotStart(f"the daemon was stopped before it was ready: {words}", FAILED)
    return CannotStart(words or f"the daemon ended at once with code {code}", code)


def _through(service: Installed, wanted: _Wanted) -> Started:
    system = service.system
    began = time.monotonic()
    answer = first_failure(system.start(service.paths), READY_SECONDS)

    def lives() -> bool:
        if answer is not None and answer.code != TOO_SLOW:
            return False
        return time.monotonic() < began + _SERVICE_BEGINS or system.condition().active == "active"

    found = _until_ready(wanted, lives)
    if isinstance(found, Ready):
        return _new(found, system.name, None)
    if isinstance(found, NeedsRestart):
        raise CannotStart(
            f"{system.name} runs another fabricd: {found.reason}; bring the service up to date "
            "with: fabricd service install",
            STALE,
        )
    condition = system.condition()
    if condition.pid is not None:
        raise CannotStart(
            f"{system.name} has started fabricd (pid {condition.pid}), which does not answer yet; "
            "see: fabricd logs",
            STALE,
        )
    words = system.last_words() or (answer.words if answer else "it ended without a word")
    # Codes from 200 on are systemd's own, for a program that it could not even run.
    code = condition.exit_code or FAILED
    raise CannotStart(
        f"{system.name} cannot start fabricd: {words}", code if code < 200 else FAILED
    )


def _until_ready(
    wanted: _Wanted, lives: Callable[[], bool], silence: float = READY_SECONDS
) -> Probe:
    """Ask until a daemon is ready, nobody holds the home any more, or the time is over.

    Args:
        lives: whether somebody is about to hold the home.
        silence: how long a daemon that listens may be silent.
    """
    ends = time.monotonic() + READY_SECONDS
    heard = time.monotonic()
    found: Probe = NotRunning()
    while (left := ends - time.monotonic()) > 0:
        alive = lives()
        held = holder(wanted.homes.lock)
        found = NotRunning()
        if held is not None:
            found = _asked(_address(held, wanted), wanted, max(_POLL, min(1.0, left)))
        elif not alive:
            break
        if not isinstance(found, Unreachable):
            heard = time.monotonic()
        if isinstance(found, NeedsRestart) or time.monotonic() - heard > silence:
            break
        if isinstance(found, Ready) and _state(found) != "starting":
            break
        time.sleep(_POLL)
    return found


def _asked(address: str, wanted: _Wanted, seconds: float) -> Probe:
    """What the daemon of the home answers; whoever serves another home is not it."""
    found = probe(address, wanted.version, seconds)
    if isinstance(found, Ready) and not is_same_home(found.reply.result["home"], wanted.homes.home):
        return NotRunning()
    return found


def _address(held: Holder, wanted: _Wanted) -> str:
    return os.fsdecode(held.told) if held.told else os.fspath(wanted.socket)


def _state(found: Ready) -> str:
    return str(found.reply.result["state"])


def _pid(found: Ready) -> int:
    return int(found.reply.result["pid"])


def _already(found: Ready) -> Started:
    socket = str(found.reply.result["socket"])
    return Started("already_started", _pid(found), socket, _state(found) == "ready")


def _new(found: Ready, through: str | None, log: str | None) -> Started:
    socket = str(found.reply.result["socket"])
    return Started("started", _pid(found), socket, _state(found) == "ready", through, log)
