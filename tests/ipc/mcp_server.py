"""A small MCP server for tests: `python mcp_server.py MODE`."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

# What some libraries write for numbers that JSON has not.
NOT_JSON = {"nan": float("nan"), "infinite": float("inf"), "long": 10**500}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def send(message: object) -> None:
    """One message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tools(first: int, last: int) -> list[dict[str, Any]]:
    """Some tools."""
    return [
        {"name": f"tool_{n}", "description": "x", "inputSchema": SCHEMA} for n in range(first, last)
    ]


def page(mode: str, cursor: str | None) -> dict[str, Any]:
    """One page of tools."""
    if mode == "loops":
        return {"tools": tools(0, 1), "nextCursor": "again"}
    if mode == "odd":
        return {"tools": {"a": 1}}
    if mode in NOT_JSON:
        return {"tools": [{"name": "a", "inputSchema": {"minimum": NOT_JSON[mode]}}]}
    if mode == "unnamed":
        return {"tools": [{"inputSchema": SCHEMA}]}
    if mode != "pages" or cursor == "2":
        return {"tools": tools(4, 6)}
    return {
        "tools": tools(0, 2) if cursor is None else tools(2, 4),
        "nextCursor": "1" if cursor is None else "2",
    }


def main(mode: str) -> None:
    """Serve until the input ends."""
    if mode == "dies":
        sys.stderr.write("no licence key\x1b[31m\n")
        raise SystemExit(3)
    if mode == "floods":
        sys.stderr.write("noise\n" * 200_000)
    if mode == "chatters":
        print("Starting the server …", flush=True)
    if mode == "garbage":
        for _ in range(500):
            print("this is no message", flush=True)
    if mode == "endless":
        while True:
            print("this is no message either" * 1000)
    if mode == "stays":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(sys.argv[2]).write_text(str(os.getpid()))
        time.sleep(60)
    if mode == "child":
        if os.fork() == 0:
            time.sleep(60)
    for line in sys.stdin:
        asked = json.loads(line)
        if mode == "hangs":
            time.sleep(60)
        if mode == "logs":
            send({"jsonrpc": "2.0", "method": "notifications/message", "params": float("nan")})
        if mode == "asks on":
            while True:
                send({"jsonrpc": "2.0", "id": "x" * 10_000, "method": "ping"})
        if mode == "asks":
            send({"jsonrpc": "2.0", "id": "p", "method": "ping"})
            assert json.loads(sys.stdin.readline()) == {"jsonrpc": "2.0", "id": "p", "result": {}}
            send({"jsonrpc": "2.0", "id": "r", "method": "roots/list"})
            assert "error" in json.loads(sys.stdin.readline())
            mode = "plain"
        if asked["method"] == "initialize":
            info = {"name": "test", "version": "1"}
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
            send({"jsonrpc": "2.0", "id": asked["id"], "result": result})
        elif asked["method"] == "tools/list":
            if mode == "refuses":
                error = {"code": -32603, "message": "not today"}
                send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
            else:
                result = page(mode, asked["params"].get("cursor"))
                send({"jsonrpc": "2.0", "id": asked["id"], "result": result})


if __name__ == "__main__":
    main(sys.argv[1])
