"""Plain builders of traces, records and session bytes, for tests that need one of a kind."""

from __future__ import annotations

import json
from typing import Any

from fabricd.core.evidence import Evidence
from fabricd.core.sessions.pi import ScanState, open_end_steps, scan_steps
from fabricd.core.steps import finish

Json = dict[str, Any]

COUNTS = ("droppedValues", "truncatedValues", "redactedValues", "droppedOperations")
RULE: Json = {"kind": "key-form", "key": "limit"}
WITNESS: Json = {
    "version": 1,
    "baseSchemaDigest": "a" * 64,
    "beforeShape": "b" * 64,
    "afterShape": "c" * 64,
    "rules": [RULE],
}


def operation(sequence: Any = 0, ref: Any = "mcp.demo.search", **more: Any) -> Json:
    """One succeeded call; `more` adds or replaces members."""
    plain: Json = {
        "type": "call",
        "sequence": sequence,
        "ref": ref,
        "args": {},
        "outcome": "succeeded",
    }
    return plain | more


def trace(*operations: Json, **more: Any) -> Json:
    """A valid envelope around operations; `more` adds or replaces members."""
    return {
        "kind": "pi-fabric.execution",
        "version": 1,
        "outcome": "succeeded",
        "phases": [],
        "operations": list(operations),
        "counts": dict.fromkeys(COUNTS, 0),
        **more,
    }


def record(envelope: Any, audits: Any = None, **more: Any) -> Json:
    """A record that carries a trace at its top level."""
    details = {"trace": envelope} if audits is None else {"trace": envelope, "audits": audits}
    return {"type": "custom", "details": details, **more}


def result(envelope: Any, audits: Any = None) -> Json:
    """A tool result that carries a trace inside its message."""
    held = record(envelope, audits)["details"]
    return {"type": "message", "message": {"role": "toolResult", "details": held}}


def assistant(provider: Any, model: Any) -> Json:
    """An assistant record, which names the model in force from here on."""
    return {
        "type": "message",
        "message": {"role": "assistant", "provider": provider, "model": model},
    }


def model_change(provider: Any, model: Any) -> Json:
    """The other record that names a model."""
    return {"type": "model_change", "provider": provider, "modelId": model}


def line(value: Any) -> bytes:
    """A value as one line of a log, without its line feed."""
    return json.dumps(value, separators=(",", ":")).encode()


def log(*values: Any) -> bytes:
    """Values and ready lines as a log whose every line is terminated."""
    lines = [value if isinstance(value, bytes) else line(value) for value in values]
    return b"".join(each + b"\n" for each in lines)


def scanned(data: bytes, state: ScanState | None = None) -> tuple[Evidence, ScanState]:
    """One scan of bytes, from the start unless a state is given."""
    return finish(scan_steps(data, ScanState() if state is None else state))


def everything(data: bytes) -> Evidence:
    """What a whole log says, its open end included."""
    evidence, state = scanned(data)
    evidence.add(finish(open_end_steps(state)))
    return evidence
