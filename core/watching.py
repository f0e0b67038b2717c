"""How a folder can be watched: the decisions, without watching.

A kernel tells of every change that passes through itself. A mount whose other end lives elsewhere
(a network, a virtual machine's host, a process behind FUSE) changes without the kernel's doing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

POLL_SECONDS = 2.0
QUIET_AFTER = 600.0
QUIET_POLL = 10.0
QUIET_RESCAN = 30.0
FIRST_PAUSE = 1.0
LAST_PAUSE = 60.0
MISSING_PAUSE = 2.0
# Folders that could not share a watch are watched apart for so long at most.
LONGEST_APART = 960.0

_LOCAL = frozenset(
    b"apfs bcachefs btrfs erofs exfat ext2 ext3 ext4 f2fs fuseblk hfs hfsplus jfs msdos nilfs2 "
    b"ntfs ntfs3 overlay ramfs reiserfs rootfs tmpfs ubifs ufs vfat xfs zfs".split()
)
_ELSEWHERE = frozenset(
    b"9p acfs afpfs afs autofs beegfs ceph cifs coda davfs drvfs fakeowner fuse gfs2 gpfs grpcfuse "
    b"lustre ncpfs nfs nfs4 ocfs2 orangefs osxfs prl_fs pvfs2 smb2 smb3 smbfs vboxsf virtiofs "
    b"vmhgfs webdav wslfs".split()
)
_ESCAPE = re.compile(rb"\\([0-7]{3})")


class Events(Struct, frozen=True):
    """Changes are told of as they happen."""


class Polling(Struct, frozen=True):
    """Changes have to be looked for, and why. `cure` is empty where it is wanted that way."""

    why: str
    cure: str = ""


Watching: TypeAlias = Events | Polling

NOT_UTF8 = Polling(
    "the path of the folder is not UTF-8, which cannot be watched",
    "move it to one that is, or set watch.force_polling to accept it",
)


def type_at(mountinfo: bytes, path: bytes) -> bytes:
    """The type of the file system that a path without links lies on; empty if that is not told.

    Args:
        mountinfo: what Linux says in /proc/self/mountinfo.
    """
    longest, found = b"", b""
    for point, kind in _mounts(mountinfo):
        # Of two mounts at one place the later one is seen.
        if len(point) >= len(longest) and _is_below(path, point):
            longest, found = point, kind
    return found


def _mounts(mountinfo: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in mountinfo.split(b"\n"):
        before, _, after = line.partition(b" - ")
        fields = before.split(b" ")
        if len(fields) > 4 and after:
            yield _ESCAPE.sub(_byte, fields[4]), after.split(b" ")[0]


def _byte(escape: re.Match[bytes]) -> bytes:
    return bytes([int(escape[1], 8) & 255])


def _is_below(path: bytes, point: bytes) -> bool:
    return path == point or path.startswith(point.rstrip(b"/") + b"/")


def is_elsewhere(kind: bytes) -> bool:
    """Whether files on this type of file system change without the kernel's doing."""
    return kind in _ELSEWHERE or kind.startswith(b"fuse.")


def is_utf8(path: bytes) -> bool:
    """Whether a path is UTF-8, as whoever tells of events wants it."""
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True


def how_to_watch(forced: bool, kind: bytes, tested: bool | None) -> Watching:
    """Whether events can be trusted below a folder.

    Args:
        forced: the user wants no events.
        kind: the type of its file system, empty if unknown.
        tested: whether a change made on the same device was told of, None if none was made there.
    """
    if forced:
        return Polling("watch.force_polling is set")
    name = kind.decode("utf-8", "backslashreplace")
    accept = "keep the logs on a local disk, or set watch.force_polling to accept it"
    if is_elsewhere(kind):
        return Polling(f"on {name} nobody tells of changes that are made elsewhere", accept)
    if tested is False:
        return Polling("the system did not tell of a change that was made to test it", accept)
    if tested is None and kind not in _LOCAL:
        where = f"the file system {name}" if name else "an unknown file system"
        return Polling(f"they lie on {where}, which may not tell of changes", accept)
    return Events()


class Cause(Struct, frozen=True):
    """Why a watch ended, and what helps."""

    why: str
    cure: str


def cause_of(message: str) -> Cause:
    """What the message of a watch that ended means."""
    said = message.lower()
    why = message[:200]
    if "watch limit" in said or "maxfileswatch" in said:
        why = "the inotify watches of this user are used up"
        return Cause(why, _meanwhile("sysctl fs.inotify.max_user_watches=524288"))
    if "too many open files" in said:
        why = "the inotify instances of this user, or the open files of this process, are used up"
        return Cause(why, _meanwhile("sysctl fs.inotify.max_user_instances=1024"))
    if "unable to decode path" in said:
        return Cause(why, _meanwhile("give that file a name in UTF-8"))
    return Cause(why, _meanwhile("the watch is tried again by itself"))


def _meanwhile(cure: str) -> str:
    return f"{cure}; meanwhile changes are looked for every few seconds"


def next_pause(pause: float) -> float:
    """How long to wait before the watch is tried again, after it had been waited so long."""
    return min(pause * 2, LAST_PAUSE)


def seconds_to_look(rescan: float, polling: bool, quiet: float) -> float:
    """When to look at everything again.

    Args:
        rescan: as configured.
        polling: nobody tells of changes.
        quiet: seconds in which nothing changed.
    """
    if polling:
        return min(rescan, POLL_SECONDS) if quiet <= QUIET_AFTER else min(rescan, QUIET_POLL)
    return rescan if quiet <= QUIET_AFTER else max(rescan, QUIET_RESCAN)
