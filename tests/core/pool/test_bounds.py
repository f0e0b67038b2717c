"""Books and file stay within their bounds, whatever the sessions say."""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.plain import MAX_SAFE_INTEGER
from fabricd.core.pool import bounds, export
from fabricd.core.pool.bounds import prune_steps
from fabricd.core.pool.export import export_steps
from fabricd.core.pool.file import MAX_ENTRIES, Pool, observed, pool_bytes, pool_of
from fabricd.core.pool.ledger import Change, Ledger, merge_steps
from fabricd.core.pool.rows import Record, Row, said_by
from fabricd.core.pool.values import OTHER, Identity
from fabricd.core.steps import finish


def enter(ledger: Ledger, session: str, *records: tuple[int, Iterable[Identity]]) -> None:
    """A session that says this and nothing else."""
    found = tuple(
        Record(entry, tuple(map(ledger.know, identities))) for entry, identities in records
    )
    finish(merge_steps(ledger, Change(session, session, "", found, True)))


def exported(ledger: Ledger) -> Pool:
    finish(prune_steps(ledger))
    return finish(export_steps(ledger))


def is_read(pool: Pool) -> bool:
    data = pool_bytes(pool)
    return len(data) <= export.MAX_BYTES and pool_of(json.loads(data)) == pool


def one(text: str, key: str = "k", ref: str = "r") -> Identity:
    return Identity(ref, key, "string", text)


def test_sixteen_values_of_an_argument_are_kept_and_the_rest_leaves_the_total() -> None:
    ledger = Ledger()
    seen = [one(f"v{n}") for n in range(20) for _ in range(n + 1)]
    enter(ledger, "s", (1, seen), (2, [Identity("r", "k", OTHER)]))
    (entry,) = exported(ledger).entries
    assert [row.count for row in entry.values] == list(range(20, 4, -1))
    assert entry.total == sum(range(5, 21)) + 1


def test_an_argument_with_hidden_values_says_nothing_to_the_review() -> None:
    ledger = Ledger()
    enter(ledger, "s", (1, [one("a"), one("b", key="open"), Identity("r", "k", OTHER)]))
    assert [row.key for row in observed(exported(ledger))] == ["open"]


@settings(max_examples=60)
@given(st.permutations(range(12)), st.integers(1, 5), st.integers(1, 5))
def test_of_too_many_values_the_same_stay_in_whatever_order_they_come(
    order: list[int], values: int, batch: int
) -> None:
    found: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "MAX_VALUES", values)
        patch.setattr(export, "MAX_VALUES", values)
        for way in (sorted(order), order):
            ledger = Ledger()
            for first in range(0, len(way), batch):
                for number in way[first : first + batch]:
                    enter(ledger, f"s{number}", (number, [one(f"v{number}")] * (number + 1)))
                finish(prune_steps(ledger))
                assert len(ledger.counts) <= 2 * values
            found.append(exported(ledger).entries)
    assert found[0] == found[1]


@settings(max_examples=60)
@given(st.permutations(range(12)), st.integers(1, 12), st.integers(40, 500))
def test_nor_does_the_order_matter_where_all_together_are_too_many(
    order: list[int], identities: int, size: int
) -> None:
    found: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "MAX_IDENTITIES", identities)
        patch.setattr(bounds, "MAX_IDENTITY_BYTES", size)
        for way in (sorted(order), order):
            ledger = Ledger()
            for number in way:
                seen = [one(f"v{number}", key="k" * number, ref=f"r{number}")]
                enter(ledger, f"s{number}", (number, seen))
                finish(prune_steps(ledger))
                assert len(ledger.counts) <= identities
                assert sum(map(bounds._weight, ledger.identities.values())) <= size
            # Read again, what was dropped does not come back in part.
            for number in way:
                enter(ledger, f"s{number}", (number, []), (99, []))
                finish(prune_steps(ledger))
            for number in way:
                seen = [one(f"v{number}", key="k" * number, ref=f"r{number}")]
                enter(ledger, f"s{number}", (number, seen * 2))
                finish(prune_steps(ledger))
            found.append(exported(ledger).entries)
    assert found[0] == found[1]


def test_hostile_sessions_fill_neither_books_nor_file() -> None:
    ledger = Ledger()
    wide = "\x01" * 900
    for number in range(24):
        seen = [one(f"{number} {n}" + wide[:240], key=f"{n % 40}{wide}") for n in range(900)]
        enter(ledger, f"session:{number}{wide[:400]}", (number, seen))
        finish(prune_steps(ledger))
        assert len(msgspec.msgpack.encode(ledger)) < 16 * 1024 * 1024
    assert is_read(exported(ledger))


@pytest.mark.parametrize("most", [1000, MAX_ENTRIES])
def test_more_arguments_than_fit_are_cut_to_those_seen_most(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(export, "MAX_ENTRIES", most)
    ledger = Ledger()
    seen = [one("x", key=f"k{n}") for n in range(MAX_ENTRIES + 500)]
    enter(ledger, "s", (1, seen), (2, seen[500:]))
    pool = exported(ledger)
    assert is_read(pool)
    assert 1000 <= len(pool.entries) <= most and {row.total for row in pool.entries} == {2}


def test_what_cannot_be_tracked_is_known_by_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_ROOM", 2000)
    ledger = Ledger()
    enter(ledger, "small", (1, [one("x")]))
    enter(ledger, "large", (2, [one("y" * 20 + str(n)) for n in range(40)]))
    enter(ledger, "last", (3, [one("z")]))
    pool = exported(ledger)
    assert [row.file for row in pool.tracked] == ["small", "last"]
    assert pool.baked == (ledger.rows["large"].digest,)


def test_counts_beyond_what_a_reader_takes_are_cut() -> None:
    ledger = Ledger()
    enter(ledger, "s", (1, [one("x"), one("y")]))
    ledger.counts = dict.fromkeys(ledger.counts, MAX_SAFE_INTEGER + 5)
    assert is_read(exported(ledger))


def many_rows(ledger: Ledger, count: int) -> None:
    for number in range(count):
        enter(ledger, f"s{number}", (number, [one(f"v{number % 7}")]))


def test_a_fork_of_an_unread_parent_settles_last(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger()
    record = Record(1, (ledger.know(one("x")),))
    finish(merge_steps(ledger, Change("fork", "fork", "unread", (record,), True)))
    many_rows(ledger, 3)
    size = sum(bounds._size(name, row) for name, row in ledger.rows.items())
    monkeypatch.setattr(bounds, "MAX_ROW_BYTES", size - 1)
    finish(prune_steps(ledger))
    assert said_by(ledger.rows["fork"]).records == (record,)
    assert said_by(ledger.rows["s0"]).settled != b""
    assert said_by(ledger.rows["s2"]).settled == b""


def test_the_oldest_rows_are_given_up_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_SESSIONS", 3)
    ledger = Ledger()
    many_rows(ledger, 6)
    before = dict(ledger.counts)
    digests = [row.digest for row in ledger.rows.values()]
    pool = exported(ledger)
    assert list(ledger.rows) == ["s3", "s4", "s5"] and ledger.counts == before
    assert pool.baked == tuple(digests[:3])


def test_what_is_remembered_of_rows_given_up_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_SESSIONS", 1)
    monkeypatch.setattr(bounds, "MAX_GONE", 2)
    ledger = Ledger()
    many_rows(ledger, 5)
    finish(prune_steps(ledger))
    assert len(ledger.gone) == 2 and sum(ledger.counts.values()) == 5


def test_a_ghost_is_never_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger()
    ghost = msgspec.msgpack.encode(((b""), {}, (), b"", {ledger.know(one("x")): 1}))
    row = ledger.rows["ghost"] = Row("ghost", "", "d", ghost)
    assert bounds._settled(row) is row


def test_long_passes_pause() -> None:
    ledger = Ledger()
    seen = tuple(ledger.know(one(f"v{n}", key=f"k{n % 900}")) for n in range(9000))
    change = Change("s", "s", "", (Record(1, seen),), True)
    assert sum(1 for _ in merge_steps(ledger, change)) > 60
    assert sum(1 for _ in prune_steps(ledger)) > 30
    assert sum(1 for _ in export_steps(ledger)) > 30
