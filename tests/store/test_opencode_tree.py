"""OpenCode's older storage: small files that are rewritten in place."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.history.calls import FAILED, SUCCEEDED, UNKNOWN
from fabricd.core.history.judging import Judge
from fabricd.core.sessions.opencode_parts import Stored, StorePass
from fabricd.store import opencode_tree
from fabricd.store.opencode_db import read_database
from fabricd.store.opencode_tree import read_tree
from tests.core.history.tables import joined
from tests.store.opencode_stores import Database, Tree, calls, is_same, plain, stored, tool


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A storage folder with one session."""
    made = Tree(tmp_path / "storage")
    made.session("s", "m")
    return made


def read(tree: Tree, before: Stored | None = None) -> StorePass:
    """One pass."""
    table, memory = (before.table, before.memory) if before is not None else (None, b"")
    return read_tree(os.fsencode(tree.root), table, memory, Judge())


def agrees(tree: Tree, result: StorePass) -> bool:
    """Whether a pass gave what reading the whole gives."""
    return plain(stored(result).table) == plain(stored(read(tree)).table)


def test_a_call_tells_tool_model_project_session_and_time(tree: Tree) -> None:
    tree.part("p0", {"type": "text", "text": "tool"})
    tree.part("p1", tool())
    tree.part("p2", tool("c2", time=None))
    found = calls(read(tree))
    assert [(call.tool, call.model, call.project, call.session, call.at) for call in found] == [
        ("bash", "p/m", "/w/p", "s", 900), ("bash", "p/m", "/w/p", "s", 1000),
    ]  # fmt: skip


def test_a_part_that_goes_on_is_one_call(tree: Tree) -> None:
    result: Stored | None = None
    for status, outcome in (("pending", UNKNOWN), ("running", UNKNOWN), ("completed", SUCCEEDED)):
        tree.part("p1", tool(status=status, input={"status": status}))
        result = stored(read(tree, result))
        assert [call.outcome for call in calls(result)] == [outcome]
        assert agrees(tree, result)


def test_an_unchanged_tree_is_listed_and_not_read(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.part("p1", tool())
    first = stored(read(tree))
    monkeypatch.setattr(opencode_tree, "_bytes_of", lambda _: pytest.fail("read"))
    assert is_same(read(tree, first))


def test_only_folders_in_which_something_changed_are_read(tree: Tree) -> None:
    tree.session("t", "n")
    tree.part("p1", tool())
    tree.part("p2", tool("c2"), "t", "n")
    first = stored(read(tree))
    tree.part("p2", tool("c2", "error"), "t", "n")
    sizes: list[int] = []
    root = os.fsencode(tree.root)
    second = read_tree(root, first.table, first.memory, Judge(), sizes.append)
    assert len(sizes) == 1
    assert sorted(call.outcome for call in calls(second)) == [SUCCEEDED, FAILED]


def test_a_file_written_just_now_is_read_again(tree: Tree) -> None:
    tree.part("p1", tool(status="running"), fresh=True)
    first = stored(read(tree))
    path = tree.root / "part/m/p1.json"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"running"', b'"error"  '))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = stored(read(tree, first))
    assert [call.outcome for call in calls(second)] == [FAILED]


def test_what_is_removed_is_counted_no_longer(tree: Tree) -> None:
    tree.session("t", "n")
    tree.part("p1", tool())
    tree.part("p2", tool("c2"), "t", "n")
    first = stored(read(tree))
    shutil.rmtree(tree.root / "part/n")
    (tree.root / "session/prj/t.json").unlink()
    second = stored(read(tree, first))
    assert len(calls(second)) == 1
    assert agrees(tree, second)


def test_copies_in_a_fork_are_one_call_until_they_come_apart(tree: Tree) -> None:
    tree.session("fork", "n")
    tree.part("p1", tool(status="running"))
    tree.part("p2", tool(status="running"), "fork", "n")
    first = stored(read(tree))
    assert len(calls(first)) == 1
    tree.part("p1", tool())
    second = stored(read(tree, first))
    assert [call.outcome for call in calls(second)] == [SUCCEEDED]
    assert agrees(tree, second)


@pytest.mark.parametrize("torn", [b"", b'{"type":"tool"', b'{"type": "tool", "state": {}} {}'])
def test_a_file_cut_in_the_middle_is_counted_until_it_is_whole(tree: Tree, torn: bytes) -> None:
    tree.part("p0", tool("c0"))
    tree.write("part/m/p1", torn)
    first = stored(read(tree))
    assert (len(calls(first)), first.table.losses.bad_lines) == (1, 1)
    tree.part("p1", tool())
    second = stored(read(tree, first))
    assert (len(calls(second)), second.table.losses.bad_lines) == (2, 0)


def test_ids_lead_out_of_no_folder(tree: Tree) -> None:
    secret = tree.root.parent / "x.json"
    secret.write_text('{"modelID":"secret","directory":"secret"}')
    tree.part("p1", {**tool(), "sessionID": "../..", "messageID": "../x"})
    tree.part("p2", {**tool("c2"), "sessionID": "..", "messageID": "../../x"})
    found = calls(read(tree))
    assert [(call.model, call.project) for call in found] == [("", ""), ("", "")]


def test_what_else_lies_there_is_left_alone(tree: Tree) -> None:
    tree.part("p1", tool())
    (tree.root / "part/m/p2.json").mkdir()
    (tree.root / "part/m/p3.json.tmp").write_text("{")
    (tree.root / "part/stray.json").write_text("{")
    (tree.root / "part/m/p4.json").symlink_to("nowhere")
    (tree.root / "part" / os.fsdecode(b"\xff")).mkdir()
    tree.write("part/m/p5", b"[]")
    result = stored(read(tree))
    assert len(calls(result)) == 1
    assert is_same(read(tree, result))


def test_a_folder_without_parts_and_a_missing_one(tree: Tree, tmp_path: Path) -> None:
    result = stored(read(tree))
    assert [result.table.names[each] for each in result.table.sessions] == ["s"]
    with pytest.raises(FileNotFoundError):
        read(Tree(tmp_path / "none"))


def test_a_memory_of_another_kind_means_reading_all(tree: Tree) -> None:
    tree.part("p1", tool())
    first = stored(read(tree))
    assert len(calls(read(tree, Stored(first.table, b"\x01")))) == 1


def test_a_tree_and_the_database_it_became_are_one(tree: Tree, tmp_path: Path) -> None:
    database = Database(tmp_path / "opencode.db")
    database.session("s", "m")
    for name in ("c1", "c2"):
        tree.part(name, tool(name))
        database.part(name, tool(name))
    database.part("c3", tool("c3"))
    moved = stored(read_database(os.fsencode(database.path), None, b"", Judge()))
    assert len(joined(stored(read(tree)).table, moved.table)) == 3
    database.close()


STEPS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["pending", "running", "completed", "error", "removed", "bad", "text"]),
        st.integers(0, 3),
        st.booleans(),
    ),
    max_size=20,
)


@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_passes_give_what_one_pass_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, int, bool]]
) -> None:
    made = Tree(tmp_path_factory.mktemp("tree") / "storage")
    made.session("s", "m")
    made.session("fork", "n")
    result: Stored | None = None
    for part, status, call, is_pass in steps:
        place = ("fork", "n") if part > 3 else ("s", "m")
        if status == "removed":
            (made.root / f"part/{place[1]}/p{part}.json").unlink(missing_ok=True)
        elif status == "bad":
            made.write(f"part/{place[1]}/p{part}", b'{"type":"tool",')
        elif status == "text":
            made.part(f"p{part}", {"type": "text", "text": "text"}, *place)
        else:
            told = {} if status == "pending" else {"command": call}
            made.part(f"p{part}", tool(f"c{call}", status, input=told), *place)
        if is_pass:
            found = read(made, result)
            result = result if is_same(found) else stored(found)
    found = read(made, result)
    assert agrees(made, result if is_same(found) and result is not None else found)
