"""One watch for the session logs and the declared surface, or one for each where that fails.

A watch costs an idle daemon a thread that wakes several times a second. So both folders share one
as long as both can be watched; where one of them is missing, is not to be trusted or breaks the
watch, each of them has its own, so that the trouble of one does not silence the other.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from fabricd.core.watching import LAST_PAUSE, Events
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.ears import SessionEars, SurfaceEars, Tail
from fabricd.daemon.tailing.selftest import SelfTest
from fabricd.daemon.tailing.watch import Folder, Identity, Watch, listen
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
        selftest = SelfTest((homes.state, homes.entropy))
        sessions = SessionEars(homes.sessions, tail)
        surface = SurfaceEars(homes.surface, surface_changed)
        rest = (health, selftest, force_polling)
        self._folders = (
            Folder("watch-sessions", homes.sessions, True, sessions, *rest),
            Folder("watch-surface", homes.entropy, False, surface, *rest),
        )

    async def run(self) -> None:
        """Watch both until cancelled."""
        while True:
            await self._together()
            await self._apart()

    async def _together(self) -> None:
        """One watch for both, for as long as that is possible."""
        stopped = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(_ask_to_end, stopped)
            try:
                while (armed := await self._armed()) is not None:
                    await listen(self._folders, armed, stopped)
            except Exception:
                # Not told here: each of them is tried alone now, and tells what is the matter.
                for folder in self._folders:
                    folder.is_heard = False
            group.cancel_scope.cancel()

    async def _armed(self) -> list[Identity] | None:
        """What each folder is; None where they cannot all be watched."""
        armed: list[Identity] = []
        for folder in self._folders:
            found = await folder.identity()
            if found is None or not isinstance(await folder.decide(found), Events):
                return None
            armed.append(found)
        return armed

    async def _apart(self) -> None:
        """A watch for each, at least until all of them work."""
        stopped = anyio.Event()
        async with anyio.create_task_group() as group:
            for folder in self._folders:
                group.start_soon(Watch(folder, stopped).run)
            try:
                await self._all_heard()
            finally:
                stopped.set()

    async def _all_heard(self) -> None:
        while True:
            await anyio.sleep(LAST_PAUSE)
            if all(folder.is_heard for folder in self._folders):
                return


async def _ask_to_end(stopped: anyio.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stopped.set()
