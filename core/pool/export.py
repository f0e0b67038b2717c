"""From the books to the pool's file."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from fabricd.core.javascript import utf16_key
from fabricd.core.plain import MAX_SAFE_INTEGER
from fabricd.core.pool.bounds import MAX_VALUES
from fabricd.core.pool.file import MAX_ENTRIES, Entry, Pool, Tracked, Valued, entry_order
from fabricd.core.pool.ledger import Ledger, added_steps
from fabricd.core.pool.rows import said_by
from fabricd.core.pool.sorting import sorted_steps
from fabricd.core.pool.values import OTHER, Identity, value_of
from fabricd.core.steps import OPERATIONS, Steps

KEPT_VALUES = 16
TRACKED = 16
BAKED = 512
MAX_BYTES = 4 * 1024 * 1024
# Half for the entries, half for what is tracked; beside both: digests, and the frame around all.
_ROOM = (MAX_BYTES - 256 * 1024) // 2


def _entry(ledger: Ledger, ref: str, key: str, numbers: Iterable[int]) -> Entry | None:
    hidden = 0
    clear: list[tuple[int, Identity, int]] = []
    for number in numbers:
        identity, count = ledger.identities[number], ledger.counts[number]
        if identity.kind == OTHER:
            hidden += count
        else:
            clear.append((number, identity, count))
    ranked = sorted(
        ((one, count) for _, one, count in sorted(clear)[:MAX_VALUES]),
        key=lambda pair: (-pair[1], utf16_key(f"{pair[0].kind}:{pair[0].text}")),
    )[:KEPT_VALUES]
    values = tuple(Valued(value_of(one), min(count, MAX_SAFE_INTEGER)) for one, count in ranked)
    total = hidden + sum(row.count for row in values)
    return Entry(ref, key, min(total, MAX_SAFE_INTEGER), values) if total else None


def _weight(entry: Entry) -> int:
    """An upper bound of an entry's bytes in the file: text may need six bytes a unit."""
    clear = sum(len(row.value) if isinstance(row.value, str) else 24 for row in entry.values)
    return 6 * (len(entry.ref) + len(entry.key) + clear) + 128 * (1 + len(entry.values))


def _within_steps(entries: list[Entry]) -> Steps[list[Entry]]:
    """The entries that fit, in the order of the file: those seen most often first."""
    ranked: list[tuple[int, bytes, int]] = []
    for index, entry in enumerate(entries):
        ranked.append((-entry.total, entry_order(entry), index))
        if index % OPERATIONS == 0:
            yield
    room = _ROOM
    kept: list[tuple[bytes, int]] = []
    for _, order, index in (yield from sorted_steps(ranked)):
        room -= _weight(entries[index])
        if room < 0 or len(kept) == MAX_ENTRIES:
            break
        kept.append((order, index))
        if len(kept) % OPERATIONS == 0:
            yield
    return [entries[index] for _, index in (yield from sorted_steps(kept))]


def _entries_steps(ledger: Ledger) -> Steps[list[Entry]]:
    # Arrays: of many lists the collector would look at each, again and again.
    by_key: dict[tuple[str, str], array[int]] = {}
    for index, (identity, number, _) in enumerate(ledger.totals(), start=1):
        argument = (identity.ref, identity.key)
        if (found := by_key.get(argument)) is None:
            by_key[argument] = array("Q", (number,))
        else:
            found.append(number)
        if index % OPERATIONS == 0:
            yield
    entries: list[Entry] = []
    done = 0
    for (ref, key), numbers in by_key.items():
        entry = _entry(ledger, ref, key, numbers)
        entries += [] if entry is None else [entry]
        done += 1 + len(numbers)
        if done >= OPERATIONS:
            done = 0
            yield
    return entries


def _tracked_steps(ledger: Ledger, name: str, room: int) -> Steps[tuple[Tracked | None, int]]:
    """A session with what it adds, where that is known and fits; and the room that is left."""
    row = ledger.rows[name]
    said = said_by(row)
    if said.settled:
        return None, room
    counts: dict[str, int] = {}
    weight = 6 * len(name) + 256
    added = yield from added_steps(said, ledger.parent_of(name))
    for index, (number, count) in enumerate(added.items(), start=1):
        identity = ledger.identities.get(number)
        if identity is not None:
            counts[identity.name] = min(count, MAX_SAFE_INTEGER)
            weight += 6 * len(identity.name) + 40
        if weight > room:
            return None, room
        if index % OPERATIONS == 0:
            yield
    return Tracked(name, row.digest, counts), room - weight


def export_steps(ledger: Ledger) -> Steps[Pool]:
    """The pool that the books amount to: a function of what the sessions said, not of the way."""
    entries = yield from _within_steps((yield from _entries_steps(ledger)))
    rows = list(ledger.rows)
    tracked: list[Tracked] = []
    # What cannot be tracked is at least known by its digest.
    baked = [gone.digest for gone in ledger.gone]
    baked += [ledger.rows[name].digest for name in rows[:-TRACKED]]
    room = _ROOM
    for name in reversed(rows[-TRACKED:]):
        found, room = yield from _tracked_steps(ledger, name, room)
        if found is None:
            baked.append(ledger.rows[name].digest)
        else:
            tracked.append(found)
        yield
    return Pool(tuple(entries), tuple(reversed(tracked)), tuple(dict.fromkeys(baked))[-BAKED:])
