"""Home and state: the folders, the files in them, the room on their disks."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from fabricd.daemon.doctor.checks import Check, aside, command, doubtful, fine, nearest, size, wrong
from fabricd.daemon.doctor.subject import Subject
from fabricd.store.durable import shown
from fabricd.store.homes import Homes

_LITTLE = 100 * 1024 * 1024
_TOO_LITTLE = 10 * 1024 * 1024
_FEW_NODES = 1000


class Folder(Struct, frozen=True):
    """A folder, or what lies where it should be; without `mode` nothing lies there."""

    path: Path
    is_directory: bool = False
    uid: int = -1
    mode: int | None = None
    is_usable: bool = False


class Owned(Struct, frozen=True):
    """A file of ours with its mode and owner."""

    path: Path
    uid: int
    mode: int


class Room(Struct, frozen=True):
    """What is free on the disk of a folder, for somebody without privileges.

    `nodes` is None where the file system does not count them.
    """

    free: int
    nodes: int | None


def look(subject: Subject) -> Iterator[Check]:
    """Folders and files."""
    uid = os.getuid()
    for id, path in _folders(subject.homes):
        yield judge_folder(id, folder(path), uid)
    yield judge_files(owned(_private(subject.homes)), uid)


def look_room(subject: Subject) -> Iterator[Check]:
    """Space on the disks."""
    for id, path in _folders(subject.homes):
        where = nearest(path)
        yield judge_room(f"space-{id}", where, room(where))


def _folders(homes: Homes) -> tuple[tuple[str, Path], ...]:
    return (("home", homes.home), ("state", homes.state))


def _private(homes: Homes) -> list[Path]:
    """What we write. The surface is the agent's."""
    return [
        homes.compiled,
        homes.normal_forms,
        homes.pool,
        homes.pool_ledger,
        homes.repairs,
        homes.repairs_learned,
        homes.checkpoints,
        homes.lock,
        homes.log,
    ]


def folder(path: Path) -> Folder:
    """Look at a folder."""
    try:
        found = os.stat(path)
    except OSError:
        return Folder(path, is_usable=os.access(nearest(path), os.W_OK | os.X_OK))
    usable = os.access(path, os.R_OK | os.W_OK | os.X_OK)
    mode = stat.S_IMODE(found.st_mode)
    return Folder(path, stat.S_ISDIR(found.st_mode), found.st_uid, mode, usable)


def judge_folder(id: str, found: Folder, uid: int) -> Check:
    """Whether the daemon can use a folder, and nobody else can change what is in it."""
    where = shown(found.path)
    if found.mode is None:
        if found.is_usable:
            return fine(id, f"{where} does not exist yet; the daemon makes it")
        return wrong(id, f"{where} cannot be made", command("mkdir", "-p", found.path))
    if not found.is_directory:
        return wrong(id, f"{where} is no directory", aside(found.path))
    if found.uid != uid:
        mine = command("sudo", "chown", "-R", str(uid), found.path)
        return wrong(id, f"{where} belongs to uid {found.uid}, not to you", mine)
    if not found.is_usable:
        return wrong(id, f"{where} is not writable", command("chmod", "u+rwx", found.path))
    if found.mode & 0o022:
        text = f"{where} has mode {found.mode:04o}: others may write there"
        return doubtful(id, text, command("chmod", "go-w", found.path))
    return fine(id, where)


def owned(paths: Iterable[Path]) -> list[Owned]:
    """Those that are there."""
    found: list[Owned] = []
    for path in paths:
        try:
            entry = os.lstat(path)
        except OSError:
            continue
        found.append(Owned(path, entry.st_uid, stat.S_IMODE(entry.st_mode)))
    return found


def judge_files(files: Iterable[Owned], uid: int) -> Check:
    """Whether what we keep is ours, and ours alone."""
    id, seen = "modes", list(files)
    foreign = [file.path for file in seen if file.uid != uid]
    if foreign:
        text = f"{_named(foreign)} belongs to somebody else"
        return wrong(id, text, command("sudo", "chown", str(uid), *foreign))
    open_ = [file.path for file in seen if file.mode & 0o077]
    if open_:
        text = f"others may read {_named(open_)}"
        return doubtful(id, text, command("chmod", "600", *open_))
    return fine(id, f"{len(seen)} files are readable by you alone")


def _named(paths: list[Path]) -> str:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{shown(paths[0])}{more}"


def room(path: Path) -> Room:
    """Look at the disk of a folder.

    Raises:
        OSError: it does not tell.
    """
    found = os.statvfs(path)
    nodes = found.f_favail if found.f_files else None
    return Room(found.f_bavail * found.f_frsize, nodes)


def judge_room(id: str, path: Path, found: Room) -> Check:
    """Whether there is room to write."""
    where = f"{size(found.free)} are free at {shown(path)}"
    cure = f"free space: {command('du', '-xh', '-d', '1', path)}"
    if found.free < _TOO_LITTLE:
        return wrong(id, where, cure)
    if found.nodes is not None and found.nodes < _FEW_NODES:
        few = f"only {found.nodes} more files can be made at {shown(path)}"
        return wrong(id, few, "remove files from that disk")
    if found.free < _LITTLE:
        return doubtful(id, where, cure)
    return fine(id, where)
