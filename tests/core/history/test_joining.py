"""Each call once: copies, forks, weak ids, results elsewhere, and any order of discovery."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import (
    ABORTED,
    FAILED,
    SUCCEEDED,
    UNDATED,
    UNKNOWN,
    AgentName,
    CallTable,
)
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from tests.core.history.tables import arguments, joined, summed


class Log:
    """A table being written."""

    def __init__(self, agent: AgentName = "codex", session: str = "s", parent: str = "") -> None:
        self.table = CallTable(agent)
        self.recorder = Recorder(self.table, Judge())
        self.session = session
        self.recorder.session(session, parent)

    def call(
        self, call_id: str, outcome: int | None = None, at: int = 1, tool: str = "t", **more: Any
    ) -> Log:
        """One call, and its result where it has an outcome."""
        given = arguments(more.pop("args", {"a": 1}))
        key = self.recorder.call(call_id, tool, given, self.session, at, **more)
        if outcome is not None:
            if more.get("is_weak") or not call_id:
                self.recorder.settle(key, outcome)
            else:
                self.recorder.result(call_id, outcome)
        return self


def test_of_copies_the_greatest_outcome_and_the_earliest_place_stand() -> None:
    first = Log(session="b").call("c", SUCCEEDED, 5, model="early").table
    second = Log(session="a").call("c", FAILED, 9, model="late").table
    third = Log(session="c").call("c", ABORTED, UNDATED, model="undated").table
    for tables in ((first, second, third), (third, second, first)):
        (found,) = joined(*tables)
        assert (found.outcome, found.at, found.session, found.model) == (FAILED, 5, "b", "early")


def test_equal_times_are_decided_by_the_session() -> None:
    a, b = Log(session="a").call("c").table, Log(session="b").call("c").table
    assert joined(a, b)[0].session == joined(b, a)[0].session == "a"


def test_weak_ids_count_apart_in_unrelated_sessions_and_once_in_a_family() -> None:
    parent = Log("gemini-cli", "p").call("x_1", SUCCEEDED, is_weak=True).table
    fork = Log("gemini-cli", "f", "p").call("x_1", FAILED, is_weak=True).table
    other = Log("gemini-cli", "o").call("x_1", SUCCEEDED, is_weak=True).table
    assert len(joined(parent, fork, other)) == len(joined(other, fork, parent)) == 2


def test_a_fork_of_a_fork_goes_back_to_the_first() -> None:
    tables = [
        Log(session=name, parent=parent).call("", SUCCEEDED).table
        for name, parent in (("c", "b"), ("a", ""), ("b", "a"))
    ]
    assert len(joined(*tables)) == 1


def test_forks_in_a_circle_end() -> None:
    tables = [
        Log(session=name, parent=parent).call("REDACTED", SUCCEEDED, is_weak=True).table
        for name, parent in (("a", "b"), ("b", "a"), ("c", "a"))
    ]
    assert len(joined(*tables)) == len(joined(*reversed(tables))) == 1


def test_an_opencode_id_of_two_different_calls_says_too_little() -> None:
    one = Log("opencode", "s1").call("c", SUCCEEDED).table
    two = Log("opencode", "s2").call("c", SUCCEEDED).table
    assert len(joined(one, two)) == 1
    third = Log("opencode", "s3").call("c", SUCCEEDED, args={"a": 2}).table
    assert len(joined(one, two, third)) == 3


def test_an_opencode_record_left_behind_while_it_ran_is_no_call_of_its_own() -> None:
    running = Log("opencode", "s1").call("c", args={}).table
    ended = Log("opencode", "s1").call("c", FAILED, args={"a": 1}).table
    elsewhere = Log("opencode", "s2").call("c", args={"a": 1}).table
    for tables in ((running, ended, elsewhere), (elsewhere, ended, running)):
        (found,) = joined(*tables)
        assert found.outcome == FAILED
    # Without an end anywhere it is all there is.
    assert len(joined(running)) == 1


def test_agents_share_no_ids() -> None:
    tables = [Log("codex").call("c").table, Log("claude-code").call("c").table]
    assert [value["calls"] for value in summed(tables)] == [1, 1]


def test_a_result_in_another_log_ends_the_call_there() -> None:
    late = Log(session="z")
    late.recorder.result("c", FAILED)
    event = Log(session="y")
    event.recorder.event("d", FAILED)
    tables = [Log().call("c").call("d").table, late.table, event.table]
    found = joined(*tables)
    assert [(each.outcome, each.answered) for each in found] == [(FAILED, True), (FAILED, False)]


def test_a_result_in_another_log_overturns_no_answer() -> None:
    late = Log(session="z")
    late.recorder.result("c", FAILED)
    (found,) = joined(Log().call("c", SUCCEEDED).table, late.table)
    assert found.outcome == SUCCEEDED


def test_a_result_with_the_id_of_several_calls_tells_of_none() -> None:
    late = Log(session="z")
    late.recorder.result("c", FAILED)
    tables = [Log().call("c").table, Log(session="b").call("c", args={"b": 2}).table, late.table]
    for some in (tables, tables[::-1]):
        assert [each.outcome for each in joined(*some)] == [UNKNOWN, UNKNOWN]


def test_an_opencode_call_with_a_redacted_id_is_never_left_behind() -> None:
    running = Log("opencode", "s1").call("REDACTED", args={}).table
    ended = Log("opencode", "s1").call("REDACTED", FAILED, args={"a": 1}).table
    assert [each.outcome for each in joined(running, ended)] == [UNKNOWN, FAILED]


def test_a_retry_follows_a_failed_call_of_the_same_tool_in_the_same_session() -> None:
    log = Log().call("1", FAILED).call("2", SUCCEEDED, tool="u").call("3", SUCCEEDED, args={"b": 1})
    log.call("4", SUCCEEDED)
    retries = [call for call in joined(log.table) if call.is_retry]
    assert len(retries) == 1 and retries[0].churn > 0


def test_parallel_calls_know_of_a_failure_that_comes_later() -> None:
    log = Log()
    for call_id in ("1", "2"):
        log.call(call_id, args={"n": call_id})
    log.recorder.result("1", FAILED)
    log.recorder.result("2", SUCCEEDED)
    assert sum(call.is_retry for call in joined(log.table)) == 1


def test_the_copy_of_a_retry_is_the_same_retry() -> None:
    log = Log(session="a").call("1", FAILED, 1).call("2", SUCCEEDED, 2, args={"b": 1}).table
    copy = Log(session="b", parent="a").call("1", FAILED, 3).call("2", None, 4, args={"b": 1})
    copy.call("3", None, 5)
    assert sum(call.is_retry for call in joined(log, copy.table)) == 1


steps = st.lists(
    st.tuples(
        st.sampled_from(["", "c1", "c2", "REDACTED"]),
        st.sampled_from([None, UNKNOWN, SUCCEEDED, ABORTED, FAILED]),
        st.integers(0, 3),
        st.sampled_from(["t", "u"]),
        st.sampled_from([{"a": 1}, {"b": 2}]),
    ),
    max_size=5,
)
logs = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["", "a", "b"]), steps), max_size=4
)


@given(logs, st.randoms(), st.sampled_from(["codex", "opencode"]))
def test_neither_order_nor_repetition_matters(told: list[Any], rng: Any, agent: AgentName) -> None:
    tables = []
    for session, parent, calls in told:
        log = Log(agent, session, parent)
        for call_id, outcome, at, tool, args in calls:
            log.call(call_id, outcome, at, tool, args=args)
        tables.append(log.table)
    shuffled = list(tables)
    rng.shuffle(shuffled)
    assert summed(tables) == summed(shuffled)
    twice = summed([*tables, *shuffled])
    assert [{**value, "files": value["files"] // 2} for value in twice] == summed(tables)
