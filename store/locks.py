"""Ownership by flock: held for life, never unlinked, believed over any number written inside."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from fabricd.store.atomic import private_directory
from fabricd.store.durable import shown


class AlreadyHeld(RuntimeError):
    """Raised by `hold`: another process owns what the lock stands for.

    `told` is what the holder wrote for others to find it by, if it got that far.
    """

    def __init__(self, path: Path, told: bytes) -> None:
        super().__init__(f"another process holds {shown(path)}")
        self.path = path
        self.told = told


class Ownership:
    """A held lock. Closing it releases the lock and leaves the file."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    def close(self) -> None:
        """Release."""
        self._lock.release(force=True)


@dataclass(frozen=True)
class Holder:
    """Who holds a lock: its pid where that is certain, and what it wrote to be found by."""

    pid: int | None
    told: bytes


_POLL = 0.01
# `holder` is in the way too, for the blink of an eye, unless it is interrupted just then.
_A_LOOK = 5.0


def hold(path: Path, tell: bytes = b"", seconds: float = 0.0) -> Ownership:
    """Take a lock, waiting for its holder no longer than so many seconds.

    The first line of the file is the holder's pid, for people only; the second is `tell`. Only
    the kernel's lock decides: whatever a dead holder left in the file means nothing.

    Raises:
        AlreadyHeld: somebody else holds it.
        OSError: the file cannot be made, or something else lies there.
    """
    private_directory(path.parent)
    _require_file(path)
    lock = FileLock(str(path), mode=0o600, thread_local=False)
    ends = time.monotonic() + seconds
    while not _taken(lock):
        late = time.monotonic() - ends
        # Somebody who only looks at the lock does not own it.
        if late > _A_LOOK or (late >= 0 and holder(path) is not None):
            raise AlreadyHeld(path, _told(path))
        time.sleep(_POLL)
    try:
        _write(path, f"{os.getpid()}\n".encode() + tell + b"\n")
    except BaseException:
        lock.release(force=True)
        raise
    return Ownership(lock)


def _require_file(path: Path) -> None:
    """A pipe can be locked too, but tells nobody who holds it."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file, move it away", str(path))


def _taken(lock: FileLock) -> bool:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True


def holder(path: Path) -> Holder | None:
    """Who holds a lock now; None where nobody does. Nothing is taken from anybody."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return Holder(_certain(_lines(path)[0], descriptor), _told(path))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None


def _certain(line: bytes, lock: int) -> int | None:
    """The pid in a lock file, unless a dead holder left it or it counts elsewhere.

    A new holder writes a moment after it took the lock, and one in another pid namespace writes a
    number that means somebody else here. Either way that process has not opened the file.
    """
    if not line.isdigit() or len(line) > 9 or int(line) < 2:
        return None
    pid = int(line)
    if not os.path.isdir("/proc/self/fd"):
        return pid
    wanted = os.fstat(lock)
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.path.samestat(os.stat(f"/proc/{pid}/fd/{name}"), wanted):
                    return pid
    return None


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _told(path: Path) -> bytes:
    lines = _lines(path)
    return lines[1] if len(lines) > 2 else b""


def _lines(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            return file.read(8192).split(b"\n")
    except OSError:
        return [b""]
