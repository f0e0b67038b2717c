"""The closed guard of Trace V1: what may count, and if not, why not.

The strict way decodes straight into `Trace`; whatever it will not take is judged here by the
hand-written guard over plain values, which alone gives verdict and reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from msgspec import UNSET, UnsetType

from fabricd.core.canonical import as_given, text, utf8
from fabricd.core.entropy.fingerprint import has_containers, known_signatures, signature
from fabricd.core.entropy.keysets import tells_names
from fabricd.core.javascript import unit_length
from fabricd.core.model import (
    OUTCOMES,
    RULE_KINDS,
    STAGES,
    Operation,
    Rule,
    Trace,
    TraceCounts,
    Witness,
)
from fabricd.core.plain import is_count, is_list, is_number, is_object

MAX_TRACE_BYTES = 524_288
_VALUE_LEVELS = 15
_COUNTS = ("droppedValues", "truncatedValues", "redactedValues", "droppedOperations")
_TOP_FIELDS = frozenset({"kind", "version", "outcome", "phases", "operations", "counts", "error"})
_OPERATION_FIELDS = frozenset(
    {
        "type", "sequence", "ref", "args", "outcome", "provider", "action", "error",
        "failureStage", "result", "resultTruncated", "normalization",
    }
)  # fmt: skip
_UNSAFE_KEYS = frozenset({"__proto__", "prototype", "constructor"})
_DIGEST = re.compile(r"[a-f0-9]{64}\Z")
# Numbers that may be infinite as doubles, or wider in canonical text than in the log.
_ODD_NUMBER = re.compile(rb"[0-9][eE]|[0-9]{300}")

REASONS: Mapping[str, str] = {
    "not-an-object": "the trace is not an object",
    "unknown-field": "the trace has a field that version 1 does not know",
    "kind": "the kind is not pi-fabric.execution",
    "version": "the version is not 1",
    "outcome": "the outcome is none of the four",
    "phases": "phases is not a list of strings",
    "counts": "counts does not hold exactly the four safe counts",
    "error": "error is not a string",
    "operations": "operations is not a list of objects",
    "operation-unknown-field": "an operation has a field that version 1 does not know",
    "operation-type": "an operation is not a call",
    "operation-sequence": "sequence numbers are not safe and strictly increasing",
    "operation-ref": "an operation has no ref",
    "operation-args": "an operation has no arguments object",
    "operation-outcome": "an operation's outcome is none of the four",
    "operation-stage": "an operation's failure stage is none of the six",
    "operation-field": "an operation's optional field has the wrong type",
    "value": "a value nests more than 15 levels or holds a number that is not finite",
    "witness": "a normalization is not a valid witness",
    "trace-too-large": "the trace is larger than 512 KiB",
    "details-too-large": "the details are larger than 4 MiB",
    "too-deep": "the record nests more than 512 levels deep",
}


def is_safe_key(key: object) -> TypeGuard[str]:
    """Whether a property name may stand in a plan: bounded, and no prototype member."""
    return isinstance(key, str) and key not in _UNSAFE_KEYS and unit_length(key) <= 128


def _plain(value: object, level: int = 1) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if is_object(value):
        return level <= _VALUE_LEVELS and all(_plain(v, level + 1) for v in value.values())
    if is_list(value):
        return level <= _VALUE_LEVELS and all(_plain(v, level + 1) for v in value)
    return True


def witness_of(value: object) -> Witness | None:
    """The witness an arbitrary value is, or None: exactly five members, all well formed."""
    if not is_object(value) or len(value) != 5:
        return None
    digests = [value.get(name) for name in ("baseSchemaDigest", "beforeShape", "afterShape")]
    rules = value.get("rules")
    if not is_number(value.get("version"), 1) or not is_list(rules):
        return None
    if not all(isinstance(d, str) and _DIGEST.match(d) for d in digests):
        return None
    found = rules_of(rules)
    if found is None:
        return None
    return Witness(1, str(digests[0]), str(digests[1]), str(digests[2]), found)


def rules_of(values: list[Any]) -> tuple[Rule, ...] | None:
    """1 to 128 well-formed rules, or None."""
    if not 1 <= len(values) <= 128:
        return None
    rules: list[Rule] = []
    for value in values:
        if not is_object(value) or len(value) != 2:
            return None
        kind, key = value.get("kind"), value.get("key")
        if kind not in RULE_KINDS or not is_safe_key(key):
            return None
        rules.append(Rule(kind, key))
    return tuple(rules)


def _operation_refusal(value: object) -> str | None:
    if not is_object(value):
        return "operations"
    if not _OPERATION_FIELDS.issuperset(value):
        return "operation-unknown-field"
    if value.get("type") != "call":
        return "operation-type"
    if not is_count(value.get("sequence")):
        return "operation-sequence"
    if not isinstance(value.get("ref"), str):
        return "operation-ref"
    if not is_object(value.get("args")):
        return "operation-args"
    if not _is_one_of(value.get("outcome"), OUTCOMES):
        return "operation-outcome"
    if "failureStage" in value and not _is_one_of(value["failureStage"], STAGES):
        return "operation-stage"
    texts = (value[name] for name in ("provider", "action", "error") if name in value)
    if not all(isinstance(found, str) for found in texts):
        return "operation-field"
    if not isinstance(value.get("resultTruncated", False), bool):
        return "operation-field"
    if not _plain(value["args"]) or not _plain(value.get("result")):
        return "value"
    if "normalization" in value and witness_of(value["normalization"]) is None:
        return "witness"
    return None


def _is_one_of(value: object, words: frozenset[str]) -> bool:
    return isinstance(value, str) and value in words


def refusal(value: object) -> str | None:
    """Why a value is no Trace V1 envelope: a key of `REASONS`, or None where it is one."""
    if not is_object(value):
        return "not-an-object"
    if not _TOP_FIELDS.issuperset(value):
        return "unknown-field"
    if value.get("kind") != "pi-fabric.execution":
        return "kind"
    if not is_number(value.get("version"), 1):
        return "version"
    if not _is_one_of(value.get("outcome"), OUTCOMES):
        return "outcome"
    phases = value.get("phases")
    if not is_list(phases) or not all(isinstance(p, str) for p in phases):
        return "phases"
    counts = value.get("counts")
    if not is_object(counts) or set(counts) != set(_COUNTS):
        return "counts"
    if not all(is_count(count) for count in counts.values()):
        return "counts"
    if not isinstance(value.get("error", ""), str):
        return "error"
    if not is_list(value.get("operations")):
        return "operations"
    return _operations_refusal(value["operations"]) or _size_refusal(value)


def _operations_refusal(operations: list[Any]) -> str | None:
    last = -1.0
    for operation in operations:
        if (reason := _operation_refusal(operation)) is not None:
            return reason
        if operation["sequence"] <= last:
            return "operation-sequence"
        last = operation["sequence"]
    return None


def _size_refusal(value: object) -> str | None:
    return "trace-too-large" if len(utf8(text(value, as_given))) > MAX_TRACE_BYTES else None


def trace_of(value: dict[str, Any]) -> Trace:
    """The typed trace of a value that the guard accepted."""
    operations = tuple(_operation_of(operation) for operation in value["operations"])
    counts = TraceCounts(*(int(value["counts"][name]) for name in _COUNTS))
    return Trace(value["kind"], 1, value["outcome"], tuple(value["phases"]), operations, counts)


def _operation_of(value: dict[str, Any]) -> Operation:
    witness: Witness | UnsetType = UNSET
    if "normalization" in value:
        witness = witness_of(value["normalization"]) or UNSET
    return Operation(
        "call",
        int(value["sequence"]),
        value["ref"],
        value["args"],
        value["outcome"],
        failure_stage=value.get("failureStage", UNSET),
        normalization=witness,
    )


def clear_shapes(
    trace: Trace, raw_length: int, raw_is_plain: bool
) -> tuple[list[str], bool] | None:
    """The signatures of a strictly decoded trace, or None where the tolerant guard must judge.

    Also whether one of them may not tell the argument names without doubt.

    Args:
        raw_length: an upper bound of the trace's bytes in the log.
        raw_is_plain: the log text holds no number that needs a second look (`has_odd_numbers`).
    """
    # A number such as 1e20 grows up to sixfold in canonical text, and replaced bytes threefold.
    if raw_length * (1 if raw_is_plain else 6) > MAX_TRACE_BYTES:
        return None
    arguments: list[dict[str, Any]] = []
    last = -1
    for operation in trace.operations:
        sequence = operation.sequence
        if sequence <= last:
            return None
        last = sequence
        if operation.result is not UNSET and not _raw_result_is_plain(bytes(operation.result)):
            return None
        if operation.normalization and not _keys_are_safe(operation.normalization):
            return None
        arguments.append(operation.args)
    # Almost always all of them are known, and nothing in them nests.
    shapes = known_signatures(arguments)
    return _new_shapes(arguments) if shapes is None else (shapes, False)


def _new_shapes(arguments: list[dict[str, Any]]) -> tuple[list[str], bool] | None:
    shapes: list[str] = []
    doubtful = False
    for args in arguments:
        if has_containers(args) and not _plain_exact(args, 1):
            return None
        shape = signature(args)
        doubtful = doubtful or not tells_names(shape, args)
        shapes.append(shape)
    return shapes, doubtful


def _plain_exact(value: object, level: int) -> bool:
    # As `_plain`, over values that may hold exact integers of any size.
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    if is_object(value):
        return level <= _VALUE_LEVELS and all(_plain_exact(v, level + 1) for v in value.values())
    if is_list(value):
        return level <= _VALUE_LEVELS and all(_plain_exact(v, level + 1) for v in value)
    return True


def has_odd_numbers(raw: bytes) -> bool:
    """Whether a text may hold a number that is infinite as a double or grows in canonical text."""
    return _ODD_NUMBER.search(raw) is not None


def _raw_result_is_plain(raw: bytes) -> bool:
    if raw.count(b"{") + raw.count(b"[") > _VALUE_LEVELS:
        return False
    return not has_odd_numbers(raw)


def _keys_are_safe(witness: Witness) -> bool:
    return all(is_safe_key(rule.key) for rule in witness.rules)
