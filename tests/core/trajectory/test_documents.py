"""What a trajectory is read from: bytes of every kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabricd.core.canonical import by_units, deep_text
from fabricd.core.documents import BadDocument
from fabricd.core.identity import NotCanonical, canonical_text
from fabricd.core.steps import finish
from fabricd.core.trajectory.accounts import violations_steps
from fabricd.core.trajectory.documents import BATCH, NullDocument, WrittenEvents, read_trajectory
from fabricd.core.trajectory.shapes import PacketEvent, RawEvent
from tests.core.trajectory.making import (
    asked,
    found,
    measured,
    packet,
    pairs,
    raw,
    read,
    shown,
    trajectory,
    written,
)


def held(data: bytes) -> list[type]:
    """How the events of a document are held."""
    given = read_trajectory(data)
    assert given is not None and isinstance(given.events, WrittenEvents)
    return [type(event) for batch in given.events.batches() for event in batch]


def test_sound_events_are_held_as_their_shapes_and_others_as_values() -> None:
    events = [raw("a"), packet("b"), asked("b"), {**raw("c"), "more": 1}, 5]
    assert held(written(trajectory(*events))) == [RawEvent, PacketEvent, dict, dict, int]


@pytest.mark.parametrize("value", [None, "absent"])
def test_packets_without_reducer_and_source(value: str | None) -> None:
    event = {**packet("a"), "reducer": value, "source": value}
    if value == "absent":
        del event["reducer"], event["source"]
    given = trajectory(event)
    assert held(written(given)) == [PacketEvent]
    result = read(written(given))
    assert result.value() == measured(given).value()
    assert b"".join(result.pieces()).decode() == deep_text(result.value(), by_units)


@pytest.mark.parametrize("name", ["10", "é", "\U0001f600"])
def test_names_that_sort_otherwise_are_written_slowly(name: str) -> None:
    event = packet("a")
    event["suppression"]["suppressed_categories"][name] = 0
    value = trajectory(event)
    assert held(written(value)) == [dict]
    assert read(written(value)).value() == measured(value).value()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"bytes": 100,', '"bytes": 100.0,'),
        ('"bytes": 100,', '"bytes": 1e2,'),
        ('"bytes": 100,', '"bytes": 7, "bytes": 100,'),
        ('"type": "raw', '"type": 5, "type": "raw'),
        ('"locator_present": true', '"locator_present": true, "x": -0.0'),
        ('"locator_present": true', '"locator_present": "\\ud800"'),
    ],
)
def test_spellings_of_one_event(old: str, new: str) -> None:
    text = json.dumps(trajectory(raw("a")))
    assert old in text
    changed = text.replace(old, new)
    result, plain = read(changed.encode()), measured(json.loads(changed))
    assert result.is_measured
    assert b"".join(result.pieces()).decode() == deep_text(plain.value(), by_units)


def test_bad_utf8_is_replaced() -> None:
    data = written(trajectory(raw("a"))).replace(b"run-1", b"run\xff\xed\xa0\x80")
    assert read(data).head["run_id"] == "run\ufffd\ufffd\ufffd\ufffd"
    event = written(trajectory(raw("a"))).replace(b"a:ev", b"a\xff")
    assert read(event).is_measured


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{} x",
        b"\xef\xbb\xbf{}",
        b"{'a':1}",
        b'{"a":NaN}',
        b'{"a":01}',
        b"\xc2\xa0{}",
        b'{"events":[{},]}',
        b'{"events":[{"a":"\x01"}]}',
        b'{"events":[{"a":"\\x"}]}',
    ],
)
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(BadDocument):
        read(data)


def test_null_is_refused_and_a_wrapper_opened() -> None:
    value = trajectory(raw("a"))
    with pytest.raises(NullDocument):
        read(b"null")
    assert read(written({"trajectory": value, "x": 1})).value() == measured(value).value()
    assert found({"trajectory": None})[0] == ("UNSUPPORTED_PROTOCOL", "/protocol_version")
    assert read(b'{"trajectory": null}').head["trajectory_identity"] is not None
    for other in (b"5", b"[]", b'{"trajectory": false}', b'{"trajectory": [1]}'):
        result = read(other)
        assert result.head["trajectory_identity"] is None
        assert [v["code"] for v in result.head["violations"]] == ["OBJECT_REQUIRED"]


def test_depth_is_no_matter() -> None:
    text = '{"a":[' * 900 + "1" + "]}" * 900
    inner, outer = {**raw("a"), "x": "HERE"}, {"y": "HERE"}
    for value in (trajectory(inner), trajectory(raw("a"), **outer)):
        assert read(json.dumps(value).replace('"HERE"', text).encode()).is_measured


def test_an_infinite_number_is_valid_where_nothing_reads_it_and_has_no_identity() -> None:
    data = written(trajectory({**raw("a"), "x": 7})).replace(b'"x": 7', b'"x": 1e400')
    assert finish(violations_steps(read_trajectory(data))) == []
    with pytest.raises(NotCanonical):
        read(data)


def test_many_batches() -> None:
    events = [raw(f"op{index}") for index in range(2 * BATCH + 1)]
    events += [asked("op0"), shown("op0"), raw("late")]
    value = trajectory(*events)
    result = read(written(value))
    assert result.value() == measured(value).value()
    assert len(list(result.operations())) == 2 * BATCH + 2
    events[BATCH + 3]["arm_id"] = "other"
    broken = finish(violations_steps(read_trajectory(written(trajectory(*events)))))
    assert pairs(broken) == [("ARM_IDENTITY_MISMATCH", f"/events/{BATCH + 3}/arm_id")]


@pytest.mark.parametrize(
    "name",
    "disposition escalation_reasons payload reducer reduction_requires_escalation source "
    "validation".split(),
)
def test_a_raw_event_with_a_null_is_read_natively(name: str) -> None:
    value = trajectory({**raw("a"), name: None})
    trajectory_read = read_trajectory(written(value))
    assert trajectory_read is not None and trajectory_read.events is not None
    ((event,),) = trajectory_read.events.batches()
    assert isinstance(event, RawEvent)
    assert read(written(value)).value() == measured(value).value()
    assert b"".join(read(written(value)).pieces()) == b"".join(measured(value).pieces())


@pytest.mark.parametrize("path", ["source", "validation", "raw_evidence"])
def test_what_is_passed_through_may_nest_deep(path: str) -> None:
    event = raw("a")
    deep: Any = []
    for _ in range(1900):
        deep = [deep]
    event[path] = {**event[path], "locator_present": deep} if path == "raw_evidence" else deep
    done = measured(trajectory(event, packet("b")))
    assert done.is_measured
    assert b"".join(done.pieces()) == canonical_text(done.value()).encode()
