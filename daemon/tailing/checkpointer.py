"""Keeps the cursors on disk: only what changed is encoded, and a write comes at most every 2 s."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread

from fabricd.daemon.health import Health
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.telemetry.events import Telemetry
from fabricd.store import checkpoints
from fabricd.store.durable import Damaged, Loaded, Missing, shown

INTERVAL = 2.0
_BYTES_PER_SECOND = 1 << 20


class Checkpointer:
    """Writes checkpoints of the books while they change."""

    def __init__(self, path: Path, books: Books, health: Health, telemetry: Telemetry) -> None:
        self._path = path
        self._books = books
        self._health = health
        self._telemetry = telemetry
        self._encoded: dict[bytes, bytes] = {}
        self._last_size = 0

    async def restore(self) -> int:
        """Take over the cursors of an earlier run; gives their number. Damage costs a re-scan."""
        match await anyio.to_thread.run_sync(checkpoints.load, self._path):
            case Loaded(value=books):
                self._books.remember(books.items())
                return len(books)
            case Missing():
                return 0
            case Damaged(reason=reason):
                self._telemetry.checkpoint_failed(f"the old one is damaged: {reason}")
                return 0

    async def run(self) -> None:
        """Write while there is something to write, until cancelled."""
        while True:
            await self._books.until_changed()
            await anyio.sleep(max(INTERVAL, self._last_size / _BYTES_PER_SECOND))
            await self.flush()

    async def flush(self) -> None:
        """Write now, if anything changed since the last time."""
        changed = self._books.take_changed()
        if not changed:
            return
        try:
            await self._write(changed)
        except OSError as error:
            self._books.owe_checkpoint(changed)
            reason = error.strerror or str(error)
            self._health.degrade(
                "checkpoints",
                f"{shown(self._path)} could not be written: {reason}",
                "free space or mend the permissions; until then a restart reads the logs again",
            )
            return
        except BaseException:
            self._books.owe_checkpoint(changed)
            raise
        self._health.recover("checkpoints")

    async def _write(self, changed: set[bytes]) -> None:
        kept: dict[bytes, bytes] = {}
        for path in self._books.kept():
            held = None if path in changed else self._encoded.get(path)
            # Asked for only now: since the last pause the book may be another one.
            data = checkpoints.encode_book(self._books.book(path)) if held is None else held
            if data is not None:
                kept[path] = data
            await anyio.lowlevel.checkpoint()
        self._encoded = kept
        rows = list(kept.items())
        self._last_size = await anyio.to_thread.run_sync(checkpoints.save, self._path, rows)
