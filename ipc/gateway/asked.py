"""What a run of the gateway was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricd.core.mcp.conversation import Mode
    from fabricd.core.mcp.records import Audits
    from fabricd.core.mcp.repairing import Conventions


@dataclass(frozen=True)
class Asked:
    """A server's name and command, and what may be done; `state` is the state directory."""

    name: str
    command: Sequence[str]
    state: str
    mode: Mode
    conventions: Conventions
    audits: Audits
