"""Pi's own lock: a directory with an `owner` file. Taken so that a running Pi cannot interleave."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from fabricd.store.atomic import private_directory

_STALE_SECONDS = 30.0
_BOOT = "/proc/sys/kernel/random/boot_id"
_PIDS = "/proc/self/ns/pid"
_WHOLE = re.compile(rb"[^\n]+\n[1-9][0-9]*\n[0-9]+\n")


class PiLockBusy(RuntimeError):
    """Raised by whoever gave up waiting: somebody holds the lock directory."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"timed out waiting for the lock {path.name}")
        self.path = path


@cache
def _ours() -> str | None:
    """How tokens of this boot and pid namespace begin; None where those are not to be known.

    Only among these does a pid that does not exist prove that the owner is gone.
    """
    try:
        with open(_BOOT, "rb") as file:
            boot = file.read(64)
        place = boot + os.fsencode(os.readlink(_PIDS))
    except OSError:
        return None
    return f"fabricd-{hashlib.sha256(place).hexdigest()[:12]}-"


class PiLock:
    """One attempt at a time: the caller decides how often and how long to try."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._token = (_ours() or "fabricd-") + secrets.token_hex(16)
        self._held = False

    def try_acquire(self, now: float | None = None) -> bool:
        """Take the lock if it is free or provably abandoned; False where it is busy.

        Raises:
            OSError: the lock directory cannot be made at all.
        """
        try:
            self.path.mkdir(mode=0o700)
        except FileExistsError:
            self._reap(time.time() if now is None else now)
            return False
        owner = f"{self._token}\n{os.getpid()}\n{int(time.time() * 1000)}\n"
        try:
            (self.path / "owner").write_text(owner)
        except OSError:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        self._held = True
        return True

    def release(self) -> None:
        """Give the lock back, if it is still ours."""
        if not self._held:
            return
        self._held = False
        with contextlib.suppress(OSError):
            lines = (self.path / "owner").read_bytes().split(b"\n")
            if lines[0] == self._token.encode():
                shutil.rmtree(self.path)

    def _reap(self, now: float) -> None:
        if not _is_abandoned(self.path, now):
            return
        # One reaper at a time, and it looks again: a second one that judged the same dead lock
        # would otherwise move the live lock that took its place.
        with contextlib.suppress(OSError):
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                if _is_alone(folder) and _is_abandoned(self.path, now):
                    self._remove(now)
            finally:
                os.close(folder)

    def _remove(self, now: float) -> None:
        claimed = self.path.with_name(f"{self.path.name}.{self._token}.reaped")
        # Renaming first: of several reapers one wins (Pi is one too), and what turns out to be
        # alive is put back.
        with contextlib.suppress(OSError):
            os.rename(self.path, claimed)
            if _is_abandoned(claimed, now):
                shutil.rmtree(claimed, ignore_errors=True)
            else:
                os.rename(claimed, self.path)


@contextmanager
def held(path: Path, attempts: int = 50, pause: float = 0.005) -> Generator[None, None, None]:
    """Hold the lock for a block of a command. Its folder is made where it is missing.

    Raises:
        PiLockBusy: it was not to be had in so many attempts, with pauses of so many seconds.
        OSError: the lock directory cannot be made at all.
    """
    private_directory(path.parent)
    lock = PiLock(path)
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause)
        if lock.try_acquire():
            break
    else:
        raise PiLockBusy(path)
    try:
        yield
    finally:
        lock.release()


def _is_abandoned(path: Path, now: float) -> bool:
    """Whether the owner of a lock is gone: at once for one of ours, after 30 s for any other.

    Without a readable owner, age decides.
    """
    try:
        age = now - path.stat().st_mtime
    except OSError:
        return False
    if age <= _STALE_SECONDS and not _is_ours(path):
        return False
    try:
        pid = int((path / "owner").read_bytes().split(b"\n")[1])
        if pid <= 0:
            return True
        os.kill(pid, 0)
    except (ProcessLookupError, FileNotFoundError, ValueError, IndexError, OverflowError):
        return True
    except OSError:
        # Not permitted to ask, so the process exists; or not to be known.
        return False
    return False


def _is_ours(path: Path) -> bool:
    """Whether a fabricd of this boot and pid namespace made the lock and wrote all of its owner."""
    ours = _ours()
    if ours is None:
        return False
    try:
        owner = (path / "owner").read_bytes()
    except OSError:
        return False
    return owner.startswith(ours.encode()) and _WHOLE.match(owner) is not None


def _is_alone(folder: int) -> bool:
    """Whether no other fabricd reaps in this open folder, until it is closed."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # No such locks on this file system: the look after the rename has to do.
        return True
    return True
