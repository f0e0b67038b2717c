from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fabricd.store.pilock import PiLock, PiLockBusy

OLD = 31.0


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
    assert (len(token), int(pid)) == (32, os.getpid())
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
