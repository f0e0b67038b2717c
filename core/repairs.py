"""The catalog repairs: what models call declared things, and the table that keeps it.

The table is shared with Pi, which writes it too: what we do not understand in it is carried along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from msgspec import Struct

from fabricd.core.canonical import digest, pretty, utf8
from fabricd.core.documents import BadDocument
from fabricd.core.javascript import sorted_by_units, trim
from fabricd.core.model import RepairRow, Surface
from fabricd.core.plain import is_list, is_number, is_object

MAX_ROWS = 256
_NAMES = {"keyAlias": ("ref", "from", "to"), "actionAlias": ("provider", "from", "to")}


class KeyAlias(Struct, frozen=True):
    """Models say `given` where the action `ref` declares the argument `meant`."""

    ref: str
    given: str
    meant: str


class ActionAlias(Struct, frozen=True):
    """Models say `given` where the provider declares the action `meant`."""

    provider: str
    given: str
    meant: str


Row: TypeAlias = KeyAlias | ActionAlias


class Entry(Struct, frozen=True):
    """One entry of a table as it is written. `row` is None where its kind is unknown here."""

    value: dict[str, Any]
    row: Row | None


class Table(Struct, frozen=True):
    """A table: its catalog, its entries, and every other member as it was found."""

    catalog_digest: str
    entries: tuple[Entry, ...] = ()
    members: Mapping[str, Any] = {}

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the kinds known here."""
        return tuple(entry.row for entry in self.entries if entry.row is not None)


def catalog_digest(surface: Surface) -> str:
    """The digest of a surface's providers. Captured tools are known to Pi alone: we have none."""
    providers = {action.ref.rpartition(".")[0] for action in surface.actions} - {""}
    return digest({"v": 1, "providers": sorted_by_units(providers), "captured": []})


def row_value(row: Row) -> dict[str, Any]:
    """A row as it is written."""
    match row:
        case KeyAlias():
            return {"kind": "keyAlias", "ref": row.ref, "from": row.given, "to": row.meant}
        case ActionAlias():
            owner = {"kind": "actionAlias", "provider": row.provider}
            return {**owner, "from": row.given, "to": row.meant}


def meter_row(row: Row) -> RepairRow:
    """A row as the meter counts it."""
    match row:
        case KeyAlias():
            return RepairRow("keyAlias", row.ref)
        case ActionAlias():
            return RepairRow("actionAlias", f"{row.provider}.{row.meant}")


def _slot(row: Row) -> tuple[str, str, str]:
    """What two rows must not both claim: with different meanings they would conflict."""
    match row:
        case KeyAlias():
            return ("keyAlias", row.ref, row.given)
        case ActionAlias():
            return ("actionAlias", row.provider, row.given)


def merged(standing: Sequence[Row], new: Iterable[Row], limit: int = MAX_ROWS) -> tuple[Row, ...]:
    """Standing rows first, then the new ones that conflict with none, up to the limit."""
    found = dict.fromkeys(standing)
    taken = set(map(_slot, found))
    for row in new:
        if len(found) < limit and _slot(row) not in taken:
            found[row] = None
            taken.add(_slot(row))
    return tuple(found)


def _entry_of(item: object, number: int) -> Entry:
    """An entry of a table.

    Raises:
        BadDocument: it is no object, or a row of a known kind that is malformed.
    """
    if not is_object(item):
        raise BadDocument(f"row {number} is no object")
    kind = item.get("kind")
    names = _NAMES.get(kind) if isinstance(kind, str) else None
    if names is None:
        return Entry(item, None)
    words: dict[str, str] = {}
    for name in names:
        text = item.get(name)
        words[name] = trim(text) if isinstance(text, str) else ""
        if not words[name]:
            raise BadDocument(f'row {number} has no "{name}" that is a text')
    owner, given, meant = words.values()
    row = KeyAlias(owner, given, meant) if kind == "keyAlias" else ActionAlias(owner, given, meant)
    return Entry({**item, **words}, row)


def entries_of(value: object, limit: int = MAX_ROWS) -> tuple[Entry, ...]:
    """The entries of a table, each row once.

    Raises:
        BadDocument: it is no list, a row is malformed, or there are too many.
    """
    if not is_list(value):
        raise BadDocument("it has no list of repairs")
    seen: set[Row] = set()
    entries: list[Entry] = []
    for number, item in enumerate(value, start=1):
        entry = _entry_of(item, number)
        if entry.row is None or entry.row not in seen:
            entries.append(entry)
        if entry.row is not None:
            seen.add(entry.row)
    if len(seen) > limit:
        raise BadDocument(f"it holds {len(seen)} rows, at most {limit} are allowed")
    return tuple(entries)


def members_of(value: object) -> dict[str, Any]:
    """The members of a document of version 1.

    Raises:
        BadDocument: it is none.
    """
    if not is_object(value):
        raise BadDocument("it is no object")
    if not is_number(value.get("version"), 1):
        raise BadDocument("it is not of version 1")
    return value


def table_of(value: object) -> Table:
    """The load guard. Strings are trimmed, duplicates collapsed, unknown kinds carried along.

    Raises:
        BadDocument: it is no table of version 1, or a row of a known kind is malformed.
    """
    found = members_of(value)
    catalog = found.get("catalogDigest")
    if not isinstance(catalog, str) or not trim(catalog):
        raise BadDocument("it names no catalog")
    entries = entries_of(found.get("repairs"))
    ours = ("version", "catalogDigest", "repairs")
    members = {name: item for name, item in found.items() if name not in ours}
    return Table(trim(catalog), entries, members)


def table_bytes(table: Table, now: int) -> bytes:
    """The very bytes of the durable file.

    Args:
        now: milliseconds since the epoch.
    """
    others = dict(table.members)
    value = {
        "version": 1,
        "catalogDigest": table.catalog_digest,
        "repairs": [entry.value for entry in table.entries],
        "createdAt": others.pop("createdAt", now),
        "updatedAt": _stamp(others.pop("updatedAt", None), now),
        **others,
    }
    return utf8(pretty(value) + "\n")


def _stamp(like: object, now: int) -> int | str:
    """A time stamp in the manner of the one it replaces: its writer has to understand it."""
    if not isinstance(like, str):
        return now
    moment = datetime.fromtimestamp(now / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
