"""Waiting for the lock directories that a running Pi honours too, without holding the loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from fabricd.store.atomic import private_directory
from fabricd.store.pilock import PiLock, PiLockBusy

ATTEMPTS = 50
PAUSE = 0.005


@asynccontextmanager
async def locked(path: Path) -> AsyncGenerator[None, None]:
    """Hold a lock directory for a block.

    Raises:
        PiLockBusy: somebody else holds it, a quarter of a second later still.
        OSError: it cannot be made at all.
    """
    await anyio.to_thread.run_sync(private_directory, path.parent)
    lock = PiLock(path)
    for attempt in range(ATTEMPTS):
        if attempt:
            await anyio.sleep(PAUSE)
        if lock.try_acquire():
            break
    else:
        raise PiLockBusy(path)
    try:
        yield
    finally:
        lock.release()
