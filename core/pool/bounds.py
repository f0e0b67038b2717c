"""How large the books may grow, and what is given up then.

Sessions settle: what they added stays counted, and their records are forgotten but for their entry
ids, so that a session that grows again adds only what is new. Of too many values those with the
smallest hashes stay, which does not depend on the order in which they came.
"""

from __future__ import annotations

from fabricd.core.pool.ledger import Ledger
from fabricd.core.pool.rows import (
    Row,
    Said,
    encode_said,
    gone_with,
    known_to,
    listed,
    name_hash,
    packed,
    said_by,
)
from fabricd.core.pool.sorting import sorted_steps
from fabricd.core.pool.values import OTHER, Identity
from fabricd.core.steps import OPERATIONS, Steps

MAX_SESSIONS = 4096
MAX_GONE = 4096
MAX_ROW_BYTES = 9 * 1024 * 1024
# Beyond this, to decode a row takes long enough to be felt.
MAX_ONE_ROW = 1024 * 1024
MAX_IDENTITY_BYTES = 4 * 1024 * 1024
MAX_IDENTITIES = 65_536
MAX_VALUES = 1024
_SLACK = 2


def is_overfull(ledger: Ledger) -> bool:
    """Whether the books should be pruned at once, and not only when a pass is over."""
    return len(ledger.identities) > _SLACK * MAX_IDENTITIES


def prune_steps(ledger: Ledger) -> Steps[None]:
    """Bring the books back within their bounds. Given up half-way, they are sound and larger."""
    yield from _settle_steps(ledger)
    yield from _drop_steps(ledger, (yield from _surplus_steps(ledger)))
    if len(ledger.identities) > _SLACK * len(ledger.counts):
        yield from _forget_steps(ledger)
    if (yield from _weight_steps(ledger)) <= MAX_IDENTITY_BYTES:
        if len(ledger.counts) <= MAX_IDENTITIES:
            return
    yield from _forget_steps(ledger)
    yield from _cut_steps(ledger)


# --- sessions


def _size(name: str, row: Row) -> int:
    return len(name) + len(row.path) + len(row.parent) + len(row.digest) + len(row.said)


def _settle_steps(ledger: Ledger) -> Steps[None]:
    for name in list(ledger.rows)[: max(0, len(ledger.rows) - MAX_SESSIONS)]:
        _give_up(ledger, name)
        yield
    for name, row in ledger.rows.items():
        if len(row.said) > MAX_ONE_ROW:
            ledger.rows[name] = _settled(row)
            yield
    size = sum(_size(name, row) for name, row in ledger.rows.items())
    # A fork whose parent was never seen waits: which of its records are its own is not known yet.
    for patient in (True, False):
        for name, row in list(ledger.rows.items()):
            if size <= MAX_ROW_BYTES:
                return
            if patient and row.parent and ledger.parent_of(name) is None:
                continue
            settled = ledger.rows[name] = _settled(row)
            size -= len(row.said) - len(settled.said)
            yield
    for name in list(ledger.rows):
        if size <= MAX_ROW_BYTES:
            return
        # Forks take over what their parent had, which changes their size.
        before = sum(_size(name, row) for name, row in ledger.forks_of(name).items())
        size -= _size(name, ledger.rows[name]) + before
        forks = ledger.forks_of(name)
        _give_up(ledger, name)
        size += sum(_size(name, ledger.rows[name]) for name in forks)
        yield


def _settled(row: Row) -> Row:
    """A row without its records: what they added is counted for good."""
    said = said_by(row)
    if said.ghost:
        # Never read: should it come back, its counts have to be replaced.
        return row
    after = Said(settled=said.settled + said.entries)
    return Row(row.path, row.parent, row.digest, encode_said(after))


def _give_up(ledger: Ledger, name: str) -> None:
    """Forget a row. What it added stays; what its forks share with it is counted for good."""
    row = ledger.rows[name]
    known = known_to(row)
    for fork_name, fork in ledger.forks_of(name).items():
        ledger.rows[fork_name] = _without(fork, known)
    del ledger.rows[name]
    wanted = name_hash(name)
    before = next((gone for gone in ledger.gone if gone.session == wanted), None)
    kept = [gone for gone in ledger.gone if gone is not before]
    ledger.gone = [*kept, gone_with(row, name, before)][-MAX_GONE:]


def _without(fork: Row, known: frozenset[int]) -> Row:
    """A fork whose records that the parent has are settled."""
    said = said_by(fork)
    entries = listed(said.entries)
    counts = dict(said.counts)
    for record in said.records:
        if record.entry in known:
            for number in record.adds:
                counts[number] -= 1
    after = Said(
        packed(entry for entry in entries if entry not in known),
        {number: count for number, count in counts.items() if count},
        tuple(record for record in said.records if record.entry not in known),
        said.settled + packed(entry for entry in entries if entry in known),
        said.ghost,
    )
    return Row(fork.path, fork.parent, fork.digest, encode_said(after))


# --- values


def _surplus_steps(ledger: Ledger) -> Steps[set[int]]:
    """The values beyond what is kept of one argument, and what is above the ceiling."""
    surplus: set[int] = set()
    if len(ledger.counts) <= MAX_VALUES * _SLACK and ledger.ceiling is None:
        return surplus
    found: dict[tuple[str, str], int] = {}
    for index, (identity, number, _) in enumerate(ledger.totals(), start=1):
        if ledger.ceiling is not None and number >= ledger.ceiling:
            surplus.add(number)
        elif identity.kind != OTHER:
            key = (identity.ref, identity.key)
            found[key] = found.get(key, 0) + 1
        if index % OPERATIONS == 0:
            yield
    # Lists for those alone that need one: there may be as many arguments as values.
    full = {key: list[int]() for key, count in found.items() if count > MAX_VALUES * _SLACK}
    for index, (identity, number, _) in enumerate(ledger.totals() if full else (), start=1):
        numbers = full.get((identity.ref, identity.key))
        if numbers is not None and identity.kind != OTHER and number not in surplus:
            numbers.append(number)
        if index % OPERATIONS == 0:
            yield
    for numbers in full.values():
        surplus.update((yield from sorted_steps(numbers))[MAX_VALUES:])
    return surplus


def _drop_steps(ledger: Ledger, surplus: set[int]) -> Steps[None]:
    if not surplus:
        return
    counts: dict[int, int] = {}
    for index, (number, count) in enumerate(ledger.counts.items(), start=1):
        if number not in surplus:
            counts[number] = count
        if index % OPERATIONS == 0:
            yield
    ledger.counts = counts


def _forget_steps(ledger: Ledger) -> Steps[None]:
    """Forget the identities that nothing counts any more."""
    # One by one: to free so many at once takes long enough to be felt.
    for index, number in enumerate(list(ledger.identities), start=1):
        if number not in ledger.counts:
            del ledger.identities[number]
        if index % OPERATIONS == 0:
            yield


def _weight(identity: Identity) -> int:
    name = identity.name
    return 32 + (len(name) if name.isascii() else len(name.encode("utf-8", "surrogatepass")))


def _weight_steps(ledger: Ledger) -> Steps[int]:
    weight = 0
    for index, identity in enumerate(ledger.identities.values(), start=1):
        weight += _weight(identity)
        if index % OPERATIONS == 0:
            yield
    return weight


def _cut_steps(ledger: Ledger) -> Steps[None]:
    """Drop the identities with the largest hashes beyond what may be kept in all."""
    room = MAX_IDENTITY_BYTES
    for index, number in enumerate((yield from sorted_steps(list(ledger.counts)))):
        identity = ledger.identities.get(number)
        room -= 0 if identity is None else _weight(identity)
        if room < 0 or index == MAX_IDENTITIES:
            # Whatever else comes and goes: what was once dropped must not come back in part.
            ledger.ceiling = number
            break
        if index % OPERATIONS == 0:
            yield
    yield from _drop_steps(ledger, (yield from _surplus_steps(ledger)))
    yield from _forget_steps(ledger)
