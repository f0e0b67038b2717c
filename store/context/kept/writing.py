"""Writing an answer and its row, in a transaction that the caller has begun."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection

from fabricd.core.context.books import Fetch
from fabricd.core.context.chain import Gap, Kept, Row
from fabricd.core.context.receipt import Receipt, id_of
from fabricd.store.context.kept.rows import (
    GAP,
    ROW,
    compressed,
    digest_of,
    gap_of,
    packed,
    pieces_of,
    row_of,
)


def put_receipt(connection: Connection, data: bytes) -> str:
    """Write a receipt, unless it is there; gives its id."""
    name = id_of(data)
    body = compressed(data)
    # A purged one gets its body back; what is there is not written over, changed or not.
    connection.execute(
        "INSERT INTO receipts (id, body, digest) VALUES (?1, ?2, ?3) ON CONFLICT (id)"
        " DO UPDATE SET body = ?2, digest = ?3 WHERE body IS NULL",
        (name, body, digest_of(name, body)),
    )
    return name


def put_answer(
    connection: Connection,
    receipt: Receipt,
    name: str,
    answer: str,
    texts: dict[int, str],
    offers: bytes | None,
) -> None:
    """Write what an answer is put together from, unless it is there."""
    held = {item.sha256: texts[item.n] for item in receipt.items}
    connection.executemany(
        "INSERT OR IGNORE INTO texts (sha256, body) VALUES (?, ?)",
        [(digest, text.encode()) for digest, text in held.items()],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO holds (receipt, sha256) VALUES (?, ?)",
        [(name, digest) for digest in held],
    )
    body = packed(pieces_of(answer, receipt.items, texts))
    stored = None if offers is None else compressed(offers)
    connection.execute(
        "INSERT OR IGNORE INTO answers (receipt, body, offers, digest) VALUES (?, ?, ?, ?)",
        (name, body, stored, digest_of(name, body, stored)),
    )


def last_link(connection: Connection, root: str) -> Kept | None:
    """The end of a project's chain."""
    row = connection.execute(f"{ROW} WHERE root = ? ORDER BY seq DESC LIMIT 1", (root,)).fetchone()
    gap = connection.execute(f"{GAP} WHERE root = ? ORDER BY last DESC LIMIT 1", (root,)).fetchone()
    if row is None or (gap is not None and gap[1] > row[0]):
        return None if gap is None else gap_of(gap)
    return row_of(row)


def put_row(connection: Connection, row: Row) -> None:
    """Write a row of a chain."""
    connection.execute(
        "INSERT INTO chain (seq, receipt, prev, generation, started_at, verified_at, refreshed,"
        " session, root, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.seq,
            row.receipt,
            row.prev,
            row.generation,
            row.started_at,
            row.verified_at,
            row.refreshed,
            row.session,
            row.root,
            row.digest,
        ),
    )


def put_gap(connection: Connection, gap: Gap) -> None:
    """Write that rows were forgotten."""
    connection.execute(
        "INSERT INTO forgotten (first, last, prev, head, root, digest) VALUES (?, ?, ?, ?, ?, ?)",
        (gap.first, gap.last, gap.prev, gap.head, gap.root, gap.digest),
    )


def put_fetch(connection: Connection, fetch: Fetch, bound: Callable[[str], str]) -> None:
    """Write that something was shown or recovered."""
    connection.execute(
        "INSERT INTO fetched (at, root, session, kind, name, tokens) VALUES (?, ?, ?, ?, ?, ?)",
        (
            fetch.at,
            bound(fetch.root),
            None if fetch.session is None else bound(fetch.session),
            fetch.kind,
            bound(fetch.name),
            fetch.tokens,
        ),
    )
