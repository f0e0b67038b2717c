"""Taking over what a pool's file knows and the books do not."""

from __future__ import annotations

import re
from hashlib import sha256

from fabricd.core.javascript import has_lone_surrogate
from fabricd.core.pool.file import Entry, Pool, Tracked, read_identity
from fabricd.core.pool.ledger import Ledger, add_steps, summed_steps
from fabricd.core.pool.rows import Gone, Row, Said, encode_said
from fabricd.core.pool.values import (
    MAX_WRITTEN,
    OTHER,
    Identity,
    identity_of,
    value_of,
    written_name,
)
from fabricd.core.steps import OPERATIONS, Steps

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


def adopt_steps(ledger: Ledger, pool: Pool) -> Steps[None]:
    """Take over what a pool knows and the books do not.

    Empty books take over all of it; what its tracked sessions added is replaced once they are read
    again. Books that know more take over only the tracked sessions that they have never seen.
    Everything is entered after the last pause.
    """
    is_new = not ledger.rows and not ledger.counts
    delta: dict[int, int] = {}
    for entry in pool.entries if is_new else ():
        yield from add_steps(delta, _entry_counts(ledger, entry), +1)
        yield
    seen = {row.digest for row in ledger.rows.values()}.union(gone.digest for gone in ledger.gone)
    known = {*ledger.rows, *(row.path for row in ledger.rows.values())}
    ghosts: dict[str, Row] = {}
    for tracked in pool.tracked:
        name, digest = _name(tracked.file), _digest(tracked.digest)
        if name not in known and digest not in seen and len(name) <= MAX_WRITTEN:
            ghost = yield from _ghost_steps(ledger, tracked)
            ghosts[name] = Row(name, "", digest, encode_said(Said(ghost=ghost)))
            if not is_new:
                yield from add_steps(delta, ghost, +1)
    ledger.counts = yield from summed_steps(ledger.counts, delta)
    ledger.rows |= ghosts
    if is_new:
        ledger.gone.extend(Gone(digest) for digest in pool.baked if _DIGEST.match(digest))


def _digest(text: str) -> str:
    return text if _DIGEST.match(text) else sha256(text.encode("utf-8", "replace")).hexdigest()


def _name(name: str) -> str:
    """A name of the file as our books hold names: one without a UTF-8 form is spelled out."""
    return written_name(name) if "\0" in name or has_lone_surrogate(name) else name


def _is_bounded(identity: Identity) -> bool:
    return len(identity.ref) <= MAX_WRITTEN and len(identity.key) <= MAX_WRITTEN


def _entry_counts(ledger: Ledger, entry: Entry) -> dict[int, int]:
    ref, key = _name(entry.ref), _name(entry.key)
    hidden = entry.total - sum(row.count for row in entry.values)
    found = [(identity_of(ref, key, row.value), row.count) for row in entry.values]
    if hidden > 0:
        found.append((Identity(ref, key, OTHER), hidden))
    counts: dict[int, int] = {}
    for identity, count in found:
        if _is_bounded(identity):
            number = ledger.know(identity)
            # Several values that are not to be kept in clear are one identity.
            counts[number] = counts.get(number, 0) + count
    return counts


def _ghost_steps(ledger: Ledger, tracked: Tracked) -> Steps[dict[int, int]]:
    ghost: dict[int, int] = {}
    for index, (name, count) in enumerate(tracked.counts.items(), start=1):
        identity = _judged(read_identity(name))
        if identity is not None and _is_bounded(identity):
            number = ledger.know(identity)
            ghost[number] = ghost.get(number, 0) + count
        if index % OPERATIONS == 0:
            yield
    return ghost


def _judged(identity: Identity | None) -> Identity | None:
    """What another program stored in clear, judged by our own rules."""
    if identity is None:
        return None
    ref, key = _name(identity.ref), _name(identity.key)
    if identity.kind == OTHER:
        return Identity(ref, key, OTHER)
    try:
        return identity_of(ref, key, value_of(identity))
    except ValueError:
        return None
