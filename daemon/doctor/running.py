"""Whether a daemon runs, where it listens, and what it says of itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from fabricd.core.plain import is_list, is_object
from fabricd.daemon.doctor.checks import Check, aside, command, doubtful, fine, wrong
from fabricd.daemon.doctor.subject import Subject
from fabricd.ipc.client import NeedsRestart, NotRunning, Probe, Ready, Unreachable
from fabricd.store.addresses import SOCKET_BYTES
from fabricd.store.durable import shown
from fabricd.store.homes import is_own_folder, is_same_home
from fabricd.store.locks import Holder


class Entry(Struct, frozen=True):
    """What lies at a path: the type is that of `stat.S_IFMT`."""

    type: int
    mode: int
    uid: int


def look(subject: Subject) -> Iterator[Check]:
    """Daemon, lock, socket and its directory."""
    yield judge_daemon(subject.probe, subject.holder)
    lock = subject.homes.lock
    lies = entry(lock, follow=True) or entry(lock)
    unlocked = _unlocked(subject)
    elsewhere = _elsewhere(subject)
    yield judge_lock(subject.holder, lock, elsewhere, lies, unlocked)
    if subject.socket is None:
        yield wrong("socket", subject.why_no_socket, "export FABRICD_SOCKET=/a/shorter/path")
        return
    if elsewhere is None:
        yield judge_socket(subject.socket, entry(subject.socket), subject.probe, subject.holder)
    directory = subject.socket.parent
    yield judge_directory(directory, entry(directory, follow=True), os.getuid())


def entry(path: Path, follow: bool = False) -> Entry | None:
    """What lies at a path; None where nothing does, or nothing can be seen."""
    try:
        found = os.stat(path, follow_symlinks=follow)
    except OSError:
        return None
    return Entry(stat.S_IFMT(found.st_mode), stat.S_IMODE(found.st_mode), found.st_uid)


def judge_daemon(probe: Probe, holder: Holder | None) -> Check:
    """Whether one runs and answers."""
    match probe:
        case Ready(reply=reply):
            pid, state = reply.result["pid"], reply.result["state"]
            return fine("daemon", f"pid {pid} is {state}, version {reply.version}")
        case NeedsRestart(reason=reason):
            return wrong("daemon", f"it needs a restart: {reason}", "fabricd restart")
        case Unreachable(reason=reason):
            return wrong("daemon", f"it does not answer: {reason}", "fabricd restart --force")
        case NotRunning() if holder is None:
            return doubtful("daemon", "none runs", "fabricd start")
        case NotRunning():
            who = f"pid {holder.pid}" if holder and holder.pid else "a process"
            found = f"{who} holds the home, and nobody listens at the socket: it may be starting"
            return wrong("daemon", found, "wait a moment, then: fabricd restart")


def _elsewhere(subject: Subject) -> Path | None:
    """Where the holder of the lock listens, if it is not where clients look."""
    if subject.holder is None or not subject.holder.told or subject.socket is None:
        return None
    told = Path(os.fsdecode(subject.holder.told))
    # The same file by another spelling is the same file.
    return None if os.path.realpath(told) == os.path.realpath(subject.socket) else told


def _unlocked(subject: Subject) -> int | None:
    """The pid of a daemon that serves this home and does not hold it."""
    if subject.holder is not None or not isinstance(subject.probe, Ready):
        return None
    told = subject.status
    return int(told["pid"]) if is_same_home(told["home"], subject.homes.home) else None


def judge_lock(
    holder: Holder | None,
    lock: Path,
    elsewhere: Path | None,
    lies: Entry | None = None,
    unlocked: int | None = None,
) -> Check:
    """Who holds the home, and whether clients look for the holder where it listens.

    Args:
        lies: what is at the lock's path; a link only where it leads nowhere.
        unlocked: the pid of a daemon that serves the home and does not hold it.
    """
    if lies is not None and lies.type != stat.S_IFREG:
        return wrong("lock", f"{shown(lock)} is no regular file", aside(lock))
    if holder is None and unlocked is not None:
        found = f"{shown(lock)} is free although pid {unlocked} serves this home: it was removed"
        return wrong("lock", found, "fabricd restart")
    if holder is None:
        return fine("lock", f"{shown(lock)} is free")
    if elsewhere is not None:
        found = f"the daemon of this home listens at {shown(elsewhere)}, where no command looks"
        return wrong("lock", found, f"export {command(f'FABRICD_SOCKET={shown(elsewhere)}')}")
    if holder.pid is None:
        found = f"{shown(lock)} is held by a process of another host, container or user"
        return doubtful("lock", found, "end that daemon, or set FABRICD_HOME to a home of its own")
    return fine("lock", f"{shown(lock)} is held by pid {holder.pid}")


def judge_socket(path: Path, found: Entry | None, probe: Probe, holder: Holder | None) -> Check:
    """Whether the path leads to the daemon."""
    length = f"{len(os.fsencode(path))} of {SOCKET_BYTES} bytes"
    where = f"{shown(path)} ({length})"
    if found is None:
        if holder is None:
            return fine("socket", f"{where} is free")
        return wrong("socket", f"{where} is gone although a daemon runs", "fabricd restart")
    if found.type != stat.S_IFSOCK:
        return wrong("socket", f"{where} is no socket", aside(path))
    if isinstance(probe, NotRunning):
        left = f"{where} was left behind by a daemon that was killed; the next start removes it"
        return doubtful("socket", left, "fabricd start")
    if found.mode & 0o077:
        open_ = f"{where} has mode {found.mode:04o}, expected 0600"
        return doubtful("socket", open_, command("chmod", "600", path))
    return _whose(where, probe, holder)


def _whose(where: str, probe: Probe, holder: Holder | None) -> Check:
    match probe:
        case Ready(reply=reply) if holder is not None and holder.pid not in (
            None,
            reply.result["pid"],
        ):
            found = f"{where} leads to pid {reply.result['pid']}, not to that of the lock"
            return wrong("socket", found, "fabricd restart")
        case Ready() | NeedsRestart():
            return fine("socket", f"{where} is answered")
        case Unreachable() | NotRunning():
            return doubtful("socket", f"{where} is not answered", "fabricd restart --force")


def judge_directory(path: Path, found: Entry | None, uid: int) -> Check:
    """Whether nobody else can get at the socket."""
    id = "socket-directory"
    if found is None:
        return fine(id, f"{shown(path)} does not exist yet; the daemon makes it")
    if found.type != stat.S_IFDIR:
        return wrong(id, f"{shown(path)} is no directory", aside(path))
    if found.uid != uid:
        other = f"{shown(path)} belongs to uid {found.uid}, not to you"
        return wrong(id, other, "export FABRICD_SOCKET=/a/path/of/yours/control.sock")
    if found.mode & 0o077:
        open_ = f"{shown(path)} has mode {found.mode:04o}, expected 0700"
        if is_own_folder(path):
            return wrong(id, open_, command("chmod", "700", path))
        # Closing a folder that others use would shut them out.
        return wrong(id, open_, "export FABRICD_SOCKET=/a/folder/of/its/own/control.sock")
    return fine(id, f"{shown(path)} is yours alone")


def look_degraded(subject: Subject) -> Iterator[Check]:
    """What the running daemon itself calls degraded."""
    yield from judge_degraded(subject.status)


def judge_degraded(status: dict[str, Any]) -> Iterator[Check]:
    """One check for each ailment, or one that there is none."""
    ailments = status.get("degraded")
    if not is_list(ailments):
        return
    for ailment in ailments:
        if is_object(ailment):
            yield wrong(
                f"degraded-{ailment.get('what')}",
                f"the daemon says: {ailment.get('why')}",
                str(ailment.get("cure")),
            )
    if not ailments:
        yield fine("degraded", "the daemon has nothing to complain of")
