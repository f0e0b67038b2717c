"""What commands about artifacts share: the live surface, and a file written where it was asked."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from fabricd.daemon.cli.inputs import surface_at
from fabricd.daemon.cli.talk import FAILED, Complaint, env
from fabricd.store.durable import Damaged, Loaded, Missing, shown

if TYPE_CHECKING:
    from fabricd.core.model import Surface

# Where a shell keeps what it redirected: even a file that lies behind one of them is added to.
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


def live_surface(named: Path | None) -> Surface:
    """The surface of a file that was named, else the one that the home holds.

    Raises:
        Complaint: there is none, or it is unusable.
    """
    if named is not None:
        return surface_at(named)
    from fabricd.store import surfaces
    from fabricd.store.homes import find

    path = find(env()).surface
    match surfaces.load(path):
        case Loaded(value=surface):
            return surface
        case Missing():
            raise Complaint(
                f"there is no surface: {shown(path)} does not exist; let the agent export it, or "
                "name a file with --surface",
                FAILED,
            )
        case Damaged(reason=reason):
            raise Complaint(
                f"the surface {shown(path)} is damaged: {reason}; let the agent export it again, "
                "or name a file with --surface"
            )


def require_harmless(target: Path, *allowed: Path) -> None:
    """Refuse a path where a file would be taken for one that is in force, through links too.

    Args:
        allowed: files of the home that may be written nevertheless.

    Raises:
        Complaint: it is one of the home's durable files, or lies in a folder of theirs.
    """
    from fabricd.store.homes import find

    homes = find(env())
    ours = [homes.compiled, homes.artifact, homes.surface, homes.pool, homes.pool_ledger]
    ours += [homes.normal_forms, homes.repairs, homes.repairs_learned]
    in_force = {_real(path) for path in ours if path not in allowed}
    folders = {_real(homes.entropy), _real(homes.repairs.parent)}
    real = _real(target)
    is_allowed = real in map(_real, allowed)
    if real in in_force or (not is_allowed and not folders.isdisjoint((real, *real.parents))):
        raise Complaint(
            f"{shown(target)} is among the files in force in {shown(homes.home)}: choose "
            "another path"
        )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def write(path: Path, data: bytes) -> None:
    """Write a file that was asked for, whole or not at all.

    A link is followed, and a pipe or a device is written to and stays. No directory is made.

    Raises:
        Complaint: it cannot be written.
    """
    from fabricd.store.atomic import write_atomic

    try:
        if _is_stream(path):
            _pour(path, data)
        else:
            target = _real(path) if path.is_symlink() else path
            _require_directory(path, target.parent)
            write_atomic(target, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{shown(path)} cannot be written: {reason}", FAILED) from None


def _is_stream(path: Path) -> bool:
    if os.path.abspath(path).startswith(_STREAMS):
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _require_directory(path: Path, directory: Path) -> None:
    if not directory.exists():
        raise Complaint(
            f"{shown(path)} cannot be written: there is no directory {shown(directory)}", FAILED
        )


def _pour(path: Path, data: bytes) -> None:
    # Nothing is created or cut: if it has gone meanwhile, it cannot be written.
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
