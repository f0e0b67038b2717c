"""Warnings that repeat are told once, and counted; nothing else is ever held back."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.telemetry.repeats import SECONDS, Event, Repeats


def render(_: Any, __: str, event: Event) -> str:
    event.pop("timestamp", None)
    return " ".join(f"{name}={value}" for name, value in sorted(event.items()))


class Chain:
    """A chain that ends in `Repeats`, with a clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 100.0
        self.repeats = Repeats(render, lambda: self.time)
        self.lines: list[str] = []
        self._stamps = 0

    def tell(self, level: str, **fields: object) -> None:
        self._stamps += 1
        event = {"level": level, "timestamp": self._stamps, **fields}
        try:
            self.lines += self.repeats(None, level, event).split("\n")
        except structlog.DropEvent:
            return


def test_equal_warnings_within_a_minute_are_told_once_and_then_counted() -> None:
    chain = Chain()
    for _ in range(5):
        chain.tell("warning", event="failed", path="/a")
        chain.time += 1
    chain.tell("warning", event="failed", path="/b")
    assert chain.lines == [
        "event=failed level=warning path=/a",
        "event=failed level=warning path=/b",
    ]
    chain.time += SECONDS
    chain.tell("info", event="other")
    assert chain.lines[2:] == [
        "event=failed level=warning path=/a repeated=4",
        "event=other level=info",
    ]


def test_what_goes_on_is_told_once_a_minute() -> None:
    chain = Chain()
    for _ in range(181):
        chain.tell("error", event="again")
        chain.time += 1
    assert chain.lines == ["event=again level=error"] + ["event=again level=error repeated=60"] * 3


def test_information_is_never_held_back() -> None:
    chain = Chain()
    for _ in range(3):
        chain.tell("info", event="same")
        chain.tell("debug", event="same")
    assert len(chain.lines) == 6


def test_the_rest_is_told_in_the_end() -> None:
    chain = Chain()
    for _ in range(3):
        chain.tell("warning", event="x")
    assert chain.repeats.rest() == "event=x level=warning repeated=2\n"
    assert chain.repeats.rest() == ""
    assert Chain().repeats.rest() == ""


def test_only_so_many_kinds_are_remembered() -> None:
    chain = Chain()
    for _ in range(2):
        chain.tell("warning", event="first")
    for number in range(1000):
        chain.tell("warning", event="x", number=number)
    assert "event=first level=warning repeated=1" in chain.lines
    assert len(chain.lines) == 1002


@pytest.mark.parametrize(
    "field", [{"error": "x"}, {"names": ["a", {"b": 1}]}, {"exc": ValueError()}]
)
def test_any_field_tells_events_apart(field: dict[str, object]) -> None:
    chain = Chain()
    chain.tell("error", event="x")
    chain.tell("error", event="x", **field)
    chain.tell("error", event="x")
    assert len(chain.lines) == 2


@given(
    events=st.lists(
        st.tuples(
            st.sampled_from(["info", "warning", "error"]),
            st.sampled_from(["a", "b"]),
            st.floats(0, 45),
        ),
        max_size=60,
    )
)
def test_every_event_is_told_or_counted_exactly_once(events: list[tuple[str, str, float]]) -> None:
    chain = Chain()
    for level, name, pause in events:
        chain.tell(level, event=name)
        chain.time += pause
    chain.lines += chain.repeats.rest().splitlines()
    told: Counter[tuple[str, str]] = Counter()
    for line in chain.lines:
        fields = dict(part.split("=") for part in line.split())
        told[fields["level"], fields["event"]] += int(fields.get("repeated", 1))
    assert told == Counter((level, name) for level, name, _ in events)
