"""Sessions that grow, fork and are rewritten, a reader that may crash, and what is really there.

The oracle knows neither books nor digests: it looks at the logs as they are in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec

from fabricd.core.model import AuditCall
from fabricd.core.pool.bounds import prune_steps
from fabricd.core.pool.export import export_steps
from fabricd.core.pool.file import Pool
from fabricd.core.pool.ledger import Change, Ledger, merge_steps, record_steps
from fabricd.core.sessions.audits import Audited
from fabricd.core.steps import finish

Adds = tuple[tuple[str, str, Any], ...]
Entry = tuple[str, Adds]


@dataclass
class Log:
    """One session as it lies on disk. `generation` counts how often it was begun anew."""

    name: str
    parent: str
    entries: list[Entry] = field(default_factory=list[Entry])
    generation: int = 0


class World:
    """Logs that change, in any order."""

    def __init__(self) -> None:
        self.logs: list[Log] = []
        self._ids = count(1)

    def begin(self, parent: Log | None = None) -> Log:
        """A new session; one that is forked repeats what its parent says now."""
        name = f"session:s{len(self.logs)}"
        self.logs.append(Log(name, parent.name if parent else ""))
        if parent is not None:
            self.logs[-1].entries += parent.entries
        return self.logs[-1]

    def grow(self, log: Log, records: Iterable[Adds]) -> None:
        for adds in records:
            log.entries.append((f"{next(self._ids):08x}", adds))

    def rewrite(self, log: Log, kept: int) -> None:
        """Begun anew, with some of what it said before."""
        log.entries = log.entries[:kept]
        log.generation += 1

    def oracle(self, read: Iterable[str]) -> Counter[tuple[str, str, Any]]:
        """Each record once: those of a fork that its parent has are its parent's."""
        logs = {log.name: log for log in self.logs if log.name in set(read)}
        found: Counter[tuple[str, str, Any]] = Counter()
        for log in logs.values():
            parent = logs.get(log.parent)
            theirs = {entry for entry, _ in parent.entries} if parent else set[str]()
            for entry, adds in log.entries:
                if entry not in theirs:
                    found.update((ref, key, _typed(value)) for ref, key, value in adds)
        return found


def _typed(value: Any) -> tuple[str, Any]:
    return (type(value).__name__, value)


class Reader:
    """A daemon as far as the books go: it remembers what it has read, until it is restarted."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.done: dict[tuple[str, int], int] = {}
        self.read: set[str] = set()
        self._saved = msgspec.msgpack.encode(self.ledger)

    def look(self, log: Log) -> bool:
        """One pass over a log: what is new, or all of it."""
        first = self.done.get((log.name, log.generation), -1)
        if first == len(log.entries):
            return False
        fresh = log.entries[max(0, first) :]
        records = tuple(self._record(entry, adds) for entry, adds in fresh)
        change = Change(log.name, f"/logs/{log.name}", log.parent, records, first < 0)
        self.done[(log.name, log.generation)] = len(log.entries)
        self.read.add(log.name)
        return finish(merge_steps(self.ledger, change))

    def _record(self, entry: str, adds: Adds) -> Any:
        # One call an argument: a call cannot have the same argument twice.
        calls = tuple(AuditCall(ref, {key: value}) for ref, key, value in adds)
        return finish(record_steps(self.ledger, Audited(entry, calls), 0))

    def prune(self) -> None:
        finish(prune_steps(self.ledger))

    def save(self) -> None:
        self._saved = msgspec.msgpack.encode(self.ledger)

    def restart(self) -> None:
        """Stopped in order: the books are as they were, and everything is read again."""
        self.save()
        self.crash()

    def crash(self) -> None:
        """What was not saved is lost."""
        self.ledger = msgspec.msgpack.decode(self._saved, type=Ledger)
        self.done = {}

    def pool(self) -> Pool:
        self.prune()
        return finish(export_steps(self.ledger))

    def counts(self) -> Counter[tuple[str, str, Any]]:
        """The counts by argument and value."""
        return Counter(
            {(one.ref, one.key, (one.kind, one.text)): n for one, _, n in self.ledger.totals()}
        )


_KINDS = {"str": "string", "int": "number", "float": "number", "bool": "boolean"}


def as_identities(found: Counter[tuple[str, str, Any]]) -> Counter[tuple[str, str, Any]]:
    """What the oracle found, in the words of the books; for plain values alone."""
    return Counter(
        {
            (ref, key, (_KINDS[kind], str(value).lower() if kind == "bool" else str(value))): n
            for (ref, key, (kind, value)), n in found.items()
        }
    )


def as_entries(found: Counter[tuple[str, str, Any]]) -> list[tuple[str, str, int, list[Any]]]:
    """The entries of the pool's file, for plain names, plain values and few of each."""
    by_key: dict[tuple[str, str], list[tuple[int, str, Any]]] = {}
    for (ref, key, (kind, value)), n in found.items():
        text = str(value).lower() if kind == "bool" else str(value)
        by_key.setdefault((ref, key), []).append((-n, f"{_KINDS[kind]}:{text}", value))
    return [
        (ref, key, -sum(n for n, _, _ in rows), [(value, -n) for n, _, value in sorted(rows)])
        for (ref, key), rows in sorted(by_key.items())
    ]


def entries_of(pool: Pool) -> list[tuple[str, str, int, list[Any]]]:
    """The same of a pool."""
    return [
        (row.ref, row.key, row.total, [(each.value, each.count) for each in row.values])
        for row in pool.entries
    ]
