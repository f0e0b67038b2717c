"""What stays in the index and how: merging small segments, pruning, forgetting, and the account."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from fabricd.store.context import blobs, postings
from fabricd.store.context.reading import told
from fabricd.store.context.roots import Root

# A segment of fewer units is small; more small ones than that in one root are merged.
SMALL = 256
MOST_SMALL = 24
# A blob that no root has is kept for a branch to be switched back to.
UNUSED_SECONDS = 7 * 86400
# So are the rows of a root that is gone, or was not asked for.
UNASKED_SECONDS = 60 * 86400
# Beyond so many bytes of them the oldest go at once.
UNUSED_BYTES = 64 * 1024 * 1024
_PRUNE_SECONDS = 3600

# For each blob that was moved its new segment and first unit.
Moves: TypeAlias = dict[int, tuple[int, int]]


class Kept(NamedTuple):
    """What is kept of a root. `used` is when it was changed last, in seconds since 1970."""

    path: str
    files: int
    units: int
    skipped: dict[str, int]
    generation: int
    used: int


def small_segments(root: Root) -> tuple[int, ...]:
    """The small segments of a root's blobs, if they are too many."""
    units: Counter[int] = Counter()
    for blob in root.blobs.values():
        units[blob.segment] += blob.units
    small = sorted(segment for segment, number in units.items() if number < SMALL)
    return tuple(small) if len(small) > MOST_SMALL else ()


def merge_small(connection: sqlite3.Connection, small: Sequence[int]) -> Moves:
    """Merge those of some segments that are small for all roots, if they are too many still."""
    query = f"""
    SELECT segment FROM blobs WHERE segment IN ({_list(small)})
    GROUP BY segment HAVING sum(units) < {SMALL}
    """
    found = [segment for (segment,) in connection.execute(query)]
    return compact(connection, found) if len(found) > MOST_SMALL else {}


def compact(connection: sqlite3.Connection, segments: Sequence[int]) -> Moves:
    """Make one segment of several, of the blobs that are still there."""
    query = f"""
    SELECT id, segment, first, units FROM blobs WHERE segment IN ({_list(segments)})
    ORDER BY segment, first
    """
    into = blobs.next_segment(connection)
    spans: dict[int, list[tuple[int, int, int]]] = {segment: [] for segment in segments}
    moves: Moves = {}
    place = 0
    for number, segment, first, units in connection.execute(query).fetchall():
        spans[segment].append((first, units, place))
        moves[number] = (into, place)
        place += units
    postings.merge(connection, spans, into)
    blobs.move(connection, moves)
    return moves


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether it is time to prune."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'pruned'").fetchone()
    return row is None or not 0 <= int(time.time()) - int(row[0]) < _PRUNE_SECONDS


def prune(connection: sqlite3.Connection) -> int:
    """Delete what was of no use for long; gives how many blobs that were."""
    now = int(time.time())
    query = "INSERT OR REPLACE INTO meta VALUES ('pruned', ?)"
    connection.execute(query, (str(now),))
    for number, path, used in connection.execute("SELECT id, path, used FROM roots").fetchall():
        age = now - used
        if age > UNASKED_SECONDS or (age > UNUSED_SECONDS and not os.path.isdir(path)):
            _delete_root(connection, number)
    used = "SELECT blob FROM files"
    connection.execute(f"UPDATE blobs SET unused = 0 WHERE unused > 0 AND id IN ({used})")
    connection.execute(
        f"UPDATE blobs SET unused = ? WHERE unused = 0 AND id NOT IN ({used})", (now,)
    )
    query = """
    SELECT id FROM (
        SELECT id, unused, sum(length(data)) OVER (ORDER BY unused DESC, id DESC) AS bytes
        FROM blobs JOIN analysed ON blob = id WHERE unused > 0
    ) WHERE unused < ? OR bytes > ?
    """
    old = [number for (number,) in connection.execute(query, (now - UNUSED_SECONDS, UNUSED_BYTES))]
    if old:
        _delete_blobs(connection, old)
    return len(old)


def forget(connection: sqlite3.Connection, path: bytes) -> int:
    """Delete a root, and at once every blob that no root has, with its postings."""
    found = connection.execute("SELECT id, path FROM roots").fetchall()
    chosen = [number for number, root in found if root == path]
    for number in chosen:
        _delete_root(connection, number)
    query = "SELECT id FROM blobs WHERE id NOT IN (SELECT blob FROM files)"
    unused = [number for (number,) in connection.execute(query)]
    touched = _delete_blobs(connection, unused)
    for segment in touched:
        compact(connection, [segment])
    return len(chosen)


def kept(connection: sqlite3.Connection) -> list[Kept]:
    """What is kept of each root, by path."""
    query = """
    SELECT skip, count(*), coalesce(sum(units), 0) FROM files LEFT JOIN blobs ON blobs.id = blob
    WHERE root = ? GROUP BY skip
    """
    account: list[Kept] = []
    roots = connection.execute("SELECT id, path, generation, used FROM roots ORDER BY path")
    for number, path, generation, used in roots.fetchall():
        rows = connection.execute(query, (number,)).fetchall()
        skipped = {skip: count for skip, count, _ in rows if skip}
        files, units = next(((count, units) for skip, count, units in rows if not skip), (0, 0))
        account.append(Kept(told(os.fsdecode(path)), files, units, skipped, generation, used))
    return account


def _delete_root(connection: sqlite3.Connection, root: int) -> None:
    connection.execute("DELETE FROM files WHERE root = ?", (root,))
    connection.execute("DELETE FROM roots WHERE id = ?", (root,))


def _delete_blobs(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[int]:
    """Delete blobs, and segments that have no others; gives those that have."""
    before = _segments(connection)
    rows = [(number,) for number in numbers]
    old: set[int] = set()
    for row in rows:
        for found in connection.execute("SELECT segment FROM blobs WHERE id = ?", row):
            old.update(found)
    connection.executemany("DELETE FROM blobs WHERE id = ?", rows)
    connection.executemany("DELETE FROM analysed WHERE blob = ?", rows)
    after = _segments(connection)
    empty = [(segment,) for segment in sorted(before - after)]
    connection.executemany("DELETE FROM postings WHERE segment = ?", empty)
    return sorted(old & after)


def _segments(connection: sqlite3.Connection) -> set[int]:
    return {segment for (segment,) in connection.execute("SELECT DISTINCT segment FROM blobs")}


def _list(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))
