"""Reading a file of a tree: a regular one below its root, not through a link, not a long one."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, TypeAlias

from fabricd.core.context.model import Skip
from fabricd.store.context.failures import IndexFailed

LARGEST = 1024 * 1024
LONGEST_LINE = 2000
BINARY = 8192
# No file system that is in use stamps coarser; what is younger may change without a sign.
RACY_NS = 2_000_000_000

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_FILE = _FLAGS | os.O_NONBLOCK
_DIRECTORY = _FLAGS | os.O_DIRECTORY
# To look at what is below it takes no leave to list it.
_TOP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
# Of what there is too little just now: nothing follows for the file.
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Stamp(NamedTuple):
    """What changes when a file is written, replaced or touched."""

    size: int
    mtime: int
    ctime: int
    inode: int


Stamped: TypeAlias = tuple[Stamp, bool]


class Read(NamedTuple):
    """A file's bytes, or why it has none.

    Attributes:
        is_racy: it may change while its stamp stays.
        is_linked: it has other names.
    """

    data: bytes
    skip: Skip | None
    stamp: Stamp
    is_racy: bool
    is_linked: bool = False


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file."""
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def is_racy(stamp: Stamp, now: int) -> bool:
    """Whether a file that was read at `now` (nanoseconds) could change and keep its stamp."""
    return is_young(stamp.mtime, stamp.ctime, now)


def is_young(mtime: int, ctime: int, now: int) -> bool:
    """Whether a change just after `now` (nanoseconds) could leave these times as they are.

    A program may set `mtime` far ahead, and it stays there; nobody sets `ctime`.
    """
    return ctime > now - RACY_NS or now - RACY_NS < mtime < now + RACY_NS


@contextmanager
def looking_below(root: str) -> Generator[Callable[[str], os.stat_result], None, None]:
    """An `lstat` by paths below a root: a third faster than by whole paths, where it can be opened.

    Raises:
        OSError: by what is given, as `lstat` does.
    """
    try:
        top = os.open(root, _TOP)
    except OSError:
        yield lambda path: os.lstat(f"{root}/{path}")
        return
    try:
        yield partial(os.stat, dir_fd=top, follow_symlinks=False)
    finally:
        os.close(top)


def require_plenty(error: OSError) -> None:
    """An error of the machine must not be taken for one of the file.

    Raises:
        IndexFailed: there are no descriptors or no memory left.
    """
    if error.errno in _SCARCE:
        raise IndexFailed(f"the tree cannot be read now: {error.strerror}") from error


def stamp_below(root: str, path: str) -> Read | None:
    """A file that is not to be read; None where there is none."""
    now = time.time_ns()
    try:
        stamp = stamp_of(os.lstat(os.path.join(root, path)))
    except OSError:
        return None
    return Read(b"", "policy", stamp, is_racy(stamp, now))


def read_file(root: str, path: str) -> Read | None:
    """Read a file; None where there is none (any more).

    Nothing on the way down may be a link: what looks like a part of the tree could lie outside.

    Raises:
        IndexFailed: for want of descriptors or memory nobody knows.
    """
    now = time.time_ns()
    try:
        descriptor = open_below(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        require_plenty(error)
        return _unopened(root, path, now)
    try:
        found = os.fstat(descriptor)
        stamp = stamp_of(found)
        if not stat.S_ISREG(found.st_mode):
            return Read(b"", "policy", stamp, True)
        if found.st_size > LARGEST:
            return Read(b"", "oversized", stamp, is_racy(stamp, now))
        data = _all(descriptor)
        later = stamp_of(os.fstat(descriptor))
    except OSError:
        return Read(b"", "unreadable", Stamp(0, 0, 0, 0), True)
    finally:
        os.close(descriptor)
    moved = later != stamp or len(data) != stamp.size
    skip: Skip | None = "oversized" if len(data) > LARGEST else None
    linked = found.st_nlink > 1
    return Read(b"" if skip else data, skip, later, moved or is_racy(later, now), linked)


def open_below(root: str, path: str) -> int:
    """Open a file, step by step, so that no link leads elsewhere.

    Raises:
        OSError.
    """
    *parents, name = path.split("/")
    directory = os.open(root, _DIRECTORY)
    try:
        for parent in parents:
            below = os.open(parent, _DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory = below
        return os.open(name, _FILE, dir_fd=directory)
    finally:
        os.close(directory)


def _all(descriptor: int) -> bytes:
    parts: list[bytes] = []
    left = LARGEST + 1
    while left > 0 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _unopened(root: str, path: str, now: int) -> Read | None:
    """A link, a socket, or a file that may not be read."""
    try:
        found = os.lstat(os.path.join(root, path))
    except OSError:
        return None
    stamp = stamp_of(found)
    skip: Skip = "unreadable" if stat.S_ISREG(found.st_mode) else "policy"
    return Read(b"", skip, stamp, is_racy(stamp, now))


def is_forbidden(path: str) -> bool:
    """Whether a file is left alone for its name, or that of a directory above it.

    Such names stand for keys and passwords.
    """
    return any(
        name.startswith((".env", "id_")) or name.endswith((".pem", ".key"))
        for name in path.lower().split("/")
    )


def is_presentable(path: str) -> bool:
    """Whether a path can stand in one line of text."""
    return path.isprintable()


def told(name: str) -> str:
    """A name as it can be told: names on a disk need not be UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def is_text(data: bytes) -> bool:
    """Whether a file's bytes are text that people write: no NUL early on, no endless line."""
    if b"\0" in data[:BINARY]:
        return False
    longest = max(map(len, data.split(b"\n")))
    if longest <= LONGEST_LINE:
        return True
    lines = data.decode("utf-8", "replace").split("\n")
    return max(map(len, lines)) <= LONGEST_LINE
