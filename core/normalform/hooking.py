"""What a hook inside an agent may repair: a proven plan, within what the agent takes."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from fabricd.core.normalform.extended import ExtendedNormalizer, ExtendedWitness
from fabricd.core.plain import is_object

# Gemini CLI writes what a hook gives over the model's arguments, so that no key can go away.
_MERGES = frozenset({"key-form", "optional-null"})
# Codex takes other arguments only together with leave to run them.
_REPAIRED = frozenset({"claude-code", "gemini-cli", "opencode", "pi"})
_SERVERS = "mcp__"


class HookRepair(Struct, frozen=True):
    """Arguments that the schema accepts, and what leads to them."""

    arguments: dict[str, Any]
    witness: ExtendedWitness


def may_repair(agent: str, tool: str) -> bool:
    """Whether a hook of this agent may repair calls of this tool at all."""
    if agent == "claude-code" and not tool.startswith(_SERVERS):
        # Its own tools' arguments are judged before any hook is asked.
        return False
    return agent in _REPAIRED


def repair_for(agent: str, normalizer: ExtendedNormalizer, arguments: object) -> HookRepair | None:
    """The repair of a call, None on any doubt."""
    if not is_object(arguments):
        return None
    repaired = normalizer.apply(arguments)
    if not repaired.changed or not is_object(repaired.args):
        return None
    if agent == "gemini-cli" and any(rule.kind in _MERGES for rule in repaired.rules):
        return None
    # The validator was asked already; whoever runs the tool will not ask again.
    if normalizer.accepts(arguments) or not normalizer.accepts(repaired.args):
        return None
    witness = normalizer.witness(arguments, repaired)
    return None if witness is None else HookRepair(repaired.args, witness)
