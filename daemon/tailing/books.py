"""The books of the sessions in the window, and the running totals over them.

A fresh stretch of evidence is added to the totals, so that a new report costs what changed and
not what the window holds. Whatever cannot be added (a file begun anew, another window) drops the
totals, which are then summed again from the sessions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

import anyio
from msgspec import Struct

from fabricd.core.aliases import learned_actions
from fabricd.core.book import SessionBook
from fabricd.core.compiling.review import review_steps
from fabricd.core.entropy.meter import Catalog, RefRow, Report, report_steps
from fabricd.core.entropy.observations import Observed
from fabricd.core.entropy.signals import Signal
from fabricd.core.entropy.trend import SessionCorpus
from fabricd.core.evidence import Evidence, total_steps
from fabricd.core.model import Surface
from fabricd.core.overview import Aside, aside_of, corpus_steps
from fabricd.core.repairs import ActionAlias
from fabricd.core.resume import Resume, Unchanged
from fabricd.core.steps import OPERATIONS, Steps
from fabricd.daemon.cooperate import drive
from fabricd.store.durable import shown
from fabricd.store.reading import Pass, commit_steps

RETIRED = 8


class Spans(Struct, frozen=True):
    """Where the audits of one session lie. `generation` changes when the file began anew.

    `open_spans` are those of an unterminated last line, which may still change.
    """

    path: bytes
    generation: int
    spans: tuple[tuple[int, int], ...]
    open_spans: tuple[tuple[int, int], ...]


class Books:
    """All access to evidence goes through here, one at a time."""

    def __init__(self) -> None:
        self._lock = anyio.Lock()
        self._window: tuple[bytes, ...] = ()
        self._books: dict[bytes, SessionBook] = {}
        self._retired: OrderedDict[bytes, SessionBook] = OrderedDict()
        self._generations: dict[bytes, int] = {}
        self._totals: Evidence | None = None
        self._rows: dict[str, RefRow] = {}
        self._report: tuple[int, Catalog, Report] | None = None
        self.revision = 0
        self._changed: set[bytes] = set()
        self._change = anyio.Event()

    @property
    def window(self) -> tuple[bytes, ...]:
        """The sessions that count, by path."""
        return self._window

    def book(self, path: bytes) -> SessionBook:
        """The book of a session: the one kept, or an empty one."""
        found = self._books.get(path) or self._retired.get(path)
        return SessionBook() if found is None else found

    def remember(self, books: Iterable[tuple[bytes, SessionBook]]) -> None:
        """Take over the books of an earlier run, until their sessions enter the window."""
        for path, book in books:
            self._retired[path] = book

    def kept(self) -> list[bytes]:
        """The sessions worth a checkpoint: those of the window and the few that left it last."""
        return [*self._books, *self._retired]

    def owe_checkpoint(self, paths: set[bytes]) -> None:
        """These books are not on disk as they are now."""
        self._changed |= paths
        self._change.set()

    def take_changed(self) -> set[bytes]:
        """The books that changed since the last call."""
        changed, self._changed = self._changed, set()
        self._change = anyio.Event()
        return changed

    async def until_changed(self) -> None:
        """Wait until a book is owed a checkpoint."""
        if not self._changed:
            await self._change.wait()

    async def show(self, paths: Iterable[bytes]) -> bool:
        """Make these sessions the window; whether it changed."""
        window = tuple(sorted(paths))
        if window == self._window:
            return False
        async with self._lock:
            for path in self._window:
                if path not in window and path in self._books:
                    self._retired[path] = self._books.pop(path)
            for path in window:
                if path not in self._books:
                    self._books[path] = self._retired.pop(path, SessionBook())
            while len(self._retired) > RETIRED:
                gone, _ = self._retired.popitem(last=False)
                self._generations.pop(gone, None)
            self._window = window
            self._drop_totals()
        return True

    async def commit(self, path: bytes, found: Pass) -> bool:
        """Enter what a pass found; whether the evidence changed.

        Whatever is awaited here is awaited before anything is entered: a cancelled commit has
        not happened, and nobody ever sees half of one.
        """
        async with self._lock:
            if path not in self._books:
                return False
            if isinstance(found.decision, Unchanged):
                self._books[path] = found.book
                return False
            before = self._books[path]
            after = await drive(commit_steps(found))
            self._books[path] = after
            self.owe_checkpoint({path})
            ends = before.open_end.is_empty and after.open_end.is_empty
            if isinstance(found.decision, Resume) and ends:
                return self._add(found.fresh)
            if not isinstance(found.decision, Resume):
                self._generations[path] = self._generations.get(path, 0) + 1
            self._drop_totals()
            return True

    def _add(self, fresh: Evidence) -> bool:
        if fresh.is_empty:
            return False
        if fresh.size > OPERATIONS:
            # Cheaper to sum again, in steps, than to hold the loop up here.
            self._drop_totals()
            return True
        self.revision += 1
        for ref in fresh.refs:
            self._rows.pop(ref, None)
        if self._totals is not None:
            self._totals.add(fresh)
        return True

    def _drop_totals(self) -> None:
        self.revision += 1
        self._totals = None
        self._rows.clear()

    def _pieces(self) -> Iterator[Evidence]:
        for path in self._window:
            yield self._books[path].evidence
            yield self._books[path].open_end

    async def _summed(self) -> Evidence:
        if self._totals is None:
            self._totals = await drive(total_steps(self._pieces()))
        return self._totals

    async def report(self, catalog: Catalog) -> Report:
        """Measure the window."""
        async with self._lock:
            return await self._measured(catalog)

    async def _measured(self, catalog: Catalog) -> Report:
        held = self._report
        if held is not None and held[0] == self.revision and held[1] is catalog:
            return held[2]
        if held is not None and held[1] is not catalog:
            self._rows.clear()
        totals = await self._summed()
        pieces = tuple(self._pieces())
        steps: Steps[Report] = report_steps(totals, catalog, self._rows, pieces)
        report = await drive(steps)
        self._report = (self.revision, catalog, report)
        return report

    async def overview(
        self, catalog: Catalog, newest_first: Iterable[bytes]
    ) -> tuple[Report, Aside, SessionCorpus]:
        """The report, what it leaves aside, and each session's part in it."""
        async with self._lock:
            report = await self._measured(catalog)
            aside = aside_of(await self._summed())
            sessions = [
                (shown(path), self._books[path].whole())
                for path in newest_first
                if path in self._books
            ]
            return report, aside, await drive(corpus_steps(sessions, catalog))

    async def review(
        self,
        catalog: Catalog,
        surface: Surface | None,
        notes: tuple[Signal, ...],
        observed: Iterable[Observed],
    ) -> tuple[Signal, ...]:
        """What the window suggests to the authors of a surface."""
        async with self._lock:
            held = self._report
            # Nothing of the catalog's in it is looked at: one for another catalog does as well.
            fresh = held is not None and held[0] == self.revision
            report = held[2] if held is not None and fresh else await self._measured(catalog)
            totals = await self._summed()
            return await drive(review_steps(report, totals, surface, notes, observed))

    async def unresolved(self, surface: Surface) -> tuple[ActionAlias, ...]:
        """The aliases that refs prove which could not be resolved."""
        async with self._lock:
            return learned_actions((await self._summed()).refs, surface)

    async def audit_spans(self) -> list[Spans]:
        """Where the window's audits lie, by path."""
        async with self._lock:
            return [
                Spans(
                    path,
                    self._generations.get(path, 0),
                    tuple(self._books[path].evidence.audit_spans),
                    tuple(self._books[path].open_end.audit_spans),
                )
                for path in self._window
            ]
