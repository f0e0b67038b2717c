"""Servers for the gateway to wrap: `python -S servers.py MODE …`."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

SEARCH: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string"},
        "maxResults": {"type": "integer"},
        "order": {"type": "string", "enum": ["newest", "bestMatch"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
    },
}
OPEN = {"type": "object", "properties": {"n": {"type": "number"}}}


def send(message: object) -> None:
    """One message."""
    os.write(1, json.dumps(message).encode() + b"\n")


def copy(seen: str) -> None:
    """Send back every byte, and keep a copy of what came in."""
    with open(seen, "wb") as file:
        while data := os.read(0, 1 << 16):
            file.write(data)
            while data:
                data = data[os.write(1, data) :]


def listing(seen: str) -> None:
    """Answer the first line with a listing, then send back every byte, and keep a copy."""
    asked = b""
    while not asked.endswith(b"\n"):
        asked += os.read(0, 1)
    send({"jsonrpc": "2.0", "id": json.loads(asked)["id"], "result": page(None, False)})
    copy(seen)


def page(cursor: str | None, pages: bool) -> dict[str, Any]:
    """A page of tools."""
    if not pages:
        return {"tools": [{"name": "search", "inputSchema": SEARCH}]}
    if cursor is None:
        return {"tools": [{"name": "other", "inputSchema": OPEN}], "nextCursor": "2"}
    return {"tools": [{"name": "search", "inputSchema": SEARCH}]}


def tools(mode: str, seen: str) -> None:
    """Serve strictly: a call with a number sent as text fails."""
    file = open(seen, "ab", buffering=0) if seen else None
    for line in iter(sys.stdin.buffer.readline, b""):
        if file is not None:
            file.write(line)
        try:
            asked = json.loads(line)
        except ValueError:
            continue
        if not isinstance(asked, dict) or "id" not in asked:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
        match asked.get("method"):
            case "tools/list":
                cursor = asked.get("params", {}).get("cursor")
                send({**reply, "result": page(cursor, mode == "pages")})
            case "tools/call":
                args = asked["params"].get("arguments", {})
                if args.get("query") == "refuse":
                    send({**reply, "error": {"code": -32602, "message": "no"}})
                    continue
                is_error = not isinstance(args.get("maxResults", 1), int)
                content = [{"type": "text", "text": '{"isError": true}'}]
                send({**reply, "result": {"content": content, "isError": is_error}})
            case "change":
                send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
                send({**reply, "result": {}})
            case _:
                send({**reply, "result": {}})


def main(mode: str, *more: str) -> None:
    """Serve until the input ends."""
    match mode:
        case "copy":
            copy(more[0])
        case "listing":
            listing(more[0])
        case "tools" | "pages":
            tools(mode, more[0])
        case "exits":
            raise SystemExit(int(more[0]))
        case "dies":
            os.kill(os.getpid(), int(more[0]))
        case "floods":
            os.write(2, b"x" * 100_000)
            while data := os.read(0, 1 << 16):
                os.write(2, b"y" * 200_000)
                os.write(1, data)
        case "garbage":
            os.write(1, b"Starting ...\n\x00\xff{[\n" + b"no final newline")
        case "hurries":
            # It ends before anybody has read what it wrote.
            for _ in range(4):
                os.write(1, b"x" * 40_000)
        case "deaf":
            # It closes its input and lives on.
            os.close(0)
            send("deaf")
            time.sleep(float(more[0]))
        case "signals":
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, lambda n, _: send(n))
            send("ready")
            while True:
                signal.pause()
        case "leaves":
            # What it leaves behind holds its output open.
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            send("gone")
        case _:
            raise SystemExit(f"no such mode: {mode}")


if __name__ == "__main__":
    main(*sys.argv[1:])
