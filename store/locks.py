"""Ownership by flock: held for life, never unlinked, believed over any number written inside."""

from __future__ import annotations

import os
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


def hold(path: Path, tell: bytes = b"") -> Ownership:
    """Take a lock without waiting.

    The first line of the file is the holder's pid, for people only; the second is `tell`. Only
    the kernel's lock decides: whatever a dead holder left in the file means nothing.

    Raises:
        AlreadyHeld: somebody else holds it.
        OSError: the file cannot be made.
    """
    private_directory(path.parent)
    lock = FileLock(str(path), mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise AlreadyHeld(path, _told(path)) from None
    try:
        _write(path, f"{os.getpid()}\n".encode() + tell + b"\n")
    except BaseException:
        lock.release(force=True)
        raise
    return Ownership(lock)


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _told(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            lines = file.read(8192).split(b"\n")
    except OSError:
        return b""
    return lines[1] if len(lines) > 2 else b""
