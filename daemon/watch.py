"""Watches: hints from the file system, supervised. What they miss, the rescan timer finds.

A watch is armed on a folder and lives until that folder is another one, a new project folder
appears (one that could not be watched for want of inotify watches is missed in silence), or it
breaks. Whenever one is armed everything is looked at once, so that nothing falls between two of
them. Where no watch can be had or trusted, changes are looked for more often, and `status` says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import anyio
import anyio.to_thread
from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType] untyped upstream

from fabricd.core.watching import (
    FIRST_PAUSE,
    LAST_PAUSE,
    NOT_UTF8,
    Events,
    Polling,
    Watching,
    cause_of,
    how_to_watch,
    is_utf8,
    next_pause,
    type_at,
)
from fabricd.daemon.ears import Ears, SessionEars, SurfaceEars, Tail
from fabricd.daemon.health import Health
from fabricd.daemon.selftest import SelfTest
from fabricd.store.homes import Homes

# Each wake of the two threads costs an idle daemon: by docs/adr/0011, as seldom as nobody minds.
_STEP_MS = 400
_LOOK_MS = 10_000
_MOUNTS = "/proc/self/mountinfo"

Identity = tuple[int, int]


class Watch:
    """One folder, watched for as long as the daemon lives."""

    def __init__(
        self,
        what: str,
        root: Path,
        recursive: bool,
        ears: Ears,
        health: Health,
        selftest: SelfTest,
        forced: bool,
    ) -> None:
        """`what` names the ailment, `forced` means that no events are wanted."""
        self._what = what
        self._root = root
        self._recursive = recursive
        self._ears = ears
        self._health = health
        self._selftest = selftest
        self._forced = forced
        self._pause = FIRST_PAUSE
        self._stopped = anyio.Event()

    def stop(self) -> None:
        """End soon: its thread cannot be cancelled, only asked, and looks every 400 ms."""
        self._stopped.set()

    async def run(self) -> None:
        """Watch until stopped or cancelled."""
        while not self._stopped.is_set():
            armed = await anyio.to_thread.run_sync(_identity, self._root)
            if armed is None:
                # Nothing to watch yet; the rescan timer notices too when it appears.
                await self._wait(FIRST_PAUSE)
                continue
            try:
                match await self._decide(armed):
                    case Polling(why=why, cure=cure):
                        self._poll(why, cure)
                        await self._wait(LAST_PAUSE)
                    case Events():
                        await self._listen(armed)
            except Exception as error:
                # A border: whatever ends one watch ends neither the other nor the daemon. Nobody
                # documents which errors there are: they came as OSError, RuntimeError and groups.
                cause = cause_of(str(_innermost(error)))
                self._poll(cause.why, cause.cure)
                await self._wait(self._pause)
                self._pause = next_pause(self._pause)

    async def _wait(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._stopped.wait()

    async def _decide(self, armed: Identity) -> Watching:
        if self._forced:
            return how_to_watch(True, b"", None)
        if not is_utf8(os.fsencode(self._root)):
            return NOT_UTF8
        kind = await anyio.to_thread.run_sync(_type_of, self._root)
        return how_to_watch(False, kind, await self._selftest.of(armed[0]))

    def _poll(self, why: str, cure: str) -> None:
        self._ears.poll(True)
        if cure:
            self._health.degrade(self._what, why, cure)

    async def _listen(self, armed: Identity) -> None:
        watch = awatch(
            self._root,
            watch_filter=lambda _, path: self._ears.wants(path),
            step=_STEP_MS,
            recursive=self._recursive,
            force_polling=False,
            ignore_permission_denied=True,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            stop_event=self._stopped,
        )
        async with anyio.create_task_group() as group, aclosing(watch) as changes:
            # The watch is armed before it first waits, and only then does this task run.
            group.start_soon(self._look_at_all)
            async for found in changes:
                self._health.recover(self._what)
                self._ears.poll(False)
                self._pause = FIRST_PAUSE
                again = self._ears.heard(found) if found else False
                if again or _identity(self._root) != armed:
                    return

    async def _look_at_all(self) -> None:
        self._ears.hint_all()


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
        self._watches = (
            Watch("watch-sessions", homes.sessions, True, sessions, *rest),
            Watch("watch-surface", homes.entropy, False, surface, *rest),
        )

    async def run(self) -> None:
        """Watch both until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._ask_to_end)
            for watch in self._watches:
                group.start_soon(watch.run)

    async def _ask_to_end(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            for watch in self._watches:
                watch.stop()


def _identity(root: Path) -> Identity | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _type_of(root: Path) -> bytes:
    try:
        with open(_MOUNTS, "rb") as file:
            return type_at(file.read(), os.path.realpath(os.fsencode(root)))
    except OSError:
        return b""


def _innermost(error: object) -> object:
    # What a task group raises is a group, even of one.
    while nested := getattr(error, "exceptions", ()):
        error = nested[0]
    return error
