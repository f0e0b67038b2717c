"""The exact books behind the pool: which session said what, so that nothing counts twice.

A session is known by its header id, wherever its file lies, and its records by their entry ids. A
fork repeats the records of its parent; those that the parent has are the parent's. The counts of
all sessions are kept summed up; a session read again changes them by the difference alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from msgspec import Struct, field

from fabricd.core.canonical import string_text, utf8
from fabricd.core.javascript import utf16_key
from fabricd.core.pool.rows import (
    Gone,
    Record,
    Row,
    Said,
    encode_said,
    entry_number,
    known_to,
    name_hash,
    packed,
    prefix_of,
    said_by,
    unpacked,
)
from fabricd.core.pool.sorting import sorted_steps
from fabricd.core.pool.values import Identity, identities_of
from fabricd.core.sessions.audits import Audited
from fabricd.core.steps import OPERATIONS, Steps


class Change(Struct, frozen=True):
    """What a session was found to say. `whole` replaces what it said before, else it is added."""

    session: str
    path: str
    parent: str
    records: tuple[Record, ...]
    whole: bool


class Ledger(Struct):
    """The books of all sessions, oldest first. `counts` sum up what every row adds.

    `gone` are sessions that lie in the counts and have no row any more. Identities from `ceiling`
    upwards are not kept at all: there were too many.
    """

    identities: dict[int, Identity] = field(default_factory=dict[int, Identity])
    counts: dict[int, int] = field(default_factory=dict[int, int])
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    gone: list[Gone] = field(default_factory=list[Gone])
    ceiling: int | None = None

    def know(self, identity: Identity) -> int:
        """Remember an identity; gives its digest."""
        number = identity.digest
        self.identities.setdefault(number, identity)
        return number

    def forks_of(self, session: str) -> dict[str, Row]:
        """The sessions forked from this one, by name."""
        rows = self.rows.items()
        return {name: row for name, row in rows if row.parent == session and name != session}

    def parent_of(self, session: str) -> Row | None:
        """The row of the session that this one was forked from, where there is one."""
        parent = self.rows[session].parent
        return None if parent == session else self.rows.get(parent)

    def totals(self) -> Iterator[tuple[Identity, int, int]]:
        """Every identity with its digest and its count."""
        for number, count in self.counts.items():
            identity = self.identities.get(number)
            if identity is not None:
                yield identity, number, count


def record_steps(ledger: Ledger, found: Audited, offset: int) -> Steps[Record]:
    """The record that some audit calls make; what it adds becomes known to the ledger."""
    adds: list[int] = []
    for call in found.calls:
        for identity in identities_of(call):
            adds.append(ledger.know(identity))
            if len(adds) % OPERATIONS == 0:
                yield
    return Record(entry_number(found.entry, offset, adds), tuple(adds))


def summed_steps(counts: Mapping[int, int], delta: Mapping[int, int]) -> Steps[dict[int, int]]:
    """The counts with a change: what falls to nothing is gone, and nothing falls below."""
    totals = dict(counts)
    for done, (number, by) in enumerate(delta.items(), start=1):
        if (left := totals.get(number, 0) + by) > 0:
            totals[number] = left
        elif by:
            totals.pop(number, None)
        if done % OPERATIONS == 0:
            yield
    return totals


def add_steps(counts: dict[int, int], delta: Mapping[int, int], sign: int) -> Steps[None]:
    """Add or take away in place; below nothing too."""
    for done, (number, by) in enumerate(delta.items(), start=1):
        counts[number] = counts.get(number, 0) + sign * by
        if done % OPERATIONS == 0:
            yield


def tally_steps(records: Iterable[Record]) -> Steps[dict[int, int]]:
    """How often each identity is in some records."""
    counts: dict[int, int] = {}
    done = 0
    for record in records:
        for number in record.adds:
            counts[number] = counts.get(number, 0) + 1
        done += 1 + len(record.adds)
        if done >= OPERATIONS:
            done = 0
            yield
    return counts


def added_steps(said: Said, parent: Row | None) -> Steps[dict[int, int]]:
    """What a session adds to the counts, by identity; what its parent has is the parent's."""
    counts = dict(said.counts)
    yield from add_steps(counts, said.ghost, +1)
    if said.records and parent is not None:
        known = known_to(parent)
        theirs = (record for record in said.records if record.entry in known)
        less = yield from tally_steps(theirs)
        yield from add_steps(counts, less, -1)
        for number in less:
            if not counts[number]:
                del counts[number]
    return counts


def window_digest_steps(ledger: Ledger, counts: Mapping[int, int]) -> Steps[str]:
    """The digest of everything a session says, as the reference takes it of its observations.

    What is hidden goes in as `other`, so only sessions without hidden values agree with it.
    """
    named: dict[bytes, int] = {}
    for number, count in counts.items():
        identity = ledger.identities.get(number)
        text = f"#{number:016x}" if identity is None else identity.name
        named[utf16_key(text)] = count
        if len(named) % OPERATIONS == 0:
            yield
    state = sha256(b"[")
    opener = b""
    for index, name in enumerate((yield from sorted_steps(list(named))), start=1):
        item = utf8(string_text(name.decode("utf-16-be", "surrogatepass")))
        state.update(opener + item)
        opener = b","
        for left in range(named[name] - 1, 0, -OPERATIONS):
            state.update((opener + item) * min(left, OPERATIONS))
            yield
        if index % OPERATIONS == 0:
            yield
    state.update(b"]")
    return state.hexdigest()


class _Settled(Struct, frozen=True):
    """Entries of a change that lie in the counts for good.

    `already` are in the row itself. The others are new there: those of `gone` were given up with
    an earlier row, those of `elsewhere` were settled by a fork before its parent was seen.
    """

    already: frozenset[int]
    gone: frozenset[int]
    elsewhere: frozenset[int]


def _settled_in(ledger: Ledger, before: Said, change: Change) -> _Settled:
    gone: frozenset[int] = frozenset()
    if change.whole:
        wanted = name_hash(change.session)
        found = next((each for each in ledger.gone if each.session == wanted), None)
        gone = gone if found is None else prefix_of(found, change.records)
    forks = ledger.forks_of(change.session).values()
    elsewhere = b"".join(said_by(fork).settled for fork in forks)
    return _Settled(unpacked(before.settled), gone, unpacked(elsewhere) - unpacked(before.entries))


def _said_steps(ledger: Ledger, before: Said, change: Change) -> Steps[Said]:
    settled = _settled_in(ledger, before, change)
    old = Said(settled=before.settled) if change.whole else before
    newly: dict[int, None] = {}
    fresh: list[Record] = []
    for done, record in enumerate(change.records, start=1):
        if record.entry in settled.gone or record.entry in settled.elsewhere:
            if record.entry not in settled.already:
                newly[record.entry] = None
        elif record.entry not in settled.already:
            fresh.append(record)
        if done % OPERATIONS == 0:
            yield
    counts = dict(old.counts)
    yield from add_steps(counts, (yield from tally_steps(fresh)), +1)
    entries = old.entries + packed(record.entry for record in fresh)
    records = (*old.records, *fresh) if change.parent else ()
    return Said(entries, counts, records, old.settled + packed(newly), old.ghost)


def merge_steps(ledger: Ledger, change: Change) -> Steps[bool]:
    """Enter what a session was found to say; whether anything changed.

    Everything is entered after the last pause: a merge given up half-way has not happened.
    """
    # Its row, and one under its path: another program tracked it so, or it was a copy.
    names = [n for n in dict.fromkeys((change.session, change.path)) if n in ledger.rows]
    before = ledger.rows[names[0]] if names else None
    said = yield from _said_steps(ledger, said_by(before), change)
    # Settled records count into the digest too, where the whole session is at hand.
    counts = (yield from tally_steps(change.records)) if change.whole else said.counts
    digest = yield from window_digest_steps(ledger, counts)
    if before is None and any(not g.session and g.digest == digest for g in ledger.gone):
        # All of it lies in the counts, from a time whose books are lost.
        said = Said(settled=said.settled + said.entries)
    after = Row(change.path, change.parent, digest, encode_said(said))
    if names == [change.session] and before == after:
        return False
    yield
    totals = yield from _totals_steps(ledger, change.session, names, after, said)
    _enter(ledger, change, names, after, totals)
    return True


def _totals_steps(
    ledger: Ledger, session: str, names: list[str], after: Row, said: Said
) -> Steps[dict[int, int]]:
    """The counts of all sessions once a row takes the place of others."""
    delta: dict[int, int] = {}
    for name in names:
        added = yield from added_steps(said_by(ledger.rows[name]), ledger.parent_of(name))
        yield from add_steps(delta, added, -1)
    parent = None if after.parent == session else ledger.rows.get(after.parent)
    yield from add_steps(delta, (yield from added_steps(said, parent)), +1)
    for name, fork in ledger.forks_of(session).items():
        if name not in names:
            theirs = said_by(fork)
            added = yield from added_steps(theirs, ledger.rows.get(session))
            yield from add_steps(delta, added, -1)
            yield from add_steps(delta, (yield from added_steps(theirs, after)), +1)
    return (yield from summed_steps(ledger.counts, delta))


def _enter(
    ledger: Ledger, change: Change, names: list[str], after: Row, totals: dict[int, int]
) -> None:
    if names and names != [change.session]:
        first, *others = names
        rows = {name: row for name, row in ledger.rows.items() if name not in others}
        ledger.rows = {change.session if n == first else n: row for n, row in rows.items()}
    ledger.rows[change.session] = after
    ledger.counts = totals
    if change.whole:
        # What was given up of it is settled in its row again.
        wanted = name_hash(change.session)
        ledger.gone = [gone for gone in ledger.gone if gone.session != wanted]
