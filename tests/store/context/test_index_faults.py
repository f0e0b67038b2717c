"""Damage, a full disk and kills: one clear word, a new index, never a torn answer."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import msgspec
import pytest
import zstandard

from fabricd.core.steps import finish
from fabricd.store.context.failures import IndexDamaged, IndexFailed
from fabricd.store.context.index import Store, index_path
from tests.store.context.trees import ANALYSER, Picture, make_repository, picture, write

_FILES = 200


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "tree")
    for number in range(40):
        write(root, f"d{number % 3}/{number:03}.py", f"alpha beta\n\ncommon{number} alpha\n" * 20)
    return root


def _fresh(tmp_path: Path, tree: Path) -> Picture:
    with Store.open(tmp_path / "fresh", ANALYSER) as store:
        store.forget()
        return picture(finish(store.refresh(str(tree))))


def _indexed(state: Path, tree: Path) -> Path:
    with Store.open(state, ANALYSER) as store:
        finish(store.refresh(str(tree)))
    return index_path(state)


def _nothing(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_bytes(b"this is no database " * 1000)


def _half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _head(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(os.urandom(100))


def _another(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE roots (a)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("harm", [_nothing, _text, _half, _head, _another])
def test_damaged_is_set_aside_and_made_anew(
    tmp_path: Path, tree: Path, harm: Callable[[Path], None]
) -> None:
    state = tmp_path / "state"
    path = _indexed(state, tree)
    harm(path)
    with Store.open(state, ANALYSER) as store:
        assert picture(finish(store.refresh(str(tree)))) == _fresh(tmp_path, tree)
        assert len(store.notices) == (harm is not _nothing)
        kept = list(path.parent.glob("index.db.damaged-*"))
        assert len(kept) == len(store.notices)
        if kept:
            assert kept[0].name in store.notices[0]


def test_one_damaged_file_is_kept(tmp_path: Path, tree: Path) -> None:
    state = tmp_path / "state"
    for number in (1, 2, 3):
        path = _indexed(state, tree)
        path.write_bytes(b"harm" * 1000)
        with Store.open(state, ANALYSER) as store:
            assert len(store.notices) == 1
        assert [kept.name for kept in path.parent.glob("*.damaged-*")] == [
            f"index.db.damaged-{number}"
        ]
    with Store.open(state, ANALYSER) as store:
        store.forget()
    assert not list(path.parent.glob("*.damaged-*"))


def test_changed_bytes_are_found_or_harmless(tmp_path: Path, tree: Path) -> None:
    """Wherever a byte is changed: the same answer after at most one new index."""
    state = tmp_path / "state"
    path = _indexed(state, tree)
    sound = path.read_bytes()
    expected = _fresh(tmp_path, tree)
    rng = random.Random(8)
    rebuilt = 0
    for _ in range(25):
        harmed = bytearray(sound)
        for _ in range(rng.randrange(1, 40)):
            harmed[rng.randrange(len(harmed))] = rng.randrange(256)
        path.write_bytes(harmed)
        with Store.open(state, ANALYSER) as store:
            for _ in range(3):
                try:
                    found = picture(finish(store.refresh(str(tree))))
                    break
                except IndexDamaged:
                    continue
            else:
                pytest.fail("it stays damaged")
            rebuilt += bool(store.notices)
        # What is lost as a whole row shows nowhere; but what is told is true.
        assert found._replace(words={}, names={}) == expected._replace(words={}, names={})
    assert rebuilt


def test_damage_that_shows_while_it_is_asked(tmp_path: Path, tree: Path) -> None:
    state = tmp_path / "state"
    with Store.open(state, ANALYSER) as store:
        snapshot = finish(store.refresh(str(tree)))
        with store._database.transaction() as connection:
            connection.execute("UPDATE postings SET data = x'00' WHERE term = 'alpha'")
            connection.execute("UPDATE analysed SET data = x'00'")
        with pytest.raises(IndexDamaged):
            snapshot.corpus().hits("alpha")
        with pytest.raises(IndexDamaged):
            snapshot.corpus().indexed(0)
        after = finish(store.refresh(str(tree)))
        assert picture(after) == _fresh(tmp_path, tree)
        assert len(store.notices) == 1


def test_a_damaged_unit_that_is_read_late_is_made_anew(tmp_path: Path, tree: Path) -> None:
    with Store.open(tmp_path / "state", ANALYSER) as store:
        snapshot = finish(store.refresh(str(tree)))
        store._cache.clear()
        with store._database.transaction() as connection:
            rows = connection.execute("SELECT blob, data FROM analysed").fetchall()
            harmed = [(_with_bad_units(data), blob) for blob, data in rows]
            connection.executemany("UPDATE analysed SET data = ? WHERE blob = ?", harmed)
        # The file itself is sound.
        units = snapshot.corpus().indexed(0).units
        for _ in range(2):
            with pytest.raises(IndexDamaged):
                _ = units[0]
        after = finish(store.refresh(str(tree)))
        assert picture(after) == _fresh(tmp_path, tree)
        assert len(store.notices) == 1


def _with_bad_units(data: bytes) -> bytes:
    stored = msgspec.msgpack.decode(zstandard.decompress(data))
    stored[-1] = [b"\xff" for _ in stored[-1]]
    return zstandard.ZstdCompressor(write_checksum=True).compress(msgspec.msgpack.encode(stored))


@pytest.mark.parametrize("git", [False, True])
def test_without_descriptors_nothing_is_taken_for_gone(
    tmp_path: Path, tree: Path, git: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else all is read anew for a while, and nothing goes by stamps.
    monkeypatch.setattr("fabricd.store.context.reading.RACY_NS", 0)
    if not git:
        shutil.rmtree(tree / ".git")
    with Store.open(tmp_path / "state", ANALYSER) as store:
        finish(store.refresh(str(tree)))
        before = finish(store.refresh(str(tree)))
        known = picture(before)
        with _no_descriptors(), contextlib.suppress(IndexFailed):
            found = finish(store.refresh(str(tree)))
            assert (picture(found).files, found.generation) == (known.files, before.generation)
        (tree / "new.py").write_text("later\n")
        after = finish(store.refresh(str(tree)))
        assert after.refreshed == 1
        assert len(after.corpus().files) == len(known.files) + 1


@contextlib.contextmanager
def _no_descriptors() -> Generator[None, None, None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.open(os.devnull, os.O_RDONLY)]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (held[0] + 40, before[1]))
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for descriptor in held:
            os.close(descriptor)


def test_another_version_begins_anew(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    _indexed(state, tree)
    monkeypatch.setattr("fabricd.store.context.database.INDEXER", "context/next")
    with Store.open(state, ANALYSER) as store:
        assert store.kept() == []
        assert len(store.notices) == 1 and "another version" in store.notices[0]
        assert finish(store.refresh(str(tree))).read == 40


def test_another_analyser_begins_anew(tmp_path: Path, tree: Path) -> None:
    state = tmp_path / "state"
    newer = ANALYSER._replace(version="guard/2")
    _indexed(state, tree)
    for is_new in (True, False):
        with Store.open(state, newer) as store:
            assert len(store.notices) == is_new
            assert finish(store.refresh(str(tree))).read == (40 if is_new else 0) or not is_new


def test_nothing_beside_it_needs_room(tmp_path: Path, tree: Path) -> None:
    with Store.open(tmp_path / "state", ANALYSER) as store:
        finish(store.refresh(str(tree)))
        assert not list(index_path(tmp_path / "state").parent.glob("*-shm"))


_UNCHANGED = """
import resource, signal, sys
from pathlib import Path
from fabricd.core.steps import finish
from fabricd.store.context import reading
from fabricd.store.context.index import Store
from tests.store.context.trees import ANALYSER, picture
state, tree = Path(sys.argv[1]), sys.argv[2]
reading.RACY_NS = int(sys.argv[3])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Store.open(state, ANALYSER) as store:
    expected = picture(finish(store.refresh(tree)))
with Store.open(state, ANALYSER) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    assert picture(finish(store.refresh(tree))) == expected
"""


@pytest.mark.parametrize("young", [0, 2**60])
def test_what_did_not_change_is_told_on_a_full_disk(tmp_path: Path, young: int) -> None:
    write(tmp_path / "plain", "a.py", "alpha")
    subprocess.run(
        (sys.executable, "-c", _UNCHANGED, tmp_path / "state", tmp_path / "plain", str(young)),
        check=True,
    )


def test_on_a_full_disk_all_can_be_forgotten(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    _indexed(state, tree)

    def fail(path: Path, expected: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr("fabricd.store.context.database._opened", fail)
        patch.setattr("fabricd.store.context.database._is_full", lambda path: True)
        with Store.open(state, ANALYSER) as store:
            with pytest.raises(IndexFailed, match="no space is left"):
                finish(store.refresh(str(tree)))
            assert store.forget() == 0
            assert not index_path(state).exists()
    with Store.open(state, ANALYSER) as store:
        assert picture(finish(store.refresh(str(tree)))) == _fresh(tmp_path, tree)


_FULL = """
import resource, signal, sys
from pathlib import Path
from fabricd.core.steps import finish
from fabricd.store.context.failures import IndexFailed
from fabricd.store.context.index import Store
from tests.store.context.trees import ANALYSER, picture
state, tree, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Store.open(state, ANALYSER) as store:
    before = picture(finish(store.refresh(tree + "/d0")))
    Path(tree, "more.py").write_text("alpha\\n" * 9_000)
    Path(tree, "d0/000.py").write_text("\\n".join(f"alpha new{n}" for n in range(3_000)))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        finish(store.refresh(tree))
    except IndexFailed as failure:
        print(failure)
    else:
        print("no failure")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    after = picture(finish(store.refresh(tree)))
    print(len(after.files), len(after.words["alpha"][0]), store.notices)
"""


def test_a_full_disk_is_one_clear_failure(tmp_path: Path, tree: Path) -> None:
    state = tmp_path / "state"
    before = index_path(state)
    _indexed(state, tree)
    limit = before.stat().st_size + 1000
    done = subprocess.run(
        (sys.executable, "-c", _FULL, str(state), str(tree), str(limit)),
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("the context index cannot be used: ")
    assert second == "41 13560 ()"
    with Store.open(state, ANALYSER) as store:
        assert picture(finish(store.refresh(str(tree)))) == _fresh(tmp_path, tree)


_KILLED = """
import sys
from pathlib import Path
from fabricd.core.steps import finish
from fabricd.store.context.index import Store
from tests.store.context.trees import ANALYSER
with Store.open(Path(sys.argv[1]), ANALYSER) as store:
    print("open", flush=True)
    while True:
        finish(store.refresh(sys.argv[2]))
        print("done", flush=True)
"""


def test_killed_at_any_time_the_next_refresh_mends(tmp_path: Path) -> None:
    state = tmp_path / "state"
    tree = make_repository(tmp_path / "tree")
    for number in range(_FILES):
        write(tree, f"d{number % 7}/{number:03}.py", f"alpha beta{number}\n\ncommon\n" * 8)
    rng = random.Random(3)
    for attempt in range(5):
        with subprocess.Popen(
            (sys.executable, "-c", _KILLED, str(state), str(tree)), stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            for number in rng.sample(range(_FILES), 40):
                write(tree, f"d{number % 7}/{number:03}.py", f"gamma a{attempt}\n\nalpha {number}")
            time.sleep(rng.random() * 0.25)
            process.send_signal(signal.SIGKILL)
        if attempt % 2:
            continue
        with Store.open(state, ANALYSER) as store:
            assert picture(finish(store.refresh(str(tree)))) == _fresh(tmp_path, tree)
            assert store.notices == ()


def test_a_directory_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "context").write_text("a file in the way")
    with pytest.raises((IndexFailed, OSError)):
        Store.open(tmp_path, ANALYSER)


def test_closed_is_told(tmp_path: Path, tree: Path) -> None:
    store = Store.open(tmp_path / "state", ANALYSER)
    snapshot = finish(store.refresh(str(tree)))
    store.close()
    store.close()
    with pytest.raises(IndexFailed):
        snapshot.corpus().hits("alpha")
    with pytest.raises(IndexFailed):
        finish(store.refresh(str(tree)))
