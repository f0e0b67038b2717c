"""The gateway's logs: one file a run, private, kept for a month or until they are too many."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from fabricd.store.atomic import private_directory
from fabricd.store.sources import GATEWAY

KEEP_SECONDS = 30 * 86400
KEEP_BYTES = 256 * 1024 * 1024
_SUFFIX = ".jsonl"
_EVERY = 16 * 1024 * 1024


class LogIsFull(OSError):
    """Raised by `GatewayLog.append`: this run alone has filled what all may take."""


def folder_of(state: str | Path) -> Path:
    """Where the logs of all wrapped servers lie."""
    return Path(state) / GATEWAY


class GatewayLog:
    """The log of one run. Older ones go when it begins, and as it grows.

    It is locked while it is open: nobody deletes a log that is still written.
    """

    def __init__(self, state: str, name: str, started: int) -> None:
        """Make the file.

        Args:
            started: milliseconds since the epoch.

        Raises:
            OSError: it cannot be made.
        """
        self._root = folder_of(state)
        begun = datetime.fromtimestamp(started / 1000, UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
        self.ident = f"{begun}Z-{os.getpid()}"
        folder = self._root / name
        private_directory(folder)
        for each in (self._root, folder):
            _close_to_others(each)
        self.path = folder / f"{self.ident}{_SUFFIX}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(self.path, flags, 0o600)
        with contextlib.suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self._prune_at = 0

    @property
    def is_gone(self) -> bool:
        """Whether somebody has deleted the file."""
        try:
            return os.fstat(self._descriptor).st_nlink == 0
        except OSError:
            # On another machine, which has deleted it.
            return True

    def close(self) -> None:
        """Let the file go."""
        os.close(self._descriptor)

    def append(self, lines: bytes) -> None:
        """Append whole lines.

        Raises:
            OSError: they could not be written; a part of them is taken back.
        """
        size = os.fstat(self._descriptor).st_size
        if size >= self._prune_at:
            self._prune_at = size + _EVERY
            prune(self._root, time.time(), self.path)
        if size + len(lines) > KEEP_BYTES:
            raise LogIsFull("the log of this run has reached 256 MiB")
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise


def _close_to_others(folder: Path) -> None:
    # Ours alone: what somebody has put in its place as a link is theirs.
    with contextlib.suppress(OSError):
        found = os.stat(folder, follow_symlinks=False)
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        if is_ours and found.st_mode & 0o077:
            os.chmod(folder, 0o700)


def prune(root: Path, now: float, keep: Path | None = None) -> int:
    """Delete logs older than 30 days, and all that are older than 256 MiB of newer ones.

    Gives how many. One that a run still writes stays.

    Args:
        now: seconds since the epoch.
        keep: a log that stays, whatever its age.
    """
    deleted, total = 0, 0
    for changed, size, path in sorted(_logs(root), reverse=True):
        # What was deleted counts too: a smaller one behind it is older still.
        total += size
        if path == keep or (now - changed <= KEEP_SECONDS and total <= KEEP_BYTES):
            continue
        with contextlib.suppress(OSError):
            if _is_written(path):
                continue
            os.unlink(path)
            deleted += 1
            # A server that is wrapped no more leaves no folder.
            os.rmdir(path.parent)
    return deleted


def _is_written(path: Path) -> bool:
    """Whether a run still holds a log.

    Raises:
        OSError: it cannot be opened.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # Of a file system without locks nobody can tell.
        return False
    finally:
        os.close(descriptor)
    return False


def _logs(root: Path) -> Iterator[tuple[float, int, Path]]:
    for folder in _entries(root):
        if folder.is_dir(follow_symlinks=False):
            for entry in _entries(Path(folder.path)):
                if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(OSError):
                        found = entry.stat(follow_symlinks=False)
                        yield found.st_mtime, found.st_size, Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def newest_first(root: Path) -> list[Path]:
    """All logs, the one that was written to last first."""
    return [path for _, _, path in sorted(_logs(root), reverse=True)]
