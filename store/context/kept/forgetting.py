"""Deleting: texts that are old or too many, and rows that somebody wants forgotten."""

from __future__ import annotations

from sqlite3 import Connection

from msgspec import Struct

from fabricd.core.context.chain import Row, closed
from fabricd.store.context.kept.reading import chain_of
from fabricd.store.context.kept.writing import put_gap

DAYS = 30
LIMIT = 256 * 1024 * 1024

_DAY = 24 * 60 * 60 * 1000
# Above the limit a tenth more is deleted than has to be: not each delivery is to purge again.
_ROOM = 10
_BATCH = 64


class Removed(Struct, frozen=True):
    """How much was deleted."""

    rows: int = 0
    receipts: int = 0
    answers: int = 0
    texts: int = 0


def used_bytes(connection: Connection) -> int:
    """How much of the file is in use."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def purge(connection: Connection, now: int, days: int, limit: int) -> Removed:
    """Delete texts by age, then by size, the least recently given first; then bodies by size."""
    oldest = now - days * _DAY
    answers = _drop_answers(
        connection,
        [
            row
            for (row,) in connection.execute(
                "SELECT rowid FROM answers WHERE receipt NOT IN"
                " (SELECT receipt FROM chain WHERE verified_at >= ?)",
                (oldest,),
            )
        ],
    )
    texts = _drop_texts(connection)
    receipts = 0
    if used_bytes(connection) > limit:
        goal = limit - limit // _ROOM
        while used_bytes(connection) > goal:
            batch = _oldest(connection, "answers", "receipt", "TRUE")
            if not batch:
                break
            answers += _drop_answers(connection, batch)
            texts += _drop_texts(connection)
        while used_bytes(connection) > goal:
            batch = _oldest(connection, "receipts", "id", "body IS NOT NULL")
            if not batch:
                break
            receipts += _drop_bodies(connection, batch)
    return Removed(0, receipts, answers, texts)


def forget(
    connection: Connection, root: str | None, before: int | None, everything: bool
) -> Removed:
    """Delete rows, and every receipt and text that is named by none that is left."""
    if everything:
        rows = _count(connection, "DELETE FROM chain")
        for table in ("forgotten", "fetched"):
            connection.execute(f"DELETE FROM {table}")
    elif before is not None:
        rows = _forget_before(connection, root, before)
    else:
        rows = _count(connection, "DELETE FROM chain WHERE root = ?", root)
        for table in ("forgotten", "fetched"):
            connection.execute(f"DELETE FROM {table} WHERE root = ?", (root,))
    unnamed = "NOT IN (SELECT receipt FROM chain)"
    receipts = _count(connection, f"DELETE FROM receipts WHERE id {unnamed}")
    answers = _count(connection, f"DELETE FROM answers WHERE receipt {unnamed}")
    connection.execute(f"DELETE FROM holds WHERE receipt {unnamed}")
    return Removed(rows, receipts, answers, _drop_texts(connection))


def _forget_before(connection: Connection, root: str | None, before: int) -> int:
    connection.execute(
        "DELETE FROM fetched WHERE at < ?1 AND (?2 IS NULL OR root = ?2)", (before, root)
    )
    found = connection.execute(
        "SELECT DISTINCT root FROM chain WHERE verified_at < ?1 AND (?2 IS NULL OR root = ?2)",
        (before, root),
    ).fetchall()
    return sum(_forget_rows(connection, name, before) for (name,) in found)


def _forget_rows(connection: Connection, root: str, before: int) -> int:
    chain = chain_of(connection, root)
    rows = [kept.link for kept in chain if isinstance(kept.link, Row)]
    gone = frozenset(row.seq for row in rows if row.verified_at < before)
    # What follows a row that was changed names the row as it was: so does the gap.
    gaps = closed(chain, gone)
    connection.executemany(
        "DELETE FROM chain WHERE root = ? AND seq = ?", [(root, seq) for seq in gone]
    )
    connection.execute("DELETE FROM forgotten WHERE root = ?", (root,))
    for gap in gaps:
        put_gap(connection, gap)
    return len(gone)


def _oldest(connection: Connection, table: str, key: str, condition: str) -> list[int]:
    found = connection.execute(
        f"SELECT {table}.rowid FROM {table} LEFT JOIN (SELECT receipt AS given,"
        f" max(verified_at) AS last FROM chain GROUP BY receipt) ON given = {table}.{key}"
        f" WHERE {condition} ORDER BY last, {table}.{key} LIMIT {_BATCH}"
    )
    return [row for (row,) in found]


def _drop_answers(connection: Connection, rows: list[int]) -> int:
    # By their rows: a name that was changed may be no text that can be asked for.
    found = [(row,) for row in rows]
    connection.executemany(
        "DELETE FROM holds WHERE receipt = (SELECT receipt FROM answers WHERE rowid = ?)", found
    )
    connection.executemany("DELETE FROM answers WHERE rowid = ?", found)
    return len(found)


def _drop_texts(connection: Connection) -> int:
    return _count(connection, "DELETE FROM texts WHERE sha256 NOT IN (SELECT sha256 FROM holds)")


def _drop_bodies(connection: Connection, rows: list[int]) -> int:
    connection.executemany(
        "UPDATE receipts SET body = NULL, digest = '' WHERE rowid = ?", [(row,) for row in rows]
    )
    return len(rows)


def _count(connection: Connection, statement: str, *values: object) -> int:
    return connection.execute(statement, values).rowcount
