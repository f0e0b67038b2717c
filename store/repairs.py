"""`repairs/current.json`: Pi's table and ours. Read again under Pi's lock before it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.repairs import Row, Table, table_bytes, table_of
from fabricd.core.settling import Learned, Settled, learned_bytes, learned_of, settle
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded, shown
from fabricd.store.homes import Homes
from fabricd.store.pilock import held

T = TypeVar("T")
Outcome: TypeAlias = Literal["written", "already_written"]

MAX_BYTES = 1024 * 1024
_LEARNED_BYTES = 4 * MAX_BYTES


class DamagedRepairs(RuntimeError):
    """Raised by `save`: the table, or what we remember of it, is damaged and not overwritten."""

    def __init__(self, damage: Damaged) -> None:
        super().__init__(f"{shown(damage.path)} is damaged: {damage.reason}")
        self.damage = damage


@dataclass(frozen=True)
class Saved:
    """What a save came to: the table as it stands now, and the rows that came and went."""

    outcome: Outcome
    table: Table | None
    added: tuple[Row, ...]
    dropped: tuple[Row, ...]


def load(path: Path, pipes: bool = False) -> Load[Table]:
    """Read a table."""
    return _load(path, MAX_BYTES, table_of, pipes)


def load_learned(path: Path) -> Load[Learned]:
    """Read what we remember of our own rows."""
    return _load(path, _LEARNED_BYTES, learned_of)


def _load(path: Path, limit: int, guard: Callable[[object], T], pipes: bool = False) -> Load[T]:
    data = read_bounded(path, limit, pipes)
    if not isinstance(data, bytes):
        return data
    try:
        return Loaded(guard(strict_json(data)), data)
    except BadDocument as error:
        return Damaged(path, str(error))


def standing(homes: Homes, catalog: str | None) -> Load[Table]:
    """The table as it counts on a catalog: without our rows for others. Writes nothing.

    Args:
        catalog: `catalog_digest` of the live surface, None where there is none.
    """
    found = load(homes.repairs)
    if catalog is None or not isinstance(found, Loaded):
        return found
    match load_learned(homes.repairs_learned):
        case Loaded(value=learned):
            table = settle(found.value, learned, catalog).table
            return found if table is None else Loaded(table, found.raw)
        case Missing() | Damaged():
            return found


def save(homes: Homes, catalog: str, new: Iterable[Row], now: int) -> Saved:
    """Take our rows for other catalogs out of the table and put new ones in.

    Where nothing would change, nothing is locked or touched.

    Args:
        catalog: `catalog_digest` of the live surface.
        new: rows learned on it; those that conflict with the table or find no room are left out.
        now: milliseconds since the epoch.

    Raises:
        DamagedRepairs: a file on disk cannot be read as what it should be.
        PiLockBusy: somebody else holds the lock.
        OSError: a file could not be written; the old table stands.
    """
    rows = tuple(new)
    table, learned = _read(homes)
    settled = settle(table, learned, catalog, rows)
    if not settled.changed and settled.after == learned:
        return Saved("already_written", table, (), ())
    with held(homes.repairs_lock):
        return _write(homes, catalog, rows, now)


def _read(homes: Homes) -> tuple[Table | None, Learned]:
    table = _sound(load(homes.repairs))
    return table, _sound(load_learned(homes.repairs_learned)) or Learned()


def _sound(found: Load[T]) -> T | None:
    match found:
        case Loaded(value=value):
            return value
        case Missing():
            return None
        case Damaged() as damage:
            raise DamagedRepairs(damage)


def _write(homes: Homes, catalog: str, new: tuple[Row, ...], now: int) -> Saved:
    table, learned = _read(homes)
    for rows in (new, ()):
        settled = settle(table, learned, catalog, rows)
        data = _bytes_of(settled, now)
        if len(data) <= MAX_BYTES:
            break
    else:
        # What nobody could load any more is not worth writing.
        return Saved("already_written", table, (), ())
    if settled.before != learned:
        write_atomic(homes.repairs_learned, learned_bytes(settled.before))
    if settled.changed:
        write_atomic(homes.repairs, data)
    if settled.after != settled.before:
        write_atomic(homes.repairs_learned, learned_bytes(settled.after))
    outcome: Outcome = "written" if settled.changed else "already_written"
    return Saved(outcome, settled.table, settled.added, settled.dropped)


def _bytes_of(settled: Settled, now: int) -> bytes:
    return b"" if settled.table is None else table_bytes(settled.table, now)
