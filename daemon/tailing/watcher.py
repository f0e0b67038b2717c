"""One watch for the session logs and the declared surface, or one for each where that fails.

A watch costs an idle daemon a thread that wakes several times a second: both folders share one.
Where that breaks, each has its own for a while, so that the trouble of one does not silence the
other.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from fabricd.core.watching import LAST_PAUSE, LONGEST_APART
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.ears import SessionEars, SurfaceEars, Tail
from fabricd.daemon.tailing.selftest import SelfTest
from fabricd.daemon.tailing.watch import Folder, Watch
from fabricd.store.homes import Homes


class Watcher:
    """Watches the session logs and the declared surface of a home."""

    def __init__(
        self,
        homes: Homes,
        health: Health,
        tail: Tail,
        surface_changed: Callable[[], None],
        force_polling: bool,
    ) -> None:
        self._selftest = SelfTest((homes.state, homes.entropy))
        sessions = SessionEars(homes.sessions, tail)
        surface = SurfaceEars(homes.surface, surface_changed)
        rest = (health, self._selftest, force_polling)
        self._folders = (
            Folder("watch-sessions", homes.sessions, True, sessions, *rest),
            Folder("watch-surface", homes.entropy, False, surface, *rest),
        )

    async def run(self) -> None:
        """Watch both until cancelled."""
        pause = LAST_PAUSE
        while True:
            began = anyio.current_time()
            await self._together()
            if anyio.current_time() - began > LAST_PAUSE:
                pause = LAST_PAUSE
            await self._apart(pause)
            pause = min(pause * 2, LONGEST_APART)

    async def _together(self) -> None:
        """One watch for both, until that breaks."""
        watch = Watch(self._folders, self._selftest)
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_when_cancelled, watch)
            await watch.run()
            group.cancel_scope.cancel()

    async def _apart(self, seconds: float) -> None:
        """A watch for each."""
        watches = [Watch([folder], self._selftest) for folder in self._folders]
        async with anyio.create_task_group() as group:
            for watch in watches:
                group.start_soon(watch.run)
            try:
                await anyio.sleep(seconds)
            finally:
                for watch in watches:
                    watch.stop()


async def _stop_when_cancelled(watch: Watch) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        watch.stop()
