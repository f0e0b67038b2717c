"""A damaged file blocks writes; a full disk or a killed process leaves the file as it was."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from msgspec import structs

from fabricd.core.context.asking import Refused
from fabricd.core.context.receipt import receipt_id
from fabricd.store.context.receipts import NotKept, ReceiptStore
from tests.core.context.receipting import ROOT, delivery, given


def whole(path: Path, count: int = 40) -> None:
    store = ReceiptStore(path)
    for number in range(count):
        answer = given((f"def f{number}(): ...\n" * 200, "y\n"), f"question {number}")
        store.save(answer, delivery(answer, 1_700_000_000_000 + number))
    store.close()


def test_what_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    before = path.read_bytes()
    store = ReceiptStore(path)
    assert store.damage is not None
    answer = given()
    with pytest.raises(NotKept, match="move it aside"):
        store.save(answer, delivery(answer))
    with pytest.raises(Refused) as refused:
        store.load(receipt_id(answer.receipt), ROOT)
    assert refused.value.reason == "failed"
    store.close()
    assert path.read_bytes() == before


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE receipts (mine)")
    connection.commit()
    connection.close()
    store = ReceiptStore(path)
    assert store.damage is not None and "version" in store.damage.reason
    store.close()


def test_a_directory_or_a_pipe_is_damage(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    os.mkfifo(tmp_path / "two")
    for name in ("one", "two"):
        store = ReceiptStore(tmp_path / name)
        assert store.damage is not None
        store.close()


def test_damage_that_is_met_later_blocks_writes_too(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    whole(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        # All but the first pages: the schema can be read, and little else.
        file.seek(3 * 4096)
        file.write(b"\xff" * (size - 3 * 4096))
    store = ReceiptStore(path)
    answer = given()
    with pytest.raises((NotKept, Refused)):
        store.save(answer, delivery(answer))
        for kept in store.chain(ROOT):
            store.load(kept.link.root, ROOT)
    assert store.damage is not None
    with pytest.raises(NotKept, match="move it aside"):
        store.save(answer, delivery(answer))
    store.close()


def test_on_a_full_disk_nothing_is_written_and_later_it_is(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    whole(path, 3)
    store = ReceiptStore(path)
    connection = store._file.connection()
    assert connection is not None
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    answer = given(("z = 1\n" * 20_000, "y\n"))
    with pytest.raises(NotKept, match="full"):
        store.save(answer, delivery(answer))
    assert store.damage is None and len(store.chain(ROOT)) == 3
    assert store.verify_all() == []
    connection.execute("PRAGMA max_page_count = 1000000")
    assert store.save(answer, delivery(answer)).seq == 4
    assert store.replay(receipt_id(answer.receipt), ROOT) == answer.text
    store.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a file's size")
def test_a_write_that_the_system_refuses_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    whole(path, 3)
    program = textwrap.dedent(
        f"""
        import resource, signal, sys
        from pathlib import Path
        from fabricd.store.context.receipts import NotKept, ReceiptStore
        from tests.core.context.receipting import delivery, given
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = ReceiptStore(Path({str(path)!r}))
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        answer = given(("z = 1\\n" * 60_000, "y\\n"))
        try:
            store.save(answer, delivery(answer))
        except NotKept as error:
            print(error)
        """
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "receipts.db" in run.stdout
    store = ReceiptStore(path)
    assert len(store.chain(ROOT)) == 3 and store.verify_all() == []
    store.close()


def test_a_killed_process_leaves_whole_answers(tmp_path: Path) -> None:
    path = tmp_path / "receipts.db"
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from fabricd.store.context.receipts import ReceiptStore
        from tests.core.context.receipting import delivery, given
        store = ReceiptStore(Path({str(path)!r}))
        for number in range(100_000):
            answer = given((f"def f{{number}}(): ...\\n" * 50, "y\\n"), f"question {{number}}")
            print(store.save(answer, delivery(answer)).seq, flush=True)
        """
    )
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            told = max(int(process.stdout.readline()) for _ in range(12))
            process.send_signal(signal.SIGKILL)
        store = ReceiptStore(path)
        assert store.damage is None
        # What was told as kept is kept.
        assert len(store.chain(ROOT)) >= told
        assert store.verify_all() == []
        store.close()


def test_an_answer_that_is_not_its_receipts_is_refused(tmp_path: Path) -> None:
    store = ReceiptStore(tmp_path / "receipts.db")
    answer = given()
    told = delivery(answer)
    for wrong in (
        structs.replace(answer, text=answer.text.replace("pass", "fail")),
        structs.replace(answer, text=answer.text + "\n"),
        structs.replace(answer, texts={**answer.texts, 3: "another"}),
        given(query="another"),
    ):
        with pytest.raises(ValueError, match="cr_"):
            store.save(wrong, told)
    assert store.chain(ROOT) == []
    store.close()
