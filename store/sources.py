"""Where each agent keeps its logs on this machine, and every log that is there.

The environment decides as it does for the agents themselves. What a file is its content tells:
here it is only listed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabricd.core.history.calls import AgentName
from fabricd.store.addresses import absolute, state_dir
from fabricd.store.durable import shown
from fabricd.store.homes import agent_dir
from fabricd.store.sessions import Skipped

_LINES = (b".jsonl", b".jsonl.zst")
_DOCUMENTS = (b".json",)
# `opencode.db`, and `opencode-<channel>.db` of its other releases.
_DATABASE = re.compile(rb"opencode(?:-[A-Za-z0-9._-]+)?\.db\Z")
_LEVELS = 12
GATEWAY = "gateway"
_TREE = frozenset({b"session", b"message", b"part"})


@dataclass(frozen=True)
class Place:
    """A folder in which an agent keeps logs.

    `agent` is None for a folder that somebody named, which may hold any agent's logs.
    """

    path: Path
    agent: AgentName | None = None
    suffixes: tuple[bytes, ...] = _LINES
    why: str = ""


@dataclass(frozen=True)
class LogFile:
    """A file that may be a log, as it was listed."""

    path: bytes
    stat: os.stat_result
    place: Place


@dataclass(frozen=True)
class Stores:
    """What lies at some places: files, OpenCode databases and storage trees."""

    files: tuple[LogFile, ...]
    databases: tuple[LogFile, ...]
    trees: tuple[Path, ...]
    skipped: tuple[Skipped, ...]


@dataclass
class _Found:
    files: list[LogFile] = field(default_factory=list[LogFile])
    databases: list[LogFile] = field(default_factory=list[LogFile])
    trees: list[Path] = field(default_factory=list[Path])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])


def places(env: Mapping[str, str]) -> list[Place]:
    """The places of all agents in this environment, whether they exist or not."""
    return [
        Place(agent_dir(env) / "sessions", "pi", why=_why(env, "PI_CODING_AGENT_DIR")),
        *_claude(env),
        *_codex(env),
        *_copilot(env),
        *_opencode(env),
        Place(
            _path(env.get("GEMINI_CLI_HOME") or "~", env) / ".gemini" / "tmp",
            "gemini-cli",
            (*_DOCUMENTS, *_LINES),
            _why(env, "GEMINI_CLI_HOME"),
        ),
        Place(
            Path(state_dir(env)) / GATEWAY,
            "gateway",
            (b".jsonl",),
            _why(env, "FABRICD_HOME" if env.get("FABRICD_HOME") else "FABRICD_STATE_DIR"),
        ),
    ]


def _claude(env: Mapping[str, str]) -> Iterator[Place]:
    given = [each for each in env.get("CLAUDE_CONFIG_DIR", "").split(",") if each.strip()]
    why = _why(env, "CLAUDE_CONFIG_DIR")
    for folder in given or ["~/.claude", "~/.config/claude"]:
        yield Place(_path(folder.strip(), env) / "projects", "claude-code", why=why)


def _codex(env: Mapping[str, str]) -> Iterator[Place]:
    home = _path(env.get("CODEX_HOME") or "~/.codex", env)
    for folder in ("sessions", "archived_sessions"):
        yield Place(home / folder, "codex", why=_why(env, "CODEX_HOME"))


def _copilot(env: Mapping[str, str]) -> Iterator[Place]:
    home = _path(env.get("COPILOT_HOME") or "~/.copilot", env)
    for folder in ("session-state", "history-session-state"):
        yield Place(home / folder, "copilot-cli", why=_why(env, "COPILOT_HOME"))


def _opencode(env: Mapping[str, str]) -> Iterator[Place]:
    data = env.get("XDG_DATA_HOME") or "~/.local/share"
    yield Place(_path(data, env) / "opencode", "opencode", (), _why(env, "XDG_DATA_HOME"))
    if given := env.get("OPENCODE_DB"):
        yield Place(_path(given, env), "opencode", (), "$OPENCODE_DB")


def _path(given: str, env: Mapping[str, str]) -> Path:
    return Path(absolute(given, env))


def _why(env: Mapping[str, str], name: str) -> str:
    return f"${name}" if env.get(name) else "default"


def named(paths: Sequence[Path]) -> list[Place]:
    """Folders, or single files, that somebody named."""
    return [Place(path, None, (*_LINES, *_DOCUMENTS), "named") for path in paths]


def list_stores(found_at: Iterable[Place]) -> Stores:
    """Everything that may be a log at some places, each file once, in path order.

    A place that is missing is empty; what cannot be listed is skipped and named. Links to folders
    are not followed.
    """
    found = _Found()
    for place in found_at:
        path = os.fsencode(place.path)
        if not os.path.lexists(path):
            continue
        if os.path.isdir(path):
            _walk(path, place, found, 0)
        else:
            _take(path, os.path.basename(path), place, found)
    return Stores(
        tuple(sorted(found.files, key=lambda file: file.path)),
        tuple(sorted(found.databases, key=lambda file: file.path)),
        tuple(sorted(found.trees)),
        tuple(found.skipped),
    )


def _walk(folder: bytes, place: Place, found: _Found, level: int) -> None:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        found.skipped.append(Skipped(shown(folder), error.strerror or str(error)))
        return
    if place.agent in (None, "opencode") and _is_tree(folder, entries):
        found.trees.append(Path(os.fsdecode(folder)))
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if level < _LEVELS:
                _walk(entry.path, place, found, level + 1)
            else:
                found.skipped.append(Skipped(shown(entry.path), "nested too deep"))
        elif _is_wanted(entry.name, place):
            _take(entry.path, entry.name, place, found)


def _is_tree(folder: bytes, entries: Sequence[os.DirEntry[bytes]]) -> bool:
    """Whether a folder is OpenCode's older store: one small file for each part of a message."""
    names = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    return os.path.basename(folder) == b"storage" and names >= _TREE


def _is_wanted(name: bytes, place: Place) -> bool:
    if _DATABASE.match(name):
        return place.agent in (None, "opencode")
    return name.endswith(place.suffixes)


def _take(path: bytes, name: bytes, place: Place, found: _Found) -> None:
    try:
        stat = os.stat(path)
    except OSError as error:
        found.skipped.append(Skipped(shown(path), error.strerror or str(error)))
        return
    if not os.path.isfile(path):
        found.skipped.append(Skipped(shown(path), "not a regular file"))
        return
    if (stat.st_dev, stat.st_ino) in found.seen:
        # A hard link, or a place inside another one: the same bytes.
        return
    found.seen.add((stat.st_dev, stat.st_ino))
    file = LogFile(path, stat, place)
    (found.databases if _DATABASE.match(name) else found.files).append(file)
