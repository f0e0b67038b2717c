"""Copilot CLI events: one call of three records, whichever are there."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import FAILED, SUCCEEDED, UNKNOWN, CallTable
from fabricd.core.sessions.copilot_cli import CopilotCli
from tests.core.history.tables import cut, joined, lines, read_table

Json = dict[str, Any]


def event(kind: str, **data: Any) -> Json:
    """One event."""
    told = {"type": kind, "data": data, "id": "e", "parentId": None}
    return {**told, "timestamp": "2026-07-24T16:40:59.983Z"}


START = event(
    "session.start", sessionId="s", copilotVersion="1.0.68", selectedModel="m0",
    context={"cwd": "/w"},
)  # fmt: skip


def request(*call_ids: str, **more: Any) -> Json:
    """What the model asked for."""
    items = [{"toolCallId": i, "name": "bash", "arguments": {"a": 1}, **more} for i in call_ids]
    return event("assistant.message", messageId="x", model="m1", toolRequests=items)


def begun(call_id: str, arguments: object = None) -> Json:
    """The start of an execution."""
    given = {"a": 1} if arguments is None else arguments
    told = {"toolCallId": call_id, "toolName": "bash", "arguments": given, "model": "m1"}
    return event("tool.execution_start", **told)


def done(call_id: str, success: Any = True, **more: Any) -> Json:
    """Its completion."""
    return event("tool.execution_complete", toolCallId=call_id, success=success, **more)


def read(*rows: Json) -> CallTable:
    """The table of a session."""
    return read_table("copilot-cli", CopilotCli, [lines(START, *rows)])


@pytest.mark.parametrize("rows", list(permutations([request("c"), begun("c"), done("c", False)])))
def test_three_records_in_any_order_are_one_call(rows: tuple[Json, ...]) -> None:
    (found,) = joined(read(*rows))
    assert (found.tool, found.outcome, found.answered) == ("bash", FAILED, True)
    assert (found.session, found.project, found.model) == ("s", "/w", "m1")


@pytest.mark.parametrize("record", [request("c"), begun("c")])
def test_one_record_alone_is_a_call_too(record: Json) -> None:
    assert joined(read(record))[0].outcome == UNKNOWN


def test_a_start_with_other_arguments_is_the_same_call() -> None:
    assert len(joined(read(request("c"), begun("c", {"a": 1, "b": 2}), done("c")))) == 1


def test_an_id_that_comes_again_after_its_end_is_another_call() -> None:
    again = event(
        "assistant.message", toolRequests=[{"toolCallId": "c", "name": "edit", "arguments": {}}]
    )
    rows = [request("c"), begun("c"), done("c"), again, begun("c", {}), done("c", False)]
    found = {each.tool: each.outcome for each in joined(read(*rows))}
    assert found == {"bash": SUCCEEDED, "edit": FAILED}


def test_a_completion_without_an_id_answers_nobody() -> None:
    table = read(request(""), begun(""), done("", False))
    assert (len(table.calls), table.orphans) == (1, {})


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        (done("c"), SUCCEEDED),
        (done("c", False, error={"code": "failure", "message": "x"}), FAILED),
        (done("c", False, error={"code": "denied"}), FAILED),
        (done("c", "false"), UNKNOWN),
        (done("c", None), UNKNOWN),
        (done("d", False), UNKNOWN),
    ],
)
def test_only_success_itself_counts(record: Json, outcome: int) -> None:
    assert joined(read(begun("c"), record))[0].outcome == outcome


def test_model_and_place_change_in_the_middle() -> None:
    change = event("session.model_change", newModel="m9")
    moved = event("session.context_changed", cwd="/w/other")
    plain = begun("c")
    del plain["data"]["model"]
    (found,) = joined(read(change, moved, plain))
    assert (found.model, found.project) == ("m9", "/w/other")


def test_summaries_hooks_and_unknown_events_are_no_calls() -> None:
    others = [
        event("session.shutdown", toolCalls=[{"toolCallId": "z"}]),
        event("hook.start", input={"toolName": "bash", "sessionId": "q"}),
        event("subagent.started", toolCallId="z"), event("permission.requested", toolCallId="z"),
        event("assistant.message", toolRequests=[]), event("assistant.message", toolRequests="x"),
        event("assistant.message", toolRequests=[3, None]), {"type": "tool.execution_start"},
        {"type": "x", "data": "tool.execution_start"},
    ]  # fmt: skip
    table = read(*others, begun("c"))
    assert (len(joined(table)), table.losses.bad_lines) == (1, 0)
    assert {table.names[each] for each in table.sessions} == {"s"}


def test_a_resumed_session_in_another_file_counts_once() -> None:
    resumed = event("session.resume", sessionId="s", context={"cwd": "/w"})
    first, second = read(begun("c"), done("c")), read(resumed, begun("c"), done("c"), begun("d"))
    assert len(joined(first, second)) == 2


ids = st.sampled_from(["c", "d"])
rows = st.one_of(
    st.builds(request, ids), st.builds(begun, ids), st.builds(done, ids, st.booleans()),
    st.just(event("session.model_change", newModel="m9")),
)  # fmt: skip


@given(st.lists(rows, max_size=8), st.lists(st.integers(0, 9999), max_size=4))
def test_cuts_change_nothing(told: list[Json], places: list[int]) -> None:
    data = lines(START, *told)
    whole = read_table("copilot-cli", CopilotCli, [data])
    assert read_table("copilot-cli", CopilotCli, cut(data, places)) == whole
