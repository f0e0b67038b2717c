"""Watches: hints from the file system, supervised. What they miss, the rescan timer finds.

A watch is armed on all folders that exist and can be trusted. It lives until one of them is another
one, appears or becomes readable, a new project folder appears (one that could not be watched for
want of inotify watches is missed in silence), or it breaks. Whenever one is armed everything is
looked at once, so that nothing falls between two of them. Where no watch can be had or trusted,
changes are looked for more often, and `status` says so.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import anyio
import anyio.to_thread
from watchfiles import Change, awatch  # pyright: ignore[reportUnknownVariableType] untyped upstream

from fabricd.core.watching import (
    FIRST_PAUSE,
    LAST_PAUSE,
    MISSING_PAUSE,
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
from fabricd.daemon.beats import until_beat
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.ears import Changes, Ears
from fabricd.daemon.tailing.selftest import SelfTest

# Each wake of its thread costs an idle daemon: by docs/adr/0011, as seldom as nobody minds.
_STEP_MS = 400
_LOOK_MS = 10_000
_MOUNTS = "/proc/self/mountinfo"

# Device and inode, then who may read it: a folder that becomes readable wants a new watch.
Identity = tuple[int, int, int, int, int]


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
        self._seen: Identity | None = None
        # When it should be looked at again although it is the same; None while it is watched.
        self.due: float | None = None

    @property
    def is_missing(self) -> bool:
        """Whether there was no such folder when it was looked at."""
        return self._seen is None

    async def is_there(self) -> bool:
        """Whether there is such a folder now."""
        return await _looked_at(self.root) is not None

    async def look(self) -> bool:
        """Look what it is now; whether a watch may be armed on it."""
        before = self._seen
        try:
            self._seen = await _looked_at(self.root)
        except Exception as error:
            self.broke(error)
            return False
        if self._seen is None:
            # Nothing to watch yet; the rescan timer notices too when it appears.
            self._well()
            now = anyio.current_time()
            self.due = now + until_beat(now, MISSING_PAUSE)
            return False
        if self._seen == before and self.due is not None and anyio.current_time() < self.due:
            return False
        try:
            match await self._decide(self._seen):
                case Polling(why=why, cure=cure):
                    self._poll(why, cure, LAST_PAUSE)
                    return False
                case Events():
                    self.due = None
                    return True
        except Exception as error:
            self.broke(error)
            return False

    async def _decide(self, found: Identity) -> Watching:
        if self._forced:
            return how_to_watch(True, b"", None)
        if not is_utf8(os.fsencode(self.root)):
            return NOT_UTF8
        kind = await anyio.to_thread.run_sync(_type_of, self.root)
        return how_to_watch(False, kind, await self._selftest.of(found[0]))

    async def is_settled(self) -> bool:
        """Whether it is what it was when it was looked at, and nothing else is to be done."""
        if await _looked_at(self.root) != self._seen:
            return False
        if self._seen is None or self.due is None or anyio.current_time() < self.due:
            return True
        return not await self.look()

    def told(self, changes: Changes) -> bool:
        """A watch on it lives, and tells of changes; whether it should be armed anew."""
        self._well()
        self._pause = FIRST_PAUSE
        own = {change for change in changes if self.ears.wants(change[1])}
        return bool(own) and self.ears.heard(own)

    def broke(self, error: Exception) -> None:
        """A watch cannot be had, or broke. It is due again twice as late each time."""
        cause = cause_of(str(_innermost(error)))
        self._poll(cause.why, cause.cure, self._pause)
        self._pause = next_pause(self._pause)

    def _well(self) -> None:
        self._health.recover(self._what)
        self.ears.poll(False)

    def _poll(self, why: str, cure: str, pause: float) -> None:
        """Nobody tells of its changes; an ailment, unless it is wanted so."""
        self.due = anyio.current_time() + pause
        self.ears.poll(True)
        if cure:
            self._health.degrade(self._what, why, cure)


class Watch:
    """One watch for some folders."""

    def __init__(self, folders: Sequence[Folder], selftest: SelfTest) -> None:
        self._folders = folders
        self._selftest = selftest
        self._stopped = anyio.Event()
        self._ended = anyio.Event()

    def stop(self) -> None:
        """End soon: its thread cannot be cancelled, only asked, and looks every 400 ms."""
        self._stopped.set()
        self._ended.set()

    async def run(self) -> None:
        """Watch until stopped or cancelled, or until several folders cannot share a watch."""
        has_failed = False
        while not self._stopped.is_set():
            trusted = [folder for folder in self._folders if await folder.look()]
            if not trusted:
                await self._wait_until_due()
                continue
            began = anyio.current_time()
            try:
                await self._listen(trusted)
            except Exception as error:
                # A border: whatever ends one watch ends neither another nor the daemon. Nobody
                # documents which errors there are: they came as OSError, RuntimeError and groups.
                if len(trusted) == 1:
                    trusted[0].broke(error)
                    await self._wait_until_due()
                elif has_failed and anyio.current_time() - began < LAST_PAUSE:
                    return
                else:
                    # What the watch before it held may be given back only now.
                    has_failed = True
                    await self._wait(FIRST_PAUSE)

    async def _wait_until_due(self) -> None:
        due = [folder.due for folder in self._folders if folder.due is not None]
        await self._wait(min(due) - anyio.current_time())

    async def _wait(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._stopped.wait()

    async def _listen(self, folders: Sequence[Folder]) -> None:
        """Hear of changes, until a watch should be armed anew or is no longer wanted.

        Raises:
            Exception: the watch cannot be had, or broke; see `core.watching.cause_of`.
        """
        try:
            await self._hear(folders, is_strict=True)
        except Exception as error:
            if not isinstance(_innermost(error), PermissionError):
                raise
            # Some folder may not be read, which the tailer tells. The rest is worth a watch.
            await self._hear(folders, is_strict=False)

    async def _hear(self, folders: Sequence[Folder], is_strict: bool) -> None:
        if self._stopped.is_set():
            return
        ended = self._ended = anyio.Event()
        watch = awatch(
            *(folder.root for folder in folders),
            # Each batch comes through, for what is looked at beside it: noise is no silence.
            watch_filter=None,
            step=_STEP_MS,
            recursive=any(folder.recursive for folder in folders),
            force_polling=False,
            # It would pass over exhausted limits as well.
            ignore_permission_denied=not is_strict,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            stop_event=ended,
        )
        async with anyio.create_task_group() as group, aclosing(watch) as changes:
            # The watch is armed before it first waits, and only then does this task run.
            group.start_soon(self._begin, folders, is_strict, ended)
            group.start_soon(self._end_when_complete, ended)
            async for found in changes:
                # All of them are told, also where the first one wants another watch.
                again = [folder.told(found) for folder in folders]
                if not is_strict:
                    again.append(_has_folder_changed(found))
                if any(again) or not await self._is_settled():
                    break
            group.cancel_scope.cancel()

    async def _end_when_complete(self, ended: anyio.Event) -> None:
        """A folder that appears joins the watch: looked for here, which wakes no thread."""
        missing = [folder for folder in self._folders if folder.is_missing]
        while missing:
            await anyio.sleep(until_beat(anyio.current_time(), MISSING_PAUSE))
            if any([await folder.is_there() for folder in missing]):
                ended.set()
                return

    async def _is_settled(self) -> bool:
        return all([await folder.is_settled() for folder in self._folders])

    async def _begin(self, folders: Sequence[Folder], is_strict: bool, ended: anyio.Event) -> None:
        try:
            for folder in folders:
                folder.ears.hint_all()
            if not is_strict:
                await self._selftest.require_watches()
        except Exception:
            # Else the failure would be heard of only when the thread comes back.
            ended.set()
            raise


def _has_folder_changed(changes: Changes) -> bool:
    """Whether a folder that could not be read may be readable now."""
    return any(change == Change.modified and os.path.isdir(path) for change, path in changes)


async def _looked_at(root: Path) -> Identity | None:
    # In a thread that may be left alone, and not of those that others wait for: on a mount that
    # hangs it does not come back.
    return await anyio.to_thread.run_sync(
        _identity, root, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
    )


def _identity(root: Path) -> Identity | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    return (found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid)


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
