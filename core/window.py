"""Which sessions count: the newest few of the machine, with the current project's newest in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import Literal, TypeAlias

from msgspec import Struct

WINDOW = 8
COMPRESSED = b".zst"
_SEPARATORS = re.compile(r"[/\\:]")


class SessionFile(Struct, frozen=True, gc=False):
    """A session log as discovery saw it: not every file name is text, so names are bytes.

    `project` is the name of its folder.
    """

    path: bytes
    project: bytes
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0


def project_folder(cwd: str) -> str:
    """The folder name in which Pi keeps the sessions of an absolute working directory."""
    trimmed = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return f"--{_SEPARATORS.sub('-', trimmed)}--"


def newest_first(files: Iterable[SessionFile]) -> list[SessionFile]:
    """Files by modification time, newest first; ties by path."""
    return sorted(files, key=lambda file: (-file.mtime_ns, file.path))


def select(
    files: Iterable[SessionFile],
    limit: int = WINDOW,
    project: bytes | None = None,
    alone: bool = False,
) -> list[SessionFile]:
    """The newest files, newest first; ties by path.

    Where a project is given and its newest file is not among them, it takes the last place; with
    `alone` no other project's files count.
    """
    ranked = newest_first(file for file in files if not alone or file.project == project)
    chosen = ranked[: max(1, limit)]
    own = next((file for file in ranked if file.project == project), None)
    if own is not None and own not in chosen:
        chosen = newest_first([*chosen[:-1], own])
    return chosen


# Newer sessions took the place; the log has another name now; it was compressed, which nobody
# reads; or it is not there any more.
Departure: TypeAlias = Literal["outranked", "renamed", "compressed", "gone"]


def departure_of(file: SessionFile, listed: Iterable[SessionFile], others: Set[bytes]) -> Departure:
    """How a session left the window.

    Args:
        listed: all logs that there are now.
        others: what else there is, by path, of the names that a log may have been turned into.
    """
    for other in listed:
        if other.path == file.path:
            return "outranked"
        if file.inode and other.inode == file.inode:
            return "renamed"
    return "compressed" if file.path + COMPRESSED in others else "gone"
