"""What a pool knows and the books do not: taken over once, and judged by our own rules."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from fabricd.core.plain import MAX_SAFE_INTEGER
from fabricd.core.pool.adopting import adopt_steps
from fabricd.core.pool.bounds import prune_steps
from fabricd.core.pool.export import export_steps
from fabricd.core.pool.file import Pool, pool_bytes, pool_of
from fabricd.core.pool.ledger import Ledger
from fabricd.core.steps import finish
from tests.core.pool.test_exactly_once import ANYTHING, Step, play
from tests.core.pool.worlds import Reader, World, as_entries, entries_of

DIGEST = "ab" * 32


def pool_from(**members: Any) -> Pool:
    found = pool_of({"version": 1, "entries": [], "tracked": [], "baked": [], **members})
    assert found is not None
    return found


def entry(total: int, *values: Any, ref: str = "r", key: str = "k") -> dict[str, Any]:
    rows = [{"value": value, "count": count} for value, count in values]
    return {"ref": ref, "key": key, "total": total, "values": rows}


def tracked(file: str, counts: dict[str, int], digest: str = DIGEST) -> dict[str, Any]:
    return {"file": file, "digest": digest, "counts": counts}


def adopted(pool: Pool, ledger: Ledger | None = None) -> Ledger:
    ledger = Ledger() if ledger is None else ledger
    finish(adopt_steps(ledger, pool))
    return ledger


def exported(ledger: Ledger) -> Pool:
    """What is written after, which any reader takes and any encoder of the books too."""
    finish(prune_steps(ledger))
    pool = finish(export_steps(ledger))
    assert pool_of(json.loads(pool_bytes(pool))) == pool
    msgspec.msgpack.encode(ledger)
    return pool


@settings(max_examples=150)
@given(ANYTHING)
def test_books_that_are_lost_are_taken_from_the_pool_and_count_once(happened: list[Step]) -> None:
    world, reader = World(), Reader()
    play(world, reader, happened)
    pool = reader.pool()
    later = Reader()
    adopted(pool, later.ledger)
    assert exported(later.ledger).entries == pool.entries
    # Read again as they are, then grown.
    for log in world.logs:
        if log.name in reader.read:
            later.look(log)
    assert entries_of(exported(later.ledger)) == as_entries(world.oracle(reader.read))
    for log in world.logs:
        world.grow(log, [(("a", "k", "new"),)])
        later.look(log)
    assert entries_of(exported(later.ledger)) == as_entries(world.oracle(later.read))


@settings(max_examples=100)
@given(ANYTHING)
def test_our_own_pool_adds_nothing_to_the_books_it_came_from(happened: list[Step]) -> None:
    world, reader = World(), Reader()
    play(world, reader, happened)
    pool = reader.pool()
    before = msgspec.msgpack.encode(reader.ledger)
    adopted(pool, reader.ledger)
    assert msgspec.msgpack.encode(reader.ledger) == before


def test_several_values_that_may_not_be_kept_are_all_counted() -> None:
    long, other = "x" * 300, "y" * 300
    counts = {f"r\0k\0string:{long}": 2, f"r\0k\0string:{other}": 3, "r\0k\0other:": 1}
    pool = pool_from(
        entries=[entry(10, (long, 2), (other, 3), ("plain", 4))], tracked=[tracked("/s", counts)]
    )
    found = exported(adopted(pool))
    assert [(row.total, len(row.values)) for row in found.entries] == [(10, 1)]
    assert found.tracked[0].counts == {"r\0k\0other:": 6}
    assert long.encode() not in pool_bytes(found)


def test_books_that_know_more_take_over_only_sessions_they_never_saw() -> None:
    world, reader = World(), Reader()
    log = world.begin()
    world.grow(log, [(("r", "k", "ours"),)])
    reader.look(log)
    known = reader.ledger.rows[log.name]
    pool = pool_from(
        entries=[entry(99, ("ours", 99))],
        tracked=[
            tracked("/new", {"r\0k\0string:theirs": 2}),
            tracked(log.name, {"r\0k\0string:ours": 50}),
            tracked(known.path, {"r\0k\0string:ours": 50}),
            tracked("/copy", {"r\0k\0string:ours": 50}, known.digest),
        ],
        baked=["cd" * 32],
    )
    found = exported(adopted(pool, reader.ledger))
    assert entries_of(found) == [("r", "k", 3, [("theirs", 2), ("ours", 1)])]
    assert exported(adopted(pool, reader.ledger)) == found
    assert [row.file for row in found.tracked] == [log.name, "/new"]


def test_what_another_program_tracked_by_its_path_is_the_same_session() -> None:
    world, reader = World(), Reader()
    log = world.begin()
    world.grow(log, [(("r", "k", "x"),), (("r", "k", "y"),)])
    path = f"/logs/{log.name}"
    adopted(
        pool_from(
            entries=[entry(5, ("x", 1), ("gone", 4))],
            tracked=[tracked(path, {"r\0k\0string:x": 1})],
        ),
        reader.ledger,
    )
    reader.look(log)
    found = exported(reader.ledger)
    assert entries_of(found) == [("r", "k", 6, [("gone", 4), ("x", 1), ("y", 1)])]
    assert [row.file for row in found.tracked] == [log.name]


def test_a_session_baked_into_a_pool_is_known_by_what_it_says() -> None:
    world, reader = World(), Reader()
    log = world.begin()
    world.grow(log, [(("r", "k", "x"),)])
    reader.look(log)
    digest = reader.ledger.rows[log.name].digest
    later = Reader()
    adopted(pool_from(entries=[entry(1, ("x", 1))], baked=[digest]), later.ledger)
    later.look(log)
    assert entries_of(exported(later.ledger)) == [("r", "k", 1, [("x", 1)])]
    world.grow(log, [(("r", "k", "x"),)])
    later.look(log)
    assert entries_of(exported(later.ledger)) == [("r", "k", 2, [("x", 2)])]


@pytest.mark.parametrize(
    "members",
    [
        {"entries": [entry(1, ("\ud800", 1), ref="\ud800", key="\0")]},
        {"entries": [entry(1, ("x", 1), ref="r" * 20_000)]},
        {"tracked": [tracked("\ud800", {"\ud800\0\0string:\ud800": 1}, "\ud800")]},
        {"tracked": [tracked("f" * 20_000, {"a\0b\0string:c": 1})]},
        {"tracked": [tracked("/f", {"nonsense": 1, "a\0b\0number:one": 1, "a\0\0boolean:x": 1})]},
        {"tracked": [tracked("/f", {"\0\0other:": MAX_SAFE_INTEGER}), tracked("/g", {}, "g")]},
        {"entries": [entry(MAX_SAFE_INTEGER, ("x", MAX_SAFE_INTEGER), ("y", MAX_SAFE_INTEGER))]},
        {"entries": [entry(0, ("x", 3))]},
        {"baked": ["\ud800", "no digest", DIGEST]},
    ],
)
def test_whatever_another_program_wrote_we_can_write_after_it(members: dict[str, Any]) -> None:
    ledger = adopted(pool_from(**members))
    exported(ledger)
    exported(adopted(pool_from(**members), ledger))


def test_a_secret_in_the_pool_of_another_program_is_not_kept() -> None:
    pool = pool_from(
        entries=[entry(3, ("hunter2", 3), key="password")],
        tracked=[tracked("/f", {"r\0password\0string:hunter2": 3})],
    )
    ledger = adopted(pool)
    assert b"hunter2" not in pool_bytes(exported(ledger)) + msgspec.msgpack.encode(ledger)
    assert exported(ledger).entries[0].total == 3


def test_taking_over_can_be_given_up_at_any_pause() -> None:
    entries = [entry(1, ("x", 1), key=f"k{n}") for n in range(5)]
    pool = pool_from(entries=entries, tracked=[tracked("/f", {"r\0k0\0string:x": 1})])
    for pauses in range(5):
        ledger = Ledger()
        steps = adopt_steps(ledger, pool)
        for _ in range(pauses):
            next(steps)
        assert not ledger.counts and not ledger.rows
        assert adopted(pool, ledger).counts == adopted(pool).counts
