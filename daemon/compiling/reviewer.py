"""The author's review in time: computed again only when something that it rests on has changed."""

from __future__ import annotations

from fabricd.core.entropy.signals import Signal
from fabricd.daemon.compiling.declared import SurfaceKeeper
from fabricd.daemon.compiling.poolkeeper import PoolKeeper
from fabricd.daemon.tailing.books import Books
from fabricd.store.durable import Loaded


class Reviewer:
    """Reviews the window beside the live surface and the pool."""

    def __init__(self, books: Books, keeper: SurfaceKeeper, pool: PoolKeeper) -> None:
        self._books = books
        self._keeper = keeper
        self._pool = pool
        self._held: tuple[tuple[int, str, int], tuple[Signal, ...]] | None = None

    async def review(self) -> tuple[Signal, ...]:
        """Every suggestion there is now."""
        catalog = self._keeper.catalog
        key = (self._books.revision, catalog.digest, self._pool.revision)
        if self._held is None or self._held[0] != key:
            found = self._keeper.load
            surface = self._keeper.surface
            notes = found.value.notes if isinstance(found, Loaded) else ()
            observed = self._pool.observed()
            signals = await self._books.review(catalog, surface, notes, observed)
            self._held = (key, signals)
        return self._held[1]
