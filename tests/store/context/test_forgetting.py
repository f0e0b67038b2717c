"""What goes by age, by size and on request; and that a chain with a gap is no changed chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.core.context.asking import Refused
from fabricd.core.context.chain import Gap
from fabricd.core.context.receipt import receipt_id
from fabricd.store.context.receipts import Given, NotKept, ReceiptStore
from tests.core.context.receipting import DAY, ROOT, delivery, given

OTHER = "/home/somebody/else"
AT = 1_700_000_000_000


def some(count: int, size: int = 1) -> list[Given]:
    return [
        given((f"def f{n}(): ...\n" * size, f"x = {n}\n", "shared = 1\n"), f"question {n}")
        for n in range(count)
    ]


def name_of(answer: Given) -> str:
    return receipt_id(answer.receipt)


@pytest.fixture
def store(tmp_path: Path) -> ReceiptStore:
    return ReceiptStore(tmp_path / "receipts.db")


def reason(store: ReceiptStore, handle: str, root: str = ROOT) -> str:
    try:
        store.recover(handle, root)
    except Refused as refused:
        return refused.reason
    return "given"


def test_texts_go_by_age_of_their_last_delivery(store: ReceiptStore) -> None:
    old, again, new = some(3)
    for answer in (old, again):
        store.save(answer, delivery(answer, AT))
    for answer in (again, new):
        store.save(answer, delivery(answer, AT + 20 * DAY))
    removed = store.purge(AT + 31 * DAY)
    # The text that all of them share stays.
    assert (removed.answers, removed.texts) == (1, 2)
    assert reason(store, f"{name_of(old)}#1") == reason(store, f"{name_of(old)}#3") == "gone"
    assert reason(store, f"{name_of(again)}#1") == reason(store, f"{name_of(new)}#3") == "given"
    assert store.verify_all() == []
    # Given once more it is there once more.
    store.save(old, delivery(old, AT + 32 * DAY))
    assert store.replay(name_of(old), ROOT) == old.text
    assert store.verify_all() == []
    store.close()


def test_above_the_limit_the_least_recent_go_first_and_bodies_last(store: ReceiptStore) -> None:
    answers = some(300, 400)
    for number, answer in enumerate(answers):
        store.save(answer, delivery(answer, AT + number))
    removed = store.purge(AT + 300, limit=1_000_000)
    assert removed.answers and not removed.receipts
    assert reason(store, f"{name_of(answers[0])}#1") == "gone"
    assert reason(store, f"{name_of(answers[-1])}#1") == "given"
    assert store.used_bytes() <= 1_000_000
    assert store.purge(AT + 300, limit=1_000_000).answers == 0
    removed = store.purge(AT + 300, limit=100_000)
    assert removed.receipts
    with pytest.raises(Refused) as refused:
        store.load(name_of(answers[0]), ROOT)
    assert refused.value.reason == "gone"
    assert store.verify(name_of(answers[0]), ROOT).is_sound
    assert store.verify_all() == []
    store.save(answers[0], delivery(answers[0], AT + 400))
    assert store.replay(name_of(answers[0]), ROOT) == answers[0].text
    store.close()


def test_a_forgotten_project_leaves_nothing(store: ReceiptStore) -> None:
    mine, shared, theirs = some(3)
    for answer in (mine, shared):
        store.save(answer, delivery(answer, AT))
    for answer in (shared, theirs):
        store.save(answer, delivery(answer, AT, OTHER))
    removed = store.forget(ROOT)
    assert (removed.rows, removed.receipts) == (2, 1)
    assert reason(store, f"{name_of(mine)}#1") == "unknown"
    assert reason(store, f"{name_of(shared)}#1") == "forbidden"
    assert reason(store, f"{name_of(shared)}#1", OTHER) == "given"
    assert store.verify_all() == []
    assert store.save(mine, delivery(mine)).seq == 1
    store.forget(everything=True)
    assert reason(store, f"{name_of(theirs)}#1", OTHER) == "unknown"
    store.close()


def test_nothing_of_it_is_left_in_the_file(tmp_path: Path) -> None:
    store = ReceiptStore(tmp_path / "receipts.db")
    answer = given(("the_secret_of_somebody = 1\n", "y\n"), "a_private_question")
    store.save(answer, delivery(answer, AT, "/a/private/place"))
    store.forget("/a/private/place")
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        for word in (b"the_secret_of", b"private"):
            assert word not in data, path
    store.close()


def test_rows_before_a_moment_are_a_gap_and_no_change(store: ReceiptStore) -> None:
    answers = some(6)
    # The fourth says that it was earlier: clocks are set back.
    for number, answer in zip((1, 2, 3, 1, 5, 6), answers, strict=True):
        store.save(answer, delivery(answer, AT + number * DAY))
    removed = store.forget(ROOT, before=AT + 2 * DAY)
    assert removed.rows == 2
    gaps = [kept.link for kept in store.chain(ROOT) if isinstance(kept.link, Gap)]
    assert [(gap.first, gap.last) for gap in gaps] == [(1, 1), (4, 4)]
    found = store.verify(name_of(answers[5]), ROOT)
    assert found.is_sound and found.forgotten == 2 and found.rows == 4
    store.forget(before=AT + 20 * DAY)
    gaps = [kept.link for kept in store.chain(ROOT) if isinstance(kept.link, Gap)]
    assert [(gap.first, gap.last) for gap in gaps] == [(1, 6)]
    assert store.save(answers[0], delivery(answers[0], AT + 30 * DAY)).seq == 7
    assert store.verify(name_of(answers[0]), ROOT).is_sound
    assert store.verify_all() == []
    store.close()


def test_forgetting_needs_to_be_told_what(store: ReceiptStore) -> None:
    answer = given()
    store.save(answer, delivery(answer))
    with pytest.raises(ValueError, match="what to forget"):
        store.forget()
    assert store.load(name_of(answer), ROOT) == answer.receipt
    store.close()
    with pytest.raises(NotKept):
        store.forget(everything=True)
