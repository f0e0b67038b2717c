"""The daemon's log: the same events for people and as JSON, with no control character of others."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.telemetry.logging import Log, Sink, for_people, line_for_people, open_log
from fabricd.daemon.telemetry.rotating import RotatingFile

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    opened = open_log("info", tmp_path / "logs" / "a.log")
    yield opened
    assert isinstance(opened.sink, RotatingFile)
    opened.sink.close()


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "logs" / "a.log").read_text().splitlines()]


def test_the_file_holds_an_event_a_line(log: Log, tmp_path: Path) -> None:
    log.events.info("session_read", path="/a\x1b[31m", bytes=5, names=["x"])
    log.events.debug("too_small")
    log.close()
    (event,) = events(tmp_path)
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "event": "session_read",
        "level": "info",
        "path": "/a\\x1b[31m",
        "bytes": 5,
        "names": ["x"],
    }


def test_an_exception_keeps_its_traceback(log: Log, tmp_path: Path) -> None:
    try:
        raise ValueError("what went wrong")
    except ValueError as error:
        log.events.error("compile_failed", error=repr(error), exc_info=error)
    (event,) = events(tmp_path)
    assert "Traceback" in event["exception"] and "what went wrong" in event["exception"]
    assert "exc_info" not in event


def test_repeated_warnings_are_counted_in_the_file(log: Log, tmp_path: Path) -> None:
    for _ in range(4):
        log.events.warning("session_failed", path="/a", reason="denied")
    log.events.info("other")
    assert [event["event"] for event in events(tmp_path)] == ["session_failed", "other"]
    log.close()
    last = events(tmp_path)[-1]
    assert (last["event"], last["repeated"], last["path"]) == ("session_failed", 3, "/a")


def test_people_read_the_file_as_they_read_the_terminal(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"path": "/a b", "bytes": 5, "reasons": ["x", "y z"], "none": None}
    log.events.warning("it_happened", **fields)
    (event,) = events(tmp_path)
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    open_log("info", None).events.warning("it_happened", **fields)
    terminal = stream.getvalue().rstrip("\n")
    line = line_for_people(event, for_people(colours=False))
    # Only the time of writing differs.
    assert line.partition(" ")[2] == terminal.partition(" ")[2]


@given(
    event=st.dictionaries(
        st.sampled_from(["event", "level", "timestamp", "exception", "exc_info", "stack", "logger"])
        | st.text(max_size=6),
        json_values,
        max_size=6,
    )
)
def test_any_object_becomes_a_harmless_line(event: dict[str, Any]) -> None:
    line = line_for_people(event, for_people(colours=False))
    assert all(char.isprintable() or char == "\n" for char in line)
    if not {"exception", "stack"} & event.keys():
        assert "\n" not in line


def test_closed_standard_error_loses_the_log_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    log = open_log("info", None)
    log.events.info("nobody")
    log.close()
    assert isinstance(log.sink, Sink) and log.sink.dropped == 0
    log.sink._stream.close()
