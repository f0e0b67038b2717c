"""Keeps the receipts of what fabricd was good for: what the gateway repaired, as its logs say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from fabricd.core.value.gateway import Run
from fabricd.core.value.own import Turn, receipts_of
from fabricd.daemon.beats import until_beat
from fabricd.daemon.health import Health
from fabricd.store import gateway_turns
from fabricd.store.durable import shown
from fabricd.store.gateway_logs import folder_of, newest_first
from fabricd.store.homes import Homes
from fabricd.store.locks import AlreadyHeld
from fabricd.store.value import DamagedReceipts, Ledger, receipts_path

EVERY_SECONDS = 10.0


class Accountant:
    """Reads the gateway's logs past its cursors and enters what was repaired."""

    def __init__(self, homes: Homes, health: Health) -> None:
        self._homes = homes
        self._health = health
        self._cursors: dict[str, gateway_turns.Cursor] | None = None
        self._ledger: Ledger | None = None

    async def run(self) -> None:
        """Look every 10 s, until cancelled."""
        try:
            while True:
                await self.look()
                await anyio.sleep(until_beat(anyio.current_time(), EVERY_SECONDS))
        finally:
            self._close()

    def _close(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    async def look(self) -> None:
        """Enter what is new. What fails is tried again on the next look."""
        place = shown(receipts_path(self._homes.home))
        try:
            await anyio.to_thread.run_sync(self._account)
        except DamagedReceipts as error:
            self._health.degrade("value", str(error), "move it away: receipts are then kept anew")
        except AlreadyHeld:
            self._health.degrade("value", f"another program writes {place}", "stop it")
        except OSError as error:
            # Where its folder was removed under it, only opening it anew helps.
            self._close()
            reason = f"{place} cannot be kept: {error.strerror or error}"
            self._health.degrade("value", reason, "free space or mend the permissions")
        except Exception as error:
            # A border: receipts that cannot be kept must not end the daemon.
            reason = f"fabricd failed on the gateway's logs ({type(error).__name__}: {error})"
            self._health.degrade("value", reason, "please report this")
        else:
            self._health.recover("value")

    def _account(self) -> None:
        place = self._homes.value_cursors
        known = gateway_turns.load(place) if self._cursors is None else self._cursors
        cursors: dict[str, gateway_turns.Cursor] = {}
        turns: list[tuple[Run, Turn]] = []
        for path in newest_first(folder_of(self._homes.state)):
            # Not every file name is text.
            name = shown(path)
            cursor, found = self._read(path, known.get(name))
            if cursor is not None:
                cursors[name] = cursor
            turns += found
        if turns:
            self._enter(turns)
        if cursors != known:
            gateway_turns.save(place, cursors)
        self._cursors = cursors

    def _read(
        self, path: Path, known: gateway_turns.Cursor | None
    ) -> tuple[gateway_turns.Cursor | None, list[tuple[Run, Turn]]]:
        try:
            return gateway_turns.read_on(path, known)
        except FileNotFoundError:
            # A log is deleted when it is old.
            return None, []

    def _enter(self, turns: Iterable[tuple[Run, Turn]]) -> None:
        # Opened when there is something to enter for the first time: most people wrap nothing.
        if self._ledger is None:
            self._ledger = Ledger(self._homes.home)
        receipts: list[dict[str, Any]] = []
        for run, turn in turns:
            receipts += receipts_of([turn], run.conventions, run.version)
        self._ledger.add(receipts)
