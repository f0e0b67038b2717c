"""The gateway's own logs: each call checked before it was forwarded, by what the server declared.

A call is one trace with one operation, whose witness may be of either version: Fabric's own guard,
which is closed, takes the first alone.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.history.calls import (
    ABORTED,
    FAILED,
    INVALID,
    NO_SCHEMA,
    SUCCEEDED,
    TIMED_OUT,
    UNDECLARED,
    VALID,
)
from fabricd.core.history.malformation import bits_of
from fabricd.core.history.recorder import NOTHING, Recorder, milliseconds
from fabricd.core.model import REJECTING_STAGES
from fabricd.core.normalform.extended.plan import EXTENDED_KINDS, is_digest
from fabricd.core.plain import is_count, is_list, is_number, is_object
from fabricd.core.sessions.adapting import TypedAdapter, text_of
from fabricd.core.sessions.trace import refusal, witness_of

_Other: TypeAlias = str | float | bool | list[Any] | None

_OUTCOMES = {
    "succeeded": SUCCEEDED,
    "failed": FAILED,
    "aborted": ABORTED,
    "timed_out": TIMED_OUT,
}
_VERDICTS = {
    "accepted": VALID,
    "repaired": VALID,
    "validate": INVALID,
    "resolve": UNDECLARED,
}
_MAX_RULES = 4096


class _Record(Struct, frozen=True, gc=False):
    type: Any = None
    id: Any = None
    timestamp: Any = None
    cwd: Any = None
    check: Any = None
    faults: Any = None
    repairable: Any = None
    trace: Raw | UnsetType = UNSET


_RECORD = msgspec.json.Decoder(_Record)


class Gateway(TypedAdapter[_Record]):
    """Reads the records of one run of a wrapped server."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder, _RECORD)

    def enter(self, found: _Record, data: bytes, start: int, end: int) -> None:
        """Enter what a record says."""
        if found.type == "session":
            self._context["session"] = text_of(found.id)
            self._context["project"] = text_of(found.cwd)
            self._recorder.session(text_of(found.id))
        elif found.type == "call" and found.trace is not UNSET:
            operation = operation_of(_value(bytes(found.trace)))
            if operation is not None:
                self._call(found, operation)

    def _call(self, found: _Record, operation: dict[str, Any]) -> None:
        arguments = operation["args"]
        session = self._context.get("session", "")
        key = self._recorder.call(
            # Every client counts its requests from one.
            f"{text_of(found.timestamp)} {found.id!r}",
            operation["ref"],
            self._recorder.arguments(msgspec.json.encode(arguments)) if arguments else NOTHING,
            session,
            milliseconds(found.timestamp),
            project=self._context.get("project", ""),
            is_weak=True,
            expects=False,
        )
        outcome = _OUTCOMES[operation["outcome"]]
        self._recorder.settle(key, outcome, outcome in (SUCCEEDED, FAILED))
        is_refused = outcome == FAILED and operation.get("failureStage") in REJECTING_STAGES
        self._recorder.recorded(key, 1, int(is_refused))
        self._recorder.checked(
            key,
            _VERDICTS.get(text_of(found.check), NO_SCHEMA),
            bits_of(found.faults) if is_list(found.faults) else 0,
            found.repairable is True,
            "normalization" in operation,
        )


def _value(raw: bytes) -> object:
    try:
        value: object = strict_json(raw)
    except BadDocument:
        return None
    return value


def operation_of(trace: object) -> dict[str, Any] | None:
    """The one operation of a trace that the guard takes, else None.

    The guard is that of Trace V1, but a witness may be of version 2.
    """
    if not is_object(trace) or not is_list(trace.get("operations")):
        return None
    operations = trace["operations"]
    if len(operations) != 1 or not is_object(operations[0]):
        return None
    operation = operations[0]
    without = {name: value for name, value in operation.items() if name != "normalization"}
    if refusal({**trace, "operations": [without]}) is not None:
        return None
    if "normalization" in operation and not is_witness(operation["normalization"]):
        return None
    return operation


def is_witness(value: object) -> bool:
    """Whether a value is a witness of version 1 or 2."""
    if witness_of(value) is not None:
        return True
    if not is_object(value) or len(value) != 5 or not is_number(value.get("version"), 2):
        return False
    rules = value.get("rules")
    digests = (value.get(name) for name in ("baseSchemaDigest", "beforeShape", "afterShape"))
    return (
        all(map(is_digest, digests))
        and is_list(rules)
        and 1 <= len(rules) <= _MAX_RULES
        and all(map(_is_rule, rules))
    )


def _is_rule(value: object) -> bool:
    return (
        is_object(value)
        and len(value) == 3
        and value.get("kind") in EXTENDED_KINDS
        and isinstance(value.get("at"), str)
        and is_count(value.get("count"))
        and value["count"] >= 1
    )
