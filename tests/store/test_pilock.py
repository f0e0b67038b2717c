from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricd.store import pilock
from fabricd.store.pilock import PiLock, PiLockBusy, held

OLD = 31.0
SOURCE = str(Path(__file__).parents[2] / "src")


def gone() -> int:
    """The pid of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def foreign(path: Path, owner: bytes | None, age: float) -> Path:
    """A lock that somebody else made so many seconds ago."""
    path.mkdir()
    if owner is not None:
        (path / "owner").write_bytes(owner)
    moment = time.time() - age
    os.utime(path, (moment, moment))
    return path


def owner_of(pid: object) -> bytes:
    return f"token\n{pid}\n1700000000000\nmore\n".encode()


def test_a_free_lock_is_taken_and_given_back(tmp_path: Path) -> None:
    path = tmp_path / "compiled.lock"
    lock = PiLock(path)
    assert lock.try_acquire()
    token, pid, moment = (path / "owner").read_text().split("\n")[:3]
    assert re.fullmatch("fabricd-([0-9a-f]{12}-)?[0-9a-f]{32}", token)
    assert int(pid) == os.getpid()
    assert abs(int(moment) / 1000 - time.time()) < 60
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    lock.release()
    assert not path.exists()
    assert lock.try_acquire()


def test_a_held_lock_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "compiled.lock"
    first, second = PiLock(path), PiLock(path)
    assert first.try_acquire()
    before = (path / "owner").read_bytes()
    assert not second.try_acquire()
    second.release()
    assert (path / "owner").read_bytes() == before


@pytest.mark.parametrize("age", [0.0, 29.0, OLD, 10_000.0])
def test_a_live_owner_is_never_reaped(tmp_path: Path, age: float) -> None:
    path = foreign(tmp_path / "a.lock", owner_of(os.getpid()), age)
    assert not PiLock(path).try_acquire()
    assert not PiLock(path).try_acquire()
    assert (path / "owner").read_bytes() == owner_of(os.getpid())


def test_an_owner_that_may_not_be_asked_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = foreign(tmp_path / "a.lock", owner_of(gone()), OLD)

    def forbidden(*_: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "kill", forbidden)
    assert not PiLock(path).try_acquire()
    assert path.exists()


def test_a_young_lock_is_never_reaped(tmp_path: Path) -> None:
    for name, owner in [("a", owner_of(gone())), ("b", None), ("c", b"")]:
        path = foreign(tmp_path / name, owner, 29)
        assert not PiLock(path).try_acquire()
        assert path.exists()


@pytest.mark.parametrize(
    "owner",
    [
        owner_of("PID"),
        None,
        b"",
        b"token",
        b"token\n\n",
        b"token\nx\n",
        b"\xff\xfe\n",
        owner_of("9" * 30),
    ],
    ids=["gone", "missing", "empty", "cut", "blank", "no-number", "no-text", "no-pid"],
)
def test_an_old_lock_without_a_live_owner_is_reaped(tmp_path: Path, owner: bytes | None) -> None:
    if owner is not None:
        owner = owner.replace(b"PID", str(gone()).encode())
    path = foreign(tmp_path / "a.lock", owner, OLD)
    lock = PiLock(path)
    assert not lock.try_acquire()
    assert os.listdir(tmp_path) == []
    assert lock.try_acquire()


def test_the_callers_clock_decides_what_is_old(tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.lock", None, 0)
    lock = PiLock(path)
    assert not lock.try_acquire(now=time.time() + 20)
    assert path.exists()
    assert not lock.try_acquire(now=time.time() + 40)
    assert not path.exists()


def test_a_lock_that_came_alive_while_it_was_claimed_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = foreign(tmp_path / "a.lock", owner_of(gone()), OLD)
    rename = os.rename

    def exchanged(source: Any, target: Any) -> None:
        rename(source, target)
        if str(target).endswith(".reaped"):
            (Path(target) / "owner").write_bytes(owner_of(os.getpid()))

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", exchanged)
        assert not PiLock(path).try_acquire()
    assert os.listdir(tmp_path) == ["a.lock"]
    assert (path / "owner").read_bytes() == owner_of(os.getpid())


@pytest.mark.parametrize("owner", [owner_of(1), b"", b"\xff\xfe"])
def test_only_our_own_lock_is_released(tmp_path: Path, owner: bytes) -> None:
    path = tmp_path / "a.lock"
    lock = PiLock(path)
    assert lock.try_acquire()
    (path / "owner").write_bytes(owner)
    lock.release()
    assert (path / "owner").read_bytes() == owner


def test_releasing_twice_or_after_a_loss_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    lock, other = PiLock(path), PiLock(path)
    lock.release()
    assert lock.try_acquire()
    (path / "owner").unlink()
    path.rmdir()
    assert other.try_acquire()
    lock.release()
    lock.release()
    assert path.exists()


def test_a_lock_whose_owner_cannot_be_written_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.lock"

    def full(self: Path, *_: Any, **__: Any) -> int:
        # As on a full disk: the file is there, its text is not.
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space left"):
            PiLock(path).try_acquire()
    assert not path.exists()


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        PiLock(tmp_path / "missing" / "a.lock").try_acquire()


def test_giving_up_names_the_lock() -> None:
    assert str(PiLockBusy(Path("/x/a.lock"))) == "timed out waiting for the lock a.lock"


# --- locks of our own kind

PLACE = "fabricd-0123456789ab-"
TOKEN = PLACE + "c" * 32


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> str:
    """Tokens begin the same on every system that runs the tests."""
    monkeypatch.setattr(pilock, "_ours", lambda: PLACE)
    return PLACE


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system that does not tell its boot or namespace."""
    monkeypatch.setattr(pilock, "_BOOT", "/nonexistent")
    pilock._ours.cache_clear()
    yield
    pilock._ours.cache_clear()


def owner_with(token: str, pid: int) -> bytes:
    return f"{token}\n{pid}\n1700000000000\n".encode()


def test_a_young_lock_of_a_dead_fabricd_is_reaped_at_once(tmp_path: Path, place: str) -> None:
    path = foreign(tmp_path / "a.lock", owner_with(TOKEN, gone()), 0)
    lock = PiLock(path)
    assert not lock.try_acquire()
    assert os.listdir(tmp_path) == []
    assert lock.try_acquire()
    assert (path / "owner").read_text().startswith(place)


@pytest.mark.parametrize(
    "token",
    ["fabricd-ba9876543210-" + "c" * 32, "fabricd-" + "c" * 32, "c" * 32, ""],
    ids=["another-place", "no-place", "pi", "blank"],
)
def test_a_young_lock_of_anybody_else_is_not(tmp_path: Path, place: str, token: str) -> None:
    path = foreign(tmp_path / "a.lock", owner_with(token, gone()), 29)
    assert not PiLock(path).try_acquire()
    assert path.exists()


@pytest.mark.parametrize(
    "owner",
    [TOKEN.encode(), f"{TOKEN}\n".encode(), f"{TOKEN}\n99".encode(), f"{TOKEN}\n\n1\n".encode()],
    ids=["token", "line", "pid", "no-pid"],
)
def test_an_owner_that_is_half_written_is_alive(tmp_path: Path, place: str, owner: bytes) -> None:
    path = foreign(tmp_path / "a.lock", owner, 0)
    assert not PiLock(path).try_acquire()
    assert (path / "owner").read_bytes() == owner


def test_a_young_lock_of_a_live_fabricd_is_busy(tmp_path: Path, place: str) -> None:
    path = foreign(tmp_path / "a.lock", owner_with(TOKEN, os.getpid()), 0)
    assert not PiLock(path).try_acquire()
    assert path.exists()


def test_where_the_place_is_unknown_the_30_seconds_hold(tmp_path: Path, unknown: None) -> None:
    path = tmp_path / "a.lock"
    lock = PiLock(path)
    assert lock.try_acquire()
    token = (path / "owner").read_text().split("\n")[0]
    assert re.fullmatch("fabricd-[0-9a-f]{32}", token)
    lock.release()
    foreign(path, owner_with(token, gone()), 29)
    assert not PiLock(path).try_acquire()
    assert path.exists()


@pytest.mark.skipif(not Path("/proc/self/ns/pid").is_symlink(), reason="no place to tell by")
def test_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    script = (
        "import os, pathlib, signal, sys; from fabricd.store.pilock import PiLock; "
        "assert PiLock(pathlib.Path(sys.argv[1])).try_acquire(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], env={**os.environ, "PYTHONPATH": SOURCE}
    )
    assert done.returncode == -signal.SIGKILL
    assert path.exists()
    before = time.monotonic()
    with held(path):
        assert time.monotonic() - before < 5


def test_a_reaper_that_comes_late_leaves_the_new_lock_alone(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = foreign(tmp_path / "a.lock", owner_with(TOKEN, gone()), 0)
    late, quick = PiLock(path), PiLock(path)
    judge = pilock._is_abandoned
    verdicts: list[bool] = []

    def delayed(*arguments: Any) -> bool:
        verdict = judge(*arguments)
        if not verdicts:
            # Between the look and the removal another one reaps, and takes the lock.
            verdicts.append(verdict)
            assert not quick.try_acquire()
            assert quick.try_acquire()
        return verdict

    with monkeypatch.context() as patch:
        patch.setattr(pilock, "_is_abandoned", delayed)
        assert not late.try_acquire()
    assert verdicts == [True]
    assert os.listdir(tmp_path) == ["a.lock"]
    quick.release()
    assert not path.exists()


def test_of_two_reapers_at_once_one_stands_back(tmp_path: Path, place: str) -> None:
    path = foreign(tmp_path / "a.lock", owner_with(TOKEN, gone()), 0)
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    assert pilock._is_alone(folder)
    assert not PiLock(path).try_acquire()
    assert path.exists()
    os.close(folder)
    assert not PiLock(path).try_acquire()
    assert not path.exists()


def test_where_folders_cannot_be_locked_reaping_goes_on(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    path = foreign(tmp_path / "a.lock", owner_with(TOKEN, gone()), 0)
    monkeypatch.setattr(pilock.fcntl, "flock", unsupported)
    assert not PiLock(path).try_acquire()
    assert not path.exists()


# --- held for a block


def test_held_makes_the_folder_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "entropy" / "a.lock"
    with held(path):
        assert (path / "owner").exists()
        with pytest.raises(PiLockBusy), held(path, attempts=2, pause=0):
            raise AssertionError("held twice")
    assert os.listdir(path.parent) == []
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_held_is_given_back_whatever_happens(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with pytest.raises(KeyboardInterrupt), held(path):
        raise KeyboardInterrupt
    assert not path.exists()


def test_held_gives_up_after_so_many_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = foreign(tmp_path / "a.lock", owner_of(os.getpid()), 0)
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with pytest.raises(PiLockBusy, match=r"timed out waiting for the lock a\.lock"), held(path):
        raise AssertionError("held twice")
    assert pauses == [0.005] * 49


def test_held_waits_for_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.lock"
    first = PiLock(path)
    assert first.try_acquire()
    monkeypatch.setattr(time, "sleep", lambda _: first.release())
    with held(path, attempts=2):
        assert path.exists()
