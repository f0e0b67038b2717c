"""Gemini CLI sessions: the document, the lines, and one call whichever of them tells it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import ABORTED, FAILED, SUCCEEDED, UNDATED, UNKNOWN, CallTable
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from fabricd.core.sessions.gemini_cli import GeminiCli, read_document
from fabricd.core.sessions.records import Malformed
from tests.core.history.tables import cut, joined, lines, read_table

Json = dict[str, Any]
AT = 1776160531895


def call(call_id: str = "ls-1-a", status: str = "success", **more: Any) -> Json:
    """A call as it stands in a message."""
    return {
        "id": call_id, "name": "ls", "args": {"dir": "."}, "status": status, "result": [],
        "timestamp": "2026-04-14T09:55:31.895Z", "resultDisplay": "text", **more,
    }  # fmt: skip


def message(name: str, *calls: object, **more: Any) -> Json:
    """A message of the model."""
    return {
        "id": name, "timestamp": "2026-04-14T09:55:30Z", "type": "gemini", "content": "text",
        "model": "gemini-3", "toolCalls": list(calls), **more,
    }  # fmt: skip


def head(session: str = "s", **more: Any) -> Json:
    """What a session says of itself."""
    times = {"startTime": "2026-04-14T09:55:12.541Z", "lastUpdated": "2026-04-14T10:08:39.017Z"}
    return {"sessionId": session, "projectHash": "hash", **times, "kind": "main", **more}


def document(*messages: object, **more: Any) -> CallTable:
    """The table of a document."""
    table = CallTable("gemini-cli")
    told = head(**more) | {"messages": list(messages)}
    read_document(json.dumps(told).encode(), Recorder(table, Judge()))
    return table


def logged(*records: object) -> CallTable:
    """The table of a log of lines."""
    return read_table("gemini-cli", GeminiCli, [lines(*records)])


def outcomes(*tables: CallTable) -> list[int]:
    """How the calls ended."""
    return [found.outcome for found in joined(*tables)]


def test_a_call_tells_tool_model_project_session_and_time() -> None:
    for table in (document(message("m", call())), logged(head(), message("m", call()))):
        (found,) = joined(table)
        assert (found.tool, found.model, found.project, found.session, found.at) == (
            "ls", "gemini-3", "hash", "s", AT,
        )  # fmt: skip
        assert (found.outcome, found.answered) == (SUCCEEDED, True)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("success", SUCCEEDED),
        ("error", FAILED),
        ("cancelled", ABORTED),
        ("scheduled", UNKNOWN),
        ("executing", UNKNOWN),
        ("awaiting_approval", UNKNOWN),
        ("validating", UNKNOWN),
        ("of tomorrow", UNKNOWN),
    ],
)
def test_the_status_says_how_a_call_ended(status: str, outcome: int) -> None:
    for table in (document(message("m", call(status=status))),
                  logged(head(), message("m", call(status=status)))):  # fmt: skip
        (found,) = joined(table)
        assert (found.outcome, found.answered) == (outcome, outcome != UNKNOWN)


def test_ids_hold_within_a_session_only() -> None:
    first, second = document(message("m", call())), document(message("m", call()), session="t")
    assert len(joined(first, second)) == 2
    assert len(joined(first, first)) == 1


def test_a_document_and_the_lines_it_became_are_one() -> None:
    moved = logged(head(), message("m", call()), message("n", call("ls-2-b")))
    assert len(joined(document(message("m", call())), moved)) == 2


def test_of_a_message_the_last_version_stands() -> None:
    first = message("m", call(status="executing"))
    assert outcomes(logged(head(), first, message("m", call()))) == [SUCCEEDED]
    assert outcomes(logged(head(), first, message("m", call(status="error")))) == [FAILED]
    failed = message("m", call(status="error"))
    assert outcomes(logged(head(), failed, message("m", call()))) == [SUCCEEDED]


def test_arguments_edited_before_approval_make_no_second_call() -> None:
    first = message("m", call(status="awaiting_approval", args={"dir": "/"}))
    table = logged(head(), first, message("m", call()))
    assert outcomes(table) == [SUCCEEDED]
    assert table.bases.keys() == table.calls.keys()
    # Two finished calls under one id are two.
    other = message("n", call(args={"dir": "/"}))
    assert len(joined(logged(head(), message("m", call()), other))) == 2


def test_what_left_the_context_was_called_all_the_same() -> None:
    rewound = {"$rewindTo": "m"}
    emptied = {"$set": {"messages": [], "lastUpdated": "2026-04-14T10:08:39.017Z"}}
    kept = {"$set": {"messages": [message("x", call()), message("y", call("ls-9-f"))]}}
    table = logged(head(), message("m", call()), rewound, emptied, kept, {"$rewindTo": "none"})
    assert outcomes(table) == [SUCCEEDED, SUCCEEDED]


def test_an_update_may_name_the_session() -> None:
    update = {"$set": {"sessionId": "t", "projectHash": "other", "summary": "text"}}
    (found,) = joined(logged(head(), update, message("m", call())))
    assert (found.session, found.project) == ("t", "other")


def test_a_session_without_calls_is_a_session() -> None:
    for table in (document(), logged(head()), logged(head(), {"id": "u", "type": "user"})):
        assert [table.names[each] for each in table.sessions] == ["s"]


def test_a_document_on_one_line_is_read_as_a_line() -> None:
    told = head() | {"messages": [message("m", call())]}
    assert outcomes(logged(told)) == [SUCCEEDED]


@pytest.mark.parametrize(
    "record",
    [
        [],
        3,
        None,
        {},
        {"$set": 3},
        {"$set": {"messages": 3}},
        {"$rewindTo": 3},
        {"id": 3, "toolCalls": []},
        {"id": "m", "toolCalls": {}},
        {"id": "m", "toolCalls": [3, None, []]},
        {"sessionId": 3, "messages": [3, {"toolCalls": "x"}]},
    ],
)
def test_what_is_not_known_is_left_alone(record: object) -> None:
    assert logged(record).calls == {}
    assert logged(record).losses.bad_lines == 0


def test_odd_members_spoil_only_themselves() -> None:
    odd: Json = {"id": 3, "name": [], "args": [1], "status": {}, "timestamp": 3.5}
    table = document(message("m", odd, call(timestamp=None)), message("n", call("b"), timestamp=0))
    assert sorted(outcomes(table)) == [UNKNOWN, SUCCEEDED, SUCCEEDED]
    (found,) = joined(document(message("m", call(timestamp="soon"), timestamp="later")))
    assert found.at == UNDATED


@pytest.mark.parametrize(
    "damaged", [b"", b"{", b"{} {}", b'{"a":' * 100_000, b'{"messages":[tru]}']
)
def test_damage_is_said(damaged: bytes) -> None:
    recorder = Recorder(CallTable("gemini-cli"), Judge())
    with pytest.raises(Malformed):
        read_document(damaged, recorder)
    with pytest.raises(Malformed):
        GeminiCli(recorder).take(damaged)


@given(st.lists(st.integers(0, 5000), max_size=6))
def test_the_cuts_between_passes_change_nothing(places: list[int]) -> None:
    data = lines(
        head(),
        message("m", call(status="validating", args={})),
        message("m", call(status="executing")),
        message("m", call(), call("ls-2-b", "cancelled")),
        {"$rewindTo": "m"},
        message("n", call("ls-3-c", "error")),
        {"$set": {"messages": [message("n", call("ls-3-c", "error"))]}},
    )
    whole = read_table("gemini-cli", GeminiCli, [data])
    pieces = read_table("gemini-cli", GeminiCli, cut(data, places))
    assert joined(whole) == joined(pieces)
    assert sorted(outcomes(whole)) == [SUCCEEDED, ABORTED, FAILED]
