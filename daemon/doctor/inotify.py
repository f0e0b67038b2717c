"""Whether the kernel has watches left: without them changes have to be looked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from fabricd.daemon.doctor.checks import Check, doubtful, fine
from fabricd.daemon.doctor.subject import Subject

_LIMITS = Path("/proc/sys/fs/inotify")
_PROC = Path("/proc")
_DAEMON_INSTANCES = 2
_MARGIN = 16
_MOST_FOLDERS = 100_000


class Usage(Struct, frozen=True):
    """How many watches or instances there may be for this user, and how many are in use.

    `used` is what the processes show that may be looked into: a lower bound. `needed` are more that
    the daemon will ask for, 0 where it runs and has them.
    """

    limit: int
    used: int
    needed: int


def look(subject: Subject) -> Iterator[Check]:
    """Watches and instances, where the system has them."""
    if not _LIMITS.is_dir():
        return
    instances, watches = used()
    is_running = bool(subject.status)
    folders = 0 if is_running else folders_below(subject.homes.sessions) + _MARGIN
    yield judge("watches", Usage(limit("watches"), watches, folders))
    wanted = 0 if is_running else _DAEMON_INSTANCES
    yield judge("instances", Usage(limit("instances"), instances, wanted))


def limit(what: str) -> int:
    """How many a user may have.

    Raises:
        OSError, ValueError: the system does not tell.
    """
    return int((_LIMITS / f"max_user_{what}").read_text())


def used() -> tuple[int, int]:
    """The instances and watches that this user's processes hold, as far as they can be seen."""
    instances = watches = 0
    uid = os.getuid()
    for process in _PROC.iterdir():
        if not process.name.isdigit():
            continue
        try:
            if process.stat().st_uid != uid:
                continue
            for descriptor in os.listdir(process / "fd"):
                if os.readlink(process / "fd" / descriptor) == "anon_inode:inotify":
                    instances += 1
                    watches += _watches((process / "fdinfo" / descriptor).read_text())
        except OSError:
            # It ended meanwhile, or does not let itself be looked into.
            continue
    return instances, watches


def _watches(fdinfo: str) -> int:
    return sum(line.startswith("inotify ") for line in fdinfo.splitlines())


def folders_below(root: Path) -> int:
    """How many folders a recursive watch has to enter."""
    count = 0
    for _ in os.walk(root):
        count += 1
        if count >= _MOST_FOLDERS:
            break
    return count


def judge(what: str, usage: Usage) -> Check:
    """Whether what is left will do."""
    id = f"inotify-{what}"
    found = f"at least {usage.used} of {usage.limit} inotify {what} are in use"
    left = usage.limit - usage.used
    if left < usage.needed or usage.used * 10 >= usage.limit * 9:
        more = max(usage.limit * 2, 524_288 if what == "watches" else 1024)
        need = f", {usage.needed} more are needed" if usage.needed else ""
        return doubtful(id, f"{found}{need}", f"sudo sysctl fs.inotify.max_user_{what}={more}")
    return fine(id, found)
