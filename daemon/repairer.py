"""Repairs for hooks: the tools of an agent as they were listed last, and their proven plans."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any

import anyio.to_thread
from msgspec import Raw

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.nesting import RECORD_LEVELS
from fabricd.core.normalform.extended import ExtendedNormalizer
from fabricd.core.normalform.hooking import HookRepair, may_repair, repair_for
from fabricd.daemon.clock import Clock
from fabricd.store.homes import Homes
from fabricd.store.snapshots import MAX_FILES, Filed, everything

# As the hook's configuration calls them.
_NAMES = {"gemini": "gemini-cli"}
_HELD = 256
# A listing that nobody has seen for so long may be of another version of the server.
CURRENT_MS = 30 * 24 * 60 * 60 * 1000


class Repairer:
    """Answers hooks from the listings that were added, read again whenever they change."""

    def __init__(self, homes: Homes, clock: Clock) -> None:
        self._homes = homes
        self._clock = clock
        self._lock = Lock()
        self._seen: object = None
        self._filed: list[Filed] = []
        self._built: OrderedDict[tuple[str, str], tuple[Any, ExtendedNormalizer]] = OrderedDict()

    async def repair(self, agent: str, tool: str, arguments: Raw) -> HookRepair | None:
        """The repair of a call that is about to be made, None on any doubt."""
        agent = _NAMES.get(agent, agent)
        if not may_repair(agent, tool):
            return None
        return await anyio.to_thread.run_sync(self._repair, agent, tool, bytes(arguments))

    def _repair(self, agent: str, tool: str, arguments: bytes) -> HookRepair | None:
        try:
            value = strict_json(arguments, RECORD_LEVELS)
        except BadDocument:
            return None
        with self._lock:
            normalizer = self._normalizer(agent, tool)
        return None if normalizer is None else repair_for(agent, normalizer, value)

    def _normalizer(self, agent: str, tool: str) -> ExtendedNormalizer | None:
        self._look()
        schema = current_schema(self._filed, agent, tool, self._clock.wall_ns() // 1_000_000)
        if schema is None:
            return None
        held = self._built.get((agent, tool))
        if held is None or held[0] is not schema:
            held = self._built[agent, tool] = (schema, ExtendedNormalizer(tool, schema))
            if len(self._built) > _HELD:
                self._built.popitem(last=False)
        return held[1]

    def _look(self) -> None:
        """Read the listings again if one of their files is another one now."""
        seen = _identity(os.fspath(self._homes.surfaces))
        if seen != self._seen:
            self._filed, _ = everything(self._homes)
            self._built.clear()
            self._seen = seen


def _identity(directory: str) -> object:
    """What tells the files of a directory from what they were; never equal to nothing seen."""
    found: list[tuple[str, int, int, int]] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if len(found) > MAX_FILES:
                    break
                status = entry.stat(follow_symlinks=False)
                found.append((entry.name, status.st_ino, status.st_size, status.st_mtime_ns))
    except OSError:
        return ()
    return tuple(sorted(found))


def current_schema(filed: Iterable[Filed], agent: str, tool: str, now: int) -> Any:
    """The schema that a tool was last seen with, None where that is not known beyond doubt.

    Args:
        now: in milliseconds since the epoch.
    """
    known = [
        each
        for each in filed
        if each.agent == agent
        and (tool in each.tools or (each.covers is not None and tool.startswith(each.covers)))
    ]
    if not known:
        return None
    last = max(each.last for each in known)
    if now - last > CURRENT_MS:
        return None
    # Those that were seen at one moment must agree, also that there is no such tool.
    newest = [each.tools.get(tool) for each in known if each.last == last]
    return newest[0] if all(schema == newest[0] for schema in newest) else None
