"""What git's history tells: through HEAD, the same whether read at once or bit by bit."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fabricd.core.steps import finish
from fabricd.store.context import commits
from fabricd.store.context.commits import Asking, History, head_of
from fabricd.store.context.git import GitFailed, Place, Places
from fabricd.store.context.index import Store
from tests.store.context.trees import ANALYSER, git, make_repository, slow_git, write


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "tree")
    _commit(root, "First", "a.py", "b.py")
    _commit(root, "Second \x02 odd\x01\tsubject", "a.py")
    return root


def _commit(root: Path, subject: str, *paths: str) -> None:
    for path in paths:
        before = (root / path).read_text() if (root / path).exists() else ""
        write(root, path, f"{before}{subject}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", subject)


def _place(root: Path) -> Place:
    return finish(Places().find(str(root)))


def _whole(root: Path) -> History:
    place = _place(root)
    history = finish(Asking(place, finish(head_of(place)), None).answer())
    assert history is not None
    return history


def _followed(root: Path, since: History) -> History | None:
    place = _place(root)
    return finish(Asking(place, finish(head_of(place)), since).answer())


def test_tells_commits_newest_first(tree: Path) -> None:
    told = [(subject, paths) for _, _, subject, paths in _whole(tree).commits]
    assert told == [("Second \x02 odd\x01\tsubject", ("a.py",)), ("First", ("a.py", "b.py"))]


def test_a_line_of_commits_follows_on_what_was_read(tree: Path) -> None:
    before = _whole(tree)
    for number in range(4):
        _commit(tree, f"Change {number}", "b.py", f"d/{number}.py")
    assert _followed(tree, before) == _whole(tree)
    assert _followed(tree, _whole(tree)) == _whole(tree)


def test_what_does_not_follow_is_read_whole(tree: Path) -> None:
    before = _whole(tree)
    git(tree, "checkout", "-qb", "side", "HEAD~1")
    _commit(tree, "Beside", "c.py")
    assert _followed(tree, before) is None
    git(tree, "checkout", "-q", "main")
    git(tree, "merge", "-q", "--no-edit", "side")
    assert _followed(tree, before) is None
    git(tree, "commit", "-q", "--amend", "-m", "Amended")
    assert _followed(tree, before) is None


def test_the_index_keeps_it(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path / "state", ANALYSER) as store:
        snapshot = finish(store.refresh(str(tree)))
        changes = snapshot.corpus().changes()
        assert changes.subjects == [("Second \x02 odd\x01\tsubject", (0,)), ("First", (0, 1))]
        assert changes.age == {0: 0, 1: 1}
        assert changes.times == {0: 2, 1: 1}
    asked: list[str] = []

    def note(place: Place, head: str, since: History | None) -> Asking:
        asked.append("whole" if since is None else "since")
        return Asking(place, head, since)

    monkeypatch.setattr("fabricd.store.context.refreshing.Asking", note)
    with Store.open(tmp_path / "state", ANALYSER) as store:
        assert finish(store.refresh(str(tree))).corpus().changes() == changes
        assert asked == []
        _commit(tree, "Third", "b.py")
        again = finish(store.refresh(str(tree))).corpus().changes()
        assert (asked, again.age) == (["since"], {0: 1, 1: 0})
        git(tree, "reset", "-q", "--hard", "HEAD~2")
        reset = finish(store.refresh(str(tree))).corpus().changes()
        assert reset.subjects == [("First", (0, 1))]
        assert asked == ["since", "since", "whole"]


def test_no_commit_no_git_no_history(tmp_path: Path) -> None:
    with Store.open(tmp_path / "state", ANALYSER) as store:
        for root in (make_repository(tmp_path / "empty"), tmp_path / "plain"):
            write(root, "a.py", "alpha")
            snapshot = finish(store.refresh(str(root)))
            assert snapshot.corpus().changes() == ({}, {}, [])
            assert snapshot.warnings == ()


def test_packed_refs_and_a_detached_head(tree: Path) -> None:
    head = git(tree, "rev-parse", "HEAD").strip()
    git(tree, "pack-refs", "--all")
    assert finish(head_of(_place(tree))) == head
    git(tree, "checkout", "-q", "--detach")
    assert finish(head_of(_place(tree))) == head
    git(tree, "worktree", "add", "-q", str(tree.parent / "second"), "HEAD~1")
    other = git(tree, "rev-parse", "HEAD~1").strip()
    assert finish(head_of(_place(tree.parent / "second"))) == other


def test_a_wide_commit_joins_nothing(tree: Path, tmp_path: Path) -> None:
    _commit(tree, "Wide", *(f"w/{number:02}.py" for number in range(31)))
    with Store.open(tmp_path / "state", ANALYSER) as store:
        changes = finish(store.refresh(str(tree))).corpus().changes()
    assert "Wide" not in [subject for subject, _ in changes.subjects]
    assert changes.times[2] == 1


def test_no_history_in_time_is_none_and_told(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_git(tmp_path / "bin", "log", monkeypatch)
    with Store.open(tmp_path / "state", ANALYSER) as store:
        snapshot = finish(store.refresh(str(tree)))
        assert snapshot.corpus().changes() == ({}, {}, [])
        assert snapshot.warnings == (told := ("history: git did not answer within 0.5 s",))
        # Each query would wait as long.
        started = time.monotonic()
        assert finish(store.refresh(str(tree))).warnings == told
        assert time.monotonic() - started < 0.4
    with Store.open(tmp_path / "state", ANALYSER) as store:
        assert finish(store.refresh(str(tree))).warnings == told
        assert time.monotonic() - started < 0.8
        monkeypatch.undo()
        assert finish(store.refresh(str(tree))).warnings == told
        monkeypatch.setattr("fabricd.store.context.refreshing._RETRY_SECONDS", 0)
        snapshot = finish(store.refresh(str(tree)))
        assert len(snapshot.corpus().changes().subjects) == 2
        assert snapshot.warnings == ()


def test_a_moved_head_is_asked_for_at_once(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "state", ANALYSER) as store:
        finish(store.refresh(str(tree)))
        _commit(tree, "Third", "b.py")
        slow_git(tmp_path / "bin", "log", monkeypatch)
        assert finish(store.refresh(str(tree))).corpus().changes().subjects == []
        monkeypatch.undo()
        git(tree, "reset", "-q", "--hard", "HEAD~1")
        back = finish(store.refresh(str(tree)))
        assert (len(back.corpus().changes().subjects), back.warnings) == (2, ())
        _commit(tree, "Fourth", "b.py")
        on = finish(store.refresh(str(tree)))
        assert (len(on.corpus().changes().subjects), on.warnings) == (3, ())


def test_a_head_that_is_gone_is_no_end(tree: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "state", ANALYSER) as store:
        finish(store.refresh(str(tree)))
        git(tree, "commit", "-q", "--amend", "-m", "Amended")
        git(tree, "reflog", "expire", "--expire=now", "--all")
        git(tree, "gc", "-q", "--prune=now")
        snapshot = finish(store.refresh(str(tree)))
        assert snapshot.warnings == ()
        assert [name for name, _ in snapshot.corpus().changes().subjects] == ["Amended", "First"]


def test_subjects_are_cleaned_before_they_are_kept(tree: Path, tmp_path: Path) -> None:
    _commit(tree, "x" * 290 + " hunter2 and more", "b.py")
    analyser = ANALYSER._replace(clean=lambda text: text.replace("hunter2", "it"))
    with Store.open(tmp_path / "state", analyser) as store:
        finish(store.refresh(str(tree)))
        root = store._roots[str(tree)]
        assert root.history is not None
        assert root.history.commits[0][2] == "x" * 290 + " it and mo"


def test_unknown_answers_are_failures() -> None:
    with pytest.raises(GitFailed):
        commits._commits(b"mark\x02one", "mark")
    assert commits._commits(b"", "mark") == ()
