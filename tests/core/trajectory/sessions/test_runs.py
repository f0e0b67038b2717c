"""Logs as one run: re-reads, sessions, copies, names, and the sentences about what is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.sessions.lines import read_lines, read_open_end
from fabricd.core.sessions.records import Tail
from fabricd.core.steps import finish
from fabricd.core.trajectory.sessions.document import _Operations
from fabricd.core.trajectory.sessions.joining import NoRun, Run, Source, run_of
from fabricd.core.trajectory.sessions.limitations import limitations
from fabricd.core.trajectory.sessions.matching import new_log
from fabricd.core.trajectory.sessions.reading import Unread, read_document, reader_for
from fabricd.core.trajectory.sessions.results import Result, measured
from tests.core.trajectory.sessions.test_agents import LONG
from tests.core.trajectory.sessions.written import (
    agreed,
    claude_call,
    claude_result,
    codex_call,
    codex_end,
    codex_header,
    codex_output,
    document,
    figures,
    headed,
    run,
    streams,
    write,
)
from tests.growth import grows_with_length

CUT = claude_result("a", "cut", streams(LONG, tokenSaverOutput="cut"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a log is written."""
    return tmp_path / "log.jsonl"


def re_read(log: Path, *rows: Any) -> list[tuple[str, str]]:
    """The operations and escalations of a log that begins with a cut output."""
    agreed(write(log, claude_call("a"), CUT, *rows))
    events = document(run(log))["events"]
    return [(event["operation_id"], event.get("status", "")) for event in events]


def test_a_re_read_is_an_escalation_of_what_was_cut(log: Path) -> None:
    again = [claude_call("b"), claude_result("b", LONG, streams(LONG))]
    found = re_read(log, *again, claude_call("d"), claude_result("d", LONG))
    assert found == [("a", ""), *[("a", "REQUESTED"), ("a", "FULFILLED")] * 2]
    requested, fulfilled = document(run(log))["events"][1:3]
    assert requested["exposure"] is None and requested["reason"] is None
    assert requested["escalation_id"] == fulfilled["escalation_id"] == "a/re-read-1"
    raw = document(run(log))["events"][0]["raw_evidence"]
    assert fulfilled["exposure"]["content_identity"] == raw["content_identity"]
    assert (fulfilled["reason_category"], fulfilled["source_relation"]) == (
        "RE_READ", "SUBSET_OF_RAW",
    )  # fmt: skip
    # What was shown twice in whole counts once.
    assert figures(run(log)) == (1, len(LONG), 3, len(LONG), 1)


@pytest.mark.parametrize(
    "rows",
    [
        [claude_call("b", command="ls -l"), claude_result("b", LONG, streams(LONG))],
        [claude_call("b", "Other", command="ls"), claude_result("b", LONG, streams(LONG))],
        [claude_call("b"), claude_result("b", LONG + "x", streams(LONG + "x"))],
        [claude_call("b"), claude_result("b", "cut", streams(LONG, tokenSaverOutput="cut"))],
        [claude_result("b", LONG, streams(LONG))],
    ],
)
def test_what_is_no_re_read(log: Path, rows: list[Any]) -> None:
    assert re_read(log, *rows) == [("a", ""), ("b", "")]


def test_arguments_are_compared_as_json(log: Path) -> None:
    first = claude_call("a", x=1, y=[1.0])
    second = claude_call("b", y=[1], x=1.0)
    write(log, first, CUT, second, claude_result("b", LONG, streams(LONG)))
    assert len(document(run(log))["events"]) == 3


def test_a_codex_re_read_shows_what_there_was(log: Path) -> None:
    cut = headed(f"{LONG[:9]}…500 tokens truncated…{LONG[-9:]}")
    rows = [codex_header(), codex_call("a"), codex_end("a", LONG), codex_output("a", cut)]
    rows += [codex_call("b"), codex_end("b", LONG), codex_output("b", headed(LONG))]
    assert agreed(write(log, *rows)) == (1, len(LONG), len(cut.encode()), len(LONG), 1)


def test_names(log: Path) -> None:
    value = document(run(write(log, claude_call("a"), claude_result("a", "x"))))
    assert value["run"] == {
        "arm_id": "arm", "configuration_id": "claude-code 2.1.1", "run_id": "c", "task_id": "c",
    }  # fmt: skip
    (event,) = value["events"]
    assert event["suppression"] == {
        "ambiguous_evidence_count": 0, "original_evidence_count": 0, "retained_evidence_count": 0,
        "suppressed_categories": {}, "suppressed_evidence_count": 0,
    }  # fmt: skip
    assert event["raw_evidence"]["locator_present"] is False
    assert "token_measurements" not in value


def test_ids_that_say_little_stay_apart(log: Path) -> None:
    rows: list[Any] = [codex_header()]
    for number in range(3):
        rows += [codex_call("REDACTED", n=number), codex_output("REDACTED", "x" * number)]
    events = document(run(write(log, *rows)))["events"]
    assert [event["operation_id"] for event in events] == ["REDACTED", "REDACTED#2", "REDACTED#3"]


def forked(tmp_path: Path) -> tuple[Path, Path]:
    """A rollout and a fork that replays it under new times."""
    own = [codex_call("a"), codex_output("a", "1")]
    late = [{**row, "timestamp": "2026-10-06T09:00:00Z"} for row in own]
    more = [codex_call("b"), codex_output("b", "22")]
    parent = write(tmp_path / "rollout-x.jsonl", codex_header(), *own)
    header = codex_header("y", forked_from_id="x")
    child = write(tmp_path / "rollout-y.jsonl", header, codex_header(), *late, *more)
    return parent, child


def test_a_fork_gives_back_what_is_its_parents(tmp_path: Path) -> None:
    parent, child = forked(tmp_path)
    alone, both = run(child), run(child, parent)
    assert (alone.session, len(alone.results), alone.parent) == ("y", 2, "x")
    assert (both.session, len(both.results), both.parent) == ("y", 1, "")
    assert (both.repeated, both.unanswered) == (1, 0)
    assert len(run(child, parent, session="x").results) == 1


def test_a_session_in_parts_and_logs_of_several(tmp_path: Path) -> None:
    main = write(tmp_path / "c.jsonl", claude_call("a"), claude_result("a", "x"), claude_call("b"))
    agent = write(tmp_path / "agent-1.jsonl", claude_result("a", "x"), claude_result("b", "yy"))
    other = write(tmp_path / "d.jsonl", {**claude_call("d"), "sessionId": "d"})
    found = run(main, agent)
    assert [each.shown.size for each in found.results] == [1, 2] and found.unanswered == 0
    with pytest.raises(NoRun, match="2 sessions"):
        run(main, other)
    with pytest.raises(NoRun, match="session z"):
        run(main, session="z")
    with pytest.raises(NoRun, match="no session"):
        run(write(tmp_path / "e.jsonl", {"type": "user", "uuid": "u"}))
    assert len(run(main, other, session="c").results) == 1


def test_what_a_log_cannot_say(log: Path) -> None:
    rows = [claude_call("a"), claude_call("b"), {**claude_call("e"), "version": "2.1.2"}]
    said = streams("x", persistedOutputSize=47814, persistedOutputPath="/x")
    write(log, *rows, claude_result("a", "…", said), claude_result("b", [{"type": "image"}]))
    with log.open("a") as file:
        file.write("{\n")
    text = "\n".join(limitations(run(log)))
    for words in ("no tokens", "names 2 versions", "the first, 2.1.1", "1 call has no result",
                  "1 item of", "1 line",
                  "sizes in all as 47,814", "of 1 result the log"):  # fmt: skip
        assert words in text, text
    assert "no tool results" in "\n".join(limitations(run(write(log, claude_call("a")))))
    _, child = forked(log.parent)
    assert any("forked from x" in each for each in limitations(run(child)))


def read_in(pieces: list[bytes]) -> Run:
    """The run of a log that was read in pieces."""
    log = new_log("claude-code")
    reader = reader_for("claude-code", log)
    tail = Tail()
    for piece in pieces:
        tail = finish(read_lines(piece, tail, reader, log.table.losses))
    read_open_end(tail, reader, log.table)
    return run_of([Source(log)])


@given(st.lists(st.integers(0, 3000), max_size=5))
def test_the_cuts_between_pieces_change_nothing(places: list[int]) -> None:
    rows = [claude_call("a"), CUT, claude_call("b"), claude_result("b", LONG, streams(LONG))]
    lines = [json.dumps(row).encode() for row in rows]
    # Two records on one line, and an open end.
    data = b"".join((lines[0], lines[1], b"\n", lines[2], b"\n", lines[3]))
    cuts = sorted(min(place, len(data)) for place in places)
    found = read_in([data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)])
    assert document(found) == document(read_in([data]))
    assert len(document(found)["events"]) == 3


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot-cli", "gemini-cli", "pi"])
@given(st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.sampled_from(["tool_result", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "message", "content", "toolUseResult", "tool_use_id", "payload",
                         "data", "output", "result", "toolCalls", "id", "details", "call_id"]),
        inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_records_of_any_shape_raise_nothing(agent: Any, record: Any) -> None:
    log = new_log(agent)
    reader_for(agent, log).take(json.dumps(record).encode())


def test_agents_without_such_logs() -> None:
    with pytest.raises(Unread):
        reader_for("opencode", new_log("opencode"))
    with pytest.raises(Unread):
        read_document("pi", b"{}", new_log("pi"))


def test_a_call_id_that_repeats_is_numbered_on() -> None:
    operations = _Operations()
    ids = ["a", "a", "a#2", "a", "a#2", "a"]
    made = [Result(call, "t", b"", "s", number, measured("x")) for number, call in enumerate(ids)]
    names = [operations.told(result).operation for result in made]
    assert names == ["a", "a#2", "a#2#2", "a#3", "a#2#3", "a#4"]


def test_a_call_id_told_again_and_again_takes_no_square_of_its_times() -> None:
    def results(count: int) -> list[Result]:
        return [Result("b", "t", b"", "s", number, measured("x")) for number in range(count)]

    def act(told: list[Result]) -> None:
        operations = _Operations()
        for result in told:
            operations.told(result)

    assert grows_with_length(results, act, 20_000)
