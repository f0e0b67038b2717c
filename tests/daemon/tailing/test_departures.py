"""Session logs that leave the window: renamed, archived, compressed, outranked, or just gone."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.watching import POLL_SECONDS, QUIET_AFTER, QUIET_POLL, QUIET_RESCAN
from fabricd.daemon.health import Health
from fabricd.daemon.offline.measuring import measure
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.store.homes import Homes
from tests.daemon.hand import HandClock
from tests.daemon.recording import Recording
from tests.harness import trace_line

pytestmark = pytest.mark.asyncio


class Bench:
    """A tailer on a folder of its own, with a clock that is turned by hand."""

    def __init__(self, folder: Path) -> None:
        self.homes = Homes(folder / "home", folder / "state", folder / "agent", False)
        self.project = self.homes.sessions / "--repo--"
        self.project.mkdir(parents=True)
        self.books = Books()
        self.telemetry = Recording()
        self.health = Health(self.telemetry)
        self.clock = HandClock()
        self.tailer = Tailer(
            self.homes, self.books, self.health, self.telemetry, self.clock, 10.0, lambda: None
        )
        self.rng = random.Random(1)

    def write(self, name: str, lines: int = 2) -> Path:
        path = self.project / name
        path.write_bytes(b"".join(trace_line(self.rng) + b"\n" for _ in range(lines)))
        return path

    async def check(self) -> int:
        """The report equals a clean one; gives the traces."""
        clean = measure(self.homes.sessions, 8)
        assert await self.books.report(Catalog()) == report(clean.evidence, Catalog())
        return clean.evidence.traces

    @property
    def left(self) -> list[tuple[str, str]]:
        return [(os.path.basename(path), how) for path, how in self.telemetry.all("session_left")]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_an_archived_session_leaves_and_comes_back_without_being_read_again(
    bench: Bench, tmp_path: Path
) -> None:
    path = bench.write("a.jsonl", 5)
    bench.write("b.jsonl")
    await bench.tailer.read_all()
    os.rename(path, tmp_path / "archived")
    await bench.tailer.read_all()
    assert await bench.check() == 2
    os.rename(tmp_path / "archived", path)
    with path.open("ab") as file:
        file.write(trace_line(bench.rng) + b"\n")
    await bench.tailer.read_all()
    assert await bench.check() == 8
    assert bench.left == [("a.jsonl", "gone")]
    assert [how for _, how in bench.telemetry.reads] == ["new-file", "new-file", "resumed"]
    assert bench.health.ailments == []


async def test_a_session_that_was_compressed_leaves_without_harm(bench: Bench) -> None:
    path = bench.write("a.jsonl")
    await bench.tailer.read_all()
    os.rename(path, f"{path}.zst")
    bench.tailer.hint([bytes(path)])
    await bench.tailer._read_hinted()
    assert await bench.check() == 0
    assert bench.left == [("a.jsonl", "compressed")]
    assert bench.health.ailments == []


async def test_a_renamed_session_counts_once(bench: Bench) -> None:
    path = bench.write("a.jsonl", 4)
    await bench.tailer.read_all()
    other = bench.homes.sessions / "--other--"
    other.mkdir()
    os.rename(path, other / "b.jsonl")
    await bench.tailer.read_all()
    assert await bench.check() == 4
    assert bench.left == [("a.jsonl", "renamed")]


async def test_a_hint_at_a_session_that_is_gone_lets_the_next_one_in_at_once(bench: Bench) -> None:
    for number in range(9):
        os.utime(bench.write(f"s{number}.jsonl"), (1000 + number, 1000 + number))
    await bench.tailer.read_all()
    path = bench.project / "s8.jsonl"
    path.unlink()
    bench.tailer.hint([bytes(path)])
    assert await bench.tailer._read_hinted()
    assert len(bench.books.window) == 8 and bench.books.window[0].endswith(b"s0.jsonl")
    assert await bench.check() == 16
    assert bench.left == [("s8.jsonl", "gone")]


async def test_newer_sessions_take_the_places(bench: Bench) -> None:
    for number in range(8):
        os.utime(bench.write(f"s{number}.jsonl"), (1000 + number, 1000 + number))
    await bench.tailer.read_all()
    bench.write("new.jsonl")
    await bench.tailer.read_all()
    assert bench.left == [("s0.jsonl", "outranked")]
    await bench.check()


async def test_a_folder_that_becomes_a_file_takes_its_sessions_along(bench: Bench) -> None:
    path = bench.write("a.jsonl")
    await bench.tailer.read_all()
    os.rename(bench.project, bench.homes.home.parent / "away")
    bench.project.write_text("")
    bench.tailer.hint([bytes(path)])
    await bench.tailer._read_hinted()
    assert bench.books.window == () and bench.left == [("a.jsonl", "gone")]
    assert bench.health.ailments == []


async def test_without_events_it_looks_every_two_seconds(bench: Bench) -> None:
    assert bench.tailer._interval() == 10.0
    bench.tailer.poll(True)
    assert bench.tailer._interval() == POLL_SECONDS
    bench.clock.turn(QUIET_AFTER + 1)
    assert bench.tailer._interval() == QUIET_POLL
    bench.tailer.poll(False)
    assert bench.tailer._interval() == QUIET_RESCAN
