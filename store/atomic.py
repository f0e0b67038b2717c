"""The one way a file is written: sibling temp, fsync, rename, fsync of the directory."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

_SUFFIX = ".fabricd-tmp"


def private_directory(path: Path) -> None:
    """Make a directory and its missing parents, private to the user; an existing one stays."""
    if path.is_dir():
        return
    if path.parent != path:
        private_directory(path.parent)
    # Somebody else may have made it meanwhile; a file in its place is found out by its user.
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)


def leftover(directory: Path, name: str) -> Path:
    """Where a file may lie that nobody misses: `remove_leftovers` deletes it."""
    return directory / f".{name}{_SUFFIX}"


def write_atomic(
    path: Path, data: bytes, mode: int = 0o600, last: Callable[[], None] | None = None
) -> None:
    """Replace `path` by `data`: at any instant the file holds old or new bytes.

    Args:
        mode: of the new file, whatever that of the old one or the umask.
        last: called when nothing but the replacing is left to do; if it raises, nothing happens.

    Raises:
        OSError: no temporary file is left behind, and nothing was replaced; where only the
            directory could not be synchronised, the new bytes are in place.
    """
    private_directory(path.parent)
    temp = leftover(path.parent, f"{path.name}.{os.getpid()}.{secrets.token_hex(6)}")
    try:
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            # Not closed by the stream: it may end before there is one.
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(data)
            if mode != 0o600:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if last is not None:
            last()
        os.replace(temp, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temp.unlink()
        raise
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(directory: Path) -> int:
    """Delete temporary files that a killed writer left; gives their number.

    Only the owner of the directory may call this: a live writer's file looks the same.
    """
    removed = 0
    with contextlib.suppress(OSError):
        for path in directory.glob(f".*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                path.unlink()
                removed += 1
    return removed
