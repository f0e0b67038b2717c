"""Receipts on disk: what comes back, what is refused, and what outlives restart and purge."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.core.context.asking import Refused
from fabricd.core.context.receipt import receipt_id
from fabricd.store.context.receipts import ReceiptStore
from tests.core.context.receipting import DAY, ROOT, delivery, given


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "context" / "receipts.db"


def refusal(reason: str) -> pytest.RaisesExc[Refused]:
    return pytest.raises(Refused, check=lambda refused: refused.reason == reason)


def test_an_answer_comes_back_after_restart(path: Path) -> None:
    answer = given()
    name = receipt_id(answer.receipt)
    store = ReceiptStore(path)
    assert store.damage is None
    row = store.save(answer, delivery(answer))
    assert (row.seq, row.prev) == (1, "")
    store.close()

    again = ReceiptStore(path)
    assert again.load(name, ROOT) == answer.receipt
    assert again.replay(name, ROOT) == answer.text
    assert again.verify(name, ROOT).is_sound
    for n, text in answer.texts.items():
        assert again.recover(f"{name}#{n}", ROOT).text == text
    assert again.save(answer, delivery(answer)).seq == 2
    assert again.verify(name, ROOT).deliveries == 2
    assert again.verify_all() == []
    again.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_unknown_forbidden_and_gone_differ(path: Path) -> None:
    store = ReceiptStore(path)
    answer = given()
    name = receipt_id(answer.receipt)
    store.save(answer, delivery(answer))
    with refusal("unknown"):
        store.recover("cr_0123456789abcdef#1", ROOT)
    with refusal("unknown"):
        store.recover("nonsense", ROOT)
    with refusal("unknown"):
        store.recover(f"{name}#99", ROOT)
    with refusal("forbidden"):
        store.recover(f"{name}#1", "/home/somebody/else")
    with refusal("forbidden"):
        store.verify(name, "/home/somebody/else")
    removed = store.purge(1_700_000_000_000 + 31 * DAY)
    assert (removed.answers, removed.texts, removed.receipts) == (1, 3, 0)
    with refusal("gone"):
        store.recover(f"{name}#1", ROOT)
    with refusal("gone"):
        store.replay(name, ROOT)
    found = store.verify(name, ROOT)
    assert found.is_sound and found.texts == "gone"
    assert store.load(name, ROOT) == answer.receipt
    store.close()
