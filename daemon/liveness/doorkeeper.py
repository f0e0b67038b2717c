"""Keeps the control socket and the lock of the home in place, for as long as the daemon lives.

Cleaners of temporary folders and people remove files that are in use: the daemon would run on,
unreachable, or beside another. So it looks whether both paths still lead to what it made there, and
binds and locks again if not.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread

from fabricd.daemon.beats import until_beat
from fabricd.daemon.clock import Clock
from fabricd.daemon.health import Health
from fabricd.daemon.telemetry.events import Telemetry
from fabricd.ipc.server import Server
from fabricd.ipc.socket_file import BoundSocket, LiveSocket, NotASocket
from fabricd.store.durable import shown
from fabricd.store.homes import BadHome, require_closed
from fabricd.store.locks import AlreadyHeld, Ownership, hold

LOOK_SECONDS = 2.0
TOUCH_SECONDS = 3600.0
# Who starts a daemon holds the home until it has heard that one listens already.
_START_SECONDS = 1.0
_SWEPT = (b"/tmp", b"/var/tmp", b"/private/tmp", b"/private/var/tmp")


def is_swept(path: Path) -> bool:
    """Whether a path lies where old files are removed by themselves."""
    real = os.path.realpath(os.fsencode(path))
    return any(real.startswith(folder + b"/") for folder in _SWEPT)


class Doorkeeper:
    """Looks after one bound socket and one home; the locks of both are held when this is made."""

    def __init__(
        self,
        bound: BoundSocket,
        home_lock: Path,
        server: Server,
        health: Health,
        telemetry: Telemetry,
        clock: Clock,
        stop: Callable[[str], None],
    ) -> None:
        """`stop` is called, with the reason, where the home has another owner."""
        self._bound = bound
        self._server = server
        self._health = health
        self._telemetry = telemetry
        self._clock = clock
        self._lock = bound.path.with_name(bound.path.name + ".lock")
        self._lock_identity = _identity(self._lock)
        self._home_lock = home_lock
        self._home_identity = _identity(home_lock)
        self._stop = stop
        # Held until the process ends, as the locks that it started with.
        self._held: list[Ownership] = []
        self._is_swept = is_swept(bound.path)
        self._touched_at = clock.monotonic()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await anyio.sleep(until_beat(self._clock.monotonic(), LOOK_SECONDS))
            await self.look()

    async def look(self) -> None:
        """Own and bind again what is gone; keep it young where old files are removed."""
        if not await self._owns_the_home():
            return
        if not self._bound.is_ours():
            await self._open_again()
            return
        self._health.recover("socket")
        if self._is_swept and self._clock.monotonic() - self._touched_at >= TOUCH_SECONDS:
            self._touched_at = self._clock.monotonic()
            for path in (self._bound.path, self._lock, self._bound.path.parent):
                with contextlib.suppress(OSError):
                    os.utime(path)

    async def _owns_the_home(self) -> bool:
        """Hold the lock of the home again if it is gone; False where somebody else holds it."""
        if self._home_identity is None or _identity(self._home_lock) != self._home_identity:
            path = shown(self._home_lock)
            try:
                await anyio.to_thread.run_sync(self._hold_home_again)
            except AlreadyHeld:
                self._stop(f"{path} was removed, and another daemon holds it now")
                return False
            except OSError as error:
                cure = f"free {path}; it is tried again every {LOOK_SECONDS:g} s"
                why = f"a second daemon could start here, {path}: {error.strerror}"
                self._health.degrade("lock", why, cure)
                return True
        self._health.recover("lock")
        return True

    def _hold_home_again(self) -> None:
        tell = os.fsencode(self._bound.path)
        self._held.append(hold(self._home_lock, tell, _START_SECONDS))
        self._home_identity = _identity(self._home_lock)

    async def _open_again(self) -> None:
        path = shown(self._bound.path)
        if self._bound.passed:
            cure = "systemctl --user restart fabricd.socket"
            self._health.degrade("socket", f"{path} was removed, and is the manager's", cure)
            return
        try:
            # Shielded by being in a thread: it is bound and listened at, or neither.
            await anyio.to_thread.run_sync(self._bind_again)
        except (BadHome, LiveSocket, NotASocket, AlreadyHeld, OSError) as error:
            cure = f"free {path}; it is tried again every {LOOK_SECONDS:g} s"
            self._health.degrade("socket", f"no client reaches the daemon: {error}", cure)
            return
        self._server.listen_again()
        self._health.recover("socket")
        self._telemetry.socket_bound_again(path)

    def _bind_again(self) -> None:
        require_closed(self._bound.path.parent, "the socket's directory")
        if self._lock_identity is None or _identity(self._lock) != self._lock_identity:
            # Removed with the socket: whoever locks that path now would own it beside us.
            self._held.append(hold(self._lock, os.fsencode(self._bound.path)))
            self._lock_identity = _identity(self._lock)
        self._bound.bind_again()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
