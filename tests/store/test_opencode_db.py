"""OpenCode's database, while its owner goes on writing and when it is not what it should be."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricd.core.history.calls import FAILED, SUCCEEDED, UNDECLARED, UNKNOWN
from fabricd.core.history.judging import Judge
from fabricd.core.sessions.opencode_parts import Stored, StorePass, Unread
from fabricd.store import opencode_db
from fabricd.store.opencode_db import read_database
from tests.store.opencode_stores import Database, calls, is_same, plain, stored, tool


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database with one session."""
    made = Database(tmp_path / "opencode.db")
    made.session("s", "m")
    yield made
    made.close()


def read(path: Path, before: Stored | None = None) -> StorePass:
    """One pass."""
    table, memory = (before.table, before.memory) if before is not None else (None, b"")
    return read_database(os.fsencode(path), table, memory, Judge())


def age(path: Path) -> None:
    """Make files old, so that their stat can be relied on."""
    for suffix in ("", "-wal"):
        file = path.with_name(path.name + suffix)
        if file.exists():
            os.utime(file, (1_700_000_000, 1_700_000_000))


def reason(result: StorePass) -> str:
    """Why nothing was read."""
    assert isinstance(result, Unread)
    return result.reason


def agrees(path: Path, result: StorePass) -> bool:
    """Whether a pass gave what reading the whole gives."""
    return plain(stored(result).table) == plain(stored(read(path)).table)


def test_a_call_tells_tool_model_project_session_and_time(database: Database) -> None:
    database.part("p0", {"type": "text", "text": "tool"})
    database.part("p1", tool())
    (found,) = calls(read(database.path))
    assert (found.tool, found.model, found.project, found.session, found.at, found.outcome) == (
        "bash", "p/m", "/w/p", "s", 1000, SUCCEEDED,
    )  # fmt: skip


def test_a_rerouted_call_and_a_session_without_calls(database: Database) -> None:
    database.session("empty", "m2")
    database.part("p1", tool(name="invalid", input={"tool": "todo_write", "error": "text"}))
    result = stored(read(database.path))
    (found,) = calls(result)
    assert (found.tool, found.outcome, found.verdict) == ("todo_write", FAILED, UNDECLARED)
    names = result.table.names
    assert sorted(names[each] for each in result.table.sessions) == ["empty", "s"]


def test_a_part_that_goes_on_is_one_call(database: Database) -> None:
    database.part("p1", tool(status="pending", input={}))
    first = stored(read(database.path))
    database.part("p1", tool(status="running"))
    second = stored(read(database.path, first))
    database.part("p1", tool())
    third = stored(read(database.path, second))
    assert [[call.outcome for call in calls(each)] for each in (first, second, third)] == [
        [UNKNOWN], [UNKNOWN], [SUCCEEDED],
    ]  # fmt: skip
    assert agrees(database.path, third)


def test_an_open_part_is_read_again_whatever_its_time_says(database: Database) -> None:
    database.part("p1", tool(status="running"))
    database.now += 10_000_000
    database.part("p2", tool("c2"))
    first = stored(read(database.path))
    database.connection.execute(
        "UPDATE part SET data = replace(data, 'running', 'error') WHERE id = 'p1'"
    )
    second = stored(read(database.path, first))
    assert sorted(call.outcome for call in calls(second)) == [SUCCEEDED, FAILED]


def test_only_what_changed_is_read(database: Database) -> None:
    for number in range(5):
        database.part(f"p{number}", tool(f"c{number}"))
        database.now += 1_000_000
    first = stored(read(database.path))
    database.part("p9", tool("c9"))
    sizes: list[int] = []
    path = os.fsencode(database.path)
    second = read_database(path, first.table, first.memory, Judge(), sizes.append)
    # The new one, and the one that the watermark is of.
    assert len(sizes) == 2
    assert len(calls(second)) == 6
    assert len(calls(first)) == 5


def test_an_unchanged_database_is_not_opened(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.part("p1", tool())
    age(database.path)
    first = stored(read(database.path))
    monkeypatch.setattr(opencode_db, "_connect", lambda *_: pytest.fail("opened"))
    assert is_same(read(database.path, first))


def test_a_database_written_just_now_is_read_again(database: Database) -> None:
    first = stored(read(database.path))
    assert not is_same(read(database.path, first))


def test_what_is_removed_is_counted_no_longer(database: Database) -> None:
    for number in range(3):
        database.part(f"p{number}", tool(f"c{number}"))
    result = stored(read(database.path))
    database.connection.execute("DELETE FROM part WHERE id = 'p0'")
    result = stored(read(database.path, result))
    assert len(calls(result)) == 2
    # The row number of the last part is given again.
    database.connection.execute("DELETE FROM part WHERE id = 'p2'")
    database.part("p3", tool("c3"))
    result = stored(read(database.path, result))
    assert len(calls(result)) == 2
    assert agrees(database.path, result)
    database.connection.execute("VACUUM")
    result = stored(read(database.path, result))
    assert agrees(database.path, result)


def test_copies_in_a_fork_are_one_call_until_they_come_apart(database: Database) -> None:
    database.session("fork", "m2")
    database.part("p1", tool(status="running"))
    database.part("p2", tool(status="running"), "fork", "m2")
    first = stored(read(database.path))
    assert len(calls(first)) == 1
    database.part("p1", tool(input={"command": "pwd"}))
    second = stored(read(database.path, first))
    assert len(second.table.calls) == 2
    assert agrees(database.path, second)


def test_a_memory_of_another_kind_means_reading_all(database: Database) -> None:
    database.part("p1", tool())
    first = stored(read(database.path))
    again = read(database.path, Stored(first.table, b"\x01"))
    assert len(calls(again)) == 1


def test_damaged_parts_are_counted(database: Database) -> None:
    database.part("p1", '{"type":"tool"')
    database.part("p2", tool("c2"))
    first = stored(read(database.path))
    assert (first.table.losses.bad_lines, len(calls(first))) == (1, 1)
    assert stored(read(database.path, first)).table.losses.bad_lines == 1
    database.part("p1", tool())
    second = stored(read(database.path, first))
    assert (second.table.losses.bad_lines, len(calls(second))) == (0, 2)


def test_members_of_other_types_spoil_only_themselves(database: Database) -> None:
    execute = database.connection.execute
    execute("INSERT INTO message VALUES ('m2', 's', 1, 1, 'no JSON')")
    execute("INSERT INTO part VALUES ('p1', 'm2', 3, 1, 'text', x'7b7d')")
    execute("INSERT INTO part VALUES (NULL, 'none', x'00', 1, 1.5, ?)", ('{"type":"tool"}',))
    execute("INSERT INTO session VALUES (NULL, '', '', '', '', '', 1, 1)")
    database.part("p3", tool(), "s", "m2")
    found = calls(read(database.path))
    assert sorted((call.session, call.model) for call in found) == [("", ""), ("s", "")]


def test_an_overlong_part_is_counted(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode_db, "MAX_RECORD", 1000)
    database.part("p1", tool(output="x" * 2000))
    first = stored(read(database.path))
    assert (calls(first), first.table.losses.overlong_lines) == ([], 1)
    assert stored(read(database.path, first)).table.losses.overlong_lines == 1


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE VIEW part AS"
        " WITH RECURSIVE n(rowid) AS (SELECT 1 UNION ALL SELECT rowid + 1 FROM n)"
        " SELECT rowid, '' AS id, '' AS message_id, '' AS session_id, 1 AS time_updated,"
        " '{}' AS data FROM n",
        "CREATE VIRTUAL TABLE part USING fts5(id, message_id, session_id, time_updated, data)",
        "CREATE TABLE part (id PRIMARY KEY, message_id, session_id, time_updated, data)"
        " WITHOUT ROWID",
        "",
    ],
)
def test_what_only_looks_like_a_table_is_not_read(database: Database, schema: str) -> None:
    database.connection.execute("DROP TABLE part")
    try:
        database.connection.execute(schema)
    except sqlite3.OperationalError as error:
        pytest.skip(str(error))
    assert "schema that is not known" in reason(read(database.path))


def test_the_owner_writes_while_it_is_read(database: Database) -> None:
    stop, has_begun = threading.Event(), threading.Event()

    def write() -> None:
        writer = sqlite3.connect(database.path, timeout=30, isolation_level=None)
        number = 0
        while not stop.is_set():
            number += 1
            for status in ("running", "completed"):
                writer.execute(
                    "INSERT INTO part VALUES (?1,'m','s',?2,?2,?3)"
                    " ON CONFLICT (id) DO UPDATE SET data = ?3, time_updated = ?2",
                    (f"p{number:06}", number, str(tool(f"c{number}", status)).replace("'", '"')),
                )
            has_begun.set()
        writer.close()

    thread = threading.Thread(target=write)
    thread.start()
    has_begun.wait()
    try:
        result = stored(read(database.path))
        for _ in range(20):
            result = stored(read(database.path, result))
    finally:
        stop.set()
        thread.join()
    result = stored(read(database.path, result))
    assert agrees(database.path, result)
    assert {call.outcome for call in calls(result)} == {SUCCEEDED}


def test_nothing_is_made_beside_a_database_at_rest(database: Database, tmp_path: Path) -> None:
    database.part("p1", tool())
    database.close()
    assert os.listdir(tmp_path) == ["opencode.db"]
    before = database.path.read_bytes()
    assert len(calls(read(database.path))) == 1
    assert os.listdir(tmp_path) == ["opencode.db"]
    assert database.path.read_bytes() == before


def test_a_writer_that_comes_meanwhile_is_noticed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.part("p1", tool())
    database.close()
    connect = opencode_db._connect
    writers: list[sqlite3.Connection] = []

    def with_writer(path: bytes, is_alone: bool) -> sqlite3.Connection:
        connection = connect(path, is_alone)
        if is_alone:
            writers.append(sqlite3.connect(database.path, isolation_level=None))
            writers[0].execute("UPDATE part SET data = replace(data, 'completed', 'error')")
        return connection

    monkeypatch.setattr(opencode_db, "_connect", with_writer)
    assert [call.outcome for call in calls(read(database.path))] == [FAILED]
    writers[0].close()


@pytest.mark.parametrize("suffixes", [("", "-wal"), ("", "-wal", "-shm")])
def test_what_a_killed_owner_left_is_read(
    database: Database, tmp_path: Path, suffixes: tuple[str, ...]
) -> None:
    database.part("p1", tool())
    copy = tmp_path / "copy.db"
    for suffix in suffixes:
        shutil.copy(f"{database.path}{suffix}", f"{copy}{suffix}")
    before = [Path(f"{copy}{suffix}").read_bytes() for suffix in ("", "-wal")]
    assert len(calls(read(copy))) == 1
    assert [Path(f"{copy}{suffix}").read_bytes() for suffix in ("", "-wal")] == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_may_not_be_written_is_read(database: Database, tmp_path: Path) -> None:
    database.part("p1", tool())
    database.close()
    tmp_path.chmod(0o500)
    try:
        assert len(calls(read(database.path))) == 1
    finally:
        tmp_path.chmod(0o700)


def test_a_database_without_a_write_ahead_log(tmp_path: Path) -> None:
    made = Database(tmp_path / "a b?#%.db", "delete")
    made.session("s", "m")
    made.part("p1", tool())
    assert len(calls(read(made.path))) == 1
    made.close()


def test_a_locked_database_gives_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode_db, "BUSY_SECONDS", 0.05)
    made = Database(tmp_path / "opencode.db", "delete")
    made.connection.execute("BEGIN EXCLUSIVE")
    assert reason(read(made.path)).startswith("is locked by another program")
    made.connection.execute("ROLLBACK")
    assert calls(read(made.path)) == []
    made.close()


def test_a_file_that_is_no_database_gives_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"")
    assert reason(read(path)) == "is empty"
    path.write_bytes(b"text" * 1000)
    assert reason(read(path)) == "is not an SQLite database"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert reason(read(path)).startswith("is damaged")


def test_a_damaged_database_gives_a_reason(database: Database) -> None:
    for number in range(200):
        database.part(f"p{number}", tool(f"c{number}", output="x" * 500))
    first = stored(read(database.path))
    database.close()
    data = bytearray(database.path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    database.path.write_bytes(data)
    assert reason(read(database.path)).startswith("is damaged")
    assert reason(read(database.path, first)).startswith("is damaged")
    assert len(calls(first)) == 200


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE part",
        "DROP TABLE message",
        "DROP TABLE session",
        "ALTER TABLE part RENAME COLUMN data TO body",
        "ALTER TABLE session RENAME COLUMN directory TO place",
    ],
)
def test_another_schema_gives_a_reason(database: Database, change: str) -> None:
    database.part("p1", tool())
    database.connection.execute("PRAGMA foreign_keys = OFF")
    database.connection.execute(change)
    assert reason(read(database.path)).startswith("has a schema that is not known")


def test_a_missing_database_is_the_systems_word(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "opencode.db")


STEPS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["pending", "running", "completed", "error", "removed", "bad"]),
        st.integers(0, 3),
        st.booleans(),
    ),
    max_size=20,
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS)
def test_passes_give_what_one_pass_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, int, bool]]
) -> None:
    made = Database(tmp_path_factory.mktemp("db") / "opencode.db")
    made.session("s", "m")
    made.session("fork", "m2")
    result: Stored | None = None
    for part, status, call, is_pass in steps:
        place = ("fork", "m2") if part > 3 else ("s", "m")
        if status == "removed":
            made.connection.execute("DELETE FROM part WHERE id = ?", (f"p{part}",))
        elif status == "bad":
            made.part(f"p{part}", '{"type":"tool",', *place)
        else:
            told = {} if status == "pending" else {"command": call}
            made.part(f"p{part}", tool(f"c{call}", status, input=told), *place)
        if is_pass:
            result = stored(read(made.path, result))
    result = stored(read(made.path, result))
    assert agrees(made.path, result)
    made.close()
