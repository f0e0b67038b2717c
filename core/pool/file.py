"""The pool's durable file, in the form that pi-fabric reads: its guard, its values, its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import pretty, utf8
from fabricd.core.entropy.observations import Observed, Scalar, typed_text
from fabricd.core.javascript import trim, utf16_key
from fabricd.core.plain import is_count, is_list, is_number, is_object
from fabricd.core.pool.values import OTHER, Identity, read_name

MAX_ENTRIES = 8192
MAX_STORED_VALUES = 64
MAX_TRACKED = 64
MAX_BAKED = 2048


class Valued(Struct, frozen=True, gc=False):
    """A value and how often it was seen."""

    value: Scalar
    count: int


class Entry(Struct, frozen=True, gc=False):
    """The values of an argument. `total` also counts those that are not kept in clear."""

    ref: str
    key: str
    total: int
    values: tuple[Valued, ...]


class Tracked(Struct, frozen=True):
    """A session in the pool: the digest of what it says, and what it adds by identity."""

    file: str
    digest: str
    counts: dict[str, int]


class Pool(Struct, frozen=True):
    """The pool as its file holds it."""

    entries: tuple[Entry, ...] = ()
    tracked: tuple[Tracked, ...] = ()
    baked: tuple[str, ...] = ()


def read_identity(name: str) -> Identity | None:
    """The identity that a name of `counts` stands for, or None."""
    parts = name.split("\0", 2)
    if len(parts) != 3:
        return None
    kind, colon, text = parts[2].partition(":")
    if not colon or kind not in ("string", "number", "boolean", OTHER):
        return None
    return Identity(parts[0], parts[1], kind, text)


def pool_value(pool: Pool) -> dict[str, Any]:
    """The pool as plain values, members in the order in which they are written."""
    return {
        "version": 1,
        "entries": [
            {
                "ref": entry.ref,
                "key": entry.key,
                "total": entry.total,
                "values": [{"value": row.value, "count": row.count} for row in entry.values],
            }
            for entry in pool.entries
        ],
        "tracked": [
            {"file": row.file, "digest": row.digest, "counts": row.counts} for row in pool.tracked
        ],
        "baked": list(pool.baked),
    }


def pool_bytes(pool: Pool) -> bytes:
    """The very bytes of the durable file."""
    return utf8(pretty(pool_value(pool)) + "\n")


def observed(pool: Pool) -> Iterator[Observed]:
    """What the pool knows of values, for the author's review.

    An argument some of whose values are not in clear says nothing: its values are not all known.
    """
    for entry in pool.entries:
        if entry.total == sum(row.count for row in entry.values):
            for row in entry.values:
                yield Observed(read_name(entry.ref), read_name(entry.key), row.value, row.count)


# --- the guard


def _word(value: object) -> str | None:
    return trim(value) or None if isinstance(value, str) else None


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, bool, int, float))


def _is_times(value: object) -> bool:
    return is_count(value) and value >= 1


def _values_of(value: object) -> tuple[Valued, ...] | None:
    if not is_list(value) or len(value) > MAX_STORED_VALUES:
        return None
    rows: list[Valued] = []
    for item in value:
        if not is_object(item) or not _is_scalar(item.get("value")):
            return None
        if not _is_times(item.get("count")):
            return None
        rows.append(Valued(item["value"], int(item["count"])))
    distinct = {typed_text(row.value) for row in rows}
    return tuple(rows) if len(distinct) == len(rows) else None


def _entry_of(value: object) -> Entry | None:
    if not is_object(value):
        return None
    ref, key, total = _word(value.get("ref")), _word(value.get("key")), value.get("total")
    values = _values_of(value.get("values"))
    if ref is None or key is None or values is None or not is_count(total):
        return None
    return Entry(ref, key, int(total), values)


def _tracked_of(value: object) -> Tracked | None:
    if not is_object(value):
        return None
    file, digest, counts = _word(value.get("file")), _word(value.get("digest")), value.get("counts")
    if file is None or digest is None or not is_object(counts):
        return None
    if not all(map(_is_times, counts.values())):
        return None
    return Tracked(file, digest, {name: int(count) for name, count in counts.items()})


def _all(found: Iterable[Any]) -> tuple[Any, ...] | None:
    rows = tuple(found)
    return None if None in rows else rows


def pool_of(value: object) -> Pool | None:
    """The load guard: the pool a JSON value is, or None. Unknown members are dropped."""
    if not is_object(value) or not is_number(value.get("version"), 1):
        return None
    entries, tracked, baked = value.get("entries"), value.get("tracked"), value.get("baked")
    if not is_list(entries) or not is_list(tracked) or not is_list(baked):
        return None
    if len(entries) > MAX_ENTRIES or len(tracked) > MAX_TRACKED or len(baked) > MAX_BAKED:
        return None
    found = Pool(
        _all(map(_entry_of, entries)) or (),
        _all(map(_tracked_of, tracked)) or (),
        _all(map(_word, baked)) or (),
    )
    sizes = (len(found.entries), len(found.tracked), len(found.baked))
    if sizes != (len(entries), len(tracked), len(baked)):
        return None
    names = {(entry.ref, entry.key) for entry in found.entries}
    files = {row.file for row in found.tracked}
    return found if (len(names), len(files)) == sizes[:2] else None


def entry_order(entry: Entry) -> bytes:
    """Entries are written by ref and key."""
    return utf16_key(f"{entry.ref}\0{entry.key}")
