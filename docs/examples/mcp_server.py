"""A small MCP server over stdio that repairs arguments in front of its own handlers.

Run it, and write JSON-RPC to it, one message a line:

    {"jsonrpc":"2.0","id":1,"method":"tools/call",
     "params":{"name":"add","arguments":{"numbers":"[1, 2]","round":"True"}}}
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from fabricd import Normalizer

TOOLS: list[dict[str, Any]] = [
    {
        "name": "add",
        "description": "Add numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "numbers": {"type": "array", "items": {"type": "number"}},
                "round": {"type": "boolean"},
            },
            "required": ["numbers"],
            "additionalProperties": False,
        },
    }
]


def add(numbers: list[float], round: bool = False) -> str:
    """The handler: it sees only arguments that fit its schema, or that no rule could mend."""
    total = sum(numbers)
    return str(int(total) if round else total)


HANDLERS: dict[str, Callable[..., str]] = {"add": add}
normalizer = Normalizer(TOOLS)


def called(name: str, arguments: object) -> dict[str, Any]:
    """The result of a tools/call."""
    result = normalizer.apply(name, arguments)
    if result.witness is not None:
        rules = ", ".join(rule.kind for rule in result.witness.rules)
        print(f"{name}: repaired by {rules}", file=sys.stderr)
    try:
        text, failed = HANDLERS[name](**result.args), False
    except (KeyError, TypeError) as error:
        text, failed = f"{type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def answered(message: dict[str, Any]) -> object:
    """The result of any request."""
    match message.get("method"):
        case "initialize":
            info = {"name": "adder", "version": "1"}
            version = message["params"]["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return called(message["params"]["name"], message["params"].get("arguments", {}))
        case _:
            return {}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": answered(message)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
