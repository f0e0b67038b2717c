"""Claude Code logs: every kind of row that matters, and what their hazards do to counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import (
    ABORTED,
    FAILED,
    INVALID,
    SUCCEEDED,
    UNKNOWN,
    CallTable,
)
from fabricd.core.history.malformation import slugs_in
from fabricd.core.sessions.claude_code import ClaudeCode
from tests.core.history.tables import cut, joined, lines, read_table

Json = dict[str, Any]


def row(kind: str, message: Json | None = None, **more: Any) -> Json:
    """A row of session s."""
    told: Json = {
        "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/w/p",
        "sessionId": "s", "version": "2.1.81", "type": kind, "uuid": "u",
        "timestamp": "2026-03-21T19:36:10.582Z",
    }  # fmt: skip
    if message is not None:
        told["message"] = message
    return {**told, **more}


def call(call_id: str, name: str = "Read", arguments: object = None, **more: Any) -> Json:
    """An assistant row with one call."""
    item = {"type": "tool_use", "id": call_id, "name": name, "input": arguments or {"a": 1}}
    message = {"model": "claude-opus-4-6", "id": "m", "role": "assistant", "content": [item]}
    return row("assistant", message, **more)


def result(call_id: str, failed: bool | None = None, **more: Any) -> Json:
    """A user row with one result."""
    item: Json = {"type": "tool_result", "tool_use_id": call_id, "content": "text"}
    if failed is not None:
        item["is_error"] = failed
    return row("user", {"role": "user", "content": [item]}, **more)


def nested(inner: Json, **more: Any) -> Json:
    """A progress row of a sub-agent."""
    told = {"type": inner["type"], "timestamp": inner["timestamp"], "message": inner["message"]}
    return row("progress", data={"type": "agent_progress", "message": told}, **more)


def read(*rows: Json | bytes) -> CallTable:
    """The table of a log of these rows; bytes stand as they are."""
    data = b"".join(each if isinstance(each, bytes) else lines(each) for each in rows)
    return read_table("claude-code", ClaudeCode, [data])


def outcomes(*tables: CallTable) -> list[int]:
    """How the calls ended."""
    return [found.outcome for found in joined(*tables)]


def test_a_call_tells_tool_model_project_session_and_time() -> None:
    (found,) = joined(read(call("t1"), result("t1")))
    assert (found.tool, found.model, found.project, found.session) == (
        "Read", "claude-opus-4-6", "/w/p", "s",
    )  # fmt: skip
    assert (found.at, found.outcome, found.answered) == (1774121770582, SUCCEEDED, True)


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        (result("t1"), SUCCEEDED),
        (result("t1", False), SUCCEEDED),
        (result("t1", True, toolUseResult="Error: no such file"), FAILED),
        (result("t1", toolUseResult={"stdout": "", "interrupted": True}), ABORTED),
        (result("t1", True, toolUseResult={"interrupted": True}), ABORTED),
        (result("t1", toolUseResult={"interrupted": False}), SUCCEEDED),
        (result("t1", toolUseResult=[{"type": "text", "text": '"interrupted":true'}]), SUCCEEDED),
        (result("t1", toolUseResult={"text": '{"interrupted":true}'}), SUCCEEDED),
        (result("other"), UNKNOWN),
    ],
)
def test_outcomes_come_from_typed_fields_alone(told: Json, outcome: int) -> None:
    assert outcomes(read(call("t1"), told)) == [outcome]


def test_error_text_without_the_flag_is_no_error() -> None:
    text = "<tool_use_error>InputValidationError: Read failed</tool_use_error>"
    item = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    assert outcomes(read(call("t1"), row("user", {"content": [item]}))) == [SUCCEEDED]


def test_several_calls_of_one_message_in_one_row_and_in_several() -> None:
    items = [{"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {}} for n in range(3)]
    one = row("assistant", {"id": "m", "content": [{"type": "text", "text": "x"}, *items]})
    assert len(joined(read(one, call("t7"), call("t8")))) == 5


def test_parallel_results_may_come_in_any_order() -> None:
    table = read(call("t1"), call("t2"), result("t2", True), result("t1"))
    assert sorted(outcomes(table)) == [SUCCEEDED, FAILED]


def test_arguments_that_were_no_json_are_not_a_key_of_that_name() -> None:
    raw = {"__unparsedToolInput": {"raw": '{"offset": 695, 810}', "len": 20}}
    (found,) = joined(read(call("t1", "Read", raw), result("t1", True)))
    assert (found.verdict, slugs_in(found.kinds)) == (INVALID, ["not-json"])
    assert not found.repairable


def test_rows_of_sub_agents_count_once_nested_or_in_a_file_of_their_own() -> None:
    parent = read(nested(call("a1")), nested(result("a1", True)), nested(call("a2")))
    older = read(call("a1", isSidechain=True, agentId="x"), result("a1", True, isSidechain=True))
    assert sorted(outcomes(parent, older)) == sorted(outcomes(older, parent)) == [UNKNOWN, FAILED]
    assert {found.session for found in joined(parent, older)} == {"s"}


def test_a_sidechain_that_replays_its_parent_is_the_same_call() -> None:
    again = call("t1", isSidechain=True, uuid="u2", requestId="r2")
    assert len(joined(read(call("t1"), again))) == 1


@pytest.mark.parametrize("uuid", ["u", "fresh"])
def test_a_resumed_session_that_copies_its_history_counts_it_once(uuid: str) -> None:
    first = read(call("t1"), result("t1"))
    second = read(
        call("t1", sessionId="s2", uuid=uuid, timestamp="2026-04-01T00:00:00Z"),
        result("t1", sessionId="s2", uuid=uuid),
        call("t2", sessionId="s2"),
    )
    found = joined(second, first)
    assert len(found) == 2
    # Time and session are those of the earliest copy.
    assert [each.session for each in found] == ["s", "s2"]


def test_one_id_with_other_arguments_or_another_tool_is_another_call() -> None:
    table = read(call("t1"), call("t1", arguments={"a": 2}), call("t1", "Write"))
    assert len(joined(table)) == 3


def test_a_message_id_that_two_sessions_share_merges_nothing() -> None:
    assert len(joined(read(call("t1")), read(call("t2", sessionId="s2")))) == 2


def test_a_result_may_stand_in_another_file_than_its_call() -> None:
    assert outcomes(read(call("t1")), read(result("t1", True))) == [FAILED]
    assert outcomes(read(result("t1", True)), read(call("t1"))) == [FAILED]


def test_rows_without_calls_and_unknown_rows_do_no_harm() -> None:
    others: list[Json] = [
        {"type": "summary", "summary": "x", "leafUuid": "l"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue"},
        row("assistant", {"model": "<synthetic>", "content": [{"type": "text", "text": "no"}]}),
        row("user", {"role": "user", "content": 'only text with "tool_use"'}),
        row("user", {"content": [{"type": "text", "text": "summary"}]}, isCompactSummary=True),
        {**row("system", content="x"), "message": "a text"},
        row("hologram", {"content": {"tool_use": 1}}),
        row("assistant", {"content": [3, None, "tool_use", {"type": ["tool_use"]}]}),
        row("assistant", {"content": [{"type": "tool_use"}]}, timestamp=7, cwd=[], version=2),
        {"type": "progress", "data": {"message": {"message": "tool_use"}}},
    ]
    table = read(*others, call("t1"), result("t1"))
    assert len([found for found in joined(table) if found.tool == "Read"]) == 1
    assert table.losses.bad_lines == 0


def test_a_glued_line_holds_two_records() -> None:
    glued = lines(call("t1")).rstrip() + lines({"type": "summary", "leafUuid": "l"})
    both = lines(call("t2")).rstrip() + lines(result("t2", True))
    table = read(glued, both)
    assert sorted(outcomes(table)) == [UNKNOWN, FAILED]
    assert (table.losses.glued_lines, table.losses.bad_lines) == (2, 0)


def test_a_damaged_line_is_one_loss_and_hides_nothing() -> None:
    table = read(call("t1"), b'{"type": "user", "mess\n', result("t1", True), b"\n", b"[1, 2\n")
    assert outcomes(table) == [FAILED]
    assert table.losses.bad_lines == 2


def test_line_separators_inside_texts_end_no_line() -> None:
    table = read(call("t1", arguments={"text": "a\u2028b\u2029c\x85d"}), result("t1"))
    assert (outcomes(table), table.losses.bad_lines) == ([SUCCEEDED], 0)


@pytest.mark.parametrize(("end", "cut_tails", "calls"), [(b"", 0, 2), (b"}", 1, 1)])
def test_a_last_line_without_a_line_feed_counts_where_it_is_complete(
    end: bytes, cut_tails: int, calls: int
) -> None:
    last = lines(call("t2")).rstrip().removesuffix(end or b"\n")
    table = read(call("t1"), last)
    assert (len(joined(table)), table.losses.cut_tails, table.losses.bad_lines) == (
        calls, cut_tails, 0,
    )  # fmt: skip


def test_a_row_of_sixteen_mebibytes_is_read() -> None:
    item = {"type": "tool_result", "tool_use_id": "t1", "content": "x" * (16 << 20)}
    table = read(call("t1"), row("user", {"content": [item]}))
    assert outcomes(table) == [SUCCEEDED]


def test_nesting_beyond_any_reader_is_one_bad_line() -> None:
    table = read(call("t1"), b'{"type":"user","x":' + b"[" * 90_000 + b"]" * 90_000 + b"}\n")
    assert (len(joined(table)), table.losses.bad_lines) == (1, 1)


ids = st.sampled_from(["t1", "t2", "t3", ""])
rows = st.one_of(
    st.builds(
        call, ids, st.sampled_from(["Read", "Bash"]), st.sampled_from([{"a": 1}, {"b": "é"}])
    ),
    st.builds(result, ids, st.sampled_from([None, True, False])),
    st.builds(nested, st.builds(call, ids)),
    st.just({"type": "summary", "leafUuid": "x"}),
)


@given(st.lists(rows, max_size=8), st.lists(st.integers(0, 9999), max_size=4), st.booleans())
def test_cuts_change_nothing(told: list[Json], places: list[int], ends: bool) -> None:
    data = lines(*told)
    data = data if ends else data.rstrip(b"\n")
    whole = read_table("claude-code", ClaudeCode, [data])
    assert read_table("claude-code", ClaudeCode, cut(data, places)) == whole


@given(st.lists(rows, max_size=8))
def test_reading_again_changes_no_count(told: list[Json]) -> None:
    table = read(*told)
    once, twice = joined(table), joined(table, table)
    for found in twice:
        found.files = found.files[:1]
    assert once == twice


def test_no_argument_value_is_kept() -> None:
    table = read(call("t1", arguments={"key": "VALUE-7"}), result("t1", toolUseResult="VALUE-8"))
    kept = str([table.names, table.context, table.ids])
    assert "VALUE" not in kept
