"""The tailer and its books on a real directory."""

from __future__ import annotations

import errno
import os
import random
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.evidence import Evidence
from fabricd.core.sessions.pi import ScanState, scan_steps
from fabricd.core.steps import finish
from fabricd.daemon.clock import SystemClock
from fabricd.daemon.health import Health
from fabricd.daemon.offline.measuring import measure
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.checkpointer import Checkpointer
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.store import checkpoints
from fabricd.store.durable import Loaded
from fabricd.store.homes import Homes
from fabricd.store.sessions import OpenLog
from tests.cancelling import descriptors
from tests.daemon.recording import Recording
from tests.harness import prose_line, trace_line

pytestmark = pytest.mark.asyncio


class Bench:
    """A tailer on a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.homes = Homes(folder / "home", folder / "state", folder / "agent", False)
        self.project = self.homes.sessions / "--repo--"
        self.project.mkdir(parents=True)
        self.books = Books()
        self.telemetry = Recording()
        self.changes = 0
        self.tailer = Tailer(
            self.homes,
            self.books,
            Health(self.telemetry),
            self.telemetry,
            SystemClock(),
            10.0,
            self._changed,
        )

    def _changed(self) -> None:
        self.changes += 1

    def append(self, name: str, data: bytes) -> Path:
        path = self.project / name
        with path.open("ab") as file:
            file.write(data)
        return path

    async def check(self) -> Evidence:
        """The books' report must equal that of a clean measure of the same window."""
        ours = await self.books.report(Catalog())
        clean = measure(self.homes.sessions, 8)
        assert ours == report(clean.evidence, Catalog())
        return clean.evidence


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_appended_lines_are_read_once_and_tell_of_a_change(bench: Bench) -> None:
    rng = random.Random(1)
    path = bench.append("a.jsonl", trace_line(rng) + b"\n")
    assert await bench.tailer.read_all()
    assert not await bench.tailer.read_all()
    bench.append("a.jsonl", prose_line(rng) + b"\n" + trace_line(rng) + b"\n")
    bench.tailer.hint([bytes(path)])
    assert await bench.tailer._read_hinted()
    assert (await bench.check()).traces == 2
    assert bench.changes == 2
    assert [how for _, how in bench.telemetry.reads] == ["new-file", "resumed"]


async def test_an_unterminated_complete_line_counts_and_counts_once(bench: Bench) -> None:
    rng = random.Random(2)
    bench.append("a.jsonl", trace_line(rng))
    await bench.tailer.read_all()
    assert (await bench.check()).traces == 1
    bench.append("a.jsonl", b"\n" + trace_line(rng)[:40])
    await bench.tailer.read_all()
    assert (await bench.check()).traces == 1


async def test_the_window_is_the_eight_newest(bench: Bench) -> None:
    rng = random.Random(3)
    for number in range(12):
        path = bench.append(f"s{number:02}.jsonl", trace_line(rng) + b"\n")
        os.utime(path, (1000 + number, 1000 + number))
    await bench.tailer.read_all()
    assert len(bench.books.window) == 8
    assert bench.books.window[0].endswith(b"s04.jsonl")
    assert (await bench.check()).traces == 8
    os.utime(bench.project / "s00.jsonl", (9000, 9000))
    await bench.tailer.read_all()
    assert bench.books.window[0].endswith(b"s00.jsonl")
    await bench.check()


async def test_the_project_of_the_last_turn_keeps_its_newest_session(bench: Bench) -> None:
    rng = random.Random(4)
    own = bench.homes.sessions / "--home-mine--"
    own.mkdir()
    (own / "mine.jsonl").write_bytes(trace_line(rng) + b"\n")
    os.utime(own / "mine.jsonl", (10, 10))
    for number in range(9):
        bench.append(f"s{number}.jsonl", trace_line(rng) + b"\n")
    await bench.tailer.read_all()
    assert not any(path.endswith(b"mine.jsonl") for path in bench.books.window)
    bench.tailer.attend("/home/mine")
    await bench.tailer.read_all()
    assert any(path.endswith(b"mine.jsonl") for path in bench.books.window)
    assert len(bench.books.window) == 8


async def test_a_file_begun_anew_replaces_what_was_counted(bench: Bench) -> None:
    rng = random.Random(5)
    path = bench.append("a.jsonl", b"".join(trace_line(rng) + b"\n" for _ in range(4)))
    await bench.tailer.read_all()
    path.write_bytes(trace_line(rng) + b"\n")
    await bench.tailer.read_all()
    assert (await bench.check()).traces == 1
    os.replace(bench.append("tmp", b"".join(trace_line(rng) + b"\n" for _ in range(9))), path)
    await bench.tailer.read_all()
    assert (await bench.check()).traces == 9
    assert [how for _, how in bench.telemetry.reads] == ["new-file", "truncated", "replaced"]


async def test_unreadable_and_vanishing_files_do_not_stop_the_others(bench: Bench) -> None:
    rng = random.Random(6)
    bench.append("a.jsonl", trace_line(rng) + b"\n")
    (bench.project / "dangling.jsonl").symlink_to("nowhere")
    (bench.project / "folder.jsonl").mkdir()
    odd = os.fsencode(bench.project) + b"/\xff\xfe.jsonl"
    bench.append(os.fsdecode(b"\xff\xfe.jsonl"), trace_line(rng) + b"\n")
    await bench.tailer.read_all()
    assert (await bench.check()).traces == 2
    os.unlink(odd)
    await bench.tailer.read_all()
    assert (await bench.check()).traces == 1


async def test_a_root_that_appears_later_is_found(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rng = random.Random(7)
    bench.project.rmdir()
    bench.homes.sessions.rmdir()
    assert not await bench.tailer.read_all()
    bench.project.mkdir(parents=True)
    bench.append("a.jsonl", trace_line(rng) + b"\n")
    assert await bench.tailer.read_all()
    await bench.check()


async def test_random_growth_in_random_cuts_equals_a_clean_measure(bench: Bench) -> None:
    rng = random.Random(8)
    owed = {f"s{number}.jsonl": b"" for number in range(5)}
    for _ in range(120):
        name = rng.choice(list(owed))
        if not owed[name]:
            owed[name] = (trace_line if rng.random() < 0.7 else prose_line)(rng) + b"\n"
        cut = rng.randrange(1, len(owed[name]) + 1)
        path = bench.append(name, owed[name][:cut])
        owed[name] = owed[name][cut:]
        if rng.random() < 0.5:
            bench.tailer.hint([bytes(path)])
            await bench.tailer._read_hinted()
        if rng.random() < 0.1:
            await bench.tailer.read_all()
            await bench.check()
    await bench.tailer.read_all()
    await bench.check()


async def test_cancelling_a_pass_at_any_await_loses_and_doubles_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every step gives way, so that a cancellation can come between any two of them.
    monkeypatch.setattr("fabricd.daemon.cooperate.SLICE_SECONDS", 0.0)
    rng = random.Random(9)
    for number in range(3):
        lines = (trace_line(rng, 300) + b"\n" for _ in range(2))
        bench.append(f"s{number}.jsonl", b"".join(lines))
    for turns in range(60):
        bench.append("s1.jsonl", trace_line(rng) + b"\n")
        if turns % 15 == 14:
            many = (trace_line(rng, 12) + b"\n" for _ in range(300))
            bench.append("s2.jsonl", b"".join(many))
        async with anyio.create_task_group() as group:
            group.start_soon(bench.tailer.read_all)
            for _ in range(turns * 4):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        if turns % 7 == 0:
            await bench.tailer.read_all()
            await bench.check()
    await bench.tailer.read_all()
    await bench.check()
    assert not [name for name in descriptors() if name.startswith(str(bench.homes.sessions))]


async def test_a_checkpoint_never_sees_half_of_a_commit(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cooperate.SLICE_SECONDS", 0.0)
    rng = random.Random(10)
    path = bytes(bench.append("a.jsonl", trace_line(rng) + b"\n"))
    await bench.tailer.read_all()
    bench.append("a.jsonl", b"".join(trace_line(rng, 12) + b"\n" for _ in range(400)))
    keeper = Checkpointer(tmp_path / "cp", bench.books, Health(bench.telemetry), bench.telemetry)
    seen = 0
    async with anyio.create_task_group() as group:
        group.start_soon(bench.tailer.read_all)
        for _ in range(4000):
            await anyio.lowlevel.checkpoint()
            if not bench.books._changed:
                continue
            await keeper.flush()
            match checkpoints.load(tmp_path / "cp"):
                case Loaded(value=books):
                    book = books[path]
                    assert book.mark is not None
                    seen += 1
                    with OpenLog(path) as log:
                        data = log.read(0, book.mark.offset)
                    clean, _ = finish(scan_steps(data, ScanState()))
                    assert book.evidence == clean
                case other:
                    raise AssertionError(other)
    assert seen >= 1


async def test_what_cannot_be_read_is_visible_until_it_can(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(11)
    bench.append("a.jsonl", trace_line(rng) + b"\n")
    bench.append("b.jsonl", trace_line(rng) + b"\n")

    def refuse(path: bytes) -> OpenLog:
        if path.endswith(b"a.jsonl"):
            raise PermissionError(13, "Permission denied")
        return OpenLog(path)

    with monkeypatch.context() as patch:
        patch.setattr("fabricd.daemon.tailing.tailer.OpenLog", refuse)
        await bench.tailer.read_all()
        await bench.tailer.read_all()
    assert bench.telemetry.names() == ["health_degraded"]
    assert (await bench.books.report(Catalog())).totals.traces == 1
    await bench.tailer.read_all()
    assert bench.telemetry.names() == ["health_degraded", "health_recovered"]
    await bench.check()


async def test_sessions_on_a_mount_that_died_stay_in_the_window(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.append("s.jsonl", trace_line(random.Random(1)) + b"\n")
    await bench.tailer.read_all()
    known, changes = bench.tailer.files, bench.changes
    assert known.window == 1

    def dead(path: bytes, *_: object) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected", path)

    with monkeypatch.context() as patch:
        patch.setattr("fabricd.store.sessions.os.scandir", dead)
        patch.setattr("fabricd.store.sessions.os.open", dead)
        await bench.tailer.read_all()
        assert bench.tailer.files == known and bench.changes == changes
        assert bench.telemetry.all("health_degraded") == ["sessions"]
    await bench.tailer.read_all()
    assert bench.tailer.files == known and bench.telemetry.all("health_recovered") == ["sessions"]


async def test_a_look_that_does_not_come_back_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, scan = threading.Event(), os.scandir

    def hangs(path: bytes) -> Any:
        answers.wait(20)
        return scan(path)

    monkeypatch.setattr("fabricd.daemon.tailing.tailer.STUCK_SECONDS", 0.0)
    monkeypatch.setattr("fabricd.store.sessions.os.scandir", hangs)
    bench.tailer.tell_if_stuck()
    assert bench.telemetry.all("health_degraded") == []
    async with anyio.create_task_group() as group:
        group.start_soon(bench.tailer.read_all)
        await anyio.sleep(0.05)
        bench.tailer.tell_if_stuck()
        assert bench.telemetry.all("health_degraded") == ["sessions"]
        answers.set()
    assert bench.telemetry.all("health_recovered") == ["sessions"]
