"""The session that an agent wrote to last, and the logs of a session that lie beside one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from fabricd.core.history.calls import AgentName
from fabricd.daemon.cli.trajectory.session_reading import read_source
from fabricd.daemon.cli.trajectory.session_stores import sessions_in_database, sessions_in_tree
from fabricd.store.compressed import agent_of_compressed
from fabricd.store.logs import NotALog, agent_of
from fabricd.store.sessions import OpenLog
from fabricd.store.sources import Stores, list_stores, places

_HEAD = 64 * 1024


class Last(Struct, frozen=True):
    """The logs of a session; of a store of several also which one."""

    paths: tuple[bytes, ...]
    session: str | None = None


class _Candidate(Struct, frozen=True):
    changed_ns: int
    path: bytes
    form: str


def last_session(env: Mapping[str, str], agent: AgentName | None) -> Last | None:
    """The session that was written to last, of any agent or of one."""
    stores = list_stores(places(env))
    for found in sorted(_candidates(stores), key=lambda each: each.changed_ns, reverse=True):
        with contextlib.suppress(OSError, NotALog):
            if found.form != "file":
                if agent in (None, "opencode") and (last := _in_store(found)) is not None:
                    return last
                continue
            look = agent_of_compressed if found.path.endswith(b".zst") else agent_of
            whose = look(found.path)
            if whose == "gateway" or agent not in (None, whose):
                continue
            if whose != "claude-code":
                return Last((found.path,))
            session = read_source(found.path).session
            return Last(tuple(_whole(found.path, session, stores)), session or None)
    return None


def log_of(session: str, env: Mapping[str, str]) -> bytes | None:
    """A log whose file name ends in a session id."""
    if not session:
        return None
    endings = tuple(os.fsencode(f"{session}{end}") for end in (".jsonl", ".jsonl.zst"))
    files = list_stores(places(env)).files
    return next((file.path for file in files if file.path.endswith(endings)), None)


def _candidates(stores: Stores) -> Iterator[_Candidate]:
    for file in stores.files:
        yield _Candidate(file.stat.st_mtime_ns, file.path, "file")
    for file in stores.databases:
        changed = [file.stat.st_mtime_ns]
        with contextlib.suppress(OSError):
            changed.append(os.stat(file.path + b"-wal").st_mtime_ns)
        yield _Candidate(max(changed), file.path, "database")
    for tree in stores.trees:
        with contextlib.suppress(OSError):
            newest = next(iter(sessions_in_tree(os.fsencode(tree)).values()), None)
            if newest is not None:
                yield _Candidate(os.stat(newest).st_mtime_ns, os.fsencode(tree), "tree")


def _in_store(found: _Candidate) -> Last | None:
    list_all = sessions_in_database if found.form == "database" else sessions_in_tree
    session = next(iter(list_all(found.path)), None)
    return None if session is None else Last((found.path,), session)


def _whole(path: bytes, session: str, stores: Stores) -> Iterator[bytes]:
    """A session's log and those of its sub-agents, in both layouts, the session's first."""
    if not session:
        yield path
        return
    name = os.fsencode(session)
    main = [each.path for each in stores.files if each.path.endswith(b"/" + name + b".jsonl")]
    found = dict.fromkeys([*main, path])
    folders = {os.path.dirname(each) for each in found}
    for file in stores.files:
        folder, base = os.path.split(file.path)
        if folder.endswith(b"/" + name + b"/subagents"):
            found.setdefault(file.path)
        elif folder in folders and base.startswith(b"agent-") and _names(file.path, name):
            found.setdefault(file.path)
    yield from found


def _names(path: bytes, session: bytes) -> bool:
    try:
        with OpenLog(path) as file:
            return b'"' + session + b'"' in file.read(0, _HEAD)
    except OSError:
        return False
