"""What is counted, and that everything counted is still told."""

from __future__ import annotations

import inspect
import time
from pathlib import Path

import anyio
import msgspec
import pytest

from fabricd.daemon.liveness.heartbeat import Heartbeat
from fabricd.daemon.telemetry.counters import CountedTelemetry, Counters
from fabricd.daemon.telemetry.events import LogTelemetry, Telemetry
from fabricd.daemon.telemetry.logging import Sink, lines_lost


class Log:
    """A logger that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def info(self, name: str, **fields: object) -> None:
        self.lines.append((name, fields))

    debug = warning = error = info


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wall_ns(self) -> int:
        return 0


class Told:
    """Telemetry under test, with what it logged and published."""

    def __init__(self) -> None:
        self.log = Log()
        self.clock = Clock()
        self.published: list[str] = []
        self.telemetry = CountedTelemetry(
            self.log, lambda name, _: self.published.append(name), self.clock
        )

    @property
    def counts(self) -> Counters:
        return self.telemetry.counters

    @property
    def logged(self) -> list[str]:
        return [name for name, _ in self.log.lines]


@pytest.fixture
def told() -> Told:
    return Told()


def test_passes_are_counted_by_how_and_add_up_bytes_and_traces(told: Told) -> None:
    told.telemetry.session_read("/a", "new-file", 100, 2)
    told.telemetry.session_read("/a", "resumed", 10, 0)
    told.telemetry.session_read("/b", "resumed", 1, 1)
    assert told.counts.sessions_read == {"new-file": 1, "resumed": 2}
    assert (told.counts.bytes_read, told.counts.traces_read) == (111, 3)
    assert told.logged == told.published == ["session_read"] * 3


def test_compiles_are_counted_by_outcome_and_add_up_their_time(told: Told) -> None:
    for outcome, seconds in (("written", 0.5), ("refused", 0.25), ("written", 0.25)):
        told.telemetry.compile_finished({"outcome": outcome, "seconds": seconds})
    assert told.counts.compiles == {"written": 2, "refused": 1}
    assert told.counts.compile_seconds == 1.0


def test_what_has_no_kinds_is_one_number(told: Told) -> None:
    told.telemetry.session_failed("/a", "broken")
    told.telemetry.gate_rejected(("a", "b"))
    told.telemetry.review("notice", ["line"], "key")
    told.telemetry.turn_ended("pi", "s")
    told.telemetry.transcript_ignored("/elsewhere")
    told.telemetry.health_degraded("watch", "why", "cure")
    told.telemetry.checkpoint_failed("damaged")
    told.telemetry.socket_bound_again("/s")
    counts = msgspec.to_builtins(told.counts)
    for member in (
        "sessionsFailed", "gateRejections", "reviews", "turnEnds", "ignoredTranscripts",
        "degradations", "checkpointFailures", "socketRebinds",
    ):  # fmt: skip
        assert counts[member] == 1
    assert len(told.logged) == 8


def test_jumps_of_the_clock_are_counted_by_kind(told: Told) -> None:
    told.telemetry.clock_jumped("ahead", 60.0)
    told.telemetry.clock_jumped("ahead", 10.0)
    told.telemetry.clock_jumped("back", 5.5)
    assert told.counts.clock_jumps == {"ahead": 2, "back": 1}
    assert told.logged == ["clock_jumped"] * 3


def test_requests_are_counted_by_method_and_ending(told: Told) -> None:
    told.telemetry.request_ended("status", "answered")
    told.telemetry.request_ended("status", "answered")
    told.telemetry.request_ended("status", "failed")
    told.telemetry.request_ended("unknown", "refused")
    told.telemetry.client_cut("slow-reader")
    assert told.counts.requests == {
        "status": {"answered": 2, "failed": 1},
        "unknown": {"refused": 1},
    }
    assert told.counts.clients_cut == {"slow-reader": 1}


def test_refusals_are_all_counted_and_of_each_cause_one_a_minute_is_logged(told: Told) -> None:
    for _ in range(1000):
        told.telemetry.client_refused("busy", "64 clients")
    told.telemetry.client_refused("other-user", "uid 7")
    assert told.counts.clients_refused == {"busy": 1000, "other-user": 1}
    assert told.logged == ["client_refused"] * 2
    told.clock.now += 61
    told.telemetry.client_refused("busy", "64 clients")
    assert told.logged == ["client_refused"] * 3


def test_what_a_client_calls_itself_is_cut_before_everybody_has_to_hold_it(told: Told) -> None:
    told.telemetry.turn_ended("a" * 10_000, None)
    [(_, fields)] = told.log.lines
    assert fields == {"agent": "a" * 256, "session": None}


def test_it_is_the_telemetry_of_the_daemon_in_every_other_respect() -> None:
    for name, method in inspect.getmembers(Telemetry, inspect.isfunction):
        if not name.startswith("_"):
            expected = [*inspect.signature(method).parameters]
            assert [*inspect.signature(getattr(CountedTelemetry, name)).parameters] == expected
    assert issubclass(CountedTelemetry, LogTelemetry)


def test_lines_that_cannot_be_written_are_counted_once_each() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("the system has no full device")
    before = lines_lost()
    # Unbuffered, as standard error is; what it still holds is lost with it.
    stream = full.open("w", buffering=1)
    sink = Sink(stream)
    for _ in range(3):
        print("a line", file=sink, flush=True)
    assert lines_lost() - before >= 3
    assert sink.dropped >= 1
    with pytest.raises(OSError):
        stream.close()


@pytest.mark.asyncio
async def test_the_largest_lag_of_the_last_looks_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabricd.daemon.liveness.heartbeat.BEAT_SECONDS", 0.02)

    class Real:
        def monotonic(self) -> float:
            return time.monotonic()

        def wall_ns(self) -> int:
            return 0

    heartbeat = Heartbeat(Real())
    assert heartbeat.largest_lag == 0.0
    async with anyio.create_task_group() as group:
        group.start_soon(heartbeat.run)
        await anyio.sleep(0.05)
        # The stall is the point.
        time.sleep(0.2)  # noqa: ASYNC251
        await anyio.sleep(0.05)
        assert 0.15 < heartbeat.largest_lag < 5
        group.cancel_scope.cancel()
