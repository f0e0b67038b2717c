"""A log file of bounded size that never raises: what cannot be written is dropped and counted."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from fabricd.daemon.exits import BAD_CONFIG, FAILED, CannotStart
from fabricd.store.atomic import private_directory
from fabricd.store.durable import shown

CAP = 8 * 1024 * 1024
_STANDARD = (1, 2)


def older(path: Path) -> Path:
    """Where the file goes when it is full. What was there before is gone then."""
    return path.with_name(path.name + ".1")


def not_opened(path: Path, error: OSError) -> CannotStart:
    """What to say of a log file that cannot be opened."""
    name = f"the log file {shown(path)}"
    match error:
        case IsADirectoryError():
            return CannotStart(f"{name} is a directory: name a file in log.file", BAD_CONFIG)
        case FileExistsError() | NotADirectoryError():
            said = f"{name} lies below a file, not a directory: name another in log.file"
            return CannotStart(said, BAD_CONFIG)
        case _:
            return CannotStart(f"{name} cannot be opened: {error.strerror or error}", FAILED)


class RotatingFile:
    """Lines appended to a file, which moves aside before it grows beyond `cap`.

    Each line is one write, taken back where it did not fit: on a full disk the file ends with a
    whole line. The file may be moved, removed or cut under it: it goes on at the path.
    """

    # Of all such files since the process began.
    lost: ClassVar[int] = 0

    def __init__(self, path: Path, now: Callable[[], str], cap: int = CAP) -> None:
        """`now` gives the time stamp for the one line that this class writes itself.

        Raises:
            OSError: the file cannot be opened.
        """
        self._path = path
        self._now = now
        self._cap = cap
        self._descriptor = _open(path)
        self._begun = ""
        self.dropped = 0

    def write(self, text: str) -> int:
        """Take text; whole lines of it are written or dropped."""
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self._put(line)
        return len(text)

    def flush(self) -> None:
        """Nothing is ever held back but the beginning of a line."""

    def isatty(self) -> bool:
        """Nobody reads along."""
        return False

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _put(self, line: str) -> None:
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        if self.dropped:
            data = self._loss() + data
        try:
            self._make_room(len(data))
            _append(self._descriptor, data)
        except OSError:
            self.dropped += 1
            RotatingFile.lost += 1
        else:
            self.dropped = 0

    def _loss(self) -> bytes:
        event = {
            "event": "log_lines_lost",
            "count": self.dropped,
            "level": "warning",
            "timestamp": self._now(),
        }
        return json.dumps(event).encode() + b"\n"

    def _make_room(self, size: int) -> None:
        found = os.fstat(self._descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        if not self._is_at_path(found):
            self._switch(_open(self._path))
            found = os.fstat(self._descriptor)
        if found.st_size and found.st_size + size > self._cap:
            try:
                self._rotate()
            except OSError:
                # Better a file twice as long than nothing; but not without an end.
                if found.st_size + size > 2 * self._cap:
                    raise

    def _is_at_path(self, found: os.stat_result) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), found)
        except FileNotFoundError:
            return False

    def _rotate(self) -> None:
        # The next file is there before this one moves: where there is no room for it, all stays.
        following = self._path.with_name(f".{self._path.name}.next")
        descriptor = _open(following)
        try:
            os.replace(self._path, older(self._path))
            os.replace(following, self._path)
        except BaseException:
            os.close(descriptor)
            raise
        self._switch(descriptor)

    def _switch(self, descriptor: int) -> None:
        """Go on with another file, and let our standard streams follow if they led to this one."""
        before = os.fstat(self._descriptor)
        for number in _STANDARD:
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(number), before):
                    os.dup2(descriptor, number)
        os.close(self._descriptor)
        self._descriptor = descriptor


def _open(path: Path) -> int:
    private_directory(path.parent)
    # O_NONBLOCK: a pipe that nobody reads must not hold the daemon up.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid():
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _append(descriptor: int, data: bytes) -> None:
    before = os.fstat(descriptor).st_size
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    except OSError:
        with contextlib.suppress(OSError):
            # Unless somebody else has written behind it.
            if written and os.fstat(descriptor).st_size == before + written:
                os.ftruncate(descriptor, before)
        raise
