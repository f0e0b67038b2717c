"""The observation pool in time: reads what sessions said since the last pass, keeps the books.

The books are written before the pool, which is a function of them: whatever happens in between,
the next pass writes the pool that belongs to the books.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import anyio.to_thread
from msgspec import Struct

from fabricd.core.book import SessionBook
from fabricd.core.entropy.observations import Observed
from fabricd.core.pool.adopting import adopt_steps
from fabricd.core.pool.bounds import is_overfull, prune_steps
from fabricd.core.pool.export import export_steps
from fabricd.core.pool.file import Pool, observed
from fabricd.core.pool.ledger import Change, Ledger, merge_steps, record_steps
from fabricd.core.pool.rows import Record, known_to
from fabricd.core.pool.values import session_name
from fabricd.core.sessions.audits import audited
from fabricd.core.sessions.header import Header, header_of, id_in_name
from fabricd.core.steps import OPERATIONS, Steps
from fabricd.daemon.compiling.locked import locked
from fabricd.daemon.compiling.patience import Patience
from fabricd.daemon.cooperate import drive, drive_reading
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.books import Spans
from fabricd.store import pools
from fabricd.store.durable import Damaged, Load, Loaded, Missing, shown
from fabricd.store.homes import Homes
from fabricd.store.pilock import PiLockBusy
from fabricd.store.pools import DamagedPool
from fabricd.store.reading import read_steps
from fabricd.store.sessions import OpenLog, first_line, read_spans

Kept: TypeAlias = Literal["kept", "damaged", "locked", "failed"]
_Key: TypeAlias = tuple[bytes, int]

_BATCH = 64
# Forks of forks whose sources are followed; nobody forks that often.
_GENERATIONS = 16


class _Who(Struct, frozen=True):
    """Whose log it is, and which session it repeats records of: empty if none.

    `source` is the path of that session's log as the fork names it.
    """

    session: str
    parent: str
    source: str = ""


class PoolKeeper:
    """Keeps the pool of a home. Trouble with it never holds up a compile."""

    def __init__(self, homes: Homes, health: Health) -> None:
        self._homes = homes
        self._health = health
        self._patience = Patience("pool", homes.pool_lock, health)
        self._ledger = Ledger()
        self._done: dict[_Key, int] = {}
        self._who: dict[_Key, _Who] = {}
        # Stale: the books have changed since they were exported. Unbooked: since they were written.
        # Owed: the pool's file is not known to be as it should.
        self._stale = False
        self._unbooked = False
        self._owed = False
        # The digest that stands in the books on disk, and those that the file may have from us.
        self._exported = ""
        self._ours: set[str] = set()
        self._seen: tuple[int, ...] | None = None
        self._pool = Pool()
        self.revision = 0

    async def start(self) -> None:
        """Take over the books, and what a pool says that is not in them."""
        match await anyio.to_thread.run_sync(pools.load_ledger, self._homes.pool_ledger):
            case Loaded(value=(ledger, exported)):
                self._ledger, self._exported = ledger, exported
                self._ours = {exported}
            case Missing() | Damaged():
                # Books are rebuilt from the sessions; those that are gone stay in the pool.
                self._ledger, self._exported = Ledger(), ""
        await self._take_over(*await anyio.to_thread.run_sync(pools.digested, self._homes.pool))
        self._pool = await drive(export_steps(self._ledger))

    async def _take_over(self, found: Load[Pool], digest: str) -> None:
        self._owed = True
        match found:
            case Loaded():
                self._owed = digest != self._exported
                await self._adopt(found, digest)
                self._health.recover("pool")
            case Missing():
                self._owed = bool(self._ledger.rows)
                self._health.recover("pool")
            case Damaged() as damage:
                self._health.degrade("pool", damage.reason, damage.cure)

    async def _adopt(self, found: Load[Pool], digest: str) -> bool:
        """Take over what another program wrote; whether there was anything of the kind."""
        if not isinstance(found, Loaded) or digest in self._ours:
            return False
        self._unbooked = True
        await drive(adopt_steps(self._ledger, found.value))
        await drive(prune_steps(self._ledger))
        return True

    def observed(self) -> Iterator[Observed]:
        """What the pool knows of values."""
        return observed(self._pool)

    async def update(self, sessions: Sequence[Spans]) -> Kept:
        """Enter what the window's sessions said since the last pass, and keep it."""
        current = {(spans.path, spans.generation) for spans in sessions}
        self._who = {key: who for key, who in self._who.items() if key in current}
        self._done = {key: count for key, count in self._done.items() if key in current}
        for spans in sessions:
            first = self._done.get((spans.path, spans.generation), -1)
            if first < len(spans.spans):
                await self._read(spans, first)
                if is_overfull(self._ledger):
                    await drive(prune_steps(self._ledger))
        await self._export()
        return await self._keep()

    async def _export(self) -> None:
        if self._stale:
            await drive(prune_steps(self._ledger))
            self._pool = await drive(export_steps(self._ledger))
            self.revision += 1
            self._stale, self._owed = False, True

    async def _read(self, spans: Spans, first: int) -> None:
        """Enter what is new in a log; `first` is negative where all of it is."""
        key = (spans.path, spans.generation)
        records = await self._records(spans.path, spans.spans[max(0, first) :])
        if records is None:
            # It vanished or shrank meanwhile; what it said before stands until it is seen.
            return
        who = self._who.get(key) or await self._identified(spans.path)
        await self._read_source(who, _GENERATIONS)
        change = Change(who.session, shown(spans.path), who.parent, tuple(records), first < 0)
        # Ahead of the change: whatever ends this task then, the change will be written.
        self._stale = self._unbooked = True
        await drive(merge_steps(self._ledger, change))
        self._who[key] = who
        self._done[key] = len(spans.spans)

    async def _read_source(self, fork: _Who, generations: int) -> None:
        """Enter the session that a fork repeats, where its log is there and not in the books.

        It may be too old for the window. What both hold is its own, so it has to be known first:
        otherwise the counts would depend on which of a family happens to be in the window.
        """
        row = self._ledger.rows.get(fork.parent)
        if not fork.source or generations == 0 or (row is not None and known_to(row)):
            return
        path = await anyio.to_thread.run_sync(_log_at, fork.source, self._homes.sessions)
        if path is None:
            return
        records = await self._all_records(path)
        who = await anyio.to_thread.run_sync(_identify, path)
        if records is None or who.session != fork.parent:
            return
        await self._read_source(who, generations - 1)
        change = Change(who.session, shown(path), who.parent, tuple(records), True)
        self._stale = self._unbooked = True
        await drive(merge_steps(self._ledger, change))

    async def _all_records(self, path: bytes) -> list[Record] | None:
        """Every record of a log that is not in the window; None where it cannot be read."""
        try:
            log = await anyio.to_thread.run_sync(OpenLog, path)
            with log:
                found = await drive_reading(read_steps(log, SessionBook(), 0), log)
        except OSError:
            return None
        return await self._records(path, found.fresh.audit_spans)

    async def _identified(self, path: bytes) -> _Who:
        who = await anyio.to_thread.run_sync(_identify, path)
        held = self._ledger.rows.get(who.session)
        if held is not None and held.path not in (shown(path), who.session):
            if await anyio.to_thread.run_sync(os.path.lexists, held.path):
                # A copy of a log that still stands where it was: what both hold counts once.
                return _Who(session_name(shown(path)), who.session)
        return who

    async def _records(self, path: bytes, spans: Sequence[tuple[int, int]]) -> list[Record] | None:
        records: list[Record] = []
        for first in range(0, len(spans), _BATCH):
            batch = spans[first : first + _BATCH]
            lines = await anyio.to_thread.run_sync(read_spans, path, batch)
            if len(lines) < len(batch):
                return None
            offsets = (offset for offset, _ in batch)
            records += await drive(_record_steps(self._ledger, zip(offsets, lines, strict=True)))
        return records

    async def _keep(self) -> Kept:
        """Write books and pool, if anything is owed to them."""
        seen = await anyio.to_thread.run_sync(_identity, self._homes.pool)
        if not self._owed and seen == self._seen:
            return "kept"
        try:
            async with locked(self._homes.pool_lock):
                await self._write()
        except PiLockBusy:
            self._patience.busy(anyio.current_time())
            return "locked"
        except DamagedPool as error:
            self._health.degrade("pool", error.damage.reason, error.damage.cure)
            return "damaged"
        except OSError as error:
            reason = f"{shown(self._homes.pool)} could not be written: {error.strerror or error}"
            cure = "free space or mend the permissions; it is tried again by itself"
            self._health.degrade("pool", reason, cure)
            return "failed"
        self._owed = False
        self._patience.over()
        self._health.recover("pool")
        return "kept"

    async def _write(self) -> None:
        if await self._adopt(*await anyio.to_thread.run_sync(pools.digested, self._homes.pool)):
            self._pool = await drive(export_steps(self._ledger))
            self.revision += 1
        data, digest = await anyio.to_thread.run_sync(pools.encoded, self._pool)
        # Before the pool: should it not be written, what lies there is still ours to replace.
        self._ours.add(digest)
        if self._unbooked or digest != self._exported:
            ledger = self._homes.pool_ledger
            await anyio.to_thread.run_sync(pools.save_ledger, ledger, self._ledger, digest)
            self._unbooked, self._exported = False, digest
        await anyio.to_thread.run_sync(pools.save, self._homes.pool, data)
        self._ours = {digest}
        self._seen = await anyio.to_thread.run_sync(_identity, self._homes.pool)


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _record_steps(ledger: Ledger, lines: Iterable[tuple[int, bytes]]) -> Steps[list[Record]]:
    records: list[Record] = []
    done = 0
    for offset, line in lines:
        for found in audited(line):
            records.append((yield from record_steps(ledger, found, offset)))
            done += 1 + len(records[-1].adds)
            if done >= OPERATIONS:
                done = 0
                yield
    return records


def _identify(path: bytes) -> _Who:
    """The session that a log belongs to, and the one it was forked from."""
    header = _header(path) or Header()
    session = _named(header.id, shown(path))
    if header.parent is None:
        return _Who(session, "")
    parent = _origin(header.parent)
    return _Who(session, "") if parent == session else _Who(session, parent, header.parent)


def _log_at(source: str, root: Path) -> bytes | None:
    """The log that a fork names, if it is a regular one among the sessions: a log is not trusted.

    Spelled as discovery spells it.
    """
    try:
        real = os.path.realpath(source.encode("utf-8", "surrogateescape"), strict=True)
        inside = os.path.join(os.path.realpath(os.fsencode(root), strict=True), b"")
    except (OSError, ValueError):
        return None
    is_log = real.startswith(inside) and real.endswith(b".jsonl") and os.path.isfile(real)
    if not is_log or not os.path.isabs(source):
        return None
    return os.path.join(os.fsencode(root), real[len(inside) :])


def _origin(source: str) -> str:
    """The session whose log a fork names as its source; by its file name where that is gone."""
    try:
        path = source.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return session_name(source)
    header = _header(path) if os.path.isabs(path) else None
    return _named(id_in_name(source) if header is None else header.id, shown(path))


def _named(identity: str | None, path: str) -> str:
    return session_name(path) if identity is None else f"session:{session_name(identity)}"


def _header(path: bytes) -> Header | None:
    try:
        return header_of(first_line(path))
    except (OSError, ValueError):
        return None
