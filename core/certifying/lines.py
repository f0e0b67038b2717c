"""Session logs in code: how traces, audits and models are written, and how the laws read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from fabricd.core.certifying.laws import Laws
from fabricd.core.evidence import Evidence
from fabricd.core.model import AuditCall
from fabricd.core.sessions.pi import MARK, ScanState
from fabricd.core.sessions.samples import Recording

Json: TypeAlias = dict[str, Any]

_COUNTS = ("droppedValues", "truncatedValues", "redactedValues", "droppedOperations")


def called(ref: str, args: Json, outcome: str = "succeeded", stage: str | None = None) -> Json:
    """One call of a trace, without its sequence number."""
    staged = {} if stage is None else {"failureStage": stage}
    return {"type": "call", "ref": ref, "args": args, "outcome": outcome, **staged}


def traced(*calls: Json, phase: str | None = None, **more: Any) -> Json:
    """A trace of calls; `more` adds or replaces members of its envelope."""
    return {
        "kind": "pi-fabric.execution",
        "version": 1,
        "outcome": "succeeded",
        "phases": [] if phase is None else [phase],
        "operations": [{"sequence": place, **call} for place, call in enumerate(calls)],
        "counts": dict.fromkeys(_COUNTS, 0),
        **more,
    }


def audit(ref: str, args: Json) -> Json:
    """One audit row, with members that say nothing about the call itself."""
    return {"ref": ref, "args": args, "tool": "fabric_exec", "success": False}


def result(trace: Any, *audits: Any) -> Json:
    """A tool result with a trace, and audits if there are any."""
    details = {"trace": trace, "audits": list(audits)} if audits else {"trace": trace}
    return {"type": "message", "message": {"role": "toolResult", "details": details}}


def assistant(provider: str, model: str, **more: Any) -> Json:
    """An assistant record: the model in force from here on."""
    message = {"role": "assistant", "provider": provider, "model": model, **more}
    return {"type": "message", "message": message}


def line(value: object) -> bytes:
    """A record as one line, without its line feed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def log(*records: Json | bytes) -> bytes:
    """A session log; a record may be given as a line that is ready."""
    lines = [record if isinstance(record, bytes) else line(record) for record in records]
    return b"".join(each + b"\n" for each in lines)


# --- reading them


def scanned(laws: Laws, session: bytes) -> Evidence:
    """What one session says, its open end included."""
    evidence, state = laws.scan(session, ScanState())
    laws.add(evidence, laws.open_end(state))
    return evidence


def heard(laws: Laws, *sessions: bytes) -> Evidence:
    """The sum of what sessions say, each read from its start."""
    total = Evidence()
    for session in sessions:
        laws.add(total, scanned(laws, session))
    return total


def audits_in(laws: Laws, session: bytes) -> list[AuditCall]:
    """The audit calls of a session: those of the lines that its evidence points to."""
    spans = scanned(laws, session).audit_spans
    return list(laws.audits(session[start : start + length] for start, length in spans))


def recorded_in(laws: Laws, *sessions: bytes) -> Iterator[Recording]:
    """The recordings of sessions, in order."""
    for session in sessions:
        for each in session.split(b"\n"):
            if MARK in each:
                yield from laws.recordings(each)
