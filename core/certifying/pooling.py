"""The check of the pool: however sessions are read, each value of theirs counts once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from fabricd.core.certifying.claims import Claim, Claims, Table
from fabricd.core.certifying.examples import SEARCH
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import audit, line, result, traced
from fabricd.core.model import AuditCall
from fabricd.core.pool.file import Pool
from fabricd.core.pool.ledger import Change, Ledger
from fabricd.core.sessions.audits import Audited

# A reading: the session and the one it was forked from, its entries (id and value of `query`), and
# whether these are all that it says.
Reading: TypeAlias = tuple[str, str, Sequence[tuple[str, str]], bool]

_A = (("0000000a", "red"), ("0000000b", "blue"), ("0000000c", "red"))
_B = (("0000000d", "red"),)
_B_REWRITTEN = (("0000000e", "blue"),)
# A fork repeats what its parent said.
_FORK = (_A[0], _A[1], ("0000000f", "green"))
_OTHERS: tuple[Reading, ...] = tuple(
    (f"session:other{number:02}", "", ((f"{number:08x}", "grey"),), True)
    for number in range(100, 120)
)
_CLEAN: tuple[Reading, ...] = (
    ("session:a", "", _A, True),
    ("session:b", "", _B_REWRITTEN, True),
    ("session:fork", "session:a", _FORK, True),
    *_OTHERS,
)
_MESSY: tuple[Reading, ...] = (
    ("session:fork", "session:a", _FORK, True),
    ("session:a", "", _A[:1], True),
    ("session:a", "", _A[:1], True),
    ("session:b", "", _B, True),
    ("session:a", "", _A[1:2], False),
    ("session:fork", "session:a", _FORK, True),
    *_OTHERS,
    # It grows again, long after more sessions than a pool file tracks.
    ("session:a", "", _A[2:], False),
    ("session:b", "", _B_REWRITTEN, True),
    *_OTHERS[::-1],
    ("session:a", "", _A, True),
)
_PASSES: tuple[tuple[str, tuple[Reading, ...]], ...] = (
    ("one clean pass", _CLEAN),
    ("a clean pass the other way round", _CLEAN[::-1]),
    ("growth, repeats, a fork and a rewritten log", _MESSY),
    ("the same twice over", _MESSY + _CLEAN),
)
# Two forks of a session that nobody has read, and that session at last.
_ORPHANS: tuple[Reading, ...] = (
    ("session:left", "session:unread", _FORK, True),
    ("session:right", "session:unread", (*_A, ("00000010", "white")), True),
)
_UNREAD: Reading = ("session:unread", "", _A, True)
# What they share counts once: red and blue; the second of red is in the right one alone.
_SHARED = [(SEARCH, "query", 5, [("red", 2), ("blue", 1), ("green", 1), ("white", 1)])]
# Twenty times grey, red twice in a, blue once in a and once in b, green once in the fork.
_ENTRIES = [(SEARCH, "query", 25, [("grey", 20), ("blue", 2), ("red", 2), ("green", 1)])]


def _once(laws: Laws) -> Claims:
    for words, readings in _PASSES:
        ledger = Ledger()
        _read(laws, ledger, readings)
        yield Claim(f"entries after {words}", _ENTRIES, _entries(laws.pool(ledger)))
        changed = _read(laws, ledger, _CLEAN)
        yield Claim(f"changes by another look after {words}", [], changed)
        yield Claim(f"entries after it, and {words}", _ENTRIES, _entries(laws.pool(ledger)))
    for words, readings in (("one order", _ORPHANS), ("the other order", _ORPHANS[::-1])):
        ledger = Ledger()
        _read(laws, ledger, readings)
        # What they share belongs to a session that is not there: it is told apart once that is.
        _read(laws, ledger, (_UNREAD, *readings))
        yield Claim(
            f"entries with what they fork, in {words}", _SHARED, _entries(laws.pool(ledger))
        )


def messy_pool(laws: Laws) -> Pool:
    """The pool of all readings, as they come in disorder."""
    ledger = Ledger()
    _read(laws, ledger, _MESSY)
    return laws.pool(ledger)


def _read(laws: Laws, ledger: Ledger, readings: Iterable[Reading]) -> list[str]:
    """Enter readings; gives the sessions of those that changed anything."""
    changed: list[str] = []
    for session, parent, entries, whole in readings:
        found = (Audited(entry, _calls(laws, value)) for entry, value in entries)
        # Two sessions hold a record at different places, even if it is the same one.
        first = 1000 * len(session)
        records = tuple(laws.record(ledger, each, place) for place, each in enumerate(found, first))
        if laws.enter(ledger, Change(session, f"{session}.jsonl", parent, records, whole)):
            changed.append(session)
    return changed


def _calls(laws: Laws, value: str) -> tuple[AuditCall, ...]:
    return tuple(laws.audits([line(result(traced(), audit(SEARCH, {"query": value})))]))


def _entries(pool: Pool) -> list[tuple[str, str, int, list[tuple[object, int]]]]:
    return [
        (row.ref, row.key, row.total, [(each.value, each.count) for each in row.values])
        for row in pool.entries
    ]


CHECKS: Table = (
    (
        "pool-exactly-once",
        "grown, read again, forked or rewritten, sessions count as in one clean pass",
        _once,
    ),
)
