"""The closed guard, reason by reason, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fabricd.core.canonical import as_given, text
from fabricd.core.sessions import pi
from fabricd.core.sessions.trace import (
    MAX_TRACE_BYTES,
    REASONS,
    is_safe_key,
    refusal,
    rules_of,
    witness_of,
)
from tests.core.making import (
    COUNTS,
    RULE,
    WITNESS,
    Json,
    line,
    log,
    operation,
    record,
    result,
    scanned,
    trace,
)


def nested(levels: int) -> Any:
    """Arrays inside each other."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def nested_objects(levels: int) -> Json:
    """Objects inside each other."""
    value: Json = {}
    for _ in range(levels - 1):
        value = {"k": value}
    return value


def without(value: Json, name: str) -> Json:
    """The same object but for one member."""
    return {key: item for key, item in value.items() if key != name}


def each(name: str, *values: Any) -> list[Json]:
    """Envelopes in which one member has these values."""
    return [trace(**{name: value}) for value in values]


def calls(name: str, *values: Any) -> list[Json]:
    """Envelopes with one operation in which one member has these values."""
    return [trace(operation(**{name: value})) for value in values]


def witnesses(name: str, *values: Any) -> list[Json]:
    """Envelopes with one witness in which one member has these values."""
    return calls("normalization", *(WITNESS | {name: value} for value in values))


# Every reason with envelopes that are refused for it and nothing else.
REFUSED: dict[str, list[Any]] = {
    "not-an-object": [None, 5, "pi-fabric.execution", [trace()]],
    "unknown-field": [trace(durationMs=12), trace(x=None)],
    "kind": [trace(kind="pi-fabric"), trace(kind=None), without(trace(), "kind")],
    "version": each("version", 2, True, "1", 1.5, None),
    "outcome": each("outcome", "ok", None, 1, []),
    "phases": each("phases", None, "Plan", [1], ["a", None]),
    "counts": [
        trace(counts=without(dict.fromkeys(COUNTS, 0), "droppedValues")),
        trace(counts=dict.fromkeys([*COUNTS, "more"], 0)),
        *each("counts", *(dict.fromkeys(COUNTS, c) for c in [-1, 2**53, 0.5, True, "0", None])),
        trace(counts=[0, 0, 0, 0]),
    ],
    "error": each("error", None, 1),
    "operations": each("operations", None, {}, [[]]),
    "operation-unknown-field": [trace(operation(durationMs=1))],
    "operation-type": [trace(operation(type="result")), trace(without(operation(), "type"))],
    "operation-sequence": [
        *calls("sequence", -1, 0.5, 2**53, True),
        trace(operation(3), operation(3)),
        trace(operation(3), operation(2)),
        trace(without(operation(), "sequence")),
    ],
    "operation-ref": calls("ref", None, 1),
    "operation-args": calls("args", None, [], "{}"),
    "operation-outcome": calls("outcome", "ok", None, {}),
    "operation-stage": calls("failureStage", "late", None, []),
    "operation-field": [
        *(call for name in ("provider", "action", "error") for call in calls(name, 1, None)),
        *calls("resultTruncated", None, 0, "true"),
    ],
    "value": [
        trace(operation(args={"x": nested(15)})),
        *calls("args", nested_objects(16), {"x": [nested_objects(14)]}),
        trace(operation(args={"x": float("inf")})),
        trace(operation(result=nested(16))),
        trace(operation(result={"x": [float("inf")]})),
    ],
    "witness": [
        *calls("normalization", None, {}, [], WITNESS | {"more": 1}),
        *witnesses("version", 2, True, "1"),
        *witnesses("beforeShape", "A" * 64, None),
        *witnesses("afterShape", "a" * 64 + "\n"),
        *witnesses("rules", [], [RULE] * 129, [RULE | {"at": ""}], [RULE | {"kind": "trim"}]),
        *witnesses("rules", [RULE | {"key": "__proto__"}], [RULE | {"key": "é" * 129}]),
    ],
    "trace-too-large": [trace(error="x" * MAX_TRACE_BYTES)],
}
FROM_THE_LINE = {"details-too-large", "too-deep"}
EACH = [(reason, value) for reason, values in REFUSED.items() for value in values]
ACCEPTED: list[Json] = [
    trace(),
    trace(version=1.0, error="", phases=["", "Plan"]),
    trace(operation(0.0), operation(2**53 - 1)),
    trace(operation(ref="", args={"x": nested(14)}, result=nested(15))),
    trace(operation(args=nested_objects(15), result={"x": nested_objects(14)})),
    trace(operation(outcome="succeeded", failureStage="guard"), operation(7, outcome="failed")),
    trace(operation(result=None, resultTruncated=False, provider="", action="", error="")),
    trace(operation(normalization=WITNESS | {"version": 1.0, "rules": [RULE] * 128})),
    trace(operation(normalization=WITNESS | {"rules": [RULE | {"key": "é" * 128}]})),
    trace(counts=dict.fromkeys(COUNTS, 2.0**53 - 1)),
]


@pytest.mark.parametrize(("reason", "value"), EACH)
def test_a_trace_is_refused_for_what_is_wrong_with_it(reason: str, value: Any) -> None:
    assert refusal(value) == reason


@pytest.mark.parametrize(("reason", "value"), EACH)
def test_a_refused_trace_counts_by_its_reason_and_as_nothing_else(reason: str, value: Any) -> None:
    # Infinity has no JSON text; a number beyond every double has, and reads back as one.
    data = log(line(record(value)).replace(b"Infinity", b"1e999"))
    evidence, _ = scanned(data)
    # Without the kind's literal a line is prose, whatever it holds.
    marked = b"pi-fabric.execution" in data
    assert evidence.refused == ({reason: 1} if marked else {})
    assert (evidence.traces, evidence.refs, evidence.audit_spans) == (0, {}, [])


def test_every_reason_is_reached() -> None:
    assert set(REFUSED) | FROM_THE_LINE == set(REASONS)


@pytest.mark.parametrize("value", ACCEPTED)
def test_a_sound_trace_is_accepted_and_counted(value: Json) -> None:
    assert refusal(value) is None
    evidence, _ = scanned(log(record(value)))
    assert (evidence.traces, evidence.refused) == (1, {})
    assert evidence.operations == len(value["operations"])


@pytest.mark.parametrize("filler", ["x", "é", "\U0001f600", "\n", "\u2028"])
@pytest.mark.parametrize(("excess", "traces"), [(0, 1), (1, 0)])
def test_a_trace_may_have_512_kib_of_canonical_text_and_no_byte_more(
    filler: str, excess: int, traces: int
) -> None:
    size = len(text(filler).encode()) - 2
    room = MAX_TRACE_BYTES - len(text(trace(error=""), as_given).encode())
    error = filler * (room // size) + "x" * (room % size + excess)
    evidence, _ = scanned(log(record(trace(error=error))))
    assert evidence.traces == traces
    assert evidence.refused == ({} if traces else {"trace-too-large": 1})


def test_numbers_count_at_their_canonical_length() -> None:
    # 90,000 short numbers of twenty-one digits each: 450 kB in the log, 2 MB in canonical text.
    wide = line(record(trace(operation(args={"x": "@"})))).replace(
        b'"@"', b"[" + b"1e20," * 90_000 + b"0]"
    )
    assert scanned(wide + b"\n")[0].refused == {"trace-too-large": 1}


def test_escapes_count_at_their_canonical_length() -> None:
    # Six bytes an escape in the log, one in canonical text.
    short = line(record(trace(error="@"))).replace(b"@", b"\\u0041" * 200_000)
    assert scanned(short + b"\n")[0].traces == 1


@pytest.mark.parametrize("made", [record, result])
def test_details_may_have_4_mib_and_no_byte_more(
    monkeypatch: pytest.MonkeyPatch, made: Callable[[Json], Json]
) -> None:
    details = len(line(record(trace(operation()))["details"]))
    data = log(made(trace(operation())) | {"notes": "outside of the details" * 5000})
    monkeypatch.setattr(pi, "MAX_DETAILS", details)
    assert scanned(data)[0].traces == 1
    monkeypatch.setattr(pi, "MAX_DETAILS", details - 1)
    assert scanned(data)[0].refused == {"details-too-large": 1}


@pytest.mark.parametrize(("levels", "reason"), [(512, "value"), (513, "too-deep")])
def test_a_record_may_nest_512_levels_deep(levels: int, reason: str) -> None:
    # The record, its details, its trace, operations, operation and args stand above the arrays.
    arrays = levels - 6
    value = line(record(trace(operation(args={"x": "@"}))))
    data = value.replace(b'"@"', b"[" * arrays + b"]" * arrays)
    assert scanned(data + b"\n")[0].refused == {reason: 1}


def test_prototype_names_and_long_names_are_no_safe_keys() -> None:
    assert all(map(is_safe_key, ["", "a", "toString", "😀" * 64]))
    assert not any(map(is_safe_key, ["__proto__", "prototype", "constructor", "😀" * 64 + "a", 1]))


def test_a_witness_needs_exactly_its_five_members() -> None:
    found = witness_of(WITNESS)
    assert found is not None
    assert [(rule.kind, rule.key) for rule in found.rules] == [("key-form", "limit")]
    assert all(witness_of(without(WITNESS, name)) is None for name in WITNESS)
    assert rules_of([RULE] * 128) is not None
    assert rules_of([{"kind": [], "key": "a"}]) is None
