"""The schemas that fabricd brings along: built-in tools of agents whose licence allows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fabricd.core.history.calls import UNDATED, AgentName
from fabricd.core.history.judging import Snapshot
from fabricd.core.history.recorder import milliseconds

_DIRECTORY = Path(__file__).parent.parent / "surfaces"
# Only their logs name the version; elsewhere an interval of versions would judge nothing.
_VERSIONED = ("codex", "opencode")


class ShippedTool(Struct, frozen=True, rename="camel"):
    """One generation of a tool: `versions` and `seen` (RFC 3339) are inclusive."""

    name: str
    versions: tuple[str, str] | None
    seen: tuple[str, str]
    source: str
    input_schema: dict[str, Any]


class ShippedAgent(Struct, frozen=True):
    """The built-in tools of an agent, and whose they are."""

    agent: AgentName
    licence: str
    source: str
    tools: list[ShippedTool]


_AGENT = msgspec.json.Decoder(ShippedAgent)


def agents(directory: Path = _DIRECTORY) -> list[ShippedAgent]:
    """What is shipped, by agent.

    Raises:
        OSError, msgspec.MsgspecError: the installation is broken.
    """
    return [_AGENT.decode(path.read_bytes()) for path in sorted(directory.glob("*.json"))]


def shipped(directory: Path = _DIRECTORY) -> list[Snapshot]:
    """What is shipped, as calls are judged by it: a snapshot for each generation of a tool.

    Raises:
        OSError, msgspec.MsgspecError: the installation is broken.
    """
    return [_snapshot(each.agent, tool) for each in agents(directory) for tool in each.tools]


def _snapshot(agent: AgentName, tool: ShippedTool) -> Snapshot:
    first, last = map(milliseconds, tool.seen)
    seen = None if UNDATED in (first, last) else (first, last)
    versions = tool.versions if agent in _VERSIONED else None
    return Snapshot(agent, {tool.name: tool.input_schema}, versions, seen)
