"""The same bytes by another way: every log whole in memory, plain JSON, one dictionary by call id.

Slow on purpose and shares nothing with the product.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from tests.oracle.naive_history import canonical, records

STREAMS = (
    "stdout stderr interrupted isImage noOutputExpected returnCodeInterpretation gitOperation "
    "tokenSaverOutput"
).split()


class Output(NamedTuple):
    """What was shown of a result, all there was if it is kept, and whether that was cut."""

    shown: bytes
    full: bytes | None = None
    cut: bool = False


class Totals(NamedTuple):
    """What a trajectory of these outputs measures."""

    results: int
    initial_raw: int
    initial_visible: int
    escalated: int
    located: int


Outputs = dict[Any, Output]
Asked = dict[Any, str]


def raw(text: str) -> bytes:
    """The bytes of a text; half a surrogate pair is a replacement character."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def texts(content: Any) -> str:
    """The texts in a content of items."""
    if isinstance(content, str):
        return content
    found = []
    for item in content if isinstance(content, list) else []:
        if isinstance(item, dict) and item.get("type") in ("text", "input_text", "output_text"):
            found.append(item["text"])
    return "".join(found)


def put(outputs: Outputs, key: Any, new: Output) -> None:
    """The first copy stands, or one that keeps more of the same."""
    old = outputs.get(key)
    if old is None or (old.full is None and new.full is not None and old.shown == new.shown):
        outputs[key] = new


def claude_output(item: Any, said: Any, alone: bool) -> Output:
    shown = texts(item.get("content"))
    if not alone or not isinstance(said, dict):
        return Output(raw(shown))
    full, parts = None, []
    if set(said) <= set(STREAMS) and "stdout" in said and "stderr" in said:
        long = len(said["stdout"]) >= 30000 or len(said["stderr"]) >= 30000
        if not long and not said.get("interrupted") and not said.get("isImage"):
            parts = [p for p in (said["stdout"], said["stderr"]) if p]
            full = "\n".join(parts)
    elif set(said) == {"type", "file"} and said["type"] == "text":
        if set(said["file"]) == {"filePath", "content", "numLines", "startLine", "totalLines"}:
            full = said["file"]["content"]
            parts = [full]
    elif said.get("mode") == "content" and "content" in said:
        known = {"mode", "content", "filenames", "numFiles", "numLines", "totalLines"}
        if set(said) <= known and said.get("totalLines", said.get("numLines")) == said["numLines"]:
            full = said["content"]
            parts = [full]
    if full is None:
        return Output(raw(shown))
    text_only = isinstance(item.get("content"), str) or all(
        each.get("type") == "text" for each in item.get("content") or []
    )
    cut = len(raw(shown)) < len(raw(full)) and any(p.strip() not in shown for p in parts)
    return Output(raw(shown), raw(full), cut and text_only)


def claude(rows: list[Any]) -> tuple[Outputs, Asked]:
    outputs: Outputs = {}
    asked: Asked = {}
    own = [row["sessionId"] for row in rows if row.get("sessionId")][-1]
    for row in rows:
        inner = row
        if isinstance(row.get("data"), dict) and isinstance(row["data"].get("message"), dict):
            inner = row["data"]["message"]
        message = inner.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        items = [x for x in content if isinstance(x, dict)] if isinstance(content, list) else []
        alone = sum(x.get("type") == "tool_result" for x in items) == 1
        for item in items:
            if item.get("type") == "tool_use":
                asked.setdefault(item["id"], item["name"] + canonical(item["input"]))
            elif item.get("type") == "tool_result" and row.get("sessionId") == own:
                output = claude_output(item, inner.get("toolUseResult"), alone)
                put(outputs, item["tool_use_id"], output)
    return outputs, asked


def codex(rows: list[Any], parents: frozenset[str] = frozenset()) -> tuple[Outputs, Asked]:
    outputs: Outputs = {}
    asked: Asked = {}
    ends: dict[str, str] = {}
    for row in rows:
        body = row["payload"] if isinstance(row.get("payload"), dict) else row
        kind, call = body.get("type"), body.get("call_id")
        if kind == "exec_command_end":
            text = body.get("aggregated_output") or (
                "" if body.get("stderr") else body.get("stdout", "")
            )
            if text and len(raw(text)) <= 10000:
                ends[call] = text
        elif row.get("type") == "event_msg":
            continue
        elif kind in ("function_call", "custom_tool_call"):
            given = body.get("arguments", body.get("input"))
            try:
                given = canonical(json.loads(given))
            except ValueError:
                pass
            asked.setdefault(call, f"{body.get('namespace')}{body['name']}{given}")
        elif kind is not None and kind.endswith("_output") and call and call not in parents:
            said = body.get("output")
            put(outputs, call, codex_output(texts(said), ends.pop(call, None)))
    return outputs, asked


def codex_output(shown: str, end: str | None) -> Output:
    body = shown.split("\nOutput:\n", 1)[-1]
    if end is None:
        return Output(raw(shown))
    if body == end:
        return Output(raw(shown), raw(end))
    body = re.sub(r"\ATotal output lines: \d+\n\n", "", body)
    halves = re.split(r"…\d+ (?:tokens|chars|lines|bytes) truncated…", body)
    if len(halves) == 2 and 0 < sum(map(len, halves)) < len(end):
        if end.startswith(halves[0]) and end.endswith(halves[1]):
            return Output(raw(shown), raw(end), True)
    return Output(raw(shown))


def copilot(rows: list[Any]) -> tuple[Outputs, Asked]:
    outputs: Outputs = {}
    for row in rows:
        data = row.get("data", {})
        if row["type"] == "tool.execution_complete":
            if "result" in data:
                shown = texts(data["result"].get("content"))
            else:
                shown = data.get("error", {}).get("message", "")
            put(outputs, data["toolCallId"], Output(raw(shown)))
    return outputs, {}


def pi(rows: list[Any]) -> tuple[Outputs, Asked]:
    outputs: Outputs = {}
    begun = ""
    for row in rows:
        if row.get("type") == "session" and row.get("parentSession"):
            begun = row["timestamp"]
        message = row.get("message")
        if isinstance(message, dict) and message.get("role") == "toolResult":
            if row["timestamp"] < begun:
                continue
            shown = raw(texts(message.get("content")))
            details = message.get("details")
            cut = details.get("truncation") if isinstance(details, dict) else None
            whole = isinstance(cut, dict) and cut.get("truncated") is False
            put(outputs, message["toolCallId"], Output(shown, shown if whole else None))
    return outputs, {}


def opencode(parts: list[Any]) -> tuple[Outputs, Asked]:
    outputs: Outputs = {}
    for part in parts:
        if part["type"] != "tool" or part["state"]["status"] not in ("completed", "error"):
            continue
        state = part["state"]
        key = (part["callID"], part["tool"], canonical(state.get("input", {})))
        if state["status"] == "error":
            put(outputs, key, Output(raw(state.get("error", ""))))
            continue
        shown = raw(state.get("output", ""))
        emptied = not shown and state.get("time", {}).get("compacted")
        whole = state.get("metadata", {}).get("truncated") is False
        whole = whole and "output" in state and not emptied
        put(outputs, key, Output(shown, shown if whole else None))
    return outputs, {}


def gemini(document: Any) -> tuple[Outputs, Asked]:
    outputs: Outputs = {}
    for message in document["messages"]:
        for call in message.get("toolCalls", []):
            if call["status"] not in ("success", "error", "cancelled"):
                continue
            shown = ""
            for part in call.get("result") or []:
                response = part.get("functionResponse", {}).get("response", {})
                for name in ("output", "error"):
                    if isinstance(response.get(name), str):
                        shown += response[name]
                        break
                shown += part.get("text", "")
            outputs[call["id"], call["name"], canonical(call["args"])] = Output(raw(shown))
    return outputs, {}


def outputs_of(path: Path) -> tuple[Outputs, Asked]:
    """The outputs in a file, or in a storage tree of one session."""
    if path.is_dir():
        files = sorted((path / "part").glob("*/*.json"))
        return opencode([json.loads(file.read_bytes()) for file in files])
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        document = None
    if isinstance(document, dict) and "messages" in document:
        if "info" not in document:
            return gemini(document)
        return opencode([part for each in document["messages"] for part in each["parts"]])
    rows = records(path)
    if rows[0].get("type") == "session":
        return pi(rows)
    if "payload" in rows[0] or "instructions" in rows[0]:
        return codex(rows)
    if rows[0].get("type", "").startswith("session."):
        return copilot(rows)
    return claude(rows)


def totals(outputs: Outputs, asked: Asked) -> Totals:
    """What the trajectory must measure: a later showing of what was cut is no result of its own."""
    results = raw_bytes = visible = escalated = located = 0
    cut: dict[tuple[str, bytes], bool] = {}
    for key, output in outputs.items():
        full = output.shown if output.full is None else output.full
        place = (asked.get(key, ""), full)
        if place[0] and not output.cut and place in cut:
            escalated += 0 if cut[place] else len(full)
            cut[place] = True
            continue
        results += 1
        located += output.full is not None
        raw_bytes += len(full)
        visible += len(output.shown)
        if place[0] and output.cut:
            cut.setdefault(place, False)
    return Totals(results, raw_bytes, visible, escalated, located)
