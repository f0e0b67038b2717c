"""OpenCode exports and parts: every state of a call, and what copies do to counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabricd.core.history.calls import (
    FAILED,
    SUCCEEDED,
    UNDATED,
    UNDECLARED,
    UNKNOWN,
    CallTable,
)
from fabricd.core.history.judging import Judge
from fabricd.core.history.malformation import slugs_in
from fabricd.core.history.recorder import Recorder
from fabricd.core.sessions.opencode import (
    Message,
    Session,
    may_be_call,
    message_of,
    read_export,
    read_part,
    session_of,
)
from fabricd.core.sessions.opencode_parts import Entangled, Parts
from fabricd.core.sessions.records import Malformed
from tests.core.history.tables import joined

Json = dict[str, Any]


def part(
    call_id: object = "c1", tool: str = "bash", status: str = "completed", **state: Any
) -> Json:
    """A tool part as exports have it."""
    told: Json = {
        "status": status,
        "input": {"command": "ls"},
        "time": {"start": 1000, "end": 1001},
    }
    if status == "completed":
        told |= {"output": "text", "title": "t", "metadata": {}}
    if status == "error":
        told["error"] = "text"
    return {
        "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "tool", "tool": tool,
        "callID": call_id, "state": {**told, **state},
    }  # fmt: skip


def entry(*parts: object, **info: Any) -> Json:
    """An assistant message with these parts."""
    told: Json = {
        "id": "msg_1", "sessionID": "ses_1", "role": "assistant", "modelID": "m", "providerID": "p",
        "path": {"cwd": "/w/cwd", "root": "/"}, "time": {"created": 900, "completed": 2000},
    }  # fmt: skip
    return {"info": {**told, **info}, "parts": list(parts)}


def export(*entries: object, **info: Any) -> bytes:
    """A session with these messages."""
    told: Json = {"id": "ses_1", "directory": "/w/p", "version": "1.2.3", "title": "t"}
    return json.dumps({"info": {**told, **info}, "messages": list(entries)}).encode()


def read(document: bytes) -> CallTable:
    """The table of an export."""
    table = CallTable("opencode")
    read_export(document, Recorder(table, Judge()))
    return table


def test_a_call_tells_tool_model_project_session_and_time() -> None:
    (found,) = joined(read(export(entry({"type": "text", "text": "tool"}, part()))))
    assert (found.tool, found.model, found.project, found.session, found.at) == (
        "bash", "p/m", "/w/p", "ses_1", 1000,
    )  # fmt: skip
    assert (found.outcome, found.answered) == (SUCCEEDED, True)


@pytest.mark.parametrize(
    ("status", "outcome", "answered"),
    [
        ("completed", SUCCEEDED, True),
        ("error", FAILED, True),
        ("running", UNKNOWN, False),
        ("pending", UNKNOWN, False),
        ("of tomorrow", UNKNOWN, False),
    ],
)
def test_the_status_says_how_a_call_ended(status: str, outcome: int, answered: bool) -> None:
    (found,) = joined(read(export(entry(part(status=status)))))
    assert (found.outcome, found.answered) == (outcome, answered)


@pytest.mark.parametrize("status", ["completed", "error"])
def test_a_rerouted_call_is_of_the_tool_that_was_wanted(status: str) -> None:
    told = {"tool": "todo_write", "error": "Model tried to call unavailable tool 'todo_write'."}
    table = read(export(entry(part(tool="invalid", status=status, input=told))))
    (found,) = joined(table)
    assert (found.tool, found.outcome, found.verdict) == ("todo_write", FAILED, UNDECLARED)
    assert slugs_in(found.kinds) == ["unknown-tool"]


@pytest.mark.parametrize("told", [{}, {"tool": 3}, [], None])
def test_a_rerouted_call_of_nothing_keeps_its_name(told: object) -> None:
    (found,) = joined(read(export(entry(part(tool="invalid", input=told)))))
    assert (found.tool, found.outcome, found.verdict) == ("invalid", FAILED, UNDECLARED)


def test_a_fork_is_counted_once() -> None:
    first = read(export(entry(part())))
    copy = export(entry(part()), entry(part("c2")), id="ses_2", title="t (fork #1)")
    assert [call.session for call in joined(first, read(copy))] == ["ses_1", "ses_2"]
    assert len(joined(first, first)) == 1


def test_one_id_of_two_calls_is_two_calls_in_every_session() -> None:
    first = read(export(entry(part(), part(input={"command": "pwd"}))))
    second = read(export(entry(part()), id="ses_2"))
    assert len(joined(first, second)) == 3


@pytest.mark.parametrize("call_id", ["REDACTED", "", None, 7])
def test_an_id_that_says_nothing_holds_within_its_session(call_id: object) -> None:
    first = read(export(entry(part(call_id))))
    second = read(export(entry(part(call_id)), id="ses_2"))
    assert len(joined(first, second)) == 2
    assert len(joined(first, first)) == 1


def test_an_emptied_part_still_counts() -> None:
    emptied = part(output="", time={"start": 1, "end": 2, "compacted": 3})
    (found,) = joined(read(export(entry(emptied))))
    assert (found.outcome, found.at) == (SUCCEEDED, 1)


def test_what_is_missing_is_taken_from_elsewhere() -> None:
    told = part(time=None)
    (found,) = joined(read(export(entry(told), directory=None)))
    assert (found.at, found.project) == (900, "/w/cwd")
    (found,) = joined(read(export(entry(told, path=None, time=None, providerID=None), version=1)))
    assert (found.at, found.project, found.model) == (UNDATED, "/w/p", "m")


def test_a_child_session_is_no_fork() -> None:
    table = read(export(entry(part()), parentID="ses_0"))
    assert table.parents == {}


def test_a_session_without_calls_is_a_session() -> None:
    table = read(export())
    assert [table.names[each] for each in table.sessions] == ["ses_1"]


@pytest.mark.parametrize(
    "document",
    [
        b"[]",
        b"3",
        b'{"info": 3, "messages": []}',
        b'{"info": {}, "messages": {}}',
        b'{"info": {}, "messages": [3, null, [], {"info": 3, "parts": 3}, {"parts": null}]}',
        b'{"info": {}, "messages": [{"parts": [3, {}, {"type": 3}, {"type": "text"}]}]}',
        b'{"messages": [{"info": {}, "parts": [{"type": "tool", "tool": "x"}]}]}',
    ],
)
def test_what_is_not_known_is_left_alone(document: bytes) -> None:
    assert read(document).calls == {}


def test_odd_members_spoil_only_themselves() -> None:
    odd = {"type": "tool", "tool": 3, "callID": {}, "state": [1]}
    table = read(
        export(entry(odd, part()), entry(part("c2", input="text", time=[]), path=[], time=3))
    )
    assert [call.outcome for call in joined(table)].count(SUCCEEDED) == 2
    assert len(table.calls) == 3


@pytest.mark.parametrize(
    "document",
    [b"", b"{", b'{"info": {}} {}', b"\xff", b'{"a":' * 100_000, b'{"info": 3, "b": tru}'],
)
def test_damage_is_said(document: bytes) -> None:
    with pytest.raises(Malformed):
        read(document)


def parts_of(*versions: tuple[str, Json], known: Parts | None = None) -> tuple[CallTable, Parts]:
    """A table into which these parts were entered one after another."""
    table = CallTable("opencode")
    parts = known or Parts(Recorder(table, Judge()), {})
    for name, told in versions:
        parts.enter(name, json.dumps(told).encode(), Message("m"), Session("s"))
    parts.arrange(["s"])
    return table, parts


def test_of_a_part_the_last_version_stands() -> None:
    pending = part(status="pending", input={}, raw="{")
    running = part(status="running")
    for last, outcome in ((part(), SUCCEEDED), (part(status="error"), FAILED)):
        table, parts = parts_of(("a", pending), ("a", running), ("a", last))
        assert [call.outcome for call in joined(table)] == [outcome]
        assert list(parts.open()) == []
    table, parts = parts_of(("a", part(status="error")), ("a", part()))
    assert [call.outcome for call in joined(table)] == [SUCCEEDED]
    table, parts = parts_of(("a", part()), ("a", {"type": "text"}))
    assert (table.calls, parts.known) == ({}, {})


def test_calls_stand_in_the_order_of_their_parts() -> None:
    table, parts = parts_of(
        ("b", part("c2", tool="y")), ("a", part("c1", tool="x", status="running"))
    )
    assert [table.names[row.tool] for row in table.calls.values()] == ["x", "y"]
    parts.enter("a", json.dumps(part("c1", tool="x")).encode(), Message(), Session())
    parts.arrange([])
    assert [table.names[row.tool] for row in table.calls.values()] == ["x", "y"]


def test_copies_that_come_apart_are_read_again() -> None:
    table, parts = parts_of(("a", part(status="running")), ("b", part(status="running")))
    assert len(table.calls) == 1
    parts.enter("a", json.dumps(part(status="running")).encode(), Message(), Session("s"))
    with pytest.raises(Entangled):
        parts.enter("a", json.dumps(part()).encode(), Message(), Session("s"))
    with pytest.raises(Entangled):
        parts.remove("b")


def test_a_damaged_part_is_counted_until_it_is_whole() -> None:
    table = CallTable("opencode")
    parts = Parts(Recorder(table, Judge()), {})
    for data, losses in ((b'{"tool":', 1), (b'{"tool":"', 1), (json.dumps(part()).encode(), 0)):
        parts.enter("a", data, Message(), Session("s"))
        assert table.losses.bad_lines == losses
    assert len(joined(table)) == 1


def test_descriptions_and_parts_of_a_store() -> None:
    told = session_of(b'{"id":"s","directory":"/d","version":"1"}')
    assert told == Session("s", "/d", "1")
    assert session_of(b"[]") == Session()
    assert message_of(b'{"modelID":"m"}') == Message("m")
    assert message_of(b"3") == Message()
    recorder = Recorder(CallTable("opencode"), Judge())
    assert read_part(b'{"type":"text"}', Message(), told, recorder) is None
    assert read_part(b"3", Message(), told, recorder) is None
    assert not may_be_call(b'{"type":"text","text":"a tool"}')
    assert may_be_call(b'{"type": "tool"}')
