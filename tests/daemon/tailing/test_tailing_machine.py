"""Whatever befalls the session logs, the daemon's books say what the files say now.

The real tailer, books and checkpointer run over real files and a clock that is turned by hand,
against a model that knows only bytes. State is lost at any moment, and nothing is waited for.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fabricd.core import resume
from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.evidence import Evidence
from fabricd.core.resume import FileStat, Look, Mark, Restart, Unchanged, first_look
from fabricd.core.window import WINDOW
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.checkpointer import Checkpointer
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.store import reading
from fabricd.store.homes import Homes
from tests.cancelling import cancelled_at
from tests.core.making import assistant, everything, line, model_change, operation, record, trace
from tests.daemon.hand import HandClock
from tests.daemon.recording import Recording

SECOND = 10**9
STEPS = 5000
PROJECTS = ["--a--", "--b--"]
NAMES = [f"{project}/{number}.jsonl" for project in PROJECTS for number in range(6)]

names = st.sampled_from(NAMES)
kinds = st.sampled_from(["trace", "trace", "audited", "model", "change", "prose", "bad", "glued"])
several = st.lists(kinds, max_size=4)
parts = st.floats(0, 1)


class SessionFolder(RuleBasedStateMachine):
    """Session logs on disk, the daemon that reads them, and everything that can befall either."""

    portal: ClassVar[BlockingPortal]
    steps: ClassVar[int] = 0
    reads: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="fabricd-test-"))
        # Cursors are synchronised each time: in memory that costs nothing.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.state = Path(tempfile.mkdtemp(prefix="fabricd-test-", dir=memory))
        self.homes = Homes(self.folder / "home", self.state, self.folder / "agent", False)
        for project in PROJECTS:
            (self.homes.sessions / project).mkdir(parents=True)
        self.files: dict[str, bytes] = {}
        self.rest: dict[str, bytes] = {}
        self.archive: dict[str, bytes] = {}
        self.number = self.turns = 0
        self.clock = HandClock()
        self.telemetry = Recording()
        self.begin()

    def begin(self) -> None:
        """A daemon that knows what the cursors on disk tell, and nothing else."""
        self.books = Books()
        health = Health(self.telemetry)
        self.tailer = Tailer(
            self.homes, self.books, health, self.telemetry, self.clock, 10.0, lambda: None
        )
        self.keeper = Checkpointer(self.homes.checkpoints, self.books, health, self.telemetry)
        self.call(self.keeper.restore)

    def call(self, what: Callable[[], Awaitable[object]]) -> None:
        self.portal.call(what)

    def teardown(self) -> None:
        try:
            if self.files:
                self.call(self.tailer.read_all)
                self.check()
        finally:
            type(self).reads |= {how for _, how in self.telemetry.reads}
            shutil.rmtree(self.folder)
            shutil.rmtree(self.state)

    # What sessions are made of: no two records are alike, as each has an id of its own.

    def made(self, kind: str) -> bytes:
        self.number += 1
        mark = {"id": f"{self.number:07}"}
        call = operation(outcome="failed", failureStage="validate", args={"n": self.number % 3})
        match kind:
            case "audited":
                return line(record(trace(call), [{"ref": "a", "args": {}}]) | mark)
            case "model":
                return line(assistant("p", f"m{self.number % 3}") | mark)
            case "change":
                return line(model_change("q", f"m{self.number % 3}") | mark)
            case "prose":
                return line({"type": "label", "text": f"{self.number:07} " * 40} | mark)
            case "bad":
                return b'{"kind":"pi-fabric.execution",' + f"{self.number:07}".encode()
            case "glued":
                return self.made("trace") + self.made("model")
            case _:
                return line(record(trace(call)) | mark)

    def log(self, found: list[str]) -> bytes:
        return b"".join(self.made(kind) + b"\n" for kind in found)

    def path(self, name: str) -> Path:
        return self.homes.sessions / name

    def some(self, name: str) -> str:
        """This log if it is there, else one that is."""
        return name if name in self.files else min(self.files)

    # The model and the disk change together; each change has a time stamp of its own.

    def put(self, name: str, data: bytes, mode: str) -> None:
        with self.path(name).open(mode) as file:
            file.write(data)
        old = self.files.get(name, b"")
        match mode:
            case "ab":
                self.files[name] = old + data
            case "r+b":
                self.files[name] = data + old[len(data) :]
            case _:
                self.files[name] = data
        self.stamp(name)

    def stamp(self, name: str) -> None:
        self.clock.turn(1.0)
        os.utime(self.path(name), ns=(self.clock.wall, self.clock.wall))
        self.rest.pop(name, None)

    def lose(self, name: str) -> bytes:
        self.rest.pop(name, None)
        return self.files.pop(name)

    def is_any(self) -> bool:
        return bool(self.files)

    @initialize(found=several)
    def first(self, found: list[str]) -> None:
        self.put(NAMES[0], self.log(found), "wb")

    @rule(name=names, found=several)
    def append(self, name: str, found: list[str]) -> None:
        self.put(name, self.log(found), "ab")

    @rule(name=names, kind=kinds, part=parts)
    def append_a_part(self, name: str, kind: str, part: float) -> None:
        whole = self.made(kind)
        cut = int(len(whole) * part)
        self.put(name, whole[:cut], "ab")
        self.rest[name] = whole[cut:] + b"\n"

    @rule(name=names, kind=kinds)
    def append_without_an_end(self, name: str, kind: str) -> None:
        """A whole record counts before its line feed is there, and may still change."""
        self.put(name, self.made(kind), "ab")
        self.rest[name] = b"\n"

    @precondition(lambda self: bool(self.rest))
    @rule()
    def append_the_rest(self) -> None:
        name = min(self.rest)
        self.put(name, self.rest[name], "ab")

    @precondition(is_any)
    @rule(name=names, part=parts)
    def truncate(self, name: str, part: float) -> None:
        name = self.some(name)
        size = int(len(self.files[name]) * part)
        os.truncate(self.path(name), size)
        self.files[name] = self.files[name][:size]
        self.stamp(name)

    @precondition(is_any)
    @rule(name=names, found=several)
    def replace(self, name: str, found: list[str]) -> None:
        name = self.some(name)
        other = self.folder / "other"
        other.write_bytes(self.log(found))
        os.replace(other, self.path(name))
        self.files[name] = self.path(name).read_bytes()
        self.stamp(name)

    @precondition(is_any)
    @rule(name=names, found=several, kept=st.sampled_from(["nothing", "head", "most"]))
    def rewrite_larger(self, name: str, found: list[str], kept: str) -> None:
        name = self.some(name)
        old = self.files[name]
        ends = [at + 1 for at, byte in enumerate(old) if byte == 10]
        keep = {"nothing": 0, "head": ends[0] if ends else 0, "most": (ends or [0])[-2:][0]}[kept]
        new = old[:keep] + self.log(found)
        while len(new) <= len(old):
            new += self.log(["trace", "prose"])
        self.put(name, new, "r+b")

    @precondition(is_any)
    @rule(name=names, found=several)
    def delete_and_make_again(self, name: str, found: list[str]) -> None:
        # Mostly the new file gets the inode of the old one.
        name = self.some(name)
        self.path(name).unlink()
        self.put(name, self.log(found), "xb")

    @precondition(is_any)
    @rule(name=names)
    def delete(self, name: str) -> None:
        name = self.some(name)
        self.path(name).unlink()
        self.lose(name)

    @precondition(is_any)
    @rule(name=names, to=names)
    def rename(self, name: str, to: str) -> None:
        name = self.some(name)
        if name != to:
            os.replace(self.path(name), self.path(to))
            self.rest.pop(to, None)
            self.files[to] = self.lose(name)
            self.stamp(to)

    @precondition(is_any)
    @rule(name=names, stamped=st.booleans())
    def archive_one(self, name: str, stamped: bool) -> None:
        name = self.some(name)
        os.replace(self.path(name), self.folder / name.replace("/", "+"))
        self.archive[name] = self.lose(name)

    @precondition(lambda self: bool(self.archive))
    @rule()
    def bring_back(self) -> None:
        name = max(self.archive)
        os.replace(self.folder / name.replace("/", "+"), self.path(name))
        self.files[name] = self.archive.pop(name)
        self.rest.pop(name, None)

    @precondition(is_any)
    @rule(name=names)
    def compress(self, name: str) -> None:
        name = self.some(name)
        os.replace(self.path(name), f"{self.path(name)}.zst")
        self.lose(name)

    @precondition(lambda self: any(self.files.values()))
    @rule(name=names, part=parts)
    def change_a_byte_behind_its_back(self, name: str, part: float) -> None:
        """Same size, same inode, and the time stamp of before: as two writes in one clock tick."""
        full = {name: data for name, data in self.files.items() if data}
        name = name if name in full else min(full)
        data, before = full[name], os.stat(self.path(name)).st_mtime_ns
        at = min(int(len(data) * part), len(data) - 1)
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with self.path(name).open("r+b") as file:
            file.write(changed)
        os.utime(self.path(name), ns=(before, before))
        self.files[name] = changed

    @precondition(is_any)
    @rule(name=names)
    def touch(self, name: str) -> None:
        self.stamp(self.some(name))

    # The daemon.

    @rule()
    def save(self) -> None:
        self.call(self.keeper.flush)

    @rule()
    def crash(self) -> None:
        """Everything since the last save is forgotten."""
        self.begin()

    @rule()
    def restart(self) -> None:
        self.call(self.keeper.flush)
        self.begin()

    @precondition(is_any)
    @rule(name=names)
    def hinted(self, name: str) -> None:
        """A look at one log alone, as after an event; the others may be behind."""
        self.tailer.hint([os.fsencode(self.path(self.some(name)))])
        self.call(self.tailer._read_hinted)

    @rule(at=st.integers(1, 40), save=st.booleans())
    def interrupted(self, at: int, save: bool) -> None:
        """A look, and perhaps a save, that is cancelled on its way."""

        async def look() -> None:
            await self.tailer.read_all()
            if save:
                await self.keeper.flush()

        async def cancelled() -> None:
            await cancelled_at(at, look)

        self.call(cancelled)

    @rule(seconds=st.sampled_from([0.0, 1.0, 5.0, 700.0]))
    def wait(self, seconds: float) -> None:
        self.clock.turn(seconds)

    @invariant()
    def look(self) -> None:
        """Mostly somebody looks at once; now and then more happens first."""
        type(self).steps += 1
        self.turns += 1
        if self.turns % 3:
            self.call(self.tailer.read_all)
            self.check()

    def check(self) -> None:
        """The window is the newest, each book is its file, and the sum is a clean scan's."""
        stamps = {name: os.stat(self.path(name)).st_mtime_ns for name in self.files}
        newest = sorted(self.files, key=lambda name: (-stamps[name], bytes(self.path(name))))
        window = sorted(bytes(self.path(name)) for name in newest[:WINDOW])
        assert [*self.books.window] == window
        total = Evidence()
        for path in window:
            data = self.files[os.fsdecode(path)[len(os.fspath(self.homes.sessions)) + 1 :]]
            book = self.books.book(path)
            clean = everything(data)
            assert book.whole() == clean
            assert book.mark is not None and book.mark.seen.size == len(data)
            total.add(clean)
        assert self.portal.call(self.books.report, Catalog()) == report(total, Catalog())


CAREFULLY = settings(
    max_examples=170,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# A failure that is wanted needs no smallest example.
ONCE = settings(CAREFULLY, phases=[Phase.generate], database=None)
# The clock and the inodes of a real file system differ from run to run: the same steps may pass
# when they are tried again, which is said as Flaky.
CAUGHT = (AssertionError, Flaky)


def drive(how: settings) -> None:
    SessionFolder.steps, SessionFolder.reads = 0, set()
    with start_blocking_portal() as SessionFolder.portal:
        run_state_machine_as_test(SessionFolder, settings=how)


def drive_until(how: settings, wanted: set[str], steps: int = 0) -> None:
    """Drive until nothing that is wanted was left out: some of it is rare."""
    taken, seen = 0, set[str]()
    for _ in range(6):
        drive(how)
        taken += SessionFolder.steps
        seen |= SessionFolder.reads
        if taken >= steps and seen >= wanted:
            return
    raise AssertionError(f"{taken} steps, {wanted - seen} was left out")


@pytest.mark.timeout(180)
def test_the_books_say_what_the_files_say() -> None:
    kinds = {"new-file", "resumed", "replaced", "truncated", "rewritten", "head-changed"}
    drive_until(settings(CAREFULLY, max_examples=90), {*kinds, "anchor-changed"}, STEPS)


@pytest.mark.timeout(180)
def test_they_do_where_most_of_a_file_lies_between_head_and_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (reading, resume):
        monkeypatch.setattr(module, "HEAD", 90)
        monkeypatch.setattr(module, "ANCHOR", 60)
    monkeypatch.setattr(reading, "BLOCK", 130)
    drive_until(settings(CAREFULLY, max_examples=40), {"middle-changed"})


def test_books_that_take_a_vanished_file_for_one_that_stands_still_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "fabricd.daemon.tailing.tailer.is_as_seen", lambda mark, _: mark is not None
    )
    with pytest.raises(CAUGHT):
        drive(ONCE)


def test_a_look_that_believes_time_stamps_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def believing(mark: Mark | None, stat: FileStat) -> Unchanged | Look | Restart:
        if mark is not None and (stat.size, stat.mtime_ns) == (mark.seen.size, mark.seen.mtime_ns):
            return Unchanged()
        return first_look(mark, stat)

    monkeypatch.setattr(reading, "first_look", believing)
    with pytest.raises(CAUGHT):
        drive(ONCE)
