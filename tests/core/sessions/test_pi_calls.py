"""Pi logs as a history: calls, results, models that disagree, branches, forks and traces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import FAILED, SUCCEEDED, UNKNOWN, CallTable
from fabricd.core.sessions.pi_calls import Pi
from tests.core.history.tables import cut, joined, lines, read_table, summed
from tests.core.making import operation, trace

Json = dict[str, Any]


def header(session: str = "s1", **more: Any) -> Json:
    """The first line of a session."""
    told = {"type": "session", "version": 3, "id": session, "timestamp": "2026-04-23T02:13:15.937Z"}
    return {**told, "cwd": "/w/p", **more}


def entry(message: Json, **more: Any) -> Json:
    """A message."""
    told = {"type": "message", "id": "c3529294", "parentId": None, "message": message}
    return {**told, "timestamp": "2026-04-23T02:15:05.802Z", **more}


def call(call_id: str, name: str = "bash", model: str | None = "m", **arguments: Any) -> Json:
    """An assistant message with one call."""
    item = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
    message: Json = {"role": "assistant", "content": [{"type": "text", "text": "x"}, item]}
    if model is not None:
        message |= {"provider": "p", "model": model}
    return entry(message)


def result(call_id: str, failed: bool = False, **more: Any) -> Json:
    """Its result."""
    message = {"role": "toolResult", "toolCallId": call_id, "toolName": "bash", "isError": failed}
    return entry({**message, "content": [{"type": "text", "text": "out"}], **more})


def read(*rows: Json) -> CallTable:
    """The table of a log of these entries."""
    return read_table("pi", Pi, [lines(*rows)])


def test_a_call_and_its_result() -> None:
    (found,) = joined(read(header(), call("t1", command="ls"), result("t1", True)))
    assert (found.tool, found.session, found.project, found.model, found.outcome) == (
        "bash", "s1", "/w/p", "p/m", FAILED,
    )  # fmt: skip


@pytest.mark.parametrize("flag", [False, None, "true", 1])
def test_only_the_flag_itself_says_failed(flag: Any) -> None:
    told = result("t1")
    told["message"]["isError"] = flag
    text = 'Validation failed for tool "bash":'
    told["message"]["content"] = [{"type": "text", "text": text}]
    assert joined(read(header(), call("t1"), told))[0].outcome == SUCCEEDED


def test_the_message_wins_over_the_model_change() -> None:
    change = {"type": "model_change", "provider": "p", "modelId": "new"}
    table = read(header(), change, call("t1", model="old"), call("t2", model=None))
    assert {found.model for found in joined(table)} == {"p/old"}
    table = read(header(), change, call("t3", model=None))
    assert joined(table)[0].model == "p/new"


def test_a_fork_repeats_its_parent_and_counts_it_once() -> None:
    parent = [header("a"), call("t1"), result("t1"), call("", n=1), result("")]
    path = "/home/x/.pi/agent/sessions/--w--/2026-04-23T02-13-15-937Z_a.jsonl"
    fork = [header("b", parentSession=path), *parent[1:], call("t2")]
    found = joined(read(*fork), read(*parent))
    # The call without an id is of one family.
    assert sorted(each.session for each in found) == ["a", "a", "b"]


def test_branches_in_place_all_count() -> None:
    rows = [header(), call("t1"), result("t1"), call("t2"), result("t2")]
    for row in rows[1:]:
        row["parentId"] = "same"
    assert len(joined(read(*rows))) == 2


def test_headers_of_older_versions_and_other_entries() -> None:
    others = [
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "compaction", "summary": "toolCall"},
        {"type": "branch_summary"}, {"type": "label"}, {"type": "session_info", "name": "x"},
        {"type": "custom", "data": {"role": "assistant"}}, {"type": "custom_message"},
        entry({"role": "user", "content": "text with \"toolCall\""}),
        entry({"role": "bashExecution", "command": "ls", "exitCode": 1}),
        entry({"role": "assistant", "content": [{"type": "toolCall"}]}),
        {"type": "message", "message": 5},
    ]  # fmt: skip
    old = {"type": "session", "id": "s1", "cwd": "/w", "provider": "p", "modelId": "m"}
    table = read(old, *others, call("t1"))
    assert len([found for found in joined(table) if found.tool == "bash"]) == 1
    assert table.losses.bad_lines == 0


def test_a_trace_beside_the_result_is_recorded_once() -> None:
    told = trace(
        operation(0, "mcp.a.b", outcome="failed", failureStage="validate"),
        operation(1, "mcp.a.b", outcome="failed", failureStage="invoke"),
        operation(2, "fabric.discovery.search"),
        operation(3, "mcp.a.c"),
    )
    rows = [header(), call("t1", "fabric_exec"), result("t1", details={"trace": told})]
    value = summed([read(*rows), read(*rows)])[0]
    assert value["rejections"]["recorded"] == {"rejected": 1, "calls": 3}
    damaged = result("t1", details={"trace": {**told, "version": 2}})
    value = summed([read(*rows[:2], damaged)])[0]
    assert value["rejections"]["recorded"] == {"rejected": 0, "calls": 0}


def test_a_damaged_line_in_the_middle_hides_nothing() -> None:
    data = (
        lines(header(), call("t1")) + b'{"type": "message", "id": "a", "p\n' + lines(result("t1"))
    )
    table = read_table("pi", Pi, [data])
    assert (joined(table)[0].outcome, table.losses.bad_lines) == (SUCCEEDED, 1)


def test_a_result_line_of_five_mebibytes_is_read() -> None:
    long = result("t1", True, content=[{"type": "text", "text": "x" * 5_652_782}])
    table = read(header(), call("t1"), long, call("t2"))
    assert sorted(found.outcome for found in joined(table)) == [UNKNOWN, FAILED]


ids = st.sampled_from(["t1", "t2", ""])
rows = st.one_of(
    st.builds(call, ids, st.sampled_from(["bash", "read"]), st.sampled_from([None, "m", "n"])),
    st.builds(result, ids, st.booleans()),
    st.just({"type": "model_change", "provider": "q", "modelId": "x"}),
)


@given(st.lists(rows, max_size=8), st.lists(st.integers(0, 9999), max_size=4))
def test_cuts_change_nothing(told: list[Json], places: list[int]) -> None:
    data = lines(header(), *told)
    assert read_table("pi", Pi, cut(data, places)) == read_table("pi", Pi, [data])
