"""Watches: hints from the file system, supervised. What they miss, the rescan timer finds.

A watch is armed on a folder and lives until that folder is another one, a new project folder
appears (one that could not be watched for want of inotify watches is missed in silence), or it
breaks. Whenever one is armed everything is looked at once, so that nothing falls between two of
them. Where no watch can be had or trusted, changes are looked for more often, and `status` says so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
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
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.ears import Changes, Ears
from fabricd.daemon.tailing.selftest import SelfTest

# Each wake of its thread costs an idle daemon: by docs/adr/0011, as seldom as nobody minds.
_STEP_MS = 400
_LOOK_MS = 10_000
_MOUNTS = "/proc/self/mountinfo"

Identity = tuple[int, int]


class Folder:
    """A folder to be watched, and who is told of what happens there."""

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
        self.root = root
        self.recursive = recursive
        self.ears = ears
        self._what = what
        self._health = health
        self._selftest = selftest
        self._forced = forced
        self._pause = FIRST_PAUSE
        self.is_heard = False

    async def identity(self) -> Identity | None:
        """Device and inode; None where there is no such folder."""
        found = await anyio.to_thread.run_sync(_identity, self.root)
        self.is_heard = self.is_heard and found is not None
        return found

    async def decide(self, found: Identity) -> Watching:
        """How it can be watched.

        Raises:
            Exception: there are no watches left to test that with.
        """
        if self._forced:
            return how_to_watch(True, b"", None)
        if not is_utf8(os.fsencode(self.root)):
            return NOT_UTF8
        kind = await anyio.to_thread.run_sync(_type_of, self.root)
        return how_to_watch(False, kind, await self._selftest.of(found[0]))

    def is_still(self, armed: Identity) -> bool:
        """Whether it is the folder that a watch was armed on."""
        return _identity(self.root) == armed

    def told(self, changes: Changes) -> bool:
        """A watch on it lives, and tells of changes; whether it should be armed anew."""
        self._health.recover(self._what)
        self.ears.poll(False)
        self._pause = FIRST_PAUSE
        self.is_heard = True
        own = {change for change in changes if self.ears.wants(change[1])}
        return bool(own) and self.ears.heard(own)

    def poll(self, why: str, cure: str) -> None:
        """Nobody tells of its changes; an ailment, unless it is wanted so."""
        self.is_heard = False
        self.ears.poll(True)
        if cure:
            self._health.degrade(self._what, why, cure)

    def next_pause(self) -> float:
        """Seconds to wait before it is tried again: twice as long each time, until it works."""
        pause, self._pause = self._pause, next_pause(self._pause)
        return pause


async def listen(
    folders: Sequence[Folder], armed: Sequence[Identity], stopped: anyio.Event
) -> None:
    """Hear of changes, until a watch should be armed anew or is no longer wanted.

    Args:
        armed: the identity of each folder.
        stopped: its thread cannot be cancelled, only asked, and looks every 400 ms.

    Raises:
        Exception: the watch cannot be had, or broke; see `core.watching.cause_of`.
    """
    watch = awatch(
        *(folder.root for folder in folders),
        watch_filter=lambda _, path: any(folder.ears.wants(path) for folder in folders),
        step=_STEP_MS,
        recursive=any(folder.recursive for folder in folders),
        force_polling=False,
        ignore_permission_denied=True,
        rust_timeout=_LOOK_MS,
        yield_on_timeout=True,
        stop_event=stopped,
    )
    async with anyio.create_task_group() as group, aclosing(watch) as changes:
        # The watch is armed before it first waits, and only then does this task run.
        group.start_soon(_look_at_all, folders)
        async for found in changes:
            # All of them are told, also where the first one wants another watch.
            again = [folder.told(found) for folder in folders]
            still = [folder.is_still(one) for folder, one in zip(folders, armed, strict=True)]
            if any(again) or not all(still):
                return


async def _look_at_all(folders: Sequence[Folder]) -> None:
    for folder in folders:
        folder.ears.hint_all()


class Watch:
    """One folder with a watch of its own."""

    def __init__(self, folder: Folder, stopped: anyio.Event) -> None:
        self._folder = folder
        self._stopped = stopped

    async def run(self) -> None:
        """Watch until stopped or cancelled."""
        while not self._stopped.is_set():
            armed = await self._folder.identity()
            if armed is None:
                # Nothing to watch yet; the rescan timer notices too when it appears.
                await self._wait(FIRST_PAUSE)
                continue
            try:
                match await self._folder.decide(armed):
                    case Polling(why=why, cure=cure):
                        self._folder.poll(why, cure)
                        await self._wait(LAST_PAUSE)
                    case Events():
                        await listen([self._folder], [armed], self._stopped)
            except Exception as error:
                # A border: whatever ends one watch ends neither the other nor the daemon. Nobody
                # documents which errors there are: they came as OSError, RuntimeError and groups.
                cause = cause_of(str(_innermost(error)))
                self._folder.poll(cause.why, cause.cure)
                await self._wait(self._folder.next_pause())

    async def _wait(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._stopped.wait()


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
