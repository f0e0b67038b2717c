"""How many files may be open."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

from fabricd.daemon.doctor.checks import Check, doubtful, fine, wrong
from fabricd.daemon.doctor.subject import Subject

# Clients take 64, readers and watches a dozen.
_TOO_FEW = 128
_FEW = 256


def look(subject: Subject) -> Iterator[Check]:
    """The limit of the running daemon where it can be seen, else that of this process."""
    if subject.pid is not None:
        try:
            theirs = of_process(Path(f"/proc/{subject.pid}/limits").read_text())
        except OSError:
            theirs = None
        if theirs is not None:
            yield judge("the daemon", theirs)
            return
    yield judge("this shell", resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def of_process(limits: str) -> int | None:
    """The soft limit in Linux' table of a process' limits."""
    for line in limits.splitlines():
        name, _, rest = line.partition("Max open files")
        if not name and rest:
            soft = rest.split()[0]
            return int(soft) if soft.isdigit() else resource.RLIM_INFINITY
    return None


def judge(whose: str, soft: int) -> Check:
    """Whether the daemon will get by."""
    if soft == resource.RLIM_INFINITY:
        return fine("open-files", f"{whose} may open any number of files")
    text = f"{whose} may open {soft} files"
    if soft < _TOO_FEW:
        return wrong("open-files", text, "ulimit -n 1024, then: fabricd restart")
    if soft < _FEW:
        return doubtful("open-files", text, "ulimit -n 1024, then: fabricd restart")
    return fine("open-files", text)
