"""The watches: hints come, deeper files are left alone, and their threads end when asked."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest

from fabricd.daemon.health import Health
from fabricd.daemon.watch import Watcher
from fabricd.store.homes import Homes
from tests.daemon.recording import Recording

pytestmark = pytest.mark.asyncio


class Failed(Exception):
    """What a sibling of the watches raises."""


def prepared(folder: Path) -> tuple[Homes, Path]:
    homes = Homes(folder / "home", folder / "state", folder / "agent", False)
    project = homes.sessions / "--repo--"
    (project / "deeper").mkdir(parents=True)
    homes.entropy.mkdir(parents=True)
    return homes, project


async def test_changes_become_hints(tmp_path: Path) -> None:
    homes, project = prepared(tmp_path)
    hinted: set[bytes] = set()
    surface = anyio.Event()

    def sessions(paths: Iterable[bytes]) -> None:
        hinted.update(paths)

    watcher = Watcher(homes, Health(Recording()), sessions, surface.set, False)
    wanted = os.fsencode(project / "s.jsonl")
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            group.start_soon(watcher.run)
            while wanted not in hinted or not surface.is_set():
                (project / "deeper" / "export.jsonl").write_text(str(time.time()))
                (project / "s.jsonl").write_text(str(time.time()))
                homes.surface.write_text(str(time.time()))
                await anyio.sleep(0.3)
            group.cancel_scope.cancel()
    assert hinted == {wanted}


async def test_a_failure_beside_them_does_not_wait_for_their_threads(tmp_path: Path) -> None:
    homes, _ = prepared(tmp_path)
    watcher = Watcher(homes, Health(Recording()), lambda _: None, lambda: None, False)
    failed_at = 0.0
    with pytest.raises(ExceptionGroup):
        async with anyio.create_task_group() as group:
            group.start_soon(watcher.run)
            await anyio.sleep(1.0)
            failed_at = time.monotonic()
            raise Failed
    assert time.monotonic() - failed_at < 3.0
