"""The catalog repairs as the daemon holds them: read when they change, learned when proven.

What cannot be saved at once is owed: a lock that is busy or a disk that is full costs nothing but
time, as long as the surface stays the one on which a row was proven.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from fabricd.core.entropy.meter import Catalog, lexicon_of
from fabricd.core.model import RepairRow, Surface
from fabricd.core.repairs import MAX_ROWS, Row, Table, catalog_digest, meter_row
from fabricd.daemon.clock import Clock
from fabricd.daemon.compiling.patience import Patience
from fabricd.daemon.health import Health
from fabricd.store import repairs
from fabricd.store.durable import Damaged, Load, Loaded, Missing
from fabricd.store.homes import Homes
from fabricd.store.pilock import PiLockBusy
from fabricd.store.repairs import DamagedRepairs

_KEPT_ASIDE = "end the program that holds it; until then what is learned is kept in memory"


class _Trouble(Struct, frozen=True):
    why: str
    cure: str


class _Look(Struct, frozen=True):
    """What a look at the files found. `is_settled` where they are as they should be."""

    load: Load[Table]
    is_settled: bool = False
    is_busy: bool = False
    trouble: _Trouble | None = None


class Lexicon:
    """Keeps the repairs table of a home current, and what was learned in it."""

    def __init__(self, homes: Homes, health: Health, clock: Clock) -> None:
        self._homes = homes
        self._health = health
        self._clock = clock
        self._lock = anyio.Lock()
        self._seen: tuple[object, ...] | None = None
        self._is_settled = False
        self._patience = Patience("repairs", homes.repairs_lock, health, _KEPT_ASIDE)
        self._owed: dict[Row, str] = {}
        self._rows: tuple[RepairRow, ...] = ()
        self._catalog: tuple[Catalog, tuple[RepairRow, ...], Catalog] | None = None
        self.load: Load[Table] = Missing()

    def rows(self) -> tuple[RepairRow, ...]:
        """The rows of the table, for the meter: the same object until they change."""
        return self._rows

    @property
    def owes(self) -> int:
        """How many rows are learned and not saved yet: the next look saves them."""
        return len(self._owed)

    def catalog(self, declared: Catalog) -> Catalog:
        """What a surface contributes, with these rows: the same object until either changes."""
        held = self._catalog
        if held is None or held[0] is not declared or held[1] is not self._rows:
            counts = lexicon_of(self._rows)
            whole = structs.replace(declared, lexicon=counts, lexicon_rows=len(self._rows))
            held = self._catalog = (declared, self._rows, whole)
        return held[2]

    async def refresh(self, surface: Surface | None) -> bool:
        """Look at the table if it or the surface changed, or something is still to be done.

        Our rows for another catalog than the surface's leave the table. Gives whether `rows`
        are others now.
        """
        async with self._lock:
            files = await anyio.to_thread.run_sync(_identities, self._homes)
            seen = (None if surface is None else surface.digest, *files)
            if self._is_settled and seen == self._seen and not self._owed:
                return False
            changed = await self._look(surface)
            # Only now: a look that was cancelled half-way must be taken again.
            self._seen = seen
            return changed

    async def learn(self, candidates: Iterable[Row], surface: Surface) -> bool:
        """Save rows that were proven on a surface; whether `rows` are others now."""
        for row in candidates:
            if row in self._owed or len(self._owed) < MAX_ROWS:
                self._owed[row] = surface.digest
        if not self._owed:
            return False
        async with self._lock:
            return await self._look(surface)

    async def _look(self, surface: Surface | None) -> bool:
        if surface is not None:
            # Proven on another surface is not proven; the next compile learns it anew.
            self._owed = {row: on for row, on in self._owed.items() if on == surface.digest}
        owed = tuple(self._owed)
        now = self._clock.wall_ns() // 1_000_000
        found = await anyio.to_thread.run_sync(_look_at, self._homes, surface, owed, now)
        if surface is not None and found.is_settled:
            for row in owed:
                self._owed.pop(row, None)
        self._is_settled = found.is_settled
        self._report_health(found)
        return self._show(found.load)

    def _show(self, load: Load[Table]) -> bool:
        self.load = load
        rows = tuple(map(meter_row, load.value.rows)) if isinstance(load, Loaded) else ()
        if rows == self._rows:
            return False
        self._rows = rows
        return True

    def _report_health(self, found: _Look) -> None:
        if found.is_busy:
            self._patience.busy(self._clock.monotonic())
            return
        self._patience.over()
        if found.trouble is not None:
            self._health.degrade("repairs", found.trouble.why, found.trouble.cure)
        elif found.is_settled:
            self._health.recover("repairs")


def _look_at(homes: Homes, surface: Surface | None, owed: tuple[Row, ...], now: int) -> _Look:
    """Settle the files as far as it goes, in a worker thread."""
    if surface is None:
        load = repairs.load(homes.repairs)
        trouble = _damage(load) if isinstance(load, Damaged) else None
        return _Look(load, is_settled=trouble is None, trouble=trouble)
    catalog = catalog_digest(surface)
    try:
        table = repairs.save(homes, catalog, owed, now).table
    except DamagedRepairs as error:
        return _Look(repairs.standing(homes, catalog), trouble=_damage(error.damage))
    except PiLockBusy:
        return _Look(repairs.standing(homes, catalog), is_busy=True)
    except OSError as error:
        why = f"they could not be written: {error.strerror or error}"
        cure = "free space or mend the permissions; it is tried again by itself"
        return _Look(repairs.standing(homes, catalog), trouble=_Trouble(why, cure))
    return _Look(Missing() if table is None else Loaded(table, b""), is_settled=True)


def _damage(damage: Damaged) -> _Trouble:
    return _Trouble(damage.reason, damage.cure)


def _identities(homes: Homes) -> list[tuple[int, ...] | None]:
    return [_identity(path) for path in (homes.repairs, homes.repairs_learned)]


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
