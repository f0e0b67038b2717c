"""A refresh reads what changed, keeps what did not, and tells roots apart."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from fabricd.core.context.model import Analysed, Skip
from fabricd.core.steps import finish
from fabricd.store.context.git import NoRoot
from fabricd.store.context.index import Store, index_path, lock_path
from fabricd.store.context.reading import is_racy, open_below, stamp_of
from fabricd.store.context.refreshing import Analyser, Progress
from fabricd.store.context.snapshot import Snapshot
from fabricd.store.locks import AlreadyHeld
from tests.store.context.trees import ANALYSER, analyse, git, make_repository, picture, write


def _refreshed(store: Store, root: Path) -> Snapshot:
    return finish(store.refresh(str(root)))


def _paths(snapshot: Snapshot) -> list[str]:
    return [file.path for file in snapshot.corpus().files]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "tree")
    write(root, "a.py", "alpha beta\n\nalpha gamma alpha")
    write(root, "z/b.txt", "beta")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Begin with alpha")
    return root


def test_tells_units_by_path_and_line(state: Path, tree: Path) -> None:
    with Store.open(state, ANALYSER) as store:
        corpus = _refreshed(store, tree).corpus()
        assert [(file.path, file.first_unit) for file in corpus.files] == [
            ("a.py", 0),
            ("z/b.txt", 2),
        ]
        hits = corpus.hits("alpha")
        assert hits.units.tolist() == [0, 1]
        assert hits.counts.tolist() == [[1, 0, 0, 1], [1, 0, 0, 2]]
        defined = corpus.defining(("beta", "Beta", "", "beta"))
        assert {name: units.tolist() for name, units in defined.items()} == {"beta": [2]}
        assert corpus.lengths.tolist() == [[1, 0, 0, 2], [1, 0, 0, 3], [1, 0, 0, 1]]
        assert [one.unit.name for one in corpus.indexed(0).units] == ["alpha", "alpha"]
        assert corpus.changes().subjects == [("Begin with alpha", (0, 1))]


def test_hits_are_remembered_of_the_tree_that_was_asked_last(
    state: Path, tree: Path, tmp_path: Path
) -> None:
    other = make_repository(tmp_path / "other")
    write(other, "a.py", "alpha alpha\n")
    with Store.open(state, ANALYSER) as store:
        corpora = [_refreshed(store, root).corpus() for root in (tree, other)]
        told = [corpus.hits("alpha").units.tolist() for corpus in corpora]
        for root in (tree, other):
            _refreshed(store, root)
            kept = [list(corpus._occurrences._known) for corpus in corpora]
            assert sorted(kept) == [[], ["alpha"]] and kept[root == other]
            assert [corpus.hits("alpha").units.tolist() for corpus in corpora] == told


def test_any_path_inside_names_the_tree(state: Path, tree: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tree)
    with Store.open(state, ANALYSER) as store:
        for path in (tree, tree / "z", tree / "z/b.txt", link / "z"):
            assert _refreshed(store, path).root == str(tree)
        with pytest.raises(NoRoot):
            _refreshed(store, tree / "nowhere")


def test_the_environment_names_no_other_tree(
    state: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    with Store.open(state, ANALYSER) as store:
        assert _paths(_refreshed(store, tree)) == ["a.py", "z/b.txt"]


def test_a_repository_runs_nothing(state: Path, tree: Path) -> None:
    mark = tree.parent / "ran"
    program = write(tree.parent, "run.sh", f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    (tree / ".git/hooks").mkdir(exist_ok=True)
    for setting in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"):
        git(tree, "config", setting, str(program))
    for hook in ("post-index-change", "fsmonitor-watchman", "query-watchman"):
        (tree / ".git/hooks" / hook).symlink_to(program)
    git(tree, "config", "gpg.program", str(program))
    git(tree, "config", "log.showSignature", "true")
    git(tree, "config", "filter.f.clean", str(program))
    write(tree, ".gitattributes", "* filter=f diff=f\n")
    mark.unlink(missing_ok=True)
    with Store.open(state, ANALYSER) as store:
        assert _refreshed(store, tree).warnings == ()
    assert not mark.exists()


def test_skips_what_is_no_text_of_this_tree(state: Path, tree: Path, tmp_path: Path) -> None:
    write(tree, "nul.py", b"a\0b")
    write(tree, "large.py", "x\n" * 600_000)
    write(tree, "wide.py", "x" * 2001)
    write(tree, "just.py", "x" * 2000)
    write(tree, "many.py", "é" * 1500)
    for name in (".env", ".env.local", "k.pem", "K.KEY", "id_rsa", "sub/id_ed25519"):
        write(tree, name, "secret")
    (tree / "link.py").symlink_to(write(tmp_path, "outside.py", "alpha"))
    os.mkfifo(tree / "pipe.py")
    write(tree, "line\nbreak.py", "alpha")
    (tree / "unread.py").write_text("alpha")
    (tree / "unread.py").chmod(0)
    with Store.open(state, ANALYSER) as store:
        snapshot = _refreshed(store, tree)
    expected = {"oversized": 1, "policy": 7, "unsupported": 3}
    kept = ["a.py", "just.py", "many.py", "z/b.txt"]
    if os.getuid() == 0:
        kept.insert(3, "unread.py")
    else:
        expected["unreadable"] = 1
    assert _paths(snapshot) == kept
    assert snapshot.skipped == expected


def test_a_reason_of_the_analyser_is_told(state: Path, tree: Path) -> None:
    def refuse(data: bytes, path: str) -> Analysed | Skip:
        return "unsupported" if path == "a.py" else analyse(data, path)

    with Store.open(state, Analyser(ANALYSER.language_of, refuse)) as store:
        snapshot = _refreshed(store, tree)
        assert _paths(snapshot) == ["z/b.txt"]
        assert snapshot.skipped == {"unsupported": 1}
        assert _refreshed(store, tree).generation == snapshot.generation


def test_ignored_is_counted_by_top_directory(state: Path, tree: Path) -> None:
    write(tree, ".gitignore", "out/\n*.log\n")
    for name in ("out/a.py", "out/b.py", "z/c.log", "z/d.log", "e.log"):
        write(tree, name, "alpha")
    with Store.open(state, ANALYSER) as store:
        snapshot = _refreshed(store, tree)
    assert snapshot.ignored == {"": 1, "out": 1, "z": 2}


def test_equal_content_is_analysed_once(state: Path, tree: Path, tmp_path: Path) -> None:
    analysed: list[str] = []

    def note(data: bytes, path: str) -> Analysed | Skip:
        analysed.append(path)
        return analyse(data, path)

    write(tree, "again/a.py", (tree / "a.py").read_bytes())
    write(tree, "a.txt", (tree / "a.py").read_bytes())
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "Again")
    git(tree, "worktree", "add", "-q", str(tmp_path / "second"))
    with Store.open(state, Analyser(ANALYSER.language_of, note)) as store:
        snapshot = _refreshed(store, tree)
        _refreshed(store, tmp_path / "second")
        assert sorted(analysed) == ["a.py", "a.txt", "z/b.txt"] or len(analysed) == 3
        hits = snapshot.corpus().hits("alpha")
        # a.py, a.txt, again/a.py: two units each.
        assert hits.units.tolist() == [0, 1, 2, 3, 4, 5]
        assert hits.counts[:2].tolist() == hits.counts[4:].tolist()


def test_another_root_changes_no_number(state: Path, tree: Path, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "other")
    write(other, "0.py", (tree / "a.py").read_bytes() + b"\nalpha other")
    write(other, "a.py", (tree / "a.py").read_bytes())
    with Store.open(state, ANALYSER) as store:
        _refreshed(store, other)
        beside = picture(_refreshed(store, tree))
        write(other, "a.py", "alpha")
        _refreshed(store, other)
        assert picture(_refreshed(store, tree)) == beside
    with Store.open(tmp_path / "fresh", ANALYSER) as store:
        assert picture(_refreshed(store, tree)) == beside


def test_many_edits_are_as_one_fresh_index(state: Path, tree: Path, tmp_path: Path) -> None:
    """So many that segments are merged."""
    with Store.open(state, ANALYSER) as store:
        for number in range(60):
            write(tree, f"n/{number:02}.py", f"alpha common{number}\n\ncommon\n" * (1 + number % 3))
            if number == 30:
                write(tree, "n/again.py", (tree / "n/05.py").read_bytes())
            _refreshed(store, tree)
        words = ("alpha", "common", "common7", "beta")
        found = picture(_refreshed(store, tree), words)
    with Store.open(state, ANALYSER) as store:
        assert picture(_refreshed(store, tree), words) == found
    with Store.open(tmp_path / "fresh", ANALYSER) as store:
        assert picture(_refreshed(store, tree), words) == found


def test_an_older_snapshot_outlives_merges(state: Path, tree: Path) -> None:
    with Store.open(state, ANALYSER) as store:
        old = _refreshed(store, tree)
        before = picture(old)
        for number in range(40):
            write(tree, f"n/{number:02}.py", f"alpha x{number}")
            _refreshed(store, tree)
        assert picture(old) == before


def test_dropped_halfway_goes_on_later(state: Path, tree: Path, tmp_path: Path) -> None:
    for number in range(150):
        write(tree, f"n/{number:03}.py", f"alpha beta{number}")
    with Store.open(state, ANALYSER) as store:
        progress = Progress()
        steps = store.refresh(str(tree), progress)
        while progress.files < 100:
            next(steps)
        assert progress.of_files == 152
        steps.close()
        later = _refreshed(store, tree)
        assert later.read < 152 or later.read == 152
        found = picture(later)
    with Store.open(tmp_path / "fresh", ANALYSER) as store:
        assert picture(_refreshed(store, tree)) == found


def test_two_refreshes_in_turns(state: Path, tree: Path, tmp_path: Path) -> None:
    for number in range(150):
        write(tree, f"n/{number:03}.py", f"alpha beta{number}")
    with Store.open(state, ANALYSER) as store:
        one, two = store.refresh(str(tree)), store.refresh(str(tree / "n"))
        done: list[Snapshot] = []
        while len(done) < 2:
            for steps in (one, two):
                try:
                    next(steps)
                except StopIteration as end:
                    if isinstance(end.value, Snapshot):
                        done.append(end.value)
        assert picture(done[0]) == picture(done[1])
        assert store.notices == ()


def test_forgotten_while_it_is_refreshed(state: Path, tree: Path) -> None:
    for number in range(100):
        write(tree, f"n/{number:03}.py", f"alpha beta{number}")
    with Store.open(state, ANALYSER) as store:
        progress = Progress()
        steps = store.refresh(str(tree), progress)
        while progress.files < 80:
            next(steps)
        assert store.forget(str(tree)) == 1
        snapshot = finish(steps)
        assert len(snapshot.corpus().files) == 102
        assert len(snapshot.corpus().hits("alpha").units) == 102


def test_reread_gives_the_bytes_and_tells_what_changed(state: Path, tree: Path) -> None:
    with Store.open(state, ANALYSER) as store:
        snapshot = _refreshed(store, tree)
        again = snapshot.reread(("a.py", "z/b.txt", "gone.py"))
        assert again["a.py"].data == (tree / "a.py").read_bytes()
        assert again["a.py"].sha256 == snapshot.source("a.py")
        assert [read.is_changed for read in again.values()] == [False, False, True]
        (tree / "a.py").write_text("delta")
        (tree / "z/b.txt").unlink()
        again = snapshot.reread(("a.py", "z/b.txt"))
        assert [read.data for read in again.values()] == [b"delta", None]
        assert all(read.is_changed for read in again.values())
        assert _refreshed(store, tree).reread(("a.py",))["a.py"].is_changed is False


def test_what_reread_doubts_is_read_anew(
    state: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stamp proves nothing: here all files keep theirs for ever."""
    monkeypatch.setattr("fabricd.store.context.reading.RACY_NS", -(2**60))
    with Store.open(state, ANALYSER) as store:
        snapshot = _refreshed(store, tree)
        root = store._roots[str(tree)]
        (tree / "a.py").write_text("delta")
        stamp = os.lstat(tree / "a.py")
        root.rows["a.py"] = root.rows["a.py"]._replace(stamp=stamp_of(stamp))
        assert _refreshed(store, tree).refreshed == 0
        assert snapshot.reread(("a.py",))["a.py"].is_changed
        assert _refreshed(store, tree).refreshed == 1


def test_files_are_private(state: Path, tree: Path) -> None:
    with Store.open(state, ANALYSER) as store:
        _refreshed(store, tree)
        folder = index_path(state).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_one_process_has_it_open(state: Path) -> None:
    with Store.open(state, ANALYSER):
        with pytest.raises(AlreadyHeld):
            Store.open(state, ANALYSER)
    Store.open(state, ANALYSER).close()
    assert lock_path(state).exists()


def test_a_secret_is_not_even_opened(
    state: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tree, ".env", "secret")
    opened: list[str] = []

    def note(root: str, path: str) -> int:
        opened.append(path)
        return open_below(root, path)

    monkeypatch.setattr("fabricd.store.context.reading.open_below", note)
    with Store.open(state, ANALYSER) as store:
        snapshot = _refreshed(store, tree)
        assert snapshot.skipped == {"policy": 1}
        assert snapshot.reread((".env",))[".env"].data is None
    assert ".env" not in opened and "a.py" in opened


def test_times_far_ahead_are_not_distrusted_for_ever(tree: Path) -> None:
    ahead = time.time_ns() + 10**15
    os.utime(tree / "a.py", ns=(ahead, ahead))
    stamp = stamp_of(os.stat(tree / "a.py"))
    assert is_racy(stamp, time.time_ns())
    assert not is_racy(stamp, time.time_ns() + 3 * 10**9)
    assert is_racy(stamp._replace(mtime=0), stamp.ctime + 10**9)
    assert is_racy(stamp._replace(ctime=0, mtime=5 * 10**9), 6 * 10**9)


def test_a_secret_is_one_by_any_name(state: Path, tree: Path) -> None:
    write(tree, ".gitignore", ".env\n")
    write(tree, ".envs/prod/settings.py", "secret")
    write(tree, "keys.pem/read.py", "secret")
    write(tree, ".env", "secret one")
    os.link(tree / ".env", tree / "copy.py")
    os.link(tree / "a.py", tree / "same.py")
    with Store.open(state, ANALYSER) as store:
        snapshot = _refreshed(store, tree)
        assert _paths(snapshot) == ["a.py", "same.py", "z/b.txt"]
        assert snapshot.skipped == {"policy": 3, "unsupported": 1}
        assert snapshot.reread(("copy.py",))["copy.py"].data is None
        (tree / ".env").unlink()
        assert "copy.py" in _paths(_refreshed(store, tree))
        os.link(tree / "copy.py", tree / "id_rsa")
        assert "copy.py" not in _paths(_refreshed(store, tree))


def test_more_roots_at_once_than_stay_in_memory(state: Path, tmp_path: Path) -> None:
    roots = [tmp_path / f"many/{number:02}" for number in range(20)]
    for root in roots:
        for number in range(70):
            write(root, f"{number}.py", f"alpha {root.name} {number}")
    with Store.open(state, ANALYSER) as store:
        waiting = {root: store.refresh(str(root)) for root in roots}
        done: dict[Path, Snapshot] = {}
        while waiting:
            for root, steps in list(waiting.items()):
                try:
                    next(steps)
                except StopIteration as end:
                    done[root] = end.value
                    del waiting[root]
        assert all(len(snapshot.corpus().files) == 70 for snapshot in done.values())
        assert all(snapshot.read == 70 for snapshot in done.values())
        assert store.notices == ()
        _refreshed(store, roots[0])
        assert len(store._roots) <= 8 and not store._busy


def test_two_refreshes_in_turns_see_files_go(state: Path, tree: Path) -> None:
    for number in range(100):
        write(tree, f"n/{number:03}.py", f"alpha beta{number}")
    with Store.open(state, ANALYSER) as store:
        _refreshed(store, tree)
        for number in range(50):
            (tree / f"n/{number:03}.py").unlink()
            write(tree, f"n/{number:03}-new.py", f"alpha new{number}")
        waiting = [store.refresh(str(tree)), store.refresh(str(tree / "n"))]
        while waiting:
            for steps in list(waiting):
                try:
                    next(steps)
                except StopIteration as end:
                    assert len(end.value.corpus().files) == 102
                    waiting.remove(steps)


def test_hits_are_the_same_when_they_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.store.context.occurrences._REMEMBERED", 1000)
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(30):
        (root / f"f{number}.txt").write_text(f"alpha word{number}\nbeta alpha\n")
    with Store.open(tmp_path / "state", ANALYSER) as store:
        corpus = finish(store.refresh(str(root))).corpus()
        words = ["alpha", "beta", "gamma", *(f"word{number}" for number in range(30))]
        first = [corpus.hits(word) for word in words]
        again = [corpus.hits(word) for word in reversed(words)][::-1]
    assert len(first[0].units) == 60
    for one, other in zip(first, again, strict=True):
        assert one.units.tolist() == other.units.tolist()
        assert one.counts.tolist() == other.counts.tolist()


def test_what_was_asked_before_is_true_of_the_tree_as_it_is(state: Path, tmp_path: Path) -> None:
    """Also of a file with its content of long ago, which lies beside that of others."""
    root = tmp_path / "tree"
    root.mkdir()
    words = ("alpha", "beta", "gamma")
    texts = {"a.txt": "alpha", "b.txt": "alpha beta", "c.txt": "alpha\n\nalpha gamma"}
    for name, text in texts.items():
        (root / name).write_text(text)
    changes: tuple[tuple[str, str | None], ...] = (
        ("b.txt", "alpha\n\nbeta\n\nalpha alpha"),
        ("b.txt", texts["b.txt"]),
        ("a0.txt", texts["c.txt"]),
        ("a.txt", None),
        ("a.txt", texts["a.txt"]),
        ("c.txt", ""),
        ("c.txt", texts["c.txt"]),
    )
    with Store.open(state, ANALYSER) as store:
        picture(_refreshed(store, root), words)
        for number, (name, new) in enumerate(changes):
            if new is None:
                (root / name).unlink()
            else:
                (root / name).write_text(new)
            with Store.open(tmp_path / f"other{number}", ANALYSER) as fresh:
                expected = picture(_refreshed(fresh, root), words)
            assert picture(_refreshed(store, root), words) == expected
