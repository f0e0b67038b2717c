"""What nobody needs goes in time, what is forgotten at once and wholly."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fabricd.core.steps import finish
from fabricd.store.context import keeping
from fabricd.store.context.failures import Outdated
from fabricd.store.context.index import Store, index_path
from tests.store.context.trees import ANALYSER, make_repository, picture, write

_DAY = 86400


class _Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    monkeypatch.setattr("fabricd.store.context.keeping.time.time", clock)
    return clock


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "tree")
    for number in range(6):
        write(root, f"{number}.py", f"alpha common{number}\n\nbeta")
    return root


def _blobs(store: Store) -> int:
    with store._database.reading() as connection:
        (number,) = connection.execute("SELECT count(*) FROM blobs").fetchone()
    return int(number)


def _holds(state: Path, word: bytes) -> bool:
    return any(word in path.read_bytes() for path in index_path(state).parent.glob("index.db*"))


def test_a_blob_that_no_root_has_stays_a_week(tmp_path: Path, tree: Path, clock: _Clock) -> None:
    with Store.open(tmp_path / "state", ANALYSER) as store:
        finish(store.refresh(str(tree)))
        old = (tree / "0.py").read_text()
        write(tree, "0.py", "gamma")
        clock.now += _DAY
        finish(store.refresh(str(tree)))
        assert _blobs(store) == 7
        clock.now += 6 * _DAY
        finish(store.refresh(str(tree)))
        assert _blobs(store) == 7
        write(tree, "1.py", old)
        clock.now += 0.5 * _DAY
        finish(store.refresh(str(tree)))
        clock.now += 3 * _DAY
        snapshot = finish(store.refresh(str(tree)))
        # What is used again is kept; what came out of use since waits for its own week.
        assert _blobs(store) == 7
        assert len(snapshot.corpus().hits("alpha").units) == 5
        clock.now += 8 * _DAY
        finish(store.refresh(str(tree)))
        assert _blobs(store) == 6


def test_unused_blobs_are_bounded_in_size(
    tmp_path: Path, tree: Path, clock: _Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "UNUSED_BYTES", 300)
    with Store.open(tmp_path / "state", ANALYSER) as store:
        for number in range(20):
            write(tree, "0.py", f"alpha {number}")
            clock.now += _DAY / 8
            finish(store.refresh(str(tree)))
        assert _blobs(store) < 12
        snapshot = finish(store.refresh(str(tree)))
        assert len(snapshot.corpus().hits("alpha").units) == 6


def test_roots_that_are_gone_go(tmp_path: Path, tree: Path, clock: _Clock) -> None:
    other = tmp_path / "other"
    write(other, "a.py", "delta")
    with Store.open(tmp_path / "state", ANALYSER) as store:
        finish(store.refresh(str(other)))
        finish(store.refresh(str(tree)))
        shutil.rmtree(other)
        assert [kept.path for kept in store.kept()] == [str(other), str(tree)]
        with store._database.transaction() as connection:
            connection.execute("UPDATE roots SET used = ?", (int(clock.now),))
        clock.now += 8 * _DAY
        finish(store.refresh(str(tree)))
        assert [kept.path for kept in store.kept()] == [str(tree)]


def test_forgotten_is_gone_from_the_disk(tmp_path: Path, tree: Path) -> None:
    state = tmp_path / "state"
    write(tree, "0.py", "forgetmenot common")
    other = tmp_path / "other"
    write(other, "0.py", (tree / "1.py").read_text())
    with Store.open(state, ANALYSER) as store:
        finish(store.refresh(str(tree)))
        snapshot = finish(store.refresh(str(other)))
        before = picture(snapshot)
        assert _holds(state, b"forgetmenot")
        assert store.forget(str(tmp_path / "never")) == 0
        assert store.forget(str(tree)) == 1
        assert not _holds(state, b"forgetmenot")
        assert [kept.path for kept in store.kept()] == [str(other)]
        # The blob that both had is still there, in its new place.
        assert picture(snapshot) == before
        assert picture(finish(store.refresh(str(other)))) == before
        assert store.forget() == 1
        assert (store.kept(), _blobs(store)) == ([], 0)
        with pytest.raises(Outdated):
            snapshot.corpus().hits("alpha")
        assert not _holds(state, b"alpha")


def test_the_account_of_a_root(tmp_path: Path, tree: Path) -> None:
    write(tree, ".env", "x")
    write(tree, "a.bin", "x")
    with Store.open(tmp_path / "state", ANALYSER) as store:
        snapshot = finish(store.refresh(str(tree)))
        (kept,) = store.kept()
        assert kept[:5] == (str(tree), 6, 12, {"policy": 1, "unsupported": 1}, snapshot.generation)
        assert store.bytes > 0


def test_a_tree_without_files_outlives_a_merge(tmp_path: Path) -> None:
    empty, other = tmp_path / "empty", make_repository(tmp_path / "other")
    empty.mkdir()
    with Store.open(tmp_path / "state", ANALYSER) as store:
        snapshot = finish(store.refresh(str(empty)))
        write(other, "a.txt", "alpha")
        finish(store.refresh(str(other)))
        store.forget(str(other))
        assert len(snapshot.corpus().hits("alpha").units) == 0


def test_a_pruned_blob_is_forgotten_in_memory_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number is free for another content."""
    root = tmp_path / "tree"
    root.mkdir()
    now = 1_800_000_000
    monkeypatch.setattr("fabricd.store.context.keeping.time.time", lambda: now)
    with Store.open(tmp_path / "state", ANALYSER) as store:
        (root / "a.txt").write_text("alpha")
        finish(store.refresh(str(root))).corpus().indexed(0)
        (root / "b.txt").write_text("beta\n\nbeta")
        finish(store.refresh(str(root))).corpus().indexed(1)
        (root / "b.txt").unlink()
        finish(store.refresh(str(root)))
        for days in (40, 80, 120):
            now = 1_800_000_000 + days * 86_400
            finish(store.refresh(str(root)))
        (root / "b.txt").write_text("gamma")
        corpus = finish(store.refresh(str(root))).corpus()
        assert [len(list(corpus.indexed(file).units)) for file in (0, 1)] == [1, 1]
        assert corpus.hits("gamma").units.tolist() == [1]
