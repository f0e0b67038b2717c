"""The gateway's logs: one file a run, private, kept for a month or until they are too many."""

from __future__ import annotations

import contextlib
import os
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
    """The log of one run. Older ones go when it begins, and as it grows."""

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
        self.path = folder / f"{self.ident}{_SUFFIX}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(self.path, flags, 0o600)
        self._size = 0
        self._prune_at = 0

    def append(self, lines: bytes) -> None:
        """Append whole lines.

        Raises:
            OSError: they could not be written; a part of them is taken back.
        """
        if self._size >= self._prune_at:
            self._prune_at = self._size + _EVERY
            prune(self._root, time.time(), self.path)
        if self._size + len(lines) > KEEP_BYTES:
            raise LogIsFull("the log of this run has reached 256 MiB")
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(lines)


def prune(root: Path, now: float, keep: Path | None = None) -> int:
    """Delete logs older than 30 days, then the oldest above 256 MiB; gives how many.

    Args:
        now: seconds since the epoch.
        keep: a log that stays, whatever its age.
    """
    deleted, total = 0, 0
    for changed, size, path in sorted(_logs(root), reverse=True):
        total += size
        if path == keep or (now - changed <= KEEP_SECONDS and total <= KEEP_BYTES):
            continue
        with contextlib.suppress(OSError):
            os.unlink(path)
            deleted += 1
            total -= size
            # A server that is wrapped no more leaves no folder.
            os.rmdir(path.parent)
    return deleted


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
