"""What the gateway's log holds: one record a line, arguments projected unless asked otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import msgspec

from fabricd.core.canonical import as_given, text, utf8
from fabricd.core.history.malformation import malformations, slugs_in
from fabricd.core.mcp.conversation import Asked, Called, Outcome, Surfaced
from fabricd.core.mcp.projection import Projection
from fabricd.core.plain import is_object
from fabricd.core.validation import Unjudgeable, Validator

Audits: TypeAlias = Literal["projected", "full"]

FORMAT = "fabricd.gateway"
VERSION = 1
MAX_AUDIT = 1024 * 1024
_UNDECLARED = "*"
_STAGES = ("resolve", "validate")
_ENCODE = msgspec.json.Encoder().encode


def moment(at: int) -> str:
    """Milliseconds since the epoch as RFC 3339 in UTC."""
    text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def session_record(ident: str, at: int, told: Mapping[str, object]) -> bytes:
    """The first line of a log.

    Args:
        told: what else there is to say of the run.
    """
    head = {"type": "session", "format": FORMAT, "version": VERSION, "id": ident}
    return _line({**head, "timestamp": moment(at), **told})


def surface_record(found: Surfaced) -> bytes:
    """What the server declares, from here on."""
    declared = found.declared
    actions = [
        {"ref": tool.ref, "inputSchema": msgspec.Raw(tool.text)} for tool in declared.tools.values()
    ]
    return _ENCODE({"type": "surface", "digest": declared.digest, "actions": actions}) + b"\n"


def lost_record(calls: int) -> bytes:
    """How many calls were not logged."""
    return _line({"type": "lost", "calls": calls})


def call_record(called: Called, server: str, audits: Audits) -> bytes:
    """One call: its trace, what was found before it was forwarded, and its audit if asked for.

    The name of a tool that no listing declares is what somebody wrote: it is only in full audits.
    """
    asked = called.asked.whole()
    is_named = asked.is_declared or audits == "full"
    ref = f"mcp.{server}.{asked.tool if is_named else _UNDECLARED}"
    record: dict[str, Any] = {
        "type": "call",
        "id": asked.id,
        "timestamp": moment(asked.at),
        "surface": asked.surface,
        "check": asked.check,
        "trace": _trace(asked, called.outcome, ref, schema := asked.schema),
    }
    if asked.repair is not None and asked.repair.args is not None:
        record["forwarded"] = Projection(schema).of(asked.repair.args)
    if asked.check in _STAGES:
        record["faults"] = _faults(asked, schema)
        record["repairable"] = asked.repairable
    if audits == "full" and is_object(asked.arguments):
        audit: dict[str, object] = {"ref": ref, "args": asked.arguments}
        if asked.repair is not None:
            audit["forwarded"] = asked.repair.args
        record["audit"] = audit
        if len(line := _line(record)) <= MAX_AUDIT:
            return line
        del record["audit"]
    return _line(record)


def _trace(asked: Asked, outcome: Outcome, ref: str, schema: object) -> dict[str, Any]:
    projection = Projection(schema)
    operation: dict[str, Any] = {
        "type": "call",
        "sequence": 0,
        "ref": ref,
        "args": projection.of(asked.arguments),
        "outcome": outcome,
    }
    if outcome == "failed":
        operation["failureStage"] = asked.check if asked.check in _STAGES else "invoke"
    if asked.repair is not None:
        operation["normalization"] = asked.repair.witness()
    return {
        "kind": "pi-fabric.execution",
        "version": 1,
        "outcome": outcome,
        "phases": [],
        "operations": [operation],
        "counts": {
            "droppedValues": projection.dropped,
            "truncatedValues": projection.truncated,
            "redactedValues": 0,
            "droppedOperations": 0,
        },
    }


def _faults(asked: Asked, schema: object) -> list[str]:
    if asked.check == "resolve":
        return ["unknown-tool"]
    if not is_object(schema):
        return []
    try:
        validator = Validator(schema)
    except Unjudgeable:
        return []
    return list(slugs_in(malformations(schema, validator, asked.arguments)))


def _line(record: Mapping[str, object]) -> bytes:
    try:
        return _ENCODE(record) + b"\n"
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and wide integers.
        return utf8(text(record, as_given)) + b"\n"
