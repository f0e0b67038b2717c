"""Notices that the package was replaced, or removed, under the running daemon.

What runs was imported at the start and goes on as it is; but nobody wants the old code to serve for
weeks. Whoever restarts daemons gets the exit code that asks for it; anybody else is told.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import anyio
import anyio.to_thread

import fabricd
from fabricd.daemon.health import Health
from fabricd.daemon.telemetry.events import Telemetry

LOOK_SECONDS = 60.0
_WHAT = "code"


class Record(NamedTuple):
    """The list of files of an installed package: written last, so the package is whole.

    `folder` is the metadata folder; it names the version.
    """

    folder: Path
    mtime_ns: int
    inode: int

    @property
    def version(self) -> str:
        """The version of the package."""
        return self.folder.name.removeprefix("fabricd-").removesuffix(".dist-info")


Find: TypeAlias = Callable[[], Record | None]


def record_beside(package: Path) -> Record | None:
    """The record of the package at `package`, a folder `fabricd`.

    None where there is none in the same place: a checkout, or an editable install, whose files
    change all the time.
    """
    try:
        names = os.listdir(package.parent)
    except OSError:
        return None
    for name in names:
        if name.startswith("fabricd-") and name.endswith(".dist-info"):
            folder = package.parent / name
            try:
                found = os.stat(folder / "RECORD")
            except OSError:
                continue
            return Record(folder, found.st_mtime_ns, found.st_ino)
    return None


def ours() -> Record | None:
    """The record of the package that this process runs."""
    return record_beside(Path(fabricd.__file__).parent)


class CodeWatch:
    """Compares the record with that of the start, once a minute."""

    def __init__(
        self,
        health: Health,
        telemetry: Telemetry,
        leave: Callable[[], None] | None,
        find: Find = ours,
    ) -> None:
        """`leave` ends the daemon so that it is started again; None where nobody would do so."""
        self._health = health
        self._telemetry = telemetry
        self._leave = leave
        self._find = find
        self._first = find()
        self._told: Record | None = None

    async def run(self) -> None:
        """Look until cancelled; at once over where there is nothing to look at."""
        while self._first is not None:
            await anyio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look once."""
        found = await anyio.to_thread.run_sync(self._find)
        if found == self._first:
            self._health.recover(_WHAT)
        elif found is None:
            # In the middle of an upgrade, or for good: there is nothing that could be started.
            self._health.degrade(
                _WHAT, "the package was removed under the running daemon", "fabricd stop"
            )
        else:
            self._replaced(found)

    def _replaced(self, found: Record) -> None:
        if self._told != found:
            self._told = found
            self._telemetry.code_replaced(found.version, self._leave is not None)
        self._health.degrade(
            _WHAT,
            f"the package was replaced (by {found.version}) under the running daemon",
            "fabricd restart",
        )
        if self._leave is not None:
            self._leave()
