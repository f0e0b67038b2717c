"""What a report says: filters, sums, and the shape that others read."""

from __future__ import annotations

from hashlib import sha256

import pytest

from fabricd.core.history.calls import ABORTED, FAILED, SUCCEEDED, TIMED_OUT, UNDATED
from fabricd.core.history.judging import Judge, Snapshot
from fabricd.core.history.recorder import Recorder
from fabricd.core.history.summary import Wanted
from tests.core.history.tables import arguments, summed
from tests.core.history.test_joining import Log

DAY = 86_400_000
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "mode": {"enum": ["fast", "slow"]}},
    "required": ["n"],
    "additionalProperties": False,
}


def judged() -> Log:
    """A log whose tool t was declared."""
    log = Log()
    log.recorder = Recorder(log.table, Judge([Snapshot("codex", {"t": SCHEMA}, seen=(0, 9 * DAY))]))
    return log


def test_every_member_is_there() -> None:
    (value,) = summed([Log().call("1", SUCCEEDED).table])
    assert list(value) == [
        "agent", "sessions", "files", "calls", "results", "outcomes", "errors", "rejections",
        "noSchema", "acceptedThoughInvalid", "retries", "retryChurn", "undated", "malformations",
        "tools", "models", "projects", "weeks",
    ]  # fmt: skip
    assert value["rejections"] == {
        "recorded": {"rejected": 0, "calls": 0},
        "replayed": {"rejected": 0, "calls": 0},
    }


def test_errors_are_failed_and_timed_out() -> None:
    log = Log().call("1", FAILED).call("2", TIMED_OUT).call("3", ABORTED).call("4", None)
    (value,) = summed([log.table])
    assert (value["errors"], value["results"], value["calls"]) == (2, 3, 4)
    assert value["outcomes"] == {
        "succeeded": 0, "failed": 1, "aborted": 1, "timedOut": 1, "unknown": 1,
    }  # fmt: skip


def test_a_rejection_failed_and_its_arguments_do_not_validate() -> None:
    log = judged()
    log.call("1", FAILED, args={"n": "5"})
    log.call("2", FAILED, args={"n": 5})
    log.call("3", SUCCEEDED, args={"n": "5"})
    log.call("4", None, args={"n": "6"})
    log.call("5", FAILED, tool="other")
    (value,) = summed([log.table])
    assert value["rejections"]["replayed"] == {"rejected": 1, "calls": 4}
    assert (value["noSchema"], value["acceptedThoughInvalid"]) == (1, 1)
    assert value["malformations"] == {"number-text": {"calls": 1, "repairable": 1}}
    assert value["tools"][0] == {
        "tool": "t", "calls": 4, "errors": 2, "rejected": 1, "judged": 4, "retries": 2,
    }  # fmt: skip


def test_an_abort_or_a_time_out_is_no_rejection() -> None:
    log = judged().call("1", ABORTED, args={}).call("2", TIMED_OUT, args={})
    assert summed([log.table])[0]["rejections"]["replayed"] == {"rejected": 0, "calls": 2}


def test_since_takes_dated_calls_only() -> None:
    log = Log().call("1", at=5).call("2", at=10).call("3", at=UNDATED)
    assert summed([log.table])[0]["calls"] == 3
    assert summed([log.table], Wanted(since=10))[0]["calls"] == 1
    assert summed([log.table], Wanted(since=11)) == []
    assert summed([log.table])[0]["undated"] == 1


@pytest.mark.parametrize(
    ("project", "wanted", "takes"),
    [
        ("/w/app", "/w/app", True),
        ("/w/app/sub", "/w/app", True),
        ("/w/app2", "/w/app", False),
        ("/w/app/", "/w/app/", True),
        ("/w/app", "app", True),
        ("C:\\w\\app", "app", True),
        ("/w/app/sub", "app", False),
        ("", "app", False),
        (sha256(b"/w/app").hexdigest(), "/w/app", True),
    ],
)
def test_a_project_is_a_path_with_all_below_or_a_name(
    project: str, wanted: str, takes: bool
) -> None:
    table = Log().call("1", project=project).table
    assert bool(summed([table], Wanted(project=wanted))) == takes


@pytest.mark.parametrize(
    ("wanted", "takes"), [("gpt-5", True), ("openai/gpt-5", True), ("5", False)]
)
def test_a_model_goes_with_or_without_its_provider(wanted: str, takes: bool) -> None:
    table = Log().call("1", model="openai/gpt-5").table
    assert bool(summed([table], Wanted(model=wanted))) == takes


def test_weeks_begin_on_monday() -> None:
    log = Log().call("1", at=3 * DAY).call("2", at=4 * DAY)  # Sunday the 4th, Monday the 5th
    assert [week["week"] for week in summed([log.table])[0]["weeks"]] == [
        "1969-12-29",
        "1970-01-05",
    ]


def test_filtered_sessions_and_files_are_those_of_the_calls() -> None:
    tables = [Log(session="a").call("1", at=1).table, Log(session="b").call("2", at=9).table]
    value = summed(tables, Wanted(since=5))[0]
    assert (value["sessions"], value["files"]) == (1, 1)
    assert (summed(tables)[0]["sessions"], summed(tables)[0]["files"]) == (2, 2)


def test_agents_stand_in_a_fixed_order_and_can_be_chosen() -> None:
    tables = [Log("opencode").call("1").table, Log("pi").call("1").table]
    assert [value["agent"] for value in summed(tables)] == ["pi", "opencode"]
    assert [value["agent"] for value in summed(tables, Wanted(agents=("opencode",)))] == [
        "opencode"
    ]


def test_equal_arguments_are_one_however_they_are_written() -> None:
    one = arguments({"a": 1.0, "b": "é", "c": [1e3]})
    log = Log()
    other = log.recorder.arguments(b'{ "c": [1000], "b": "\\u00e9", "a": 1 }')
    assert one.identity == other.identity
    different = [b'{"a":"1"}', b'{"a":1}', b'{"a":true}', b'{"a":null}', b'{"a":[1]}', b"[1]", b"1"]
    assert len({log.recorder.arguments(raw).identity for raw in different}) == len(different)


@pytest.mark.parametrize(
    "raw",
    [b"{", b"", b"nope", b"{} {}", b"[" * 500 + b"]" * 500, b'{"a":NaN}', b'{"a":1,}'],
)
def test_what_is_no_json_is_told_apart(raw: bytes) -> None:
    assert not Log().recorder.arguments(raw).is_json


def test_wide_numbers_and_lone_surrogates_are_arguments_too() -> None:
    recorder = Log().recorder
    for raw in (b'{"a":123456789012345678901234567890}', b'{"a":"\\ud800"}', b'{"a":1e999}'):
        found = recorder.arguments(raw)
        assert found.is_json and found.identity
        recorder.call(raw.decode(), "t", found, "s")
    assert len(summed([recorder.table])[0]["tools"]) == 1
