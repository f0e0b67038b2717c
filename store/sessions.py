"""Session logs on disk: discovery, and reading one from where it was left."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fabricd.core.resume import FileStat
from fabricd.core.sessions.header import MAX_HEADER
from fabricd.core.sessions.records import BLOCK, MAX_RECORD
from fabricd.core.window import SessionFile
from fabricd.store.durable import shown

_SUFFIX = b".jsonl"


@dataclass(frozen=True)
class Skipped:
    """A path that could not be read, and why, in the system's words."""

    path: str
    reason: str


@dataclass(frozen=True)
class Listing:
    """What discovery found. Paths are bytes: not every file name is text.

    `unlisted` are folders that could not be listed: what lies in them may be there still.
    """

    files: tuple[SessionFile, ...]
    skipped: tuple[Skipped, ...]
    unlisted: tuple[bytes, ...] = ()


def _entries(
    directory: bytes, skipped: list[Skipped], unlisted: list[bytes]
) -> Iterator[os.DirEntry[bytes]]:
    try:
        with os.scandir(directory) as found:
            yield from found
    except OSError as error:
        skipped.append(Skipped(shown(directory), error.strerror or str(error)))
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            unlisted.append(directory)


def discover(root: Path, include_root: bool = False) -> Listing:
    """Every `*.jsonl` directly inside each folder of `root`; with `include_root` also in itself.

    A missing root is an empty listing; a folder that cannot be read is skipped and named.
    """
    files: list[SessionFile] = []
    skipped: list[Skipped] = []
    unlisted: list[bytes] = []
    top = os.fsencode(root)
    if not _may_be_there(top):
        return Listing((), ())
    for entry in _entries(top, skipped, unlisted):
        if _is_directory(entry):
            for inner in _entries(entry.path, skipped, unlisted):
                if inner.name.endswith(_SUFFIX):
                    _add(inner, entry.name, files, skipped)
        elif include_root and entry.name.endswith(_SUFFIX):
            _add(entry, b"", files, skipped)
    listed = tuple(sorted(files, key=lambda file: file.path))
    return Listing(listed, tuple(skipped), tuple(unlisted))


def _may_be_there(path: bytes) -> bool:
    """Only these two errors say that nothing is there; a dead mount says something else."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _is_directory(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _add(
    entry: os.DirEntry[bytes],
    project: bytes,
    files: list[SessionFile],
    skipped: list[Skipped],
) -> None:
    try:
        if not entry.is_file():
            return
        found = entry.stat()
    except OSError as error:
        skipped.append(Skipped(shown(entry.path), error.strerror or str(error)))
        return
    files.append(
        SessionFile(
            entry.path,
            project,
            found.st_size,
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_ino,
        )
    )


def stat_of(descriptor: int) -> FileStat:
    """What identifies an open file."""
    found = os.fstat(descriptor)
    birth = getattr(found, "st_birthtime", 0.0)
    return FileStat(
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        int(birth * 1e9),
    )


class OpenLog:
    """A session log held open for one pass, so that every byte of the pass is of one file."""

    def __init__(self, path: bytes) -> None:
        """Open for reading.

        Raises:
            OSError: there is no such file, or it may not be read.
        """
        # O_NONBLOCK: opening a fifo must not wait for its writer.
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)

    def __enter__(self) -> OpenLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def stat(self) -> FileStat:
        """The file as it is now."""
        return stat_of(self._descriptor)

    def read(self, offset: int, size: int = BLOCK) -> bytes:
        """Up to `size` bytes at an offset; empty at the end."""
        return os.pread(self._descriptor, size, offset)


def read_spans(path: bytes, spans: Iterable[tuple[int, int]]) -> list[bytes]:
    """The records at these (offset, length); those of a vanished or shrunk file are left out."""
    lines: list[bytes] = []
    try:
        with OpenLog(path) as log:
            for offset, length in spans:
                data = log.read(offset, length) if length <= MAX_RECORD else b""
                if len(data) == length:
                    lines.append(data)
    except OSError:
        return lines
    return lines


def first_line(path: bytes, limit: int = MAX_HEADER + 1) -> bytes:
    """The first line of a log, without its line feed, as far as `limit` bytes go.

    Raises:
        OSError: the log cannot be read.
    """
    with OpenLog(path) as log:
        return log.read(0, limit).partition(b"\n")[0]
