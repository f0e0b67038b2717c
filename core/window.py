"""Which sessions count: the newest few of the machine, with the current project's newest in."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

WINDOW = 8
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
    files: Iterable[SessionFile], limit: int = WINDOW, project: bytes | None = None
) -> list[SessionFile]:
    """The newest files, newest first; ties by path.

    Where a project is given and its newest file is not among them, it takes the last place.
    """
    ranked = newest_first(files)
    chosen = ranked[: max(1, limit)]
    own = next((file for file in ranked if file.project == project), None)
    if own is not None and own not in chosen:
        chosen = newest_first([*chosen[:-1], own])
    return chosen
