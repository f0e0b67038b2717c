"""The books' own rules: digests, entry ids, rows, and merges that are given up half-way."""

from __future__ import annotations

import json
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.pool.ledger import Change, Ledger, merge_steps, window_digest_steps
from fabricd.core.pool.rows import (
    Gone,
    Record,
    Row,
    entry_number,
    gone_with,
    is_sound,
    name_hash,
    packed,
    prefix_of,
)
from fabricd.core.pool.sorting import sorted_steps
from fabricd.core.pool.values import Identity
from fabricd.core.steps import finish
from tests.core.pool.worlds import Reader, World


def change(ledger: Ledger, name: str, *texts: str, parent: str = "", whole: bool = True) -> Change:
    """A session that says these values, one record each."""
    found = [ledger.know(Identity("r", "k", "string", text)) for text in texts]
    records = tuple(Record(n, (number,)) for n, number in enumerate(found))
    return Change(name, f"/{name}", parent, records, whole)


@given(st.lists(st.sampled_from(["a", "b", "é", "\ue000", "\U0001f600", '"\\\n']), max_size=9))
def test_a_session_has_the_digest_of_its_sorted_observations(texts: list[str]) -> None:
    ledger = Ledger()
    finish(merge_steps(ledger, change(ledger, "s", *texts)))
    names = sorted((f"r\0k\0string:{t}" for t in texts), key=lambda t: t.encode("utf-16-be"))
    expected = json.dumps(names, ensure_ascii=False, separators=(",", ":"))
    assert ledger.rows["s"].digest == sha256(expected.encode()).hexdigest()


def test_a_long_digest_pauses_and_is_the_same() -> None:
    ledger = Ledger()
    number = ledger.know(Identity("r", "k", "string", "x"))
    name = json.dumps("r\0k\0string:x")
    steps = window_digest_steps(ledger, {number: 1000})
    assert next(steps) is None
    expected = f"[{','.join([name] * 1000)}]"
    assert finish(window_digest_steps(ledger, {number: 1000})) == (
        sha256(expected.encode()).hexdigest()
    )


def test_equal_sessions_both_count() -> None:
    ledger = Ledger()
    for name in ("one", "other"):
        assert finish(merge_steps(ledger, change(ledger, name, "x")))
    assert list(ledger.counts.values()) == [2]


def test_a_session_read_again_as_it_was_changes_nothing() -> None:
    ledger = Ledger()
    assert finish(merge_steps(ledger, change(ledger, "s", "x", "y")))
    before = msgspec.msgpack.encode(ledger)
    assert not finish(merge_steps(ledger, change(ledger, "s", "x", "y")))
    assert msgspec.msgpack.encode(ledger) == before


def test_a_merge_given_up_at_any_pause_has_not_happened() -> None:
    texts = [f"v{n}" for n in range(1200)]
    for pauses in range(1, 300, 4):
        ledger = Ledger()
        finish(merge_steps(ledger, change(ledger, "fork", *texts[:700], parent="s")))
        whole = change(ledger, "s", *texts)
        before = msgspec.msgpack.encode(ledger)
        steps = merge_steps(ledger, whole)
        try:
            for _ in range(pauses):
                next(steps)
        except StopIteration:
            break
        assert msgspec.msgpack.encode(ledger) == before
        finish(merge_steps(ledger, whole))
        assert sum(ledger.counts.values()) == len(texts)
    else:
        raise AssertionError("a merge that never ends")
    assert pauses > 10


def test_a_session_that_names_itself_as_its_source_is_no_fork() -> None:
    ledger = Ledger()
    finish(merge_steps(ledger, change(ledger, "s", "x", parent="s")))
    finish(merge_steps(ledger, change(ledger, "s", "x", "y", parent="s")))
    assert sorted(ledger.counts.values()) == [1, 1]


def test_sessions_that_name_each_other_never_count_below_nothing() -> None:
    ledger = Ledger()
    for _ in range(2):
        for name, parent in (("one", "other"), ("other", "one")):
            finish(merge_steps(ledger, change(ledger, name, "x", "y", parent=parent)))
            assert all(count > 0 for count in ledger.counts.values())


def test_a_log_that_moved_keeps_its_row_and_one_tracked_by_path_is_dropped() -> None:
    ledger = Ledger()
    finish(merge_steps(ledger, change(ledger, "s", "x")))
    finish(merge_steps(ledger, change(ledger, "last", "y")))
    copy = change(ledger, "s", "x")
    finish(merge_steps(ledger, Change("/copy", "/copy", "s", copy.records, True)))
    assert sum(ledger.counts.values()) == 2
    finish(merge_steps(ledger, Change("s", "/copy", "", copy.records, True)))
    assert list(ledger.rows) == ["s", "last"] and ledger.rows["s"].path == "/copy"
    assert sum(ledger.counts.values()) == 2


# --- rows


def test_an_entry_id_is_its_own_number_where_it_is_one() -> None:
    assert entry_number("0000002a", 7, ()) == 42
    assert entry_number("deadBEEF", 0, ()) == 0xDEADBEEF
    for odd in ("2a", "zzzzzzzz", "0x12345!", "\uff11" * 8, "a\ud800", "x" * 4000):
        assert 0 <= entry_number(odd, 0, ()) < 2**32
        assert entry_number(odd, 0, ()) == entry_number(odd, 9, (1,))


def test_a_record_without_an_id_is_known_by_its_place_and_what_it_adds() -> None:
    assert entry_number(None, 5, (1, 2)) == entry_number(None, 5, (1, 2))
    others = [(6, (1, 2)), (5, (1,)), (5, (2, 1)), (5, ())]
    assert entry_number(None, 5, (1, 2)) not in [entry_number(None, *each) for each in others]


@pytest.mark.parametrize(
    "said",
    [b"", b"\xc1", msgspec.msgpack.encode((b"123",)), msgspec.msgpack.encode((b"", {}, (), b"1"))],
)
def test_a_row_that_cannot_be_decoded_is_not_sound(said: bytes) -> None:
    assert not is_sound(Row("/s", "", "d", said))


def test_a_log_is_known_again_by_its_first_records_and_only_by_them() -> None:
    world, reader = World(), Reader()
    log = world.begin()
    world.grow(log, [(("r", "k", "x"),)] * 3)
    reader.look(log)
    gone = gone_with(reader.ledger.rows[log.name], log.name)
    assert (gone.session, gone.records) == (name_hash(log.name), 3)
    records = [Record(n, ()) for n in (1, 2, 3, 4)]
    assert prefix_of(gone, records) == {1, 2, 3}
    assert prefix_of(gone, records[:2]) == frozenset()
    assert prefix_of(gone, [Record(9, ()), *records]) == frozenset()
    more = gone_with(Row("", "", "d", msgspec.msgpack.encode((packed([4]),))), log.name, gone)
    assert prefix_of(more, records) == {1, 2, 3, 4}
    assert gone_with(Row("", "", "d", msgspec.msgpack.encode((b"",))), "s") == Gone("d")


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 9))
def test_sorting_in_steps_is_sorting(items: list[int], run: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fabricd.core.pool.sorting._RUN", run)
        assert finish(sorted_steps(items)) == sorted(items)
