"""Reading the log file: its last lines, and what comes after them, whatever happens to the file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from fabricd.daemon.telemetry.rotating import older

_BLOCK = 1 << 16
# Nobody reads more than this backwards for lines that never end.
_MOST = 32 * 1024 * 1024


class NoLog(RuntimeError):
    """Raised by `LogReader`: there is no log to read."""


class LogReader:
    """A log file by lines, without their ends."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            NoLog: it is missing, unreadable or no regular file.
        """
        self._path = path
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            raise NoLog("it does not exist") from None
        except OSError as error:
            raise NoLog(error.strerror or str(error)) from None
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            os.close(self._file)
            raise NoLog("it is not a regular file")
        self._position = 0
        self._begun = b""

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def last(self, count: int) -> list[bytes]:
        """The last whole lines, also of the file before this one; `more` goes on behind them."""
        lines, self._begun, self._position = _from_the_end(self._file, count)
        if len(lines) < count and (before := _opened(older(self._path))) is not None:
            try:
                lines = _from_the_end(before, count - len(lines))[0] + lines
            finally:
                os.close(before)
        return lines

    def begun(self) -> bytes:
        """A last line that is not whole yet."""
        return self._begun

    def more(self) -> list[bytes]:
        """The whole lines since the last call. A file that was moved aside is read to its end."""
        found = _identity(self._path)
        lines = self._read()
        if found is None or found == _identity(self._file):
            return lines
        following = _opened(self._path)
        if following is None:
            return lines
        if self._begun:
            lines.append(self._begun)
        os.close(self._file)
        self._file, self._position, self._begun = following, 0, b""
        return lines + self._read()

    def _read(self) -> list[bytes]:
        if os.fstat(self._file).st_size < self._position:
            # Cut under us: what stands there now is new.
            self._position, self._begun = 0, b""
        lines: list[bytes] = []
        while data := os.pread(self._file, _BLOCK, self._position):
            self._position += len(data)
            *whole, self._begun = (self._begun + data).split(b"\n")
            lines += whole
        return lines


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None


def _identity(file: Path | int) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _from_the_end(file: int, count: int) -> tuple[list[bytes], bytes, int]:
    """The last whole lines, what begins behind them, and the size of the file."""
    size = os.fstat(file).st_size
    start, data = size, b""
    while start > 0 and data.count(b"\n") <= count and size - start < _MOST:
        start = max(0, start - _BLOCK)
        data = os.pread(file, size - start, start)
    *whole, begun = data.split(b"\n")
    if start > 0:
        # Its beginning may lie further ahead.
        whole = whole[1:]
    return whole[max(0, len(whole) - count) :], begun, size
