"""The strict decoder, the hand-written guard and the oracle judge every trace alike."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fabricd.core.entropy.fingerprint import signature
from fabricd.core.evidence import Evidence, count_trace
from fabricd.core.sessions.records import values_of
from fabricd.core.sessions.trace import refusal, trace_of
from fabricd.core.steps import finish
from tests.core.making import Json, line, operation, record, scanned, trace
from tests.core.strategies import scalars, trace_lines, traces
from tests.oracle import naive

Path = tuple[str | int, ...]
# The strict decoder refuses it and the tolerant reader trims it.
BOM = "\ufeff".encode()

# What makes a reader's number types, limits and containers show.
ODD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([True, 1.0, 0.5, -1, 2**53, 2**53 - 1, 2**63, 2**64, 10**30, -(10**25), None]),
    st.sampled_from([[], {}, "", "call", "failed", "key-form", "a" * 64, "__proto__", "\ud800"]),
    st.sampled_from(["1e999", "9" * 400, "-0", "1E5", "0.1e-400", "[" * 14 + "]" * 14]).map(
        "@raw:{}".format
    ),
    scalars,
)
ADDED = ["durationMs", "error", "result", "failureStage", "normalization", "x"]


def places(value: Any, here: Path = ()) -> list[Path]:
    """Every place inside a value."""
    found: list[Path] = [here]
    if isinstance(value, dict):
        for name, item in value.items():
            found += places(item, (*here, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*here, index))
    return found


def changed(value: Any, where: Path, new: Any, how: str) -> Any:
    """A copy in which the place was replaced, removed or given another member."""
    if where:
        copy = value.copy()
        if how == "remove" and len(where) == 1:
            del copy[where[0]]
        else:
            copy[where[0]] = changed(copy[where[0]], where[1:], new, how)
        return copy
    if how == "add" and isinstance(value, dict):
        return value | new
    return value if how == "add" else new


@st.composite
def mutated(draw: DrawFn) -> Any:
    """A valid envelope with up to two changes anywhere in it."""
    value: Any = draw(traces())
    for _ in range(draw(st.integers(0, 2))):
        where = draw(st.sampled_from(places(value)))
        how = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        new: Any = draw(ODD)
        value = changed(
            value, where, {draw(st.sampled_from(ADDED)): new} if how == "add" else new, how
        )
    return value


@st.composite
def mutated_lines(draw: DrawFn) -> bytes:
    """A record with such an envelope; `@raw:` marks JSON text that no Python value writes."""
    text = json.dumps(record(draw(mutated())), ensure_ascii=draw(st.booleans()))
    data = text.encode("utf-8", "surrogatepass")
    return re.sub(rb'"@raw:([^"]*)"', rb"\1", data)


def judged_tolerantly(data: bytes) -> Evidence:
    """What the hand-written guard alone makes of a line."""
    evidence = Evidence()
    for value in values_of(data):
        found = value["details"]["trace"]
        reason = refusal(found)
        if reason is not None:
            evidence.refused[reason] = 1
            continue
        typed = trace_of(found)
        shapes = [signature(call.args) for call in typed.operations]
        finish(count_trace(evidence, typed, shapes, None))
    return evidence


@settings(max_examples=150)
@given(mutated_lines())
def test_both_ways_of_reading_give_the_same_evidence(data: bytes) -> None:
    assume(b"pi-fabric.execution" in data)
    evidence, _ = scanned(data + b"\n")
    assert evidence == judged_tolerantly(data)


@settings(max_examples=80)
@given(mutated_lines())
def test_the_verdict_is_the_oracles(data: bytes) -> None:
    assume(b"pi-fabric.execution" in data)
    evidence, _ = scanned(data + b"\n")
    [(_, found)] = naive.records(data.decode("utf-8", "replace"))
    accepted = naive.good_trace(found["details"]["trace"])
    assert (evidence.traces, sum(evidence.refused.values())) == (accepted, not accepted)


@settings(max_examples=80)
@given(trace_lines(), st.data())
def test_damage_is_seen_alike_on_both_ways(whole: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(whole) - 1))
    put = data.draw(st.sampled_from([b"", b"\x01", b"\xff", b"0", b"-", b".", b"\\", b"e", b" "]))
    damaged = whole[:at] + put + whole[at + 1 :]
    assume(b"pi-fabric.execution" in damaged)
    strictly, _ = scanned(damaged + b"\n")
    tolerantly, _ = scanned(BOM + damaged + b"\n")
    spans = (strictly.audit_spans, tolerantly.audit_spans)
    strictly.audit_spans, tolerantly.audit_spans = [], []
    assert strictly == tolerantly
    assert [length + len(BOM) for _, length in spans[0]] == [length for _, length in spans[1]]


SPARSE = ["null", "[ ]", "[]", "{}", "{ }", "false", "0", '""']


@pytest.mark.parametrize("audits", SPARSE)
@pytest.mark.parametrize("before", [b"", BOM], ids=["strict", "tolerant"])
def test_a_line_without_audits_has_no_audit_span(audits: str, before: bytes) -> None:
    envelope = line(trace(operation())).decode()
    data = f'{{"details":{{"trace":{envelope},"audits":{audits}}}}}\n'.encode()
    evidence, _ = scanned(before + data)
    assert evidence.traces == 1
    assert evidence.audit_spans == []


@pytest.mark.parametrize("number", ["1e999", "9" * 400, "-1" + "0" * 310])
@pytest.mark.parametrize("size", [0, 100_000, 600_000])
@pytest.mark.parametrize("args", [{"x": "@"}, {"x": ["@"]}, {"x": {"y": [0, "@"]}}])
def test_an_infinite_number_is_refused_in_short_and_long_lines(
    number: str, size: int, args: Json
) -> None:
    call: Json = operation(args=args, result="r" * (size // 2))
    data = line(record(trace(call), notes="n" * size)).replace(b'"@"', number.encode())
    assert scanned(data + b"\n")[0].refused == {"value": 1}
