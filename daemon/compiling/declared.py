"""The declared surface as the daemon holds it: read again when its file changes, derived once."""

from __future__ import annotations

import os
from pathlib import Path

import anyio.to_thread
from msgspec import Struct

from fabricd.core.compiling.artifact import compile_digest_steps
from fabricd.core.compiling.compile import Plans, plans_steps
from fabricd.core.compiling.review import notes_steps
from fabricd.core.entropy.freedom import freedom_steps
from fabricd.core.entropy.meter import Catalog
from fabricd.core.entropy.signals import Signal
from fabricd.core.model import Surface
from fabricd.daemon.cooperate import drive
from fabricd.daemon.health import Health
from fabricd.store import surfaces
from fabricd.store.durable import Damaged, Load, Loaded, Missing, shown


class Declared(Struct, frozen=True):
    """A surface with what follows from it alone. `notes` are for its authors."""

    surface: Surface
    plans: Plans
    evidence_digest: str
    notes: tuple[Signal, ...] = ()


class SurfaceKeeper:
    """Keeps the surface of a home current. Without one there is measurement, but no compile."""

    def __init__(self, path: Path, health: Health) -> None:
        self._path = path
        self._health = health
        self._seen: tuple[int, ...] | None = None
        self._lock = anyio.Lock()
        self.load: Load[Declared] = Missing()
        self.catalog = Catalog()

    @property
    def surface(self) -> Surface | None:
        """The surface, where there is a sound one."""
        return self.load.value.surface if isinstance(self.load, Loaded) else None

    async def refresh(self) -> bool:
        """Read the file again if it changed; whether the surface is another one now."""
        async with self._lock:
            seen = await anyio.to_thread.run_sync(_identity, self._path)
            if seen == self._seen:
                return False
            before = self.load
            data = await anyio.to_thread.run_sync(surfaces.read, self._path)
            self.load, self.catalog = await self._parse(data)
            # Only now: a look that was cancelled half-way must be taken again.
            self._seen = seen
            self._report_health()
            return not _same(before, self.load)

    async def _parse(self, data: bytes | Missing | Damaged) -> tuple[Load[Declared], Catalog]:
        if not isinstance(data, bytes):
            return data, Catalog()
        match await drive(surfaces.parse_steps(self._path, data)):
            case Loaded(value=surface):
                plans = await drive(plans_steps(surface))
                freedom = await drive(freedom_steps(surface))
                catalog = Catalog(surface.digest, freedom)
                digest = await drive(compile_digest_steps(surface.digest, plans.plans))
                notes = await drive(notes_steps(surface, plans))
                return Loaded(Declared(surface, plans, digest, notes), b""), catalog
            case Missing() | Damaged() as other:
                return other, Catalog()

    def _report_health(self) -> None:
        match self.load:
            case Damaged() as damage:
                cure = f"export the surface again, or remove {shown(damage.path)}"
                self._health.degrade("surface", damage.reason, cure)
            case Loaded() | Missing():
                self._health.recover("surface")


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _same(left: Load[Declared], right: Load[Declared]) -> bool:
    match left, right:
        case Loaded(value=a), Loaded(value=b):
            return a.surface.digest == b.surface.digest
        case _:
            return left == right
