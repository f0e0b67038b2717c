"""On which file systems homes and logs lie: not all of them tell of changes or keep locks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from fabricd.core.watching import is_elsewhere, type_at
from fabricd.daemon.doctor.checks import Check, doubtful, fine, nearest, unknown
from fabricd.daemon.doctor.subject import Subject
from fabricd.store.durable import shown

_MOUNTINFO = "/proc/self/mountinfo"
_SECONDS = 2.0
# As macOS and the BSDs print them: `device on /where (type, option, …)`.
_MOUNT = re.compile(rb"^.+? on (/.*) \(([^,)]+)[^)]*\)$")
_CURES = {
    "home": "export FABRICD_HOME=/a/folder/on/a/local/disk",
    "state": "export FABRICD_STATE_DIR=/a/folder/on/a/local/disk",
    "sessions": "set watch.force_polling = true in the configuration",
}


def look(subject: Subject) -> Iterator[Check]:
    """Home, state and session logs."""
    mounts = mount_table()
    homes = subject.homes
    for what, path in (("home", homes.home), ("state", homes.state), ("sessions", homes.sessions)):
        found = judge(what, path, kind_of(mounts, nearest(path)))
        if what == "state" and found.cure == _CURES["state"] and subject.env.get("FABRICD_HOME"):
            # Where that is set the state lies below it, whatever else is said.
            found = structs.replace(found, cure=_CURES["home"])
        yield found


def mount_table() -> bytes:
    """What is mounted, in the form of Linux' mountinfo.

    Raises:
        OSError, subprocess.SubprocessError: the system does not tell.
    """
    if sys.platform == "linux":
        return Path(_MOUNTINFO).read_bytes()
    done = subprocess.run(
        ["/sbin/mount"], capture_output=True, timeout=_SECONDS, check=True, stdin=subprocess.DEVNULL
    )
    return as_mountinfo(done.stdout)


def as_mountinfo(printed: bytes) -> bytes:
    """What `mount` prints elsewhere, as lines of mountinfo."""
    lines: list[bytes] = []
    for line in printed.split(b"\n"):
        found = _MOUNT.match(line)
        if found:
            where = found[1].replace(b"\\", b"\\134").replace(b" ", b"\\040")
            lines.append(b"0 0 0:0 / " + where + b" - " + found[2] + b" none")
    return b"\n".join(lines)


def kind_of(mounts: bytes, path: Path) -> str:
    """The type of the file system of a path, empty if unknown."""
    return type_at(mounts, os.fsencode(os.path.realpath(path))).decode("utf-8", "backslashreplace")


def judge(what: str, path: Path, kind: str) -> Check:
    """Whether a file system serves what lies on it."""
    id = f"filesystem-{what}"
    where = f"{shown(path)} is on {kind}"
    if not kind:
        return unknown(id, f"the file system of {shown(path)} is not told")
    if is_elsewhere(kind.encode()):
        trouble = (
            "nobody tells of changes made elsewhere, so they are looked for every few seconds"
            if what == "sessions"
            else "a lock there may not keep out a daemon on another host"
        )
        return doubtful(id, f"{where}: {trouble}", _CURES[what])
    if kind == "overlay":
        cure = f"mount a volume at {shown(path)}"
        return doubtful(id, f"{where}: it is gone with its container", cure)
    if kind == "tmpfs" and what != "sessions":
        return doubtful(id, f"{where}: it is gone after a restart of the machine", _CURES[what])
    return fine(id, where)
