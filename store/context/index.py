"""The index of all roots in one file of the state directory, for the one process that holds it.

with Store.open(state, Analyser(language_of, analyse)) as store:
    snapshot = finish(store.refresh(path))
    snapshot.corpus().hits("term")
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from fabricd.core.steps import Steps
from fabricd.store.context import keeping, roots
from fabricd.store.context.contents import Cache
from fabricd.store.context.database import Database
from fabricd.store.context.failures import IndexDamaged, IndexFailed
from fabricd.store.context.git import Place, Places
from fabricd.store.context.keeping import Kept
from fabricd.store.context.refreshing import Analyser, Moved, Progress, Refreshing
from fabricd.store.context.roots import Root
from fabricd.store.context.snapshot import Snapshot, snapshot_of
from fabricd.store.locks import Ownership, hold

# Roots whose rows stay in memory.
_ROOTS = 8
_A_MOMENT = 0.5
_ATTEMPTS = 4
_MOVES = 32


class Epoch(NamedTuple):
    """How often the index was begun anew, and how often segments were merged or blobs deleted."""

    built: int
    merged: int


class Store:
    """The open index.

    Attributes:
        notices: what was found damaged and made anew, in the order it was found.
    """

    def __init__(self, database: Database, analyser: Analyser, lock: Ownership | None) -> None:
        """`open` makes one."""
        self._database = database
        self._analyser = analyser
        self._lock = lock
        self._places = Places()
        self._roots: OrderedDict[str, Root] = OrderedDict()
        # How many refreshes each root is in.
        self._busy = Counter[str]()
        self._cache = Cache(database.found_damaged)
        self._epoch = Epoch(0, 0)

    @classmethod
    def open(cls, state: Path, analyser: Analyser, lock: Ownership | None = None) -> Self:
        """Open or begin the index of a state directory.

        Args:
            lock: of `index.lock`, if the caller holds it already; it stays the caller's.

        Raises:
            AlreadyHeld: another process has it open.
            IndexFailed: it cannot be opened.
            OSError: the lock cannot be made.
        """
        own = hold_index(state) if lock is None else None
        try:
            return cls(Database(index_path(state), analyser.version), analyser, own)
        except BaseException:
            if own is not None:
                own.close()
            raise

    @property
    def notices(self) -> tuple[str, ...]:
        """What was found damaged and made anew, in the order it was found."""
        return tuple(self._database.notices)

    def place(self, path: str) -> Steps[Place]:
        """The tree that a path lies in, which need not be indexed.

        Raises:
            NoRoot.
        """
        return (yield from self._places.find(path))

    def refresh(self, path: str, progress: Progress | None = None) -> Steps[Snapshot]:
        """Bring the index of the tree that a path lies in up to date with the disk.

        It may be dropped at any yield: what was committed stays, the rest is done next time.

        Raises:
            NoRoot: the path leads nowhere.
            TooMany: the tree is too large.
            IndexFailed: the index cannot be read or written.
        """
        place = yield from self._places.find(path)
        self._busy[place.root] += 1
        try:
            return (yield from self._refresh(place, progress or Progress()))
        finally:
            self._busy[place.root] -= 1
            self._busy += Counter()

    def _refresh(self, place: Place, progress: Progress) -> Steps[Snapshot]:
        attempts = moves = 0
        while True:
            if self._database.damage:
                self._rebuild()
            try:
                root = self._root(place.root)
                refreshing = Refreshing(self._database, self._analyser, place, root, self._is_known)
                refreshed = yield from refreshing.run(progress)
                with suppress(IndexFailed):
                    # Without room it waits.
                    self._tidy(root)
                return snapshot_of(
                    self._database, self._cache, root, place, refreshed, lambda: self._epoch
                )
            except Moved:
                # Somebody else forgot this root or rebuilt the index meanwhile.
                moves += 1
                if moves > _MOVES:
                    raise IndexFailed(
                        "the context index was changed meanwhile: ask again"
                    ) from None
            except IndexDamaged:
                attempts += 1
                if attempts == _ATTEMPTS:
                    raise

    def forget(self, path: str | None = None) -> int:
        """Delete what is kept of a root, or of all; gives how many roots that were.

        A root that is gone from the disk is named by where it lay.

        Raises:
            IndexDamaged, IndexFailed.
        """
        if path is None:
            return self._forget_all()
        raw = os.fsencode(os.path.realpath(path))
        if self._database.damage:
            self._rebuild()
        self._database.remove_damaged()
        with self._database.transaction() as connection:
            number = keeping.forget(connection, raw)
        self._let_go()
        self._epoch = self._epoch._replace(merged=self._epoch.merged + 1)
        self._database.vacuum()
        return number

    def _forget_all(self) -> int:
        number = 0
        with suppress(IndexDamaged, IndexFailed):
            number = len(self.kept())
        self._let_go()
        self._epoch = self._epoch._replace(built=self._epoch.built + 1)
        self._database.remove_damaged()
        self._database.discard()
        return number

    def _let_go(self) -> None:
        self._roots.clear()
        self._cache.clear()

    def kept(self) -> list[Kept]:
        """What is kept of each root, by path.

        Raises:
            IndexDamaged, IndexFailed.
        """
        with self._database.reading() as connection:
            return keeping.kept(connection)

    @property
    def bytes(self) -> int:
        """What the index takes on the disk."""
        return self._database.bytes

    def close(self) -> None:
        """Close it and release the lock; more than once is allowed."""
        self._cache.clear()
        self._database.close()
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _root(self, path: str) -> Root:
        root = self._roots.get(path)
        if root is None:
            with self._database.transaction() as connection:
                root = roots.load(connection, os.fsencode(path), path)
            self._roots[path] = root
        self._roots.move_to_end(path)
        for other in self._roots.values():
            if other is not root and other.corpus is not None:
                # One tree's hits may take what all may.
                other.corpus.forget_hits()
        idle = [known for known in self._roots if not self._busy[known]]
        for known in idle[: max(0, len(self._roots) - _ROOTS)]:
            del self._roots[known]
        return root

    def _is_known(self, root: Root) -> bool:
        return self._roots.get(root.path) is root

    def _rebuild(self) -> None:
        self._let_go()
        self._epoch = self._epoch._replace(built=self._epoch.built + 1)
        self._database.rebuild()

    def _tidy(self, root: Root) -> None:
        is_new = root.tidied != root.generation
        small = keeping.small_segments(root) if is_new else ()
        with self._database.reading() as connection:
            is_due = keeping.is_due(connection)
        if not small and not is_due:
            root.tidied = root.generation
            return
        with self._database.transaction() as connection:
            moves = keeping.merge_small(connection, small) if small else {}
            deleted = keeping.prune(connection) if is_due else 0
        if deleted:
            # Another content may get the number of a blob that is no more.
            self._cache.clear()
            for known in self._roots.values():
                known.former = None
        if moves or deleted:
            for known in self._roots.values():
                known.move_blobs(moves)
            self._epoch = self._epoch._replace(merged=self._epoch.merged + 1)
        root.tidied = root.generation


def index_path(state: Path) -> Path:
    """Where the index lies in a state directory."""
    return state / "context" / "index.db"


def hold_index(state: Path) -> Ownership:
    """Take the index of a state directory.

    What a killed holder was starting just then holds the lock on for a moment, so a moment is
    waited.

    Raises:
        AlreadyHeld, OSError.
    """
    return hold(lock_path(state), seconds=_A_MOMENT)


def lock_path(state: Path) -> Path:
    """The lock that whoever opens the index holds for life."""
    return state / "context" / "index.lock"
