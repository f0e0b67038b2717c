from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.evidence import Evidence, ModelTally
from fabricd.core.sessions import pi
from fabricd.core.sessions.pi import open_end_steps
from fabricd.core.steps import finish
from tests.core.making import (
    Json,
    assistant,
    everything,
    line,
    log,
    model_change,
    operation,
    record,
    result,
    scanned,
    trace,
)
from tests.core.strategies import logs

CALL: Json = {"ref": "mcp.demo.search", "args": {"query": "x"}}
ONE = trace(operation())


def models(data: bytes) -> dict[str, int]:
    """Operations by model."""
    return {model: tally.operations for model, tally in scanned(data)[0].models.items()}


@pytest.mark.parametrize("setting", [assistant("p", "m"), model_change("p", "m")])
def test_a_trace_belongs_to_the_model_named_last_before_it(setting: Json) -> None:
    before = assistant("old", "o")
    prose = [{"type": "label", "n": n} for n in range(3)]
    assert models(log(before, setting, *prose, record(ONE), model_change("x", "y"))) == {"p/m": 1}


SETTING: list[tuple[Json, str | None]] = [
    (assistant("p", "a"), "p/a"),
    (model_change("p", "b"), "p/b"),
    ({**assistant("p", "c"), "note": "model_change"}, "p/c"),
    ({**model_change("p", "d"), "role": "assistant"}, "p/d"),
    ({"role": "assistant", "note": "model_change"}, None),
    ({"type": "label"}, None),
]


@given(st.lists(st.sampled_from(SETTING), max_size=6))
def test_the_last_line_that_sets_a_model_wins(lines: list[tuple[Json, str | None]]) -> None:
    named = [model for _, model in lines if model is not None]
    assert models(log(*(each for each, _ in lines), record(ONE))) == {m: 1 for m in named[-1:]}


def test_without_a_model_before_it_a_trace_has_none() -> None:
    evidence, state = scanned(log(record(ONE), assistant("p", "m")))
    assert evidence.models == {}
    assert (evidence.traces, state.model) == (1, "p/m")


@pytest.mark.parametrize("empty", [("", "m"), ("p", ""), (None, "m"), ("p", 5), ("p", None)])
def test_a_record_without_a_full_identity_leaves_the_model_alone(empty: tuple[Any, Any]) -> None:
    data = log(assistant("p", "m"), assistant(*empty), model_change(*empty), record(ONE))
    assert models(data) == {"p/m": 1}


def test_a_trace_record_names_its_own_model() -> None:
    value = result(ONE)
    value["message"] |= {"role": "assistant", "provider": "p", "model": "own"}
    assert models(log(assistant("p", "m"), value, record(ONE))) == {"p/own": 2}


@pytest.mark.parametrize("kind", [{}, {"type": "custom"}, {"type": None}])
def test_only_a_message_record_names_the_model_of_its_message(kind: Json) -> None:
    odd = {name: value for name, value in assistant("q", "q").items() if name != "type"} | kind
    traced = result(ONE) | kind
    traced["message"] |= {"role": "assistant", "provider": "r", "model": "r"}
    assert models(log(assistant("p", "m"), odd, record(ONE))) == {"p/m": 1}
    traced.pop("type", None)
    assert models(log(assistant("p", "m"), traced | kind)) == {"p/m": 1}


def test_spaced_json_names_a_model_too() -> None:
    spaced = json.dumps(assistant("p", "m"), separators=(" , ", " :  ")).encode()
    assert models(log(spaced, record(ONE))) == {"p/m": 1}


def test_a_model_line_of_two_records_sets_the_last_one() -> None:
    glued = line(assistant("p", "a")) + line(model_change("p", "b")) + line({"type": "label"})
    assert models(log(glued, record(ONE))) == {"p/b": 1}


@pytest.mark.parametrize(
    "quoting",
    [
        {"type": "message", "message": {"role": "user", "content": '"role":"assistant"'}},
        {"type": "note", "text": "model_change", "provider": "q", "modelId": "q"},
        {"a": {"type": "model_change", "provider": "q", "modelId": "q"}},
    ],
)
def test_quoted_text_names_no_model(quoting: Json) -> None:
    assert models(log(assistant("p", "m"), quoting, record(ONE))) == {"p/m": 1}


def test_a_model_is_found_behind_many_lines_that_only_talk_of_one() -> None:
    talk = [{"type": "label", "text": "assistant", "role": "assistant"}] * 300
    assert models(log(assistant("p", "m"), *talk, record(ONE))) == {"p/m": 1}


def test_models_of_glued_records_apply_in_order() -> None:
    glued = line(record(ONE)) + line(assistant("p", "b")) + line(record(ONE))
    evidence, state = scanned(log(assistant("p", "a"), glued))
    assert {name: tally.operations for name, tally in evidence.models.items()} == {
        "p/a": 1,
        "p/b": 1,
    }
    assert (evidence.losses.glued_lines, state.model) == (1, "p/b")


def test_a_model_tally_counts_operations_actions_successes_and_rejections() -> None:
    operations = [
        operation(0, "fabric.discovery.search"),
        operation(1),
        operation(2, outcome="failed", failureStage="validate"),
        operation(3, outcome="failed", failureStage="invoke"),
    ]
    evidence, _ = scanned(log(assistant("p", "m"), record(trace(*operations))))
    assert evidence.models == {"p/m": ModelTally(4, 3, 1, 1)}


@pytest.mark.parametrize("blank", ["", "\ufeff"], ids=["strict", "tolerant"])
def test_a_trace_without_operations_has_a_model_too(blank: str) -> None:
    evidence, _ = scanned(log(assistant("p", "m"), blank.encode() + line(record(trace()))))
    assert evidence.models == {"p/m": ModelTally()}


def test_top_level_details_hide_those_of_the_message() -> None:
    value = result(ONE)
    assert scanned(log(value))[0].traces == 1
    assert scanned(log(value | {"details": {}}))[0].traces == 0
    assert scanned(log(value | {"details": None}))[0].traces == 1
    assert scanned(log(value | {"details": record(trace())["details"]}))[0].operations == 0


def test_an_escaped_kind_is_invisible() -> None:
    escaped = line(record(ONE)).replace(b"pi-fabric", b"pi\\u002dfabric")
    assert scanned(escaped + b"\n")[0].is_empty


@pytest.mark.parametrize("other", [b"null", b"5 ", b"[]", b'"x"', b"true"])
def test_a_line_that_holds_anything_but_objects_is_no_line_of_records(other: bytes) -> None:
    for glued in (other + line(record(ONE)), line(record(ONE)) + other):
        assert scanned(log(glued))[0].traces == 0


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_trace_line_that_does_not_parse_is_a_loss(cut: int) -> None:
    evidence, _ = scanned(log(line(record(ONE))[:-cut], line({"type": "label"})[:-1]))
    assert (evidence.traces, evidence.losses.bad_lines) == (0, 1)


def test_the_first_phase_is_the_task() -> None:
    runs = [trace(operation(), phases=phases) for phases in ([], [""], ["Plan", "Build"])]
    tasks = scanned(log(*map(record, runs), record(trace(phases=["idle"]))))[0].tasks
    assert {name: tally.flows for name, tally in tasks.items()} == {
        name: {"mcp.demo.search": 1} for name in ("(none)", "", "Plan")
    }


def test_a_complete_open_end_counts_apart() -> None:
    data = log(record(ONE)) + line(record(ONE))
    evidence, state = scanned(data)
    assert evidence.traces == 1
    assert state.tail.offset == len(log(record(ONE)))
    assert finish(open_end_steps(state)).traces == 1


def test_no_part_of_a_line_counts_as_an_open_end() -> None:
    whole = line(record(ONE, [CALL]))
    for end in range(len(whole)):
        _, state = scanned(whole[:end])
        assert finish(open_end_steps(state)) == Evidence()


def test_a_part_of_a_deep_line_is_no_open_end_either() -> None:
    _, state = scanned(b'{"pi-fabric.execution":' + b"[" * 600)
    assert finish(open_end_steps(state)) == Evidence()


def test_a_part_of_a_huge_line_is_no_open_end_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pi, "MAX_DETAILS", 100)
    _, state = scanned(line(record(trace(error="x" * 200)))[:-10])
    assert finish(open_end_steps(state)) == Evidence()


@given(logs())
def test_audit_spans_are_the_lines_that_carry_audits(data: bytes) -> None:
    evidence, _ = scanned(data)
    starts = {0, *(at + 1 for at, byte in enumerate(data) if byte == ord("\n"))}
    for offset, length in evidence.audit_spans:
        assert offset in starts
        assert data[offset + length : offset + length + 1] == b"\n"
        assert b'"audits"' in data[offset : offset + length]
    assert evidence.audit_spans == sorted(set(evidence.audit_spans))


def test_only_lines_with_audits_have_spans() -> None:
    lines = [record(ONE), record(ONE, []), record(ONE, [CALL]), record(trace(x=1), [CALL])]
    lines += [result(ONE, [CALL]), {"audits": [CALL]}]
    data = log(*lines)
    spans = scanned(data)[0].audit_spans
    assert [data[at : at + size] for at, size in spans] == [line(lines[2]), line(lines[4])]


@given(st.integers(1, 700))
def test_a_trace_of_any_length_counts_once(count: int) -> None:
    calls = [operation(n, outcome="failed", failureStage="prepare") for n in range(count)]
    evidence, _ = scanned(log(record(trace(*calls))))
    tally = evidence.refs["mcp.demo.search"]
    assert (evidence.traces, evidence.operations, tally.rejections) == (1, count, count)
    assert tally.churn == [0] * (count - 1)


def test_everything_is_the_scan_and_its_open_end() -> None:
    assert everything(log(record(ONE)) + line(record(ONE))).traces == 2
