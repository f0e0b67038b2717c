"""The same counts by another way: every log whole in memory, plain JSON, lists and sets.

Slow on purpose and shares nothing with the product. It knows no schemas.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

RANK = {"unknown": 0, "succeeded": 1, "aborted": 2, "timedOut": 3, "failed": 4}

Calls = list[tuple[str, str, str, str, str]]
Ends = dict[str, list[str]]


def records(path: Path) -> list[Any]:
    """Every JSON object of a file, glued or not."""
    found = []
    decoder = json.JSONDecoder()
    for line in path.read_bytes().split(b"\n"):
        text = line.decode("utf-8", "replace").strip()
        at = 0
        while at < len(text):
            try:
                value, at = decoder.raw_decode(text, at)
            except ValueError:
                break
            found.append(value)
            while at < len(text) and text[at] in " \t\r":
                at += 1
    return found


def canonical(value: Any) -> str:
    """A text that is equal for equal JSON values."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{k!r}:{canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return repr(value)


def claude(rows: list[Any]) -> tuple[str, Calls, Ends]:
    calls: Calls = []
    ends: Ends = defaultdict(list)
    for row in rows:
        inner = row
        if isinstance(row.get("data"), dict) and isinstance(row["data"].get("message"), dict):
            inner = row["data"]["message"]
        message = inner.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        items = [item for item in content or [] if isinstance(item, dict)]
        ended = [item for item in items if item.get("type") == "tool_result"]
        for item in items:
            if item.get("type") == "tool_use":
                calls.append((item["id"], item["name"], canonical(item["input"]), "", ""))
            elif item.get("type") == "tool_result":
                result = row.get("toolUseResult")
                if (
                    len(ended) == 1
                    and isinstance(result, dict)
                    and result.get("interrupted") is True
                ):
                    ends[item["tool_use_id"]].append("aborted")
                else:
                    failed = item.get("is_error") is True
                    ends[item["tool_use_id"]].append("failed" if failed else "succeeded")
    return "claude-code", calls, ends


def pi(rows: list[Any]) -> tuple[str, Calls, Ends]:
    calls: Calls = []
    ends: Ends = defaultdict(list)
    for row in rows:
        message = row.get("message")
        if not isinstance(message, dict):
            continue
        if message.get("role") == "toolResult":
            failed = message.get("isError") is True
            ends[message["toolCallId"]].append("failed" if failed else "succeeded")
        elif message.get("role") == "assistant":
            for item in message["content"]:
                if item.get("type") == "toolCall":
                    calls.append((item["id"], item["name"], canonical(item["arguments"]), "", ""))
    return "pi", calls, ends


def codex(rows: list[Any]) -> tuple[str, Calls, Ends]:
    calls: Calls = []
    ends: Ends = defaultdict(list)
    header = next(row["payload"] for row in rows if row["type"] == "session_meta")
    # One step back is far enough for the logs that are counted here.
    session = header.get("forked_from_id") or header["id"]
    for row in rows:
        body = row["payload"]
        kind = body.get("type")
        if row["type"] == "response_item":
            if kind == "function_call":
                try:
                    given = canonical(json.loads(body["arguments"]))
                except ValueError:
                    given = body["arguments"]
                server = f"{body['namespace']}__" if body.get("namespace") else ""
                calls.append((body["call_id"], server + body["name"], given, "", ""))
            elif kind == "custom_tool_call":
                calls.append((body["call_id"], body["name"], repr(body["input"]), "", ""))
            elif kind in ("web_search_call", "tool_search_call", "local_shell_call"):
                given = canonical(body.get("arguments", body.get("action")))
                call_id = body.get("call_id") or body.get("id") or ""
                calls.append((call_id, kind, given, "" if call_id else session, ""))
        elif row["type"] == "event_msg":
            if kind == "exec_command_end":
                ends[body["call_id"]].append("succeeded" if body["exit_code"] == 0 else "failed")
            elif kind == "patch_apply_end":
                ends[body["call_id"]].append("succeeded" if body["success"] else "failed")
            elif kind == "mcp_tool_call_end":
                ends[body["call_id"]].append("failed" if "Err" in body["result"] else "succeeded")
    return "codex", calls, ends


def copilot(rows: list[Any]) -> tuple[str, Calls, Ends]:
    calls: Calls = []
    ends: Ends = defaultdict(list)
    for row in rows:
        data = row.get("data", {})
        if row["type"] == "tool.execution_start":
            calls.append(
                (data["toolCallId"], data["toolName"], canonical(data["arguments"]), "", "")
            )
        elif row["type"] == "assistant.message":
            for item in data.get("toolRequests", []):
                calls.append(
                    (item["toolCallId"], item["name"], canonical(item["arguments"]), "", "")
                )
        elif row["type"] == "tool.execution_complete":
            ends[data["toolCallId"]].append("succeeded" if data["success"] else "failed")
    return "copilot-cli", calls, ends


def opencode_tree(root: Path) -> tuple[str, Calls, Ends]:
    """The older store, put together to what an export would be."""
    messages = []
    for folder in sorted((root / "part").iterdir()):
        parts = [json.loads(path.read_bytes()) for path in sorted(folder.iterdir())]
        messages.append({"parts": parts})
    session = json.loads(next((root / "session").rglob("*.json")).read_bytes())
    return opencode({"info": session, "messages": messages})


def opencode(document: Any) -> tuple[str, Calls, Ends]:
    calls: Calls = []
    session = document["info"]["id"]
    ended = {"completed": "succeeded", "error": "failed"}
    for message in document["messages"]:
        for part in message["parts"]:
            if part["type"] == "tool":
                tool, state = part["tool"], part["state"]
                end = ended.get(state["status"], "unknown")
                given = canonical(state.get("input", {}))
                if tool == "invalid":
                    tool, end, given = state["input"]["tool"], "failed", ""
                calls.append((part["callID"], tool, given, session, end))
    return "opencode", calls, {}


def gemini(document: Any) -> tuple[str, Calls, Ends]:
    calls: Calls = []
    ended = {"success": "succeeded", "error": "failed", "cancelled": "aborted"}
    for message in document["messages"]:
        for call in message.get("toolCalls", []):
            end = ended.get(call["status"], "unknown")
            given = canonical(call["args"])
            calls.append((call["id"], call["name"], given, document["sessionId"], end))
    return "gemini-cli", calls, {}


def read(path: Path) -> tuple[str, Calls, Ends]:
    """The calls of a file and the ends of calls it tells of, with the agent it is of."""
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        document = None
    if isinstance(document, dict) and "messages" in document:
        return opencode(document) if "info" in document else gemini(document)
    rows = records(path)
    first = rows[0]
    if first.get("type") == "session":
        return pi(rows)
    if "payload" in first:
        return codex(rows)
    if first.get("type", "").startswith("session."):
        return copilot(rows)
    return claude(rows)


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """Calls and outcomes by agent over all files, each call once."""
    calls: dict[str, Calls] = defaultdict(list)
    ends: dict[str, Ends] = defaultdict(lambda: defaultdict(list))
    files: Counter[str] = Counter()
    for path in paths:
        agent, found, told = opencode_tree(path) if path.is_dir() else read(path)
        files[agent] += 1
        calls[agent] += found
        for call_id, each in told.items():
            ends[agent][call_id] += each
    return {agent: _counted(agent, calls[agent], ends[agent], files[agent]) for agent in files}


def _counted(agent: str, calls: Calls, ends: Ends, files: int) -> dict[str, Any]:
    if agent == "opencode":
        # An id that two different calls share says too little without its session.
        under: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for call_id, tool, given, _, _ in calls:
            under[call_id].add((tool, given))
        calls = [
            (i, t, g, s if len(under[i]) > 1 or i in ("", "REDACTED") else "", e)
            for i, t, g, s, e in calls
        ]
    best: dict[tuple[str, str, str, str], str] = {}
    for call_id, tool, given, session, end in calls:
        key = (call_id, tool, given, session)
        every = [
            end or "unknown",
            best.get(key, "unknown"),
            *(ends.get(call_id, []) if call_id else []),
        ]
        best[key] = max(every, key=RANK.__getitem__)
    outcomes = Counter(best.values())
    tools = Counter(key[1] for key in best)
    return {
        "files": files,
        "calls": len(best),
        "outcomes": {name: outcomes.get(name, 0) for name in RANK},
        "tools": dict(tools),
    }
