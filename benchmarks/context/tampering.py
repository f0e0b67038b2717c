"""Tampering: a single byte of an exported receipt or of a stored row, and rows taken out or moved.

Each change is made to a sound store, verified, and taken back. What is verified is what a person
would: the receipt that was changed, or whose text, answer or chain was.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection, IntegrityError
from typing import Any

from msgspec import structs
from tests.core.context.receipting import ROOT, delivery, given

from benchmarks.measuring import Figure
from fabricd.core.context.chain import Row
from fabricd.core.context.verifying import check_export
from fabricd.store.context.kept import checking, schema
from fabricd.store.context.receipts import ReceiptStore

OTHER = "/home/somebody/else"
_START = 1_700_000_000_000
_RECEIPTS = 12
_TABLES = {
    "receipts": ("id", "body", "digest"),
    "texts": ("sha256", "body"),
    "answers": ("receipt", "body", "offers", "digest"),
    "holds": ("receipt", "sha256"),
    "chain": (
        "root",
        "seq",
        "receipt",
        "prev",
        "generation",
        "started_at",
        "verified_at",
        "refreshed",
        "session",
        "digest",
    ),
    "forgotten": ("root", "first", "last", "prev", "head", "digest"),
}


@dataclass
class Tally:
    """How many changes were made of each kind, and which of them nobody found."""

    made: Counter[str] = field(default_factory=Counter[str])
    missed: list[str] = field(default_factory=list[str])

    def enter(self, kind: str, is_found: bool, what: str) -> None:
        """Enter a change."""
        self.made[kind] += 1
        if not is_found:
            self.missed.append(f"{kind}: {what}")


def tampered(folder: Path, count: int, seed: int = 20_26) -> Tally:
    """Change a fresh store so many times, a quarter of them in exported receipts."""
    draw = random.Random(seed)
    path = folder / "receipts.db"
    exports = _filled(path)
    tally = Tally()
    connection = schema.connected(path)
    try:
        assert checking.verify_all(connection) == []
        trials: list[Callable[[], None]] = [
            lambda: _export(draw, exports, tally),
            lambda: _row(draw, connection, tally),
            lambda: _row(draw, connection, tally),
            lambda: (
                _chain(draw, connection, tally)
                if draw.random() < 0.2
                else _row(draw, connection, tally)
            ),
        ]
        while tally.made.total() < count:
            trials[tally.made.total() % len(trials)]()
        assert checking.verify_all(connection) == []
    finally:
        connection.close()
    return tally


def _filled(path: Path) -> list[bytes]:
    store = ReceiptStore(path)
    exports: list[bytes] = []
    for number in range(3 * _RECEIPTS):
        about = number % _RECEIPTS
        texts = [f"def f{about}_{n}():\n    return {n}\n" for n in range(1, 5)]
        answer = given(texts, f"question {about}", 3 + about, b'["offers"]' * (about % 3))
        root = ROOT if number % 4 else OTHER
        told = structs.replace(delivery(answer, _START + number, root), session=f"s{number}")
        store.save(answer, told)
    store.forget(ROOT, before=_START + 45)
    for kept in store.chain(ROOT):
        if isinstance(kept.link, Row):
            exports.append(store.export(kept.link.receipt, ROOT))
    store.close()
    return exports


def _export(draw: random.Random, exports: list[bytes], tally: Tally) -> None:
    data = bytearray(draw.choice(exports))
    at = draw.randrange(len(data))
    data[at] ^= draw.randrange(1, 256)
    tally.enter("exported receipt", bool(check_export(bytes(data))), f"byte {at}")


@contextmanager
def _undone(connection: Connection) -> Generator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _row(draw: random.Random, connection: Connection, tally: Tally) -> None:
    table = draw.choice(list(_TABLES))
    columns = _TABLES[table]
    rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
    row, column = draw.choice(rows), draw.choice(columns)
    value: Any = row[columns.index(column)]
    if value is None or value in ("", b""):
        return
    receipt, root = _concerned(connection, table, dict(zip(columns, row, strict=True)))
    where = " AND ".join(f"{name} IS ?" for name in columns)
    with _undone(connection):
        try:
            expression, after = _changed(draw, value)
            connection.execute(
                f"UPDATE {table} SET {column} = {expression} WHERE {where}", (after, *row)
            )
        except IntegrityError:
            return
        found = checking.verify(connection, receipt, root)
        tally.enter(f"{table}.{column}", not found.is_sound, f"{value!r} became {after!r}")


def _changed(draw: random.Random, value: str | int | bytes) -> tuple[str, str | int | bytes]:
    """The value with one byte changed, and how it is written."""
    if isinstance(value, int):
        digits = list(str(value))
        at = draw.randrange(len(digits))
        digits[at] = draw.choice([digit for digit in "0123456789" if digit != digits[at]])
        return "?", int("".join(digits))
    raw = bytearray(value if isinstance(value, bytes) else value.encode())
    raw[draw.randrange(len(raw))] ^= draw.randrange(1, 256)
    return ("?" if isinstance(value, bytes) else "CAST(? AS TEXT)"), bytes(raw)


def _concerned(connection: Connection, table: str, row: dict[str, Any]) -> tuple[str, str]:
    """A receipt that a row belongs to, and a project in which it was given."""
    found = "SELECT receipt, root FROM chain WHERE receipt = ? LIMIT 1"
    match table:
        case "chain":
            return row["receipt"], row["root"]
        case "forgotten":
            key, found = row["root"], "SELECT receipt, root FROM chain WHERE root = ? LIMIT 1"
        case "texts":
            holder = "SELECT receipt FROM holds WHERE sha256 = ? LIMIT 1"
            key = connection.execute(holder, (row["sha256"],)).fetchone()[0]
        case _:
            key = row["id"] if table == "receipts" else row["receipt"]
    receipt, root = connection.execute(found, (key,)).fetchone()
    return str(receipt), str(root)


def _chain(draw: random.Random, connection: Connection, tally: Tally) -> None:
    rows = connection.execute(
        "SELECT seq, receipt FROM chain WHERE root = ? ORDER BY seq", (ROOT,)
    ).fetchall()
    receipt = rows[-1][1]
    one, two = draw.sample([seq for seq, _ in rows[:-1]], 2)
    with _undone(connection):
        kind = draw.choice(["row removed", "rows swapped", "gap removed"])
        if kind == "row removed":
            connection.execute("DELETE FROM chain WHERE root = ? AND seq = ?", (ROOT, one))
        elif kind == "gap removed":
            connection.execute("DELETE FROM forgotten WHERE root = ?", (ROOT,))
        else:
            for before, after in ((one, -1), (two, one), (-1, two)):
                connection.execute(
                    "UPDATE chain SET seq = ? WHERE root = ? AND seq = ?", (after, ROOT, before)
                )
        found = checking.verify(connection, receipt, ROOT)
        tally.enter(kind, not found.is_sound, f"{one}, {two}")


def tampering(folder: Path, count: int = 10_000) -> list[Figure]:
    """How many of so many changes were not found."""
    tally = tampered(folder, count)
    kinds = ", ".join(f"{kind} {made:,}" for kind, made in sorted(tally.made.items()))
    total = tally.made.total()
    return [Figure(f"tampering not found of {total:,}", len(tally.missed), "", 0, baseline=kinds)]
