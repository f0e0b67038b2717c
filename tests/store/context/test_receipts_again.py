"""The file of receipts is looked at again: what is damaged, locked, moved away or replaced."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from fabricd.core.context.asking import Refused
from fabricd.core.context.books import Fetch
from fabricd.core.context.receipt import receipt_id
from fabricd.core.context.verifying import check_export
from fabricd.store.context.receipts import NotKept, ReceiptStore
from tests.core.context.receipting import DAY, ROOT, delivery, given

NOW = 1_700_000_000_000
LATER = NOW + 31 * DAY


def whole(path: Path, count: int = 3) -> list[str]:
    store = ReceiptStore(path)
    for number in range(count):
        answer = given((f"def f{number}(): ...\n" * 20, "y\n"), f"question {number}")
        store.save(answer, delivery(answer, NOW + number))
    names = list(store.deliveries())
    store.close()
    return names


def changed(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    whole(path)
    for before, after in ((b"TABLE", b"\xff\xff\xff\xff\xff"), (b"receipts", b"\xfe\xffceipts")):
        data = path.read_bytes()
        other = tmp_path / "other.db"
        other.write_bytes(data[:100] + data[100:4096].replace(before, after) + data[4096:])
        store = ReceiptStore(other)
        answer = given()
        with pytest.raises(NotKept, match="move it aside"):
            store.save(answer, delivery(answer))
        assert store.damage is not None
        store.close()


def test_an_id_that_is_no_text_stops_no_purge(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    names = whole(path)
    changed(
        path, f"UPDATE answers SET receipt = CAST(x'fffe41' AS TEXT) WHERE receipt='{names[0]}'"
    )
    changed(path, "UPDATE receipts SET id = CAST(x'fffe42' AS TEXT) WHERE rowid = 1")
    store = ReceiptStore(path)
    removed = store.purge(LATER)
    assert removed.answers == 3
    assert store.purge(LATER, limit=0).receipts == 3
    answer = given()
    assert store.save(answer, delivery(answer)).seq == 4
    store.close()


def test_a_row_that_is_no_text_costs_what_needs_it(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    whole(path)
    changed(path, "UPDATE chain SET root = CAST(x'ff' AS TEXT) WHERE seq = 1")
    changed(path, "UPDATE chain SET digest = CAST(x'ff' AS TEXT) WHERE seq = 3")
    store = ReceiptStore(path)
    answer = given()
    with pytest.raises(NotKept, match="move it aside"):
        store.save(answer, delivery(answer))
    with pytest.raises(NotKept, match="move it aside"):
        store.forget(before=LATER)
    # Other projects go on, and so does to forget all.
    assert store.damage is None
    store.save(answer, delivery(answer, root="/elsewhere"))
    store.forget(everything=True)
    assert store.save(answer, delivery(answer)).seq == 1
    store.close()


def test_an_export_does_not_vouch_for_a_row_that_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    first, second, _ = whole(path)
    changed(path, "UPDATE chain SET generation = 99 WHERE seq = 2")
    store = ReceiptStore(path)
    assert check_export(store.export(first, ROOT)) == []
    with pytest.raises(Refused, match="row 2 does not match its digest") as refused:
        store.export(second, ROOT)
    assert refused.value.reason == "tampered"
    store.close()


def test_a_name_that_is_no_text_is_entered(tmp_path: Path) -> None:
    store = ReceiptStore(tmp_path / "receipts.db")
    store.fetched(Fetch(NOW, "/r\udcff", "s\udcff", "show", "a\udcff.py", 3))
    assert [fetch.name for fetch in store.fetches()] == ["a\\udcff.py"]
    store.close()


@pytest.mark.parametrize("seed", range(25))
def test_bytes_that_were_changed_raise_what_is_said(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "receipts.db"
    names = whole(path)
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(3 + seed):
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    path.write_bytes(data)
    store = ReceiptStore(path)
    answer = given()
    for change in (
        lambda: store.save(answer, delivery(answer)),
        lambda: store.purge(LATER),
        lambda: store.purge(LATER, limit=0),
        lambda: store.forget(before=NOW + 1),
    ):
        try:
            change()
        except NotKept as error:
            assert "receipts.db" in str(error)
    for name in names:
        for look in (store.load, store.export, store.replay, store.offers, store.verify):
            try:
                look(name, ROOT)
            except Refused as refused:
                assert refused.reason in ("unknown", "forbidden", "gone", "tampered", "failed")
    for read in (store.verify_all, store.fetches, store.deliveries, store.used_bytes):
        try:
            read()
        except Refused as refused:
            assert refused.reason == "failed"
    try:
        store.forget(everything=True)
    except NotKept as error:
        assert "receipts.db" in str(error)
    store.close()


def test_once_it_is_moved_aside_a_new_one_is_begun(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    store = ReceiptStore(path)
    answer = given()
    with pytest.raises(NotKept, match="move it aside, a new one is begun"):
        store.save(answer, delivery(answer))
    path.rename(tmp_path / "aside")
    assert store.save(answer, delivery(answer)).seq == 1
    assert store.damage is None and path.exists()
    assert store.replay(receipt_id(answer.receipt), ROOT) == answer.text
    store.close()


def test_damage_that_is_met_later_ends_too(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    whole(path)
    data = bytearray(path.read_bytes())
    data[3 * 4096 :] = b"\xff" * (len(data) - 3 * 4096)
    path.write_bytes(data)
    store = ReceiptStore(path)
    answer = given()
    for _ in range(2):
        with pytest.raises(NotKept):
            store.save(answer, delivery(answer))
    assert store.damage is not None
    path.rename(tmp_path / "aside")
    assert store.damage is None
    assert store.save(answer, delivery(answer)).seq == 1
    store.close()


def test_a_sound_one_in_the_place_of_a_damaged_one_is_taken(tmp_path: Path) -> None:
    path, sound = tmp_path / "receipts.db", tmp_path / "sound.db"
    whole(sound)
    path.write_bytes(b"\xff" * 5000)
    store = ReceiptStore(path)
    assert store.damage is not None
    # Byte by byte, so that it is the same file still.
    shutil.copyfile(sound, path)
    assert store.damage is None and len(store.chain(ROOT)) == 3
    store.close()


def test_a_file_that_is_gone_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "context" / "receipts.db"
    store = ReceiptStore(path)
    answer = given()
    store.save(answer, delivery(answer))
    path.unlink()
    assert store.save(answer, delivery(answer)).seq == 1
    shutil.rmtree(path.parent)
    assert store.save(answer, delivery(answer)).seq == 1
    store.close()
    again = ReceiptStore(path)
    assert len(again.chain(ROOT)) == 1 and again.verify_all() == []
    again.close()


def test_what_was_moved_away_has_all_that_was_kept(tmp_path: Path) -> None:
    path, aside = tmp_path / "receipts.db", tmp_path / "aside.db"
    store = ReceiptStore(path)
    answer = given()
    for number in range(3):
        store.save(answer, delivery(answer, NOW + number))
    path.rename(aside)
    store.save(answer, delivery(answer))
    assert len(store.chain(ROOT)) == 1
    store.close()
    for place, count in ((aside, 3), (path, 1)):
        again = ReceiptStore(place)
        assert len(again.chain(ROOT)) == count and again.verify_all() == []
        again.close()


def test_another_file_in_its_place_is_taken(tmp_path: Path) -> None:
    path, other = tmp_path / "receipts.db", tmp_path / "other.db"
    whole(other)
    store = ReceiptStore(path)
    answer = given()
    store.save(answer, delivery(answer))
    os.replace(other, path)
    assert len(store.chain(ROOT)) == 3
    assert store.save(answer, delivery(answer)).seq == 4
    assert store.verify_all() == []
    store.close()


def test_a_lock_of_another_program_passes(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    whole(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    store = ReceiptStore(path)
    answer = given()
    with pytest.raises(NotKept, match="locked; it is tried again") as caught:
        store.save(answer, delivery(answer))
    assert "aside" not in str(caught.value)
    with pytest.raises(Refused, match="tried again"):
        store.chain(ROOT)
    other.close()
    assert store.save(answer, delivery(answer)).seq == 4
    assert store.damage is None
    store.close()


def test_a_folder_that_cannot_be_written_passes(tmp_path: Path) -> None:
    folder = tmp_path / "context"
    folder.write_text("no folder")
    store = ReceiptStore(folder / "receipts.db")
    answer = given()
    with pytest.raises(NotKept, match="tried again"):
        store.save(answer, delivery(answer))
    folder.unlink()
    assert store.save(answer, delivery(answer)).seq == 1
    store.close()
    with pytest.raises(NotKept, match="closed"):
        store.save(answer, delivery(answer))
    with pytest.raises(Refused, match="closed"):
        store.chain(ROOT)
