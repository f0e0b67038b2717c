"""`<home>/surfaces/`: the declared tools of an agent, and when they were seen.

One file a snapshot, named by what it says. What was seen again only widens its interval.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from fabricd.core.canonical import digest
from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.history.calls import UNDATED, AgentName
from fabricd.core.history.judging import Snapshot
from fabricd.core.history.recorder import END_OF_TIME, milliseconds
from fabricd.core.model import Digest
from fabricd.core.nesting import SCHEMA_LEVELS
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded, shown
from fabricd.store.homes import Homes
from fabricd.store.locks import hold

Outcome: TypeAlias = Literal["written", "widened", "already_written"]

MAX_BYTES = 16 * 1024 * 1024
MAX_FILES = 1000
# The envelope, its list and a tool stand above a schema.
_LEVELS = SCHEMA_LEVELS + 3
_SUFFIX = ".json"
_PATIENCE = 5.0


class DamagedSnapshot(RuntimeError):
    """Raised by `keep`: a file of that name is damaged, and is not overwritten."""

    def __init__(self, damage: Damaged) -> None:
        super().__init__(f"{shown(damage.path)} is damaged: {damage.reason}")
        self.damage = damage


class NoRoom(RuntimeError):
    """Raised by `keep`: it would be one file too many, or one too large."""


class Filed(Struct, frozen=True):
    """A snapshot as it is filed. `first` and `last` are milliseconds since the epoch.

    Attributes:
        tools: the schema by name, in the order of names; None where none was declared.
        covers: see `Snapshot`.
    """

    agent: AgentName
    tools: Mapping[str, Any]
    first: int
    last: int
    agent_version: str | None = None
    covers: str | None = None

    @property
    def digest(self) -> str:
        """What tells it from others: everything but its interval."""
        # The schemas as exact texts: two that differ beyond a double's integers are two.
        tools = [[name, json.dumps(self.tools[name], sort_keys=True)] for name in self.tools]
        return digest(
            {
                "agent": self.agent,
                "agentVersion": self.agent_version,
                "covers": self.covers,
                "tools": tools,
            }
        )

    def for_judge(self) -> Snapshot:
        """As calls are judged by it."""
        version = self.agent_version
        return Snapshot(
            self.agent,
            self.tools,
            None if version is None else (version, version),
            (self.first, self.last),
            self.covers,
        )


@dataclass(frozen=True)
class Kept:
    """What keeping came to: the snapshot as it is filed now."""

    outcome: Outcome
    filed: Filed
    digest: str
    path: Path


class _Tool(Struct, frozen=True, rename="camel"):
    name: str
    input_schema: dict[str, Any] | None


class _File(Struct, frozen=True, rename="camel"):
    version: Literal[1]
    agent: AgentName
    digest: Digest
    agent_version: str | None
    covers: str | None
    first_seen: str
    last_seen: str
    tools: Annotated[list[_Tool], Meta(max_length=100_000)]


def path_of(homes: Homes, agent: str, digest: str) -> Path:
    """Where the snapshot of an agent with this digest lies."""
    return homes.surfaces / f"{agent}-{digest[:16]}{_SUFFIX}"


def load(path: Path) -> Load[Filed]:
    """Read one snapshot. One that is not what its digest and its name say is damaged."""
    if path.is_symlink():
        return Damaged(path, "it is a link")
    data = read_bounded(path, MAX_BYTES)
    if not isinstance(data, bytes):
        return data
    try:
        file = msgspec.convert(strict_json(data, _LEVELS), _File)
        filed = Filed(
            file.agent,
            {tool.name: tool.input_schema for tool in file.tools},
            _moment(file.first_seen, "firstSeen"),
            _moment(file.last_seen, "lastSeen"),
            file.agent_version,
            file.covers,
        )
    except (BadDocument, msgspec.ValidationError) as error:
        return Damaged(path, str(error))
    return _checked(path, file, filed, data)


def _checked(path: Path, file: _File, filed: Filed, data: bytes) -> Load[Filed]:
    if len(filed.tools) != len(file.tools):
        return Damaged(path, "a tool stands there twice")
    if filed.first > filed.last:
        return Damaged(path, "firstSeen is after lastSeen")
    if filed.digest != file.digest:
        return Damaged(path, "its digest is not that of what it says")
    if path.name != f"{file.agent}-{file.digest[:16]}{_SUFFIX}":
        return Damaged(path, "its name is not that of its digest")
    return Loaded(filed, data)


def _moment(text: str, member: str) -> int:
    found = milliseconds(text)
    if found == UNDATED:
        raise BadDocument(f"{member}: expected an RFC 3339 time")
    return found


def everything(homes: Homes) -> tuple[list[Filed], list[Damaged]]:
    """Every snapshot of the home by file name, and the files that cannot be used.

    Links and what is no file are passed over.
    """
    found: list[Filed] = []
    damaged: list[Damaged] = []
    try:
        names = _names(homes.surfaces)
    except OSError as error:
        return [], [Damaged(homes.surfaces, f"it is unreadable: {error.strerror}")]
    for name in names[:MAX_FILES]:
        match load(homes.surfaces / name):
            case Loaded(value=filed):
                found.append(filed)
            case Missing():
                pass
            case Damaged() as damage:
                damaged.append(damage)
    if len(names) > MAX_FILES:
        damaged.append(
            Damaged(homes.surfaces, f"more than {MAX_FILES:,} files: the rest is left out")
        )
    return found, damaged


def snapshots(homes: Homes) -> tuple[list[Snapshot], list[Damaged]]:
    """`everything`, as calls are judged by it."""
    found, damaged = everything(homes)
    return [filed.for_judge() for filed in found], damaged


def _names(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.name.endswith(_SUFFIX)
                and not entry.name.startswith(".")
                and entry.is_file(follow_symlinks=False)
            )
    except FileNotFoundError:
        return []


def keep(homes: Homes, seen: Filed) -> Kept:
    """File a snapshot; where an equal one lies already, widen its interval by this one's.

    Raises:
        DamagedSnapshot, NoRoom: nothing was written.
        AlreadyHeld: another process keeps snapshots, and went on for seconds.
        OSError: it could not be written.
    """
    if not 0 <= seen.first <= seen.last < END_OF_TIME:
        raise ValueError("expected an interval that begins no later than it ends")
    seen = msgspec.structs.replace(seen, tools=dict(sorted(seen.tools.items())))
    key = seen.digest
    path = path_of(homes, seen.agent, key)
    ownership = hold(homes.surfaces / ".lock", seconds=_PATIENCE)
    try:
        return _kept(homes, path, seen, key)
    finally:
        ownership.close()


def remove(homes: Homes, filed: Filed) -> bool:
    """Remove a snapshot; False where it is gone already.

    Raises:
        AlreadyHeld: another process keeps snapshots, and went on for seconds.
        OSError: it could not be removed.
    """
    ownership = hold(homes.surfaces / ".lock", seconds=_PATIENCE)
    try:
        path_of(homes, filed.agent, filed.digest).unlink()
    except FileNotFoundError:
        return False
    finally:
        ownership.close()
    return True


def _kept(homes: Homes, path: Path, seen: Filed, key: str) -> Kept:
    outcome: Outcome = "written"
    match load(path):
        case Damaged() as damage:
            raise DamagedSnapshot(damage)
        case Missing():
            if len(_names(homes.surfaces)) >= MAX_FILES:
                where = shown(homes.surfaces)
                raise NoRoom(f"{where} holds {MAX_FILES:,} snapshots: remove some of them")
        case Loaded(value=old):
            first, last = min(old.first, seen.first), max(old.last, seen.last)
            seen = msgspec.structs.replace(old, first=first, last=last)
            if seen == old:
                return Kept("already_written", seen, key, path)
            outcome = "widened"
    data = _bytes_of(seen, key)
    if len(data) > MAX_BYTES:
        raise NoRoom(f"its file would be larger than {MAX_BYTES // (1024 * 1024)} MiB")
    write_atomic(path, data)
    return Kept(outcome, seen, key, path)


def _bytes_of(filed: Filed, key: str) -> bytes:
    value = {
        "version": 1,
        "agent": filed.agent,
        "digest": key,
        "agentVersion": filed.agent_version,
        "covers": filed.covers,
        "firstSeen": moment_text(filed.first),
        "lastSeen": moment_text(filed.last),
        "tools": [{"name": name, "inputSchema": schema} for name, schema in filed.tools.items()],
    }
    # Not the canonical text: it rounds integers to doubles, and a schema may bound them exactly.
    return (json.dumps(value, indent=2) + "\n").encode()


def moment_text(at: int) -> str:
    """A moment in milliseconds since the epoch as RFC 3339, in UTC."""
    seconds, rest = divmod(at, 1000)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"
