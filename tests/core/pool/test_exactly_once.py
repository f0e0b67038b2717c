"""However sessions are read, each of their values counts once: the pool's one law."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fabricd.core.pool import bounds
from fabricd.core.pool.file import pool_bytes, pool_of
from tests.core.pool.worlds import Adds, Log, Reader, World, as_entries, as_identities, entries_of

values: SearchStrategy[Any] = st.sampled_from(["red", "blue", "", 1, 2.5, True, False])
adds: SearchStrategy[Adds] = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["k", "l"]), values), max_size=2
).map(tuple)
Step = tuple[str, int, Any]


def steps(*kinds: str, most: int = 14) -> SearchStrategy[list[Step]]:
    """What happens, in order: kind, the log it happens to, and how much of it."""
    more: dict[str, SearchStrategy[Any]] = {
        "grow": st.lists(adds, min_size=1, max_size=2),
        "rewrite": st.integers(0, 3),
    }
    one = [st.tuples(st.just(k), st.integers(0, 7), more.get(k, st.none())) for k in kinds]
    return st.lists(st.one_of(one), max_size=most)


def settle(reader: Reader, log: Log) -> None:
    """What books do that are nearly full: a fork of an unread parent has to wait."""
    rows = reader.ledger.rows
    if log.name in rows and (not log.parent or log.parent in rows):
        rows[log.name] = bounds._settled(rows[log.name])


def play(world: World, reader: Reader, happened: Sequence[Step]) -> None:
    """Let it happen. Everything that was ever read is read once more in the end."""
    for kind, which, more in happened:
        log = world.logs[which % len(world.logs)] if world.logs else world.begin()
        match kind:
            case "begin":
                world.begin()
            case "fork":
                world.begin(log)
            case "fork-in-sight":
                # Its parent is in the books, whole, when it is first read.
                reader.done.pop((log.name, log.generation), None)
                reader.look(log)
                reader.look(world.begin(log))
            case "fork-unseen":
                # What it repeats is not all in the books of its parent yet.
                reader.look(log)
                world.grow(log, [(("a", "k", "red"),)])
                reader.look(world.begin(log))
            case "fork-later":
                # Of a parent that was never read, or is up to date.
                if log.name in reader.read:
                    reader.look(log)
                world.begin(log)
            case "settle":
                settle(reader, log)
            case "grow":
                world.grow(log, more)
            case "rewrite":
                world.rewrite(log, more)
            case "look":
                reader.look(log)
            case "again":
                reader.done.pop((log.name, log.generation), None)
                reader.look(log)
            case "prune":
                reader.prune()
            case "save":
                reader.save()
            case "restart":
                reader.restart()
            case _:
                reader.crash()
    for log in world.logs:
        if log.name in reader.read:
            reader.look(log)


def check(world: World, reader: Reader) -> None:
    expected = world.oracle(reader.read)
    assert reader.counts() == as_identities(expected)
    assert all(count > 0 for count in reader.ledger.counts.values())
    pool = reader.pool()
    assert entries_of(pool) == as_entries(expected)
    assert pool_of(json.loads(pool_bytes(pool))) == pool


ANYTHING = steps(
    "begin", "fork", "fork", "grow", "grow", "grow", "rewrite", "look", "look", "look", "again",
    "prune", "save", "restart", "crash",
)  # fmt: skip


@settings(max_examples=1200)
@given(ANYTHING)
def test_any_interleaving_counts_as_one_clean_pass(happened: list[Step]) -> None:
    world, reader = World(), Reader()
    play(world, reader, happened)
    check(world, reader)


@contextmanager
def small(sessions: int, size: int) -> Generator[None, None, None]:
    """Books so small that their limits are met."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "MAX_SESSIONS", sessions)
        patch.setattr(bounds, "MAX_ROW_BYTES", size)
        yield


GROWING = steps(
    "begin", "fork-in-sight", "fork-in-sight", "grow", "grow", "grow", "look", "look", "again",
    "prune", "prune", "restart",
)  # fmt: skip


@settings(max_examples=700)
@given(GROWING, st.integers(1, 9), st.sampled_from([0, 200, 400, 800, 10_000]))
def test_nor_do_small_books_lose_or_double_what_grows(
    happened: list[Step], sessions: int, size: int
) -> None:
    world, reader = World(), Reader()
    with small(sessions, size):
        play(world, reader, happened)
        check(world, reader)


SETTLING = steps(
    "begin", "fork-later", "fork-later", "fork-unseen", "grow", "grow", "look", "look", "again",
    "settle", "settle", "settle", "restart",
)  # fmt: skip


@settings(max_examples=700)
@given(SETTLING)
def test_what_is_settled_counts_once_whoever_is_read_first(happened: list[Step]) -> None:
    world, reader = World(), Reader()
    play(world, reader, happened)
    check(world, reader)
