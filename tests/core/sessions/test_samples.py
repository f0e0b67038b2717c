"""Recordings are the traces that the scan counts, with the audits that the gate replays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec import structs

from fabricd.core.entropy.fingerprint import signature
from fabricd.core.evidence import Evidence, Losses, count_trace
from fabricd.core.model import AuditCall
from fabricd.core.sessions import pi
from fabricd.core.sessions.audits import calls_of
from fabricd.core.sessions.records import Tail, split
from fabricd.core.sessions.samples import Recording, recordings
from fabricd.core.steps import finish
from tests.core.making import (
    WITNESS,
    Json,
    assistant,
    everything,
    line,
    operation,
    record,
    result,
    trace,
)
from tests.core.strategies import logs

BOM = "\ufeff".encode()
CALL: Json = {"ref": "a", "args": {"n": 1}}
ONE = trace(operation())


def trace_lines_of(data: bytes) -> list[bytes]:
    """The trace lines of a log, its open end included."""
    found = split(data, Tail())
    blocks = [block.data[block.low : block.high] for block in found.blocks]
    whole = [each for block in blocks for each in block.split(b"\n")]
    return [each for each in [*whole, found.tail.data] if pi.MARK in each]


def counted(found: list[Recording]) -> Evidence:
    """What the scan would say of these traces."""
    evidence = Evidence()
    for each in found:
        shapes = [signature(call.args) for call in each.trace.operations]
        finish(count_trace(evidence, each.trace, shapes, None))
    return evidence


def of_traces(evidence: Evidence) -> Evidence:
    """Evidence without what recordings do not hold: models, losses and places."""
    bare: Json = {"models": {}, "refused": {}, "losses": Losses(), "audit_spans": []}
    return structs.replace(evidence, **bare)


def doubled(args: Json) -> Any:
    """Arguments with every number a double."""
    return json.loads(json.dumps(args), parse_int=float)


def same_calls(left: list[AuditCall], right: list[AuditCall]) -> bool:
    """Whether audit calls are equal as a JavaScript reader holds them."""
    pairs = [[(call.ref, doubled(call.args)) for call in calls] for calls in (left, right)]
    return pairs[0] == pairs[1]


def agrees(data: bytes) -> bool:
    """Whether the recordings of a log are what scan and gate make of it."""
    evidence = everything(data)
    found = [each for text in trace_lines_of(data) for each in recordings(text)]
    calls = [call for each in found for call in each.audits]
    spans = [data[start : start + length] for start, length in evidence.audit_spans]
    return counted(found) == of_traces(evidence) and same_calls(calls, list(calls_of(spans)))


@settings(max_examples=120)
@given(logs())
def test_generated_logs(data: bytes) -> None:
    assert agrees(data)


def long(size: int, **more: Any) -> bytes:
    """A trace line with so much prose beside its details."""
    return line(record(ONE, [CALL], content="é" * (size // 2), **more))


def spaced(size: int, **more: Any) -> bytes:
    """A trace line whose details are so many bytes, most of them blank."""
    return line(record(ONE, [CALL], **more)).replace(b'"audits":', b'"audits":' + b" " * size)


def with_args(text: bytes) -> bytes:
    """A trace line with an argument spelt so."""
    return line(record(trace(operation(args={"x": "@"})), [CALL])).replace(b'"@"', text)


def with_result(text: bytes) -> bytes:
    """A trace line with a result spelt so."""
    return line(record(trace(operation(result="@")), [CALL])).replace(b'"@"', text)


FOUR = 4 * 1024 * 1024
PATHOLOGICAL = {
    "empty": b"",
    "no record": b'"pi-fabric.execution"',
    "null": b"null" + b" pi-fabric.execution",
    "bytes": b"\xff\xfepi-fabric.execution\x00",
    "cut": line(record(ONE, [CALL]))[:-1],
    "half": line(record(ONE, [CALL]))[:90],
    "trailing": line(record(ONE, [CALL])) + b"]",
    "odd bytes inside": line(record(ONE, [{"ref": "\0", "args": {}}])).replace(b"\\u0000", b"\xff"),
    "carriage return": line(record(ONE, [CALL])) + b"\r",
    "byte order mark": BOM + line(record(ONE, [CALL])),
    "two marks": line(record(ONE, [CALL], note="pi-fabric.execution")),
    "glued": line(record(ONE, [CALL])) * 3,
    "glued with others": line(assistant("p", "m")) + line(result(ONE, [CALL])) + line({"a": 1}),
    "glued to a value": line(record(ONE, [CALL])) + b" 5",
    "glued to a refused one": line(record(ONE, [CALL])) + line(record(trace(new=1), [CALL])),
    "no details": line({"type": "message", "note": "pi-fabric.execution"}),
    "hidden details": line({**result(ONE, [CALL]), "details": {}}),
    "details of another kind": line({**result(ONE, [CALL]), "details": "x"}),
    "no audits": line(record(ONE)),
    "null audits": line(record(ONE, [CALL])).replace(b'"audits":[', b'"audits":null,"x":['),
    "audits of another kind": line(record(ONE, CALL)),
    "odd audits": line(record(ONE, [None, {"ref": "", "args": {}}, {"ref": "a"}, 5, CALL])),
    "unknown field": line(record(trace(durationMs=1), [CALL])),
    "another version": line(record(trace(version=2), [CALL])),
    "version as a double": line(record(trace(version=1.0), [CALL])),
    "sequence": line(record(trace(operation(1), operation(1)), [CALL])),
    "sequence backwards": line(record(trace(operation(1), operation(0)), [CALL])),
    "witness": line(record(trace(operation(normalization=WITNESS)), [CALL])),
    "unsafe witness": line(record(trace(operation(normalization=WITNESS)), [CALL])).replace(
        b'"key":"limit"', b'"key":"__proto__"'
    ),
    "deep record": line(record(ONE, [CALL], deep="@")).replace(b'"@"', b"[" * 600 + b"]" * 600),
    "deep arguments": with_args(b"[" * 15 + b"]" * 15),
    "nearly deep arguments": with_args(b"[" * 14 + b"]" * 14),
    "deep result": with_result(b"[" * 16 + b"]" * 16),
    "nearly deep result": with_result(b"[" * 15 + b"]" * 15),
    "long integer": with_args(b"9" * 30),
    "endless integer": with_args(b"9" * 400),
    "longer than Python reads": with_args(b"9" * 5000),
    "infinite": with_args(b"1e999"),
    "infinite result": with_result(b"1e999"),
    "not a number": with_args(b"NaN"),
    "lone surrogate": with_args(b'"\\ud800"'),
    "many bytes of prose": long(200_000),
    "many more bytes of prose": long(2 * FOUR),
    "trace too large": with_result(b'"' + b"r" * 524_288 + b'"'),
    "details nearly too large": spaced(FOUR - 1000),
    "details too large": spaced(FOUR),
    "details too large in odd blanks": BOM + spaced(FOUR),
    "details too large, read tolerantly": spaced(FOUR, provider=5),
    "really too large": line(record(ONE, [{"ref": "a", "args": {"x": "y" * FOUR}}])),
    "really too large in odd blanks": BOM
    + line(record(ONE, [{"ref": "a", "args": {"x": "y" * FOUR}}])),
}


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_pathological_lines(name: str) -> None:
    data = PATHOLOGICAL[name]
    assert agrees(data + b"\n")
    assert len(data) > FOUR or agrees(data)


@pytest.mark.parametrize("before", [b"", BOM], ids=["strict", "tolerant"])
def test_integers_are_exact_on_both_ways(before: bytes) -> None:
    args = {"n": 2**53 + 1, "inner": [{"m": -(2**53) - 1}], "x": 1.5}
    envelope = trace(operation(args=args))
    [found] = recordings(before + line(record(envelope, [{"ref": "a", "args": args}])))
    [call] = found.trace.operations
    assert found.audits == (AuditCall("a", args),)
    assert (call.args, type(call.args["n"])) == (args, int)


@pytest.mark.parametrize("before", [b"", BOM], ids=["strict", "tolerant"])
def test_audits_of_a_record_are_verbatim_and_in_order(before: bytes) -> None:
    calls: list[Json] = [{"ref": ref, "args": {"é": [ref]}} for ref in ("b", "a", "b")]
    rows = [{**call, "success": False, "error": None} for call in calls]
    rows.insert(1, {"ref": "", "args": {}})
    [found] = recordings(before + line(result(ONE, rows)))
    assert found.audits == tuple(AuditCall(call["ref"], call["args"]) for call in calls)


def test_each_record_of_a_glued_line_keeps_its_own_audits() -> None:
    texts = [line(record(ONE, [{"ref": ref, "args": {"n": 2**60}}])) for ref in "ab"]
    glued = texts[0] + line(record(trace(new=1), [CALL])) + "\u2028".encode() + texts[1]
    assert [each.audits for each in recordings(glued)] == [
        (AuditCall("a", {"n": 2**60}),),
        (AuditCall("b", {"n": 2**60}),),
    ]


def test_infinite_numbers_of_audits_stay_what_they_are() -> None:
    data = line(record(ONE, [{"ref": "a", "args": {"n": "@", "m": "@@"}}]))
    data = data.replace(b'"@"', b"1e999").replace(b'"@@"', b"9" * 5000)
    [found] = recordings(data)
    assert found.audits == (AuditCall("a", {"n": float("inf"), "m": float("inf")}),)


def test_integers_are_exact_on_the_tolerant_way_too() -> None:
    trace = (
        '{"kind":"pi-fabric.execution","version":1,"outcome":"succeeded","phases":[],'
        '"operations":[],"counts":{"droppedValues":0,"truncatedValues":0,"redactedValues":0,'
        '"droppedOperations":0}}'
    )
    audits = '[7,{"ref":"a.b","args":{"n":9007199254740993}}]'
    line = f'{{"details":{{"trace":{trace},"audits":{audits}}}}}'.encode()
    assert [call.args for call in calls_of([line])] == [{"n": 9007199254740993}]
    assert [type(call.args["n"]) for call in calls_of([line])] == [int]
    assert [call.args for call in recordings(line)[0].audits] == [{"n": 9007199254740993}]
