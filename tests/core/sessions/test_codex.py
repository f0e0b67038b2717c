"""Codex rollouts: typed ends only, forks, copies inside compacted rows, and the oldest layout."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import FAILED, INVALID, SUCCEEDED, UNKNOWN, CallTable
from fabricd.core.history.judging import Judge, Snapshot
from fabricd.core.history.malformation import slugs_in
from fabricd.core.sessions.codex import Codex
from tests.core.history.tables import cut, joined, lines, read_table

Json = dict[str, Any]
TIME = "2026-04-20T07:18:42.122Z"


def line(kind: str, time: str = TIME, **payload: Any) -> Json:
    """One event."""
    return {"timestamp": time, "type": kind, "payload": payload}


def meta(session: str = "P", **more: Any) -> Json:
    """A header."""
    return line("session_meta", id=session, cwd="/w", cli_version="0.140.0", source="cli", **more)


def call(call_id: str, cmd: str = "ls", name: str = "exec_command", time: str = TIME) -> Json:
    """A function call."""
    given = json.dumps({"cmd": cmd})
    told = {"type": "function_call", "name": name, "arguments": given, "call_id": call_id}
    return line("response_item", time, **told)


def output(call_id: str, text: str = "Process exited with code 1") -> Json:
    """Its output, whose text says nothing."""
    told = {"type": "function_call_output", "call_id": call_id, "output": text}
    return line("response_item", **told)


def event(kind: str, call_id: str, **more: Any) -> Json:
    """A typed event beside a call."""
    return line("event_msg", type=kind, call_id=call_id, **more)


def read(*rows: Json, judge: Judge | None = None) -> CallTable:
    """The table of a rollout."""
    return read_table("codex", Codex, [lines(*rows)], judge)


def test_a_call_tells_session_project_model_version_and_time() -> None:
    context = line("turn_context", model="gpt-5.5", cwd="/w/sub")
    snapshot = Snapshot("codex", {"exec_command": {"type": "object"}}, ("0.140.0", "0.140.0"))
    (found,) = joined(read(meta(), context, call("c1"), judge=Judge([snapshot])))
    assert (found.session, found.project, found.model, found.tool) == (
        "P", "/w/sub", "gpt-5.5", "exec_command",
    )  # fmt: skip
    assert (found.at, found.verdict) == (1776669522122, 1)


def test_an_output_has_no_flag_and_its_text_is_not_read() -> None:
    (found,) = joined(read(meta(), call("c1"), output("c1", "unsupported call: exec_command")))
    assert (found.outcome, found.answered) == (UNKNOWN, True)


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        (event("exec_command_end", "c1", exit_code=0), SUCCEEDED),
        (event("exec_command_end", "c1", exit_code=2), FAILED),
        (event("exec_command_end", "c1", exit_code=-1), FAILED),
        (event("exec_command_end", "c1", exit_code="1"), UNKNOWN),
        (event("exec_command_end", "c1", exit_code=None), UNKNOWN),
        (event("exec_command_end", "c1", exit_code=True), UNKNOWN),
        (event("patch_apply_end", "c1", success=True), SUCCEEDED),
        (event("patch_apply_end", "c1", success=False), FAILED),
        (event("mcp_tool_call_end", "c1", result={"Ok": {"content": []}}), SUCCEEDED),
        (event("mcp_tool_call_end", "c1", result={"Err": "x"}), FAILED),
        (event("mcp_tool_call_end", "c1", result={}), UNKNOWN),
        (event("exec_command_end", "c2", exit_code=2), UNKNOWN),
        (event("exec_command_begin", "c1", exit_code=2), UNKNOWN),
    ],
)
@pytest.mark.parametrize("first", ["event", "output"])
def test_ends_come_from_typed_events(told: Json, outcome: int, first: str) -> None:
    rest = [told, output("c1")] if first == "event" else [output("c1"), told]
    (found,) = joined(read(meta(), call("c1"), *rest))
    assert (found.outcome, found.answered) == (outcome, True)


def test_an_event_may_come_before_its_call() -> None:
    rows = [meta(), event("exec_command_end", "c1", exit_code=3), call("c1")]
    assert joined(read(*rows))[0].outcome == FAILED


def test_every_kind_of_call_counts() -> None:
    rows = [
        line("response_item", type="custom_tool_call", name="apply_patch", call_id="c1", input="x"),
        line("response_item", type="tool_search_call", call_id="c2", arguments={"query": "q"}),
        line("response_item", type="web_search_call", status="completed", action={"query": "q"}),
        line("response_item", type="web_search_call", status="completed", action={"query": "r"}),
        line("response_item", type="local_shell_call", call_id="c3", action={"command": ["ls"]}),
    ]
    tools = sorted(found.tool for found in joined(read(meta(), *rows)))
    assert tools == [
        "apply_patch", "local_shell_call", "tool_search_call", "web_search_call", "web_search_call",
    ]  # fmt: skip


def test_a_call_without_an_id_belongs_to_its_session_and_its_forks() -> None:
    search = line("response_item", type="web_search_call", action={"query": "q"})
    parent, fork = read(meta(), search), read(meta("F", forked_from_id="P"), search)
    other = read(meta("O"), search)
    assert len(joined(parent, fork, other)) == 2


def test_a_search_is_told_apart_by_the_id_of_its_item() -> None:
    searches = [
        line("response_item", type="web_search_call", action={"query": "q"}, **more)
        for more in ({"id": "ws_1"}, {"id": "ws_2"}, {"id": "ws_1"}, {})
    ]
    assert len(joined(read(meta(), *searches))) == 3


def test_half_a_pair_of_surrogates_costs_no_line() -> None:
    broken = output("c1", "\ud83d")
    patch = line("response_item", type="custom_tool_call", name="p", call_id="c2", input="x\ud83d")
    data = "".join(json.dumps(row) + "\n" for row in (meta(), call("c1"), broken, patch))
    table = read_table("codex", Codex, [data.encode()])
    assert (len(table.calls), table.losses.bad_lines) == (2, 0)
    assert sorted(found.answered for found in joined(table)) == [False, True]


def test_a_header_without_an_id_is_nobodys() -> None:
    nameless = line("session_meta", id=None, cwd="/x")
    assert joined(read(nameless, meta(), call("c1")))[0].session == "P"


def test_arguments_that_are_no_json() -> None:
    broken = call("c1")
    broken["payload"]["arguments"] = '{"cmd": "ls"'
    (found,) = joined(read(meta(), broken, event("exec_command_end", "c1", exit_code=1)))
    assert (found.verdict, slugs_in(found.kinds)) == (INVALID, ["not-json"])


def test_a_fork_replays_its_parent_under_new_times() -> None:
    later = "2026-04-22T00:00:00Z"
    parent = read(meta(), call("c1"), call("c2"), event("exec_command_end", "c1", exit_code=0))
    fork = read(
        meta("F", forked_from_id="P"), meta("P"), call("c1", time=later), call("c2", time=later),
        call("c3", "pwd", time=later),
    )  # fmt: skip
    for tables in ((parent, fork), (fork, parent)):
        found = joined(*tables)
        assert len(found) == 3
        assert sorted(each.session for each in found) == ["F", "P", "P"]
    assert {fork.names[each] for each in fork.sessions} == {"F"}


def test_an_archived_copy_counts_once() -> None:
    rows = [meta(), call("c1"), output("c1")]
    assert len(joined(read(*rows), read(*rows))) == 1


def test_copies_inside_a_compacted_row_and_unknown_rows_are_no_calls() -> None:
    history = [call("c9")["payload"], {"role": "user", "type": "message", "content": []}]
    others = [
        line("compacted", message="", replacement_history=history),
        line("world_state", type="function_call", name="x", call_id="c8"),
        line("event_msg", type="token_count", info={}),
        line("response_item", type="reasoning", summary=[]),
        {"timestamp": TIME, "type": "response_item", "payload": [1]},
        {"timestamp": TIME, "type": "response_item", "payload": "function_call"},
        line("response_item", type=["function_call"], call_id=5),
        {"record_type": "state"},
    ]
    table = read(meta(), *others, call("c1"))
    assert (len(joined(table)), table.losses.bad_lines) == (1, 0)


def test_the_oldest_rollouts_have_bare_items() -> None:
    rows = [
        {"id": "old", "timestamp": "2025-05-07T17:24:21.597Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"a":1}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "{}"},
    ]  # fmt: skip
    (found,) = joined(read(*rows))
    assert (found.session, found.tool, found.answered, found.at) == ("old", "shell", True, -1)


def test_bare_items_of_free_text_differ_by_their_text() -> None:
    items = [{"type": "custom_tool_call", "name": "p", "call_id": "c", "input": i} for i in "ab"]
    assert len(joined(read(*items))) == 2


ids = st.sampled_from(["c1", "c2", ""])
rows = st.one_of(
    st.builds(call, ids, st.sampled_from(["ls", "é"]), st.sampled_from(["a", "b"])),
    st.builds(output, ids),
    st.builds(event, st.just("exec_command_end"), ids, exit_code=st.integers(0, 1)),
    st.builds(meta, st.sampled_from(["P", "F"])),
    st.just(line("turn_context", model="m2")),
)


@given(st.lists(rows, max_size=8), st.lists(st.integers(0, 9999), max_size=4))
def test_cuts_change_nothing(told: list[Json], places: list[int]) -> None:
    data = lines(*told)
    assert read_table("codex", Codex, cut(data, places)) == read_table("codex", Codex, [data])
