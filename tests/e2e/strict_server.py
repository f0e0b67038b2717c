"""A server that takes what it declares and nothing else, and says what it was given.

It judges arguments with another validator than the gateway, in closed objects, behind references,
and declares its tools in two pages. Notifications go ahead of each result.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from jsonschema.validators import validator_for

_PERSON = {
    "type": "object",
    "additionalProperties": False,
    "required": ["fullName"],
    "properties": {"fullName": {"type": "string"}, "birthYear": {"type": "integer"}},
}
_TREE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["nodeValue"],
    "properties": {
        "nodeValue": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
    },
}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "search": {
        "type": "object",
        "additionalProperties": False,
        "required": ["query"],
        "properties": {
            "query": {"type": "string"},
            "maxResults": {"type": "integer", "minimum": 1, "maximum": 100},
            "sortOrder": {"type": "string", "enum": ["newest", "oldest", "bestMatch"]},
            "includeArchived": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "since": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "filter": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "minScore": {"type": "number"},
                    "fileTypes": {
                        "type": "array",
                        "items": {"enum": ["source", "test", "docText"]},
                    },
                },
            },
        },
    },
    "update_items": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"person": _PERSON},
        "type": "object",
        "additionalProperties": False,
        "required": ["items"],
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["itemId"],
                    "properties": {
                        "itemId": {"type": "integer"},
                        "isDone": {"type": "boolean"},
                        "priority": {"enum": ["low", "high", "veryHigh"]},
                        "owner": {"$ref": "#/$defs/person"},
                    },
                },
            },
            "dryRun": {"type": "boolean", "default": False},
        },
    },
    "grow": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"tree": _TREE},
        "type": "object",
        "required": ["root"],
        "properties": {"root": {"$ref": "#/$defs/tree"}},
        "additionalProperties": False,
    },
    "place": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["position"],
        "properties": {
            "position": {
                "type": "array",
                "prefixItems": [{"type": "number"}, {"type": "number"}],
                "minItems": 2,
                "items": False,
            },
            "level": {"oneOf": [{"type": "integer"}, {"type": "null"}]},
            "lane": {"const": "fastLane"},
            "flags": {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "boolean"}]
            },
        },
        "additionalProperties": False,
    },
    "store": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "required": ["key"],
        "properties": {
            "key": {"type": "string"},
            "value": {},
            "id": {"type": ["string", "integer"]},
            "ttlSeconds": {"type": "integer"},
        },
    },
    "twins": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "fooBar": {"type": "integer"},
            "foo_bar": {"type": "integer"},
            "mode": {"type": "string", "enum": ["on-off", "onOff"]},
        },
    },
}
_PAGE = 4
_INVALID_PARAMS, _NO_METHOD = -32602, -32601


class _Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _listing(cursor: str | None) -> dict[str, Any]:
    start = int(cursor or 0)
    names = list(_SCHEMAS)[start : start + _PAGE]
    page: dict[str, Any] = {
        "tools": [{"name": name, "inputSchema": _SCHEMAS[name]} for name in names]
    }
    if start + _PAGE < len(_SCHEMAS):
        page["nextCursor"] = str(start + _PAGE)
    return page


def _called(params: dict[str, Any]) -> dict[str, Any]:
    schema = _SCHEMAS.get(params["name"])
    if schema is None:
        raise _Refused(_INVALID_PARAMS, f"no tool is called {params['name']}")
    arguments = params.get("arguments", {})
    faults = sorted(
        f"{error.json_path}: {error.message}"
        for error in validator_for(schema)(schema).iter_errors(arguments)
    )
    if faults:
        raise _Refused(_INVALID_PARAMS, "; ".join(faults))
    for level in ("debug", "info"):
        _send(method="notifications/message", params={"level": level, "data": arguments})
    text = json.dumps(arguments, sort_keys=True)
    return {"content": [{"type": "text", "text": text}], "isError": False}


def _result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "logging": {}},
                "serverInfo": {"name": "strict", "version": "1"},
            }
        case "ping":
            return {}
        case "tools/list":
            return _listing(params.get("cursor"))
        case "tools/call":
            return _called(params)
        case _:
            raise _Refused(_NO_METHOD, f"no method is called {method}")


def _send(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(", ", ":")) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        try:
            result = _result(message["method"], message.get("params") or {})
        except _Refused as refusal:
            told = {"code": refusal.code, "message": str(refusal)}
            _send(id=message["id"], error=told)
        else:
            _send(id=message["id"], result=result)


if __name__ == "__main__":
    main()
