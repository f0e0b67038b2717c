"""Synthetic session logs of a given size and mix, the same for the same seed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

_WORDS = (
    "the cursor waits behind the last line feed until the writer ends its record and the scanner "
    "compares what it holds with what the file says before it adds one more count to the window"
).split()
_MODELS = (("north", "one-2"), ("south", "two-9"), ("east", "three-1"))
_ACTIONS = [f"mcp.server{number % 6}.action{number}" for number in range(40)]
_REFS = [*_ACTIONS, "pi.read", "pi.bash", "pi.edit"]
_COUNTS = {"droppedValues": 0, "truncatedValues": 0, "redactedValues": 0, "droppedOperations": 0}


def surface() -> dict[str, Any]:
    """The declared side of the corpus."""
    actions = [
        {
            "ref": ref,
            "inputSchema": {
                "type": "object",
                "additionalProperties": False,
                "required": ["path"],
                "properties": {
                    "path": {"type": "string"},
                    "limit": {"type": "integer", "minimum": 1},
                    "mode": {"type": "string", "enum": ["fast", "slow-safe", "plainText"]},
                    "note": {"type": "string"},
                    f"opt{number % 5}": {"type": "boolean"},
                },
            },
        }
        for number, ref in enumerate(_ACTIONS)
    ]
    return {"version": 1, "actions": sorted(actions, key=lambda action: str(action["ref"]))}


def _text(rng: random.Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(_WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)


def _args(rng: random.Random) -> dict[str, Any]:
    args: dict[str, Any] = {"path": f"src/{rng.randrange(400)}.ts"}
    if rng.random() < 0.5:
        args["limit"] = rng.randrange(1, 200)
    if rng.random() < 0.3:
        args["mode"] = rng.choice(["fast", "FAST", "slow_safe", "plainText"])
    if rng.random() < 0.1:
        args["note"] = None
    if rng.random() < 0.05:
        args["LIMIT"] = str(rng.randrange(99))
    return args


def trace_record(rng: random.Random, refs: list[str], prose: int = 200) -> dict[str, Any]:
    """A tool result with a trace of 2 to 12 operations and their audits."""
    operations: list[dict[str, Any]] = []
    for sequence in range(rng.randrange(2, 13)):
        operation: dict[str, Any] = {
            "type": "call",
            "sequence": sequence,
            "ref": rng.choice(refs),
            "args": _args(rng),
            "outcome": "succeeded",
        }
        chance = rng.random()
        if chance < 0.06:
            stage = rng.choice(["validate", "prepare", "resolve", "invoke"])
            operation |= {"outcome": "failed", "failureStage": stage, "error": "it failed"}
        elif chance < 0.07:
            operation["outcome"] = "aborted"
        operations.append(operation)
    trace = {
        "kind": "pi-fabric.execution",
        "version": 1,
        "outcome": "succeeded",
        "phases": [rng.choice(["Inspect", "Build", "Verify"])],
        "operations": operations,
        "counts": _COUNTS,
    }
    audits = [{"ref": o["ref"], "args": o["args"], "success": True} for o in operations]
    details = {"success": True, "trace": trace, "audits": audits, "phases": trace["phases"]}
    content = [{"type": "text", "text": _text(rng, prose)}]
    return {"role": "toolResult", "toolName": "fabric_exec", "content": content, "details": details}


def _prose_record(rng: random.Random, prose: int) -> dict[str, Any]:
    if rng.random() < 0.5:
        provider, model = rng.choice(_MODELS)
        content = [{"type": "text", "text": _text(rng, prose)}]
        return {"role": "assistant", "provider": provider, "model": model, "content": content}
    return {"role": "user", "content": _text(rng, prose)}


def write(
    folder: Path, files: int, records: int, trace_share: float, prose: int, seed: int = 7
) -> int:
    """Write `files` session logs of `records` lines each; gives their size in bytes."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    size = 0
    for number in range(files):
        with (folder / f"s{number:04}.jsonl").open("w", encoding="utf-8") as file:
            file.write(json.dumps({"type": "session", "version": 3, "id": f"s{number}"}) + "\n")
            for entry in range(records):
                traced = rng.random() < trace_share
                message = trace_record(rng, _REFS) if traced else _prose_record(rng, prose)
                record = {"type": "message", "id": f"{entry:08x}", "message": message}
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
            size += file.tell()
    return size
