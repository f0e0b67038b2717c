"""Logs written by hand, one agent after the other, and what is read of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fabricd.core.trajectory.sessions.document import Named, pieces
from fabricd.core.trajectory.sessions.joining import Run, run_of
from fabricd.daemon.cli.trajectory.session_reading import read_source
from fabricd.daemon.cli.trajectory.work import profiled, validated
from tests.oracle.naive_outputs import Totals, outputs_of, totals

Json = dict[str, Any]


def write(path: Path, *rows: Any) -> Path:
    """A log of lines."""
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    return path


def run(*paths: Path, session: str | None = None) -> Run:
    """The run of some logs."""
    return run_of([read_source(os.fsencode(path), session) for path in paths], session)


def document(found: Run) -> Any:
    """Its trajectory, which is one valid line of canonical JSON."""
    from fabricd.core.identity import canonical_line

    data = b"".join(pieces(found, Named("arm")))
    value = json.loads(data)
    assert data == canonical_line(value)
    assert validated(data).violations == []
    return value


def figures(found: Run) -> Totals:
    """What its trajectory measures."""
    data = b"".join(pieces(found, Named("arm")))
    told = profiled(data).measurement.value()["measurements"]
    return Totals(
        len(told["operations"]),
        told["initial_raw_available_bytes"],
        told["initial_model_visible_bytes"],
        told["escalated_model_visible_bytes"],
        sum(each["raw_evidence_locator_present"] for each in told["operations"]),
    )


def agreed(path: Path) -> Totals:
    """What the trajectory of a log measures, which is what a plain count says."""
    found = run(path)
    document(found)
    mine = figures(found)
    assert mine == totals(*outputs_of(path))
    return mine


def claude_call(call_id: str, tool: str = "Bash", **given: Any) -> Json:
    """A row with a call."""
    item = {"type": "tool_use", "id": call_id, "name": tool, "input": given or {"command": "ls"}}
    message = {"role": "assistant", "model": "m", "content": [item]}
    return claude_row("assistant", message=message)


def claude_row(kind: str, **more: Any) -> Json:
    """A row."""
    told = {"sessionId": "c", "version": "2.1.1", "timestamp": "2026-10-05T09:00:00Z"}
    return {**told, "type": kind, **more}


def claude_result(call_id: str, shown: Any, beside: Any = None, **more: Any) -> Json:
    """A row with a result, and what stands beside it."""
    item = {"type": "tool_result", "tool_use_id": call_id, "content": shown}
    row = claude_row("user", message={"role": "user", "content": [item]}, **more)
    return row if beside is None else {**row, "toolUseResult": beside}


def streams(out: str, err: str = "", **more: Any) -> Json:
    """What stands beside the result of a command."""
    return {"stdout": out, "stderr": err, "interrupted": False, "isImage": False, **more}


def codex_line(kind: str, **payload: Any) -> Json:
    """A line."""
    return {"timestamp": "2026-10-05T09:00:00Z", "type": kind, "payload": payload}


def codex_header(session: str = "x", **more: Any) -> Json:
    """The first line."""
    return codex_line("session_meta", id=session, cli_version="0.140.0", **more)


def codex_call(call_id: str, **given: Any) -> Json:
    """A call."""
    arguments = json.dumps(given or {"cmd": "ls"})
    told = {"type": "function_call", "name": "exec_command", "call_id": call_id}
    return codex_line("response_item", **told, arguments=arguments)


def codex_output(call_id: str, output: Any) -> Json:
    """An output as it was shown."""
    told = {"type": "function_call_output", "call_id": call_id, "output": output}
    return codex_line("response_item", **told)


def codex_end(call_id: str, output: str, **more: Any) -> Json:
    """The end of a command."""
    told = {"type": "exec_command_end", "call_id": call_id, "exit_code": 0}
    empty = {"stdout": "", "stderr": "", "formatted_output": ""}
    return codex_line("event_msg", **{**told, **empty, "aggregated_output": output, **more})


def headed(body: str) -> str:
    """An output below the lines that stand over it."""
    return f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{body}"


def copilot_event(kind: str, **data: Any) -> Json:
    """An event."""
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-10-05T09:00:00Z"}


def pi_entry(time: str = "2026-10-05T09:00:00Z", **message: Any) -> Json:
    """An entry of a session."""
    told = {"type": "message", "id": "0", "parentId": None, "timestamp": time}
    return {**told, "message": message}


def pi_call(call_id: str, time: str = "2026-10-05T09:00:00Z", **given: Any) -> Json:
    """A call."""
    item = {"type": "toolCall", "id": call_id, "name": "bash", "arguments": given or {"c": "ls"}}
    return pi_entry(time, role="assistant", content=[item])


def pi_result(
    call_id: str, *texts: str, details: Any = None, time: str = "2026-10-05T09:00:00Z"
) -> Json:
    """A result."""
    content = [{"type": "text", "text": text} for text in texts]
    told = {"role": "toolResult", "toolCallId": call_id, "toolName": "bash", "isError": False}
    return pi_entry(time, **told, content=content, details=details)


def pi_header(session: str = "f", **more: Any) -> Json:
    """The first entry."""
    told = {"type": "session", "version": 3, "id": session, "cwd": "/"}
    return {**told, "timestamp": "2026-10-05T08:00:00Z", **more}


def oc_part(call_id: str, tool: str = "bash", **state: Any) -> Json:
    """A part with a call."""
    told = {"status": "completed", "input": {"c": call_id}, "time": {"start": 1, "end": 2}}
    return {"type": "tool", "tool": tool, "callID": call_id, "state": {**told, **state}}


def oc_export(*parts: Json, session: str = "ses_1") -> Json:
    """An export."""
    info = {"id": session, "directory": "/", "version": "1.14.30", "projectID": "p"}
    return {"info": info, "messages": [{"info": {"role": "assistant"}, "parts": [*parts]}]}


def gemini_call(call_id: str, response: Any, status: str = "success", **more: Any) -> Json:
    """A call with its result."""
    result = [{"functionResponse": {"id": call_id, "name": "ls", "response": response}}]
    told = {"id": call_id, "name": "ls", "args": {"dir": "."}, "status": status}
    return {**told, "result": result, **more}


def gemini_document(*calls: Json) -> Json:
    """A chat."""
    message = {"id": "m", "type": "gemini", "timestamp": "2026-10-05T09:00:00Z"}
    head = {"sessionId": "g", "projectHash": "0", "startTime": "2026-10-05T09:00:00Z"}
    return {**head, "messages": [{**message, "toolCalls": [*calls]}]}
