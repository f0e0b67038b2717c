"""Whether the system tells of changes to files: a file of ours is touched, and the event awaited.

Some mounts and sandboxes take a watch and stay silent for ever. The file lies in a directory of
ours, never among the session logs; what it proves there holds for its device.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import anyio
import anyio.to_thread
from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType] untyped upstream

from fabricd.core.watching import is_utf8
from fabricd.store.atomic import leftover, private_directory

TEST_SECONDS = 5.0
_LOOK_MS = 250


async def is_told(directory: Path, seconds: float) -> bool | None:
    """Touch a file in a directory; whether that was told of, None where none could be made.

    Args:
        seconds: how long to wait for it.

    Raises:
        Exception: there are no watches left; see `core.watching.cause_of`.
    """
    if not is_utf8(os.fsencode(directory)):
        return None
    cookie = leftover(directory, f"watch-test.{secrets.token_hex(6)}")
    try:
        await anyio.to_thread.run_sync(_make, cookie)
    except OSError:
        return None
    try:
        return await _touched(directory, cookie, seconds)
    finally:
        # Not awaited: this is the end of a test that may have been cancelled.
        cookie.unlink(missing_ok=True)


async def _touched(directory: Path, cookie: Path, seconds: float) -> bool:
    ends = anyio.current_time() + seconds
    watch = awatch(
        directory,
        watch_filter=lambda _, path: os.path.basename(path) == cookie.name,
        step=50,
        rust_timeout=_LOOK_MS,
        yield_on_timeout=True,
        recursive=False,
        force_polling=False,
        stop_event=anyio.Event(),
    )
    async with anyio.create_task_group() as group, aclosing(watch) as changes:
        # The watch is armed before it first waits, and only then does this task run.
        group.start_soon(_touch, cookie)
        async for found in changes:
            if found or anyio.current_time() > ends:
                return bool(found)
    return False


async def _touch(cookie: Path) -> None:
    await anyio.to_thread.run_sync(cookie.touch)


def _make(cookie: Path) -> None:
    private_directory(cookie.parent)
    os.close(os.open(cookie, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


class SelfTest:
    """Remembers what was proven, by directory. What failed may have been chance: it is repeated."""

    def __init__(self, directories: Sequence[Path]) -> None:
        """`directories` are ours; the first of them exists."""
        self._directories = directories
        self._lock = anyio.Lock()
        self._told: set[Path] = set()

    async def of(self, device: int) -> bool | None:
        """Whether changes on a device are told of; None if nothing can be said.

        Raises:
            Exception: there are no watches left.
        """
        async with self._lock:
            for directory in self._directories:
                if _device(directory) == device:
                    return await self._of_directory(directory)
            told = await self._of_directory(self._directories[0])
            # Heard of one device says nothing of another; unheard of, nothing works here.
            return False if told is False else None

    async def require_watches(self) -> None:
        """Arm one more watch, for a moment.

        Raises:
            Exception: there are none left.
        """
        async with self._lock:
            await is_told(self._directories[0], TEST_SECONDS)

    async def _of_directory(self, directory: Path) -> bool | None:
        if directory in self._told:
            return True
        told = await is_told(directory, TEST_SECONDS)
        if told:
            self._told.add(directory)
        return told


def _device(directory: Path) -> int | None:
    try:
        return os.stat(directory).st_dev
    except OSError:
        return None
