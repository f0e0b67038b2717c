"""Whose rows a repairs table holds, and what it becomes when the catalog changes.

Pi writes the same table and knows its catalog; we cannot recompute a digest that Pi gave. So we
remember, apart from the table, which rows we put there and on which catalog, and take back those
alone when that catalog is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from fabricd.core.canonical import pretty, utf8
from fabricd.core.documents import BadDocument
from fabricd.core.plain import is_list
from fabricd.core.repairs import (
    MAX_ROWS,
    Entry,
    Row,
    Table,
    entries_of,
    members_of,
    merged,
    row_value,
)

_DIGESTS = 16


class Learned(Struct, frozen=True):
    """What we put into a table ourselves: the digests we gave it, newest last, and our rows.

    A row stands with the digest of the catalog on which it was learned.
    """

    digests: tuple[str, ...] = ()
    rows: Mapping[Row, str] = {}


class Settled(Struct, frozen=True):
    """What is to stand on disk.

    `before` is to be remembered before the table is written and `after` once it stands, so that
    whoever is killed in between leaves no row of ours that looks like somebody else's.
    """

    table: Table | None
    before: Learned
    after: Learned
    added: tuple[Row, ...] = ()
    dropped: tuple[Row, ...] = ()
    changed: bool = False


def learned_of(value: object) -> Learned:
    """The guard of what we remember of our own rows.

    Raises:
        BadDocument: it is not what `learned_bytes` writes.
    """
    found = members_of(value)
    digests = found.get("catalogDigests")
    if not is_list(digests) or not all(isinstance(item, str) for item in digests):
        raise BadDocument("it has no list of catalogs")
    rows: dict[Row, str] = {}
    # Twice as many as a table holds: those that leave it beside those that come.
    for entry in entries_of(found.get("repairs"), 2 * MAX_ROWS):
        catalog = entry.value.get("catalogDigest")
        if entry.row is None or not isinstance(catalog, str):
            raise BadDocument("a row has no kind or no catalog")
        rows[entry.row] = catalog
    return Learned(tuple(digests[-_DIGESTS:]), rows)


def learned_bytes(learned: Learned) -> bytes:
    """The very bytes of the file that says which rows are ours."""
    rows = [{**row_value(row), "catalogDigest": on} for row, on in learned.rows.items()]
    value = {"version": 1, "catalogDigests": list(learned.digests), "repairs": rows}
    return utf8(pretty(value) + "\n")


def settle(table: Table | None, learned: Learned, catalog: str, new: Iterable[Row] = ()) -> Settled:
    """What a table becomes on a catalog: our rows for other catalogs go, new ones come.

    A table whose digest we did not give it, or that holds rows of others, keeps its digest.

    Args:
        table: the table on disk, None where there is none.
        learned: what we remember of it.
        catalog: `catalog_digest` of the live surface.
        new: rows learned on it.
    """
    wanted = dict.fromkeys(new)
    standing = () if table is None else table.rows
    held = {row: learned.rows[row] for row in standing if row in learned.rows}
    gone = {row for row, on in held.items() if on != catalog and row not in wanted}
    entries = () if table is None else table.entries
    kept = [entry for entry in entries if entry.row is None or entry.row not in gone]
    rows = [entry.row for entry in kept if entry.row is not None]
    # An entry of a kind that we do not know takes its place as well.
    added = merged(rows, wanted, MAX_ROWS - (len(kept) - len(rows)))[len(rows) :]
    mine = {row: catalog if row in wanted else on for row, on in held.items() if row not in gone}
    mine |= dict.fromkeys(added, catalog)
    given = _digest_for(table, learned, catalog, all(entry.row in mine for entry in kept))
    fresh = tuple(Entry(row_value(row), row) for row in added)
    if table is None and not added:
        return Settled(None, Learned(learned.digests), Learned(learned.digests))
    gives = table is None or table.catalog_digest != given
    digests = learned.digests
    if gives:
        digests = (*(other for other in digests if other != given), given)[-_DIGESTS:]
    return Settled(
        table=Table(given, (*kept, *fresh), {} if table is None else table.members),
        before=Learned(digests, held | mine),
        after=Learned(digests, mine),
        added=added,
        dropped=tuple(row for row in standing if row in gone),
        changed=gives or bool(added or gone),
    )


def _digest_for(table: Table | None, learned: Learned, catalog: str, all_ours: bool) -> str:
    """The digest that a table is to carry."""
    if table is None or (all_ours and table.catalog_digest in learned.digests):
        return catalog
    return table.catalog_digest
