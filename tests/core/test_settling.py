"""Two programs and one table: what Pi learned stays, what we learned goes with its catalog."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.repairs import (
    MAX_ROWS,
    ActionAlias,
    Entry,
    KeyAlias,
    Row,
    Table,
    merged,
    row_value,
    table_bytes,
    table_of,
)
from fabricd.core.settling import Learned, Settled, learned_bytes, learned_of, settle
from tests.core.making import Json
from tests.core.repairing import table

OURS = KeyAlias("a.b", "LIMIT", "limit")
MORE = ActionAlias("a", "B", "b")
PIS = KeyAlias("a.b", "sessionId", "session")
OLD, NEW, FOREIGN = "old" * 8, "new" * 8, "pi" * 8
NOTHING = Learned()


def learned(*rows: Row, on: str = OLD) -> Learned:
    return Learned((on,), dict.fromkeys(rows, on))


def test_without_a_table_one_is_made_for_the_first_row() -> None:
    assert settle(None, learned(OURS), NEW) == Settled(None, Learned((OLD,)), Learned((OLD,)))
    found = settle(None, NOTHING, NEW, [OURS])
    assert found.table == table(OURS, catalog=NEW)
    assert found.before == found.after == learned(OURS, on=NEW)
    assert (found.added, found.changed) == ((OURS,), True)


def test_what_stands_already_changes_nothing() -> None:
    ours = table(OURS, catalog=NEW)
    for new in ([], [OURS]):
        found = settle(ours, learned(OURS, on=NEW), NEW, new)
        assert (found.table, found.after, found.changed) == (ours, learned(OURS, on=NEW), False)
    theirs = table(PIS, catalog=FOREIGN)
    for new in ([], [PIS]):
        found = settle(theirs, NOTHING, NEW, new)
        assert (found.table, found.after, found.changed) == (theirs, NOTHING, False)


def test_our_table_is_cleared_when_the_catalog_changes() -> None:
    found = settle(table(OURS, catalog=OLD), learned(OURS), NEW)
    assert found.table == table(catalog=NEW)
    assert (found.dropped, found.after) == ((OURS,), Learned((OLD, NEW)))
    again = settle(found.table, found.after, OLD, [MORE])
    assert again.table == table(MORE, catalog=OLD)
    assert again.after == Learned((NEW, OLD), {MORE: OLD})


def test_a_row_that_is_proven_again_stays_on_the_new_catalog() -> None:
    found = settle(table(OURS, MORE, catalog=OLD), learned(OURS, MORE), NEW, [OURS])
    assert found.table == table(OURS, catalog=NEW)
    assert found.after.rows == {OURS: NEW}


def test_a_foreign_table_is_adopted_with_its_digest() -> None:
    found = settle(table(PIS, catalog=FOREIGN, createdAt="x"), learned(), NEW, [OURS])
    assert found.table == table(PIS, OURS, catalog=FOREIGN, createdAt="x")
    later = settle(found.table, found.after, OLD, [MORE])
    assert later.table == table(PIS, MORE, catalog=FOREIGN, createdAt="x")
    assert (later.added, later.dropped) == ((MORE,), (OURS,))


def test_an_empty_foreign_table_is_adopted_too() -> None:
    assert settle(table(catalog=FOREIGN), learned(), NEW, [OURS]).table == table(
        OURS, catalog=FOREIGN
    )


@pytest.mark.parametrize("theirs", [PIS, {"kind": "later", "x": 1}])
def test_what_pi_put_into_a_table_of_ours_stays_with_its_digest(theirs: Any) -> None:
    found = settle(table(OURS, theirs, catalog=OLD), learned(OURS), NEW, [MORE])
    assert found.table == table(theirs, MORE, catalog=OLD)
    assert found.dropped == (OURS,)


def test_a_row_that_pi_had_first_is_not_ours() -> None:
    found = settle(table(OURS, catalog=FOREIGN), NOTHING, NEW, [OURS])
    assert (found.added, found.after) == ((), NOTHING)


def test_a_row_that_left_the_table_is_no_longer_ours() -> None:
    found = settle(table(PIS, catalog=FOREIGN), learned(OURS, MORE), OLD)
    assert (found.changed, found.after.rows) == (False, {})


def test_a_conflicting_row_is_not_taken() -> None:
    other = KeyAlias("a.b", "sessionId", "sid")
    found = settle(table(PIS, catalog=FOREIGN), NOTHING, NEW, [other, OURS])
    assert found.added == (OURS,)


def test_entries_of_unknown_kinds_take_room() -> None:
    strange = [{"kind": "later", "n": number} for number in range(MAX_ROWS - 1)]
    found = settle(table(*strange, catalog=FOREIGN), NOTHING, NEW, [OURS, MORE])
    assert found.added == (OURS,)
    full = settle(found.table, found.after, NEW, [MORE])
    assert (full.added, full.changed) == ((), False)


def test_what_is_ours_is_remembered_even_while_all_of_it_is_exchanged() -> None:
    old = [KeyAlias("a.b", f"o{n}", "x") for n in range(MAX_ROWS)]
    new = [KeyAlias("a.b", f"n{n}", "x") for n in range(MAX_ROWS)]
    found = settle(table(*old, catalog=OLD), learned(*old), NEW, new)
    assert found.added == tuple(new)
    assert learned_of(strict_json(learned_bytes(found.before))) == found.before


@pytest.mark.parametrize(
    "damage",
    [
        {},
        {"version": 2},
        {"catalogDigests": None},
        {"catalogDigests": [5]},
        {"repairs": None},
        {"repairs": [row_value(OURS)]},
        {"repairs": [{"kind": "later", "catalogDigest": "c"}]},
    ],
)
def test_a_damaged_memory_is_refused(damage: Json) -> None:
    sound: Json = {"version": 1, "catalogDigests": [], "repairs": []}
    assert learned_of(sound) == NOTHING
    with pytest.raises(BadDocument):
        learned_of(sound | damage if damage else [])


ROWS: list[Row] = [KeyAlias("a.b", f"k{number}", "x") for number in range(4)]
ROWS += [ActionAlias("a", f"k{number}", "x") for number in range(2)]
some = st.lists(st.sampled_from(ROWS), max_size=4)
catalogs = st.sampled_from(["one", "two"])


class Sharing(RuleBasedStateMachine):
    """Pi and we write one table in turns; we are killed between any two of our writes."""

    def __init__(self) -> None:
        super().__init__()
        self.table: Table | None = None
        self.learned = Learned()
        self.pis: set[Row] = set()
        self.live: str | None = None

    @rule(catalog=catalogs, new=some, writes=st.integers(0, 3))
    def we_settle(self, catalog: str, new: list[Row], writes: int) -> None:
        done = settle(self.table, self.learned, catalog, new)
        if writes >= 1:
            self.learned = learned_of(strict_json(learned_bytes(done.before)))
        if writes >= 2 and done.changed and done.table is not None:
            self.table = table_of(strict_json(table_bytes(done.table, 1)))
        if writes >= 3:
            self.learned = done.after
            self.live = catalog
            again = settle(self.table, self.learned, catalog)
            assert not again.changed and again.after == self.learned
        else:
            self.live = None

    @rule(new=some)
    def pi_saves(self, new: list[Row]) -> None:
        # What we are about to claim could be taken for ours if Pi learned it in that very moment.
        new = [row for row in new if row not in self.learned.rows]
        standing = () if self.table is None else self.table.rows
        digest = "pi" if self.table is None else self.table.catalog_digest
        rows = merged(standing, new)
        self.pis |= set(rows) - set(standing)
        self.table = Table(digest, tuple(Entry(row_value(row), row) for row in rows))

    @rule(new=some)
    def pi_begins_anew(self, new: list[Row]) -> None:
        new = [row for row in new if row not in self.learned.rows]
        self.table = Table("pi", tuple(Entry(row_value(row), row) for row in merged((), new)))
        self.pis = set(self.table.rows)

    @rule()
    def somebody_removes_it(self) -> None:
        self.table, self.pis = None, set()

    @invariant()
    def nothing_that_pi_learned_is_lost(self) -> None:
        assert self.pis <= (set() if self.table is None else set(self.table.rows))

    @invariant()
    def nothing_of_ours_outlives_its_catalog(self) -> None:
        rows = set() if self.table is None else set(self.table.rows)
        for row in rows - self.pis:
            assert row in self.learned.rows
            assert self.live is None or self.learned.rows[row] == self.live

    @invariant()
    def a_table_of_ours_alone_carries_the_live_catalog(self) -> None:
        if self.live and self.table and not self.pis and self.table.catalog_digest != "pi":
            assert self.table.catalog_digest == self.live


Sharing.TestCase.settings = settings(max_examples=60, stateful_step_count=20)
TestSharing = Sharing.TestCase


def test_bytes_of_the_memory_are_read_again() -> None:
    whole = Learned(("a", "b"), {OURS: "a", MORE: "b"})
    assert learned_of(json.loads(learned_bytes(whole))) == whole
