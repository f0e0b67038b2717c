"""`fabricd-hook repair`: asks the daemon for the repair of a call that is about to be made.

Standard library only. It prints what its agent takes for other arguments, or nothing at all: on
any doubt the call goes its way as the model wrote it.
"""

from __future__ import annotations

import json
import os
import socket
import time

# Known to the checkers alone: to import it costs as much as the answer takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_MOST = 1 << 20
_PLUGINS = ("opencode", "pi")


class _Doubt(ValueError):
    """Raised wherever a call is better left alone."""


def answer(agent: str, data: bytes, ends: float) -> str | None:
    """What is to be printed for an agent's input.

    Args:
        data: what the agent wrote to standard input.
        ends: when the agent has waited long enough, on the monotonic clock.

    Raises:
        Exception: something was in doubt; nothing is to be printed.
    """
    message = _object(json.loads(data, object_pairs_hook=_members, parse_constant=_refused))
    tool, arguments = message["tool_name"], _object(message["tool_input"])
    if not isinstance(tool, str):
        raise _Doubt
    if agent == "claude-code" and not tool.startswith("mcp__"):
        raise _Doubt
    result = _ask({"agent": agent, "tool": tool, "arguments": arguments}, ends)
    if not result:
        return None
    repaired = _object(result["arguments"])
    if repaired == arguments:
        return None
    value = _said(agent, message, repaired, _object(result["witness"]))
    return None if value is None else json.dumps(value, allow_nan=False)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Doubt
    return found


def _object(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value
    if not isinstance(value, dict):
        raise _Doubt
    return found


def _refused(_: str) -> Any:
    raise _Doubt


def _said(
    agent: str, message: Mapping[str, Any], repaired: dict[str, Any], witness: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What an agent takes for other arguments; None for one that takes none from us."""
    if agent in _PLUGINS:
        return {"arguments": repaired}
    if agent in ("gemini", "gemini-cli"):
        return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": repaired}}
    if agent != "claude-code":
        return None
    # Leave is only said where the user has given it for everything: a repair widens nothing.
    free = message.get("permission_mode") == "bypassPermissions"
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow" if free else "ask",
            "permissionDecisionReason": _reason(witness),
            "updatedInput": repaired,
        }
    }


def _reason(witness: Mapping[str, Any]) -> str:
    kinds = dict.fromkeys(str(_object(rule)["kind"]) for rule in witness["rules"])
    return f"fabricd wrote the arguments as the tool's schema has them ({', '.join(kinds)})"


def _ask(params: dict[str, Any], ends: float) -> Mapping[str, Any]:
    from fabricd.store.addresses import socket_path

    body = {"jsonrpc": "2.0", "id": 1, "method": "repair", "params": params}
    frame = json.dumps(body, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    if len(frame) > _MOST:
        raise _Doubt
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_left(ends))
        connection.connect(os.fsencode(socket_path(os.environ)))
        connection.settimeout(_left(ends))
        connection.sendall(frame)
        reply = json.loads(_line(connection, ends), parse_constant=_refused)
    if reply["id"] != 1:
        raise _Doubt
    return _object(reply["result"])


def _line(connection: socket.socket, ends: float) -> bytes:
    data = bytearray()
    while not data.endswith(b"\n"):
        connection.settimeout(_left(ends))
        part = connection.recv(1 << 16)
        if not part or len(data) > 4 * _MOST:
            raise _Doubt
        data += part
    return bytes(data)


def _left(ends: float) -> float:
    left = ends - time.monotonic()
    if left <= 0:
        raise _Doubt
    return left
