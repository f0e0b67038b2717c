"""The directories of a tree as they were when it was listed, and whether a listing would differ.

Files come and go only by a change of their directory. A directory whose entries are the same after
all (a file was replaced as editors do) needs no new listing; nor do ignore rules whose text is.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Collection, Iterable
from hashlib import blake2b
from typing import Literal, NamedTuple

from fabricd.core.steps import Steps
from fabricd.store.context.reading import is_young, looking_below, require_plenty

_UNREADABLE = -1
_LARGEST_RULES = 64 * 1024 * 1024
# So many directories between two yields.
_STEP = 64
_Mark = tuple[int, int, int, bool]


class Directory(NamedTuple):
    """One directory: its stamp before it was read, and a digest of its entries."""

    mark: _Mark
    entries: int

    @property
    def is_unreadable(self) -> bool:
        """Whether it may not be read."""
        return self.entries == _UNREADABLE


class Walked(NamedTuple):
    """What a walk found, by path below the root (the root is the empty path).

    Attributes:
        directories: those that were entered, and the leaves.
        files: all files in them, links among them, but no pipes and the like.
        nested: directories that are leaves.
        unreadable: directories that could not be read.
        pipes: what is neither file nor directory and bears the name of ignore rules.
    """

    directories: dict[str, Directory]
    files: list[str]
    nested: list[str]
    unreadable: list[str]
    pipes: list[str]


class Entry(NamedTuple):
    """One entry of a directory."""

    name: str
    kind: Literal["directory", "file", "other"]


def entries_of(directory: str) -> tuple[list[Entry], Directory] | None:
    """The entries of a directory, unsorted, none if it may not be read; None where it is none.

    Raises:
        IndexFailed: for want of descriptors or memory nobody knows.
    """
    now = time.time_ns()
    try:
        found = os.lstat(directory)
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    try:
        with os.scandir(directory) as listing:
            entries = [Entry(entry.name, _kind(entry)) for entry in listing]
    except PermissionError:
        return [], Directory(_mark(found, now), _UNREADABLE)
    except OSError as error:
        require_plenty(error)
        return None
    return entries, Directory(_mark(found, now), hash(frozenset(entries)))


def _kind(entry: os.DirEntry[str]) -> Literal["directory", "file", "other"]:
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) or entry.is_symlink() else "other"


def _mark(found: os.stat_result, now: int) -> _Mark:
    mtime, ctime = found.st_mtime_ns, found.st_ctime_ns
    return mtime, ctime, found.st_ino, is_young(mtime, ctime, now)


def walk(
    root: str, skipped: Collection[str], leaves: Collection[str], needed: Collection[str]
) -> Steps[Walked]:
    """Walk a tree without following links, and without entering `.git`.

    Args:
        skipped, leaves: directories that are not entered, unless they are `needed`.
    """
    walked = Walked({}, [], [], [], [])
    waiting = [""]
    while waiting:
        place = waiting.pop()
        found = entries_of(f"{root}/{place}")
        if found is None:
            continue
        entries, directory = found
        walked.directories[place] = directory
        if directory.is_unreadable:
            walked.unreadable.append(place)
        prefix = f"{place}/" if place else ""
        for name, kind in entries:
            path = prefix + name
            if kind == "file":
                walked.files.append(path)
            elif kind == "other" or name == ".git":
                continue
            elif path in needed or (path not in skipped and path not in leaves):
                waiting.append(path)
            elif path in leaves:
                walked.nested.append(path)
                # It is watched, in case it becomes an ordinary directory.
                if (inside := entries_of(f"{root}/{path}")) is not None:
                    walked.directories[path] = inside[1]
        if len(walked.directories) % _STEP == 0:
            yield
    return walked


def are_same(root: str, directories: dict[str, Directory]) -> bool:
    """Whether all directories have the entries they had. Stamps are brought up to date.

    A tree without any was not there: whether it is now, a listing tells.

    Raises:
        IndexFailed: for want of descriptors or memory nobody knows.
    """
    if not directories:
        return False
    with looking_below(root) as look:
        for place, known in directories.items():
            try:
                found = look(place or ".")
            except OSError:
                return False
            mark = known.mark
            if (
                mark[3]
                or found.st_mtime_ns != mark[0]
                or found.st_ctime_ns != mark[1]
                or found.st_ino != mark[2]
            ):
                now = entries_of(f"{root}/{place}")
                if now is None or now[1].entries != known.entries:
                    return False
                directories[place] = now[1]
        return True


class Rules:
    """Files whose content decides what a listing holds: ignore rules, git's index and settings."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._known: dict[str, tuple[_Mark, bytes] | None] = {}
        self._listed = 0
        for path in paths:
            self._known[path] = _content(path)

    def add(self, paths: Iterable[str], listed: int) -> bool:
        """Rules that were found only after they had their effect, at `listed` (nanoseconds).

        Gives whether they are surely those that had it.
        """
        are_old = True
        for path in paths:
            if path not in self._known:
                found = self._known[path] = _content(path)
                are_old &= found is None or not is_young(found[0][0], found[0][1], listed)
        return are_old

    def are_same(self) -> bool:
        """Whether all have the content they had."""
        for path, known in self._known.items():
            try:
                found = os.stat(path)
            except OSError:
                if known is not None:
                    return False
                continue
            if known is None:
                return False
            mark = known[0]
            if mark[3] or mark[:3] != (found.st_mtime_ns, found.st_ctime_ns, found.st_ino):
                now = _content(path)
                if now is None or now[1] != known[1]:
                    return False
                self._known[path] = now
        return True


def _content(path: str) -> tuple[_Mark, bytes] | None:
    now = time.time_ns()
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return _mark(found, now), b""
            digest = blake2b(digest_size=16)
            left = _LARGEST_RULES
            while left > 0 and (part := os.read(descriptor, min(left, 1 << 20))):
                digest.update(part)
                left -= len(part)
            return _mark(found, now), digest.digest()
        finally:
            os.close(descriptor)
    return None
