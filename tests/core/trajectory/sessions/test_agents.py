"""What each agent's log says was shown, and where it certainly keeps all there was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.trajectory.sessions.written import (
    agreed,
    claude_call,
    claude_result,
    claude_row,
    codex_call,
    codex_end,
    codex_header,
    codex_line,
    codex_output,
    copilot_event,
    document,
    gemini_call,
    gemini_document,
    headed,
    oc_export,
    oc_part,
    pi_call,
    pi_header,
    pi_result,
    run,
    streams,
    write,
)
from tests.oracle.naive_outputs import Totals

LONG = "".join(f"line {number}\n" for number in range(200))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a log is written."""
    return tmp_path / "log.jsonl"


def claude(log: Path, shown: Any, beside: Any) -> Totals:
    """One result of a command."""
    return agreed(write(log, claude_call("a"), claude_result("a", shown, beside)))


def test_claude_keeps_the_streams_of_a_command(log: Path) -> None:
    assert claude(log, "héllo", streams("héllo")) == Totals(1, 6, 6, 0, 1)
    assert claude(log, "a\nb", streams("a", "b")) == Totals(1, 3, 3, 0, 1)
    assert claude(log, "(no output)", streams("")) == Totals(1, 0, 11, 0, 1)
    assert claude(log, "saved", streams(LONG, tokenSaverOutput="saved"))[1:3] == (len(LONG), 5)


@pytest.mark.parametrize(
    "beside",
    [
        None,
        "Error: Exit code 1",
        [{"type": "text", "text": LONG}],
        streams(LONG, persistedOutputPath="/tmp/x", persistedOutputSize=47814),
        streams(LONG, backgroundTaskId="b"),
        streams(LONG, ofTomorrow=1),
        {**streams(LONG), "interrupted": True},
        {**streams(LONG), "isImage": True},
        {**streams(LONG), "stderr": None},
        {"stdout": LONG},
        streams("x" * 30_000),
        {"type": "image", "file": {"base64": LONG}},
        {"type": "text", "file": {"content": LONG}},
        {"mode": "content", "content": LONG, "numLines": 3, "appliedLimit": 3},
        {"mode": "content", "content": LONG, "numLines": 3, "totalLines": 4},
        {"mode": "files_with_matches", "content": LONG, "numFiles": 1},
        {"status": "completed", "content": [{"type": "text", "text": LONG}]},
    ],
)
def test_claude_what_is_not_certain_is_not_all_there_was(log: Path, beside: Any) -> None:
    write(log, claude_call("a"), claude_result("a", "text", beside))
    found = run(log)
    document(found)
    assert found.results[0].full is None and found.results[0].shown.size == 4


def test_claude_keeps_files_and_searches(log: Path) -> None:
    file = {"filePath": "/a", "content": LONG, "numLines": 9, "startLine": 1, "totalLines": 99}
    numbered = "".join(f"{n:6}→{line}" for n, line in enumerate(LONG.splitlines(True)))
    assert claude(log, numbered, {"type": "text", "file": file})[1] == len(LONG)
    assert run(log).results[0].is_cut is False
    search = {"mode": "content", "content": LONG, "filenames": [], "numFiles": 0, "numLines": 200}
    assert claude(log, "…", search) == Totals(1, len(LONG), 3, 0, 1)
    assert run(log).results[0].is_cut is True


def test_claude_what_stands_beside_several_results_is_of_none(log: Path) -> None:
    items = [{"type": "tool_result", "tool_use_id": x, "content": x} for x in "ab"]
    row = claude_row("user", message={"role": "user", "content": items})
    calls = [claude_call(x, command=x) for x in "ab"]
    assert agreed(write(log, *calls, {**row, "toolUseResult": streams(LONG)})) == (2, 2, 2, 0, 0)


def test_claude_copies_nested_rows_and_other_sessions(log: Path) -> None:
    rows = [claude_call("a"), claude_result("a", "1", streams("1"))]
    nested = [
        {**claude_row("progress"), "data": {"type": "agent_progress", "message": row}}
        for row in (claude_call("n"), claude_result("n", "22", streams("22")), *rows)
    ]
    other = [{**claude_call("z"), "sessionId": "old"}, claude_result("z", "9", sessionId="old")]
    assert agreed(write(log, *other, *rows, *nested, *rows)) == Totals(2, 3, 3, 0, 2)
    assert run(log).session == "c"
    # A resumed session is the one that the file is named after, or the last one.
    assert run(write(log.with_name("old.jsonl"), *other, *rows)).session == "old"


def test_claude_items_that_are_no_text(log: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "eA=="}}
    text = {"type": "text", "text": "see"}
    assert claude(log, [text, image, text], None) == Totals(1, 6, 6, 0, 0)
    assert run(log).results[0].others == 1
    assert claude(log, None, streams("x")) == Totals(1, 1, 0, 0, 1)


def test_results_without_an_id_stay_apart(log: Path) -> None:
    rows = [claude_result("", "a"), claude_result("", "bb"), claude_result("", "a")]
    found = run(write(log, *rows))
    assert [event["operation_id"] for event in document(found)["events"]] == ["call", "call#2"]


def test_half_a_surrogate_pair_is_one_replacement(log: Path) -> None:
    assert claude(log, "a\ud800", streams("a\ud800")) == Totals(1, 4, 4, 0, 1)


def codex(log: Path, *rows: Any) -> Totals:
    """A rollout with one call."""
    return agreed(write(log, codex_header(), codex_call("a"), *rows))


def test_codex_keeps_all_where_the_shown_proves_it(log: Path) -> None:
    whole = headed(LONG)
    assert codex(log, codex_end("a", LONG), codex_output("a", whole)) == (
        1, len(LONG), len(whole), 0, 1,
    )  # fmt: skip
    cut = headed(f"Total output lines: 200\n\n{LONG[:40]}…500 tokens truncated…{LONG[-40:]}")
    assert codex(log, codex_end("a", LONG), codex_output("a", cut))[1:3] == (
        len(LONG),
        len(cut.encode()),
    )
    assert run(log).results[0].is_cut
    old = codex_end("a", "", stdout=LONG)
    assert codex(log, old, codex_output("a", LONG)).located == 1


@pytest.mark.parametrize(
    ("end", "shown"),
    [
        (codex_end("a", LONG), headed("another text")),
        (codex_end("a", LONG), headed(f"x{LONG[:40]}…5 tokens truncated…{LONG[-40:]}")),
        (codex_end("a", LONG), headed(f"{LONG[:40]}{LONG[-40:]}")),
        (codex_end("a", LONG), headed(f"{LONG}…5 tokens truncated…{LONG}")),
        (codex_end("a", "é" * 5001), headed("é" * 5001)),
        (codex_end("b", LONG), headed(LONG)),
        (codex_end("a", ""), headed("")),
        (codex_end("a", "", stdout=LONG, stderr="!"), headed(LONG)),
        (codex_end("a", LONG, type="patch_apply_end"), headed(LONG)),
    ],
)
def test_codex_what_is_not_proven_is_not_all_there_was(log: Path, end: Any, shown: str) -> None:
    assert codex(log, end, codex_output("a", shown)).located == 0


def test_codex_an_end_after_the_output_tells_of_more_than_the_call(log: Path) -> None:
    assert codex(log, codex_output("a", headed(LONG)), codex_end("a", LONG)).located == 0


def test_codex_shapes_of_an_output(log: Path) -> None:
    items = [{"type": "input_text", "text": "abc"}, {"type": "input_image", "image_url": "data:"}]
    assert codex(log, codex_output("a", items)) == Totals(1, 3, 3, 0, 0)
    write(log, codex_header(), codex_call("a"), codex_output("a", {"content": "ab", "success": 1}))
    assert run(log).results[0].shown.size == 2
    found = codex_line("response_item", type="tool_search_output", call_id="s", tools=[{}])
    assert codex(log, found) == Totals(1, 0, 0, 0, 0)
    assert run(log).results[0].is_absent and run(log).unanswered == 1


def test_codex_compacted_rows_and_events_are_no_results(log: Path) -> None:
    copied = codex_line("compacted", replacement_history=[codex_output("a", LONG)["payload"]])
    begun = codex_line("event_msg", type="exec_command_output_delta", call_id="a", chunk=LONG)
    assert codex(log, begun, codex_output("a", "x"), copied) == Totals(1, 1, 1, 0, 0)


def test_codex_bare_items(log: Path) -> None:
    head = {"id": "x", "timestamp": "2025-05-05T09:00:00Z", "instructions": None}
    rows = [head, *(row["payload"] for row in (codex_call("a"), codex_output("a", "out")))]
    assert agreed(write(log, *rows)) == Totals(1, 3, 3, 0, 0)


def test_copilot_shows_content_and_keeps_no_more(log: Path) -> None:
    start = copilot_event("session.start", sessionId="p", copilotVersion="1.0")
    rows = [start]
    for call in "abc":
        told = {"toolCallId": call, "arguments": {"c": call}}
        rows += [
            copilot_event("assistant.message", toolRequests=[{**told, "name": "bash"}]),
            copilot_event("tool.execution_start", **told, toolName="bash"),
        ]
    result = {"content": "shown", "detailedContent": LONG}
    error = {"code": "failure", "message": "no such file"}
    large = {"properties": {"largeOutputHandled": "true", "largeOutputOriginalSizeBytes": "20807"}}
    ends = [
        copilot_event("tool.execution_complete", toolCallId="a", success=True, result=result),
        copilot_event("tool.execution_complete", toolCallId="b", success=False, error=error),
        copilot_event(
            "tool.execution_complete", toolCallId="c", success=True, result={"content": "…"},
            toolTelemetry=large,
        ),
    ]  # fmt: skip
    assert agreed(write(log, *rows, *ends, ends[0])) == Totals(3, 20, 20, 0, 0)
    assert [each.told for each in run(log).results] == [0, 0, 20807]


def test_pi_says_whether_a_tool_cut_its_output(log: Path) -> None:
    cut = {"truncation": {"content": LONG, "truncated": True, "totalBytes": 389435}}
    whole = {"truncation": {"truncated": False, "totalBytes": 2}}
    rows = [pi_header(), *(pi_call(x, c=x) for x in "abc")]
    rows += [pi_result("a", LONG[:9], details=cut), pi_result("b", "o", "k", details=whole)]
    rows += [pi_result("c", "x", details={"_type": "bash", "text": LONG}), pi_result("c", "x")]
    assert agreed(write(log, *rows)) == Totals(3, 12, 12, 0, 1)
    assert [each.told for each in run(log).results] == [389435, 0, 0]


def test_pi_a_fork_starts_with_copies(log: Path) -> None:
    early = "2026-10-05T07:00:00Z"
    rows = [pi_header(parentSession="/s/2026_e.jsonl"), pi_call("a", early)]
    rows += [pi_result("a", "old", time=early), pi_call("b"), pi_result("b", "mine")]
    assert agreed(write(log, *rows, pi_call("c"))) == Totals(1, 4, 4, 0, 0)
    found = run(log)
    assert (found.session, found.unanswered, found.parent) == ("f", 1, "")


def test_opencode_says_whether_something_was_left_out(log: Path) -> None:
    parts = [
        oc_part("a", output="whole", metadata={"truncated": False, "output": "who"}),
        oc_part("b", output="cut…", metadata={"truncated": True, "outputPath": "/x"}),
        oc_part("c", status="error", error="failed"),
        oc_part("d", status="running"),
        oc_part("e", output="", metadata={"truncated": False}, time={"compacted": 3}),
        oc_part("f", output="no word"),
        {"type": "text", "text": "tool"},
        oc_part("a", output="whole", metadata={"truncated": False}),
    ]
    log.write_text(json.dumps(oc_export(*parts), indent=1))
    assert agreed(log)[0] == 5 and run(log).unanswered == 1
    assert agreed(log).located == 1
    assert [each.is_absent for each in run(log).results] == [False, False, False, True, False]


def test_gemini_shows_responses(log: Path) -> None:
    calls = [
        gemini_call("a", {"output": "shown"}, resultDisplay=LONG),
        gemini_call("b", {"error": "cancelled"}, "cancelled"),
        gemini_call("c", {"output": {"deep": 1}}),
        gemini_call("d", {"output": "x"}, "executing"),
    ]
    log.write_text(json.dumps(gemini_document(*calls)))
    assert agreed(log) == Totals(3, 14, 14, 0, 0)
    assert run(log).results[2].others == 1


def test_gemini_lines_the_last_version_stands(log: Path) -> None:
    head = {"sessionId": "g", "projectHash": "0", "startTime": "2026-10-05T09:00:00Z"}
    message = {"id": "m", "type": "gemini", "timestamp": "2026-10-05T09:00:00Z"}
    first = gemini_call("a", {"error": "no"}, "error")
    second = gemini_call("a", {"output": "longer"})
    changed = {**gemini_call("b", {"output": "y"}, "awaiting_approval"), "args": {"dir": "/"}}
    lines = [{**message, "toolCalls": [call]} for call in (first, changed)]
    lines.append({**message, "toolCalls": [second, gemini_call("b", {"output": "zz"})]})
    found = run(write(log, head, *lines, {"$set": {"messages": lines}}))
    document(found)
    assert [each.shown.size for each in found.results] == [6, 2]
