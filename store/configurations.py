"""Configuration files of other programs, which belong to their user and may change at any moment.

They are written as everything is, whole or not at all, but stay what they were: a link stays a
link, a mode stays, and a file that changed since it was read is left alone.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct

from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Missing, read_bounded, shown

MAX_BYTES = 4 * 1024 * 1024
BACKUP_SUFFIX = ".fabricd-backup"
_SHARED = 0o644
_PRIVATE = 0o600


class ChangedMeanwhile(RuntimeError):
    """Raised by `write` and `remove`: somebody else wrote the file after it was read."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{shown(path)} was changed by somebody else meanwhile: try again")


class NotWritable(ValueError):
    """Raised by `require_writable`: the file is not for us to write. The message says why."""


class Found(Struct, frozen=True):
    """A file as it was read: its name, where a link leads, and its bytes; None: there is none."""

    path: Path
    target: Path
    raw: bytes | None


def read(path: Path) -> Found | Damaged:
    """A file of at most 4 MiB, or that there is none."""
    target = Path(os.path.realpath(path))
    match read_bounded(target, MAX_BYTES):
        case Missing():
            return Found(path, target, None)
        case Damaged(reason=reason):
            return Damaged(path, reason)
        case bytes() as raw:
            return Found(path, target, raw)


def require_writable(found: Found) -> None:
    """Check what the system may not: root could write anything, and a rename needs no permission.

    Raises:
        NotWritable: the file is read-only, or somebody else's.
    """
    if found.raw is None:
        return
    status = os.stat(found.target)
    if status.st_uid != os.geteuid():
        raise NotWritable(f"it belongs to uid {status.st_uid}, not to you")
    if not status.st_mode & stat.S_IWUSR:
        raise NotWritable("it is read-only")


def write(found: Found, data: bytes, shared: bool = False) -> None:
    """Replace the bytes of a file as it was read, or make it.

    Args:
        shared: whether a file that is made may be read by others.

    Raises:
        ChangedMeanwhile: it is no longer as it was read.
        OSError: it cannot be written.
    """
    if found.raw is not None:
        mode = stat.S_IMODE(os.stat(found.target).st_mode)
    elif shared:
        mode = _SHARED
        found.target.parent.mkdir(parents=True, exist_ok=True)
    else:
        mode = _PRIVATE
    write_atomic(found.target, data, mode, last=lambda: _require_unchanged(found))


def remove(found: Found) -> None:
    """Remove a file as it was read.

    Raises:
        ChangedMeanwhile: it is no longer as it was read.
        OSError: it cannot be removed.
    """
    _require_unchanged(found)
    found.target.unlink()


def _require_unchanged(found: Found) -> None:
    if read(found.path) != found:
        raise ChangedMeanwhile(found.path)


def backup_path(path: Path) -> Path:
    """Where the backup of a file lies."""
    return path.with_name(path.name + BACKUP_SUFFIX)
