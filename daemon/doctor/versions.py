"""Versions: of the daemon that runs, and of what both rest on."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping

from fabricd.daemon.doctor.checks import Check, fine, wrong
from fabricd.daemon.doctor.subject import Subject
from fabricd.ipc import PROTOCOL
from fabricd.ipc.client import NeedsRestart, Ready

_LIBRARIES = ("jsonschema-rs", "msgspec", "watchfiles", "anyio", "pydantic")
_OLDEST_PYTHON = (3, 11)


def look(subject: Subject) -> Iterator[Check]:
    """Ours beside the daemon's, and the libraries."""
    ours = f"{subject.version} (protocol {PROTOCOL})"
    match subject.probe:
        case Ready(reply=reply) | NeedsRestart(reply=reply):
            theirs = f"{reply.version} (protocol {reply.protocol})"
            yield judge(ours, theirs)
        case _:
            yield judge(ours, None)
    yield judge_libraries(libraries())


def judge(ours: str, theirs: str | None) -> Check:
    """Whether the daemon runs the code that this command is of."""
    if theirs is None:
        return fine("version", f"this command is {ours}")
    if theirs != ours:
        text = f"the daemon is {theirs}, this command {ours}"
        return wrong("version", text, "fabricd restart")
    return fine("version", f"daemon and command are {ours}")


def libraries() -> Mapping[str, str | None]:
    """The versions of what we rest on; None where something is not installed."""
    import sqlite3
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str | None] = {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def judge_libraries(found: Mapping[str, str | None]) -> Check:
    """Whether all of them are there."""
    missing = [name for name, number in found.items() if number is None]
    if missing:
        text = f"{', '.join(missing)} is not installed"
        return wrong("libraries", text, "python -m pip install --force-reinstall fabricd")
    return fine("libraries", ", ".join(f"{name} {number}" for name, number in found.items()))
