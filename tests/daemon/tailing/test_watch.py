"""The watches: hints come, what breaks is told and mended, and their threads end when asked."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest
from watchfiles import Change, awatch

from fabricd.daemon.health import Health
from fabricd.daemon.tailing import selftest, watch, watcher
from fabricd.daemon.tailing.ears import SessionEars
from fabricd.daemon.tailing.selftest import SelfTest
from fabricd.daemon.tailing.watcher import Watcher
from fabricd.store.homes import Homes
from tests.daemon.recording import Recording

pytestmark = pytest.mark.asyncio

Found = set[tuple[Change, str]]
REAL: Any = awatch


class Failed(Exception):
    """What a sibling of the watches raises."""


class Heard:
    """A tailer that only listens."""

    def __init__(self) -> None:
        self.hinted: set[bytes] = set()
        self.looks = 0
        self.polling: list[bool] = []

    def hint(self, paths: Iterable[bytes]) -> None:
        self.hinted.update(paths)

    def hint_all(self) -> None:
        self.looks += 1

    def poll(self, polling: bool) -> None:
        if self.polling[-1:] != [polling]:
            self.polling.append(polling)


class Bench:
    """A watcher on folders of its own; `surface` counts how often that was told of."""

    def __init__(self, folder: Path, force_polling: bool = False) -> None:
        self.homes = Homes(folder / "home", folder / "state", folder / "agent", False)
        self.project = self.homes.sessions / "--repo--"
        (self.project / "deeper").mkdir(parents=True)
        self.homes.entropy.mkdir(parents=True)
        self.homes.state.mkdir()
        self.heard = Heard()
        self.telemetry = Recording()
        self.health = Health(self.telemetry)
        self.surface = 0
        self.watcher = Watcher(
            self.homes, self.health, self.heard, self._surface_changed, force_polling
        )

    def _surface_changed(self) -> None:
        self.surface += 1

    @property
    def ailing(self) -> list[str]:
        return [ailment.what for ailment in self.health.ailments]

    async def until(self, condition: Callable[[], bool], do: Callable[[], object] = bool) -> None:
        """Run the watches until something is so, doing something again and again."""
        with anyio.fail_after(15):
            async with anyio.create_task_group() as group:
                group.start_soon(self.watcher.run)
                while not condition():
                    do()
                    await anyio.sleep(0.05)
                group.cancel_scope.cancel()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(watch, "LAST_PAUSE", 0.1)
    monkeypatch.setattr(watch, "MISSING_PAUSE", 0.05)
    monkeypatch.setattr(watch, "_STEP_MS", 50)
    monkeypatch.setattr(watcher, "LAST_PAUSE", 0.1)
    monkeypatch.setattr(watch, "next_pause", lambda pause: pause)


@pytest.fixture
def bench(quick: None, tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_changes_become_hints(bench: Bench) -> None:
    wanted = os.fsencode(bench.project / "s.jsonl")

    def write() -> None:
        for path in (bench.project / "deeper" / "export.jsonl", bench.homes.surface):
            path.write_text(str(time.time()))
        (bench.project / "s.jsonl").write_text(str(time.time()))

    def told() -> bool:
        return wanted in bench.heard.hinted and bench.surface > 1

    await bench.until(told, write)
    assert bench.heard.hinted == {wanted}
    assert bench.heard.looks >= 1
    assert bench.ailing == []


async def test_a_failure_beside_them_does_not_wait_for_their_threads(bench: Bench) -> None:
    failed_at = 0.0
    with pytest.raises(ExceptionGroup):
        async with anyio.create_task_group() as group:
            group.start_soon(bench.watcher.run)
            await anyio.sleep(1.0)
            failed_at = time.monotonic()
            raise Failed
    assert time.monotonic() - failed_at < 7.0


def breaking(error: Exception, times: int, only: str = "") -> Any:
    """A watch that breaks so often before it works; `only` that on a folder of this name."""
    left = times

    def watched(*roots: Path, **options: Any) -> AsyncGenerator[Found, None]:
        nonlocal left
        if left and any(only in ("", root.name) for root in roots):
            left -= 1
            return _raising(error)
        return REAL(*roots, **(options | {"rust_timeout": 100}))

    return watched


async def _raising(error: Exception) -> AsyncGenerator[Found, None]:
    await anyio.lowlevel.checkpoint()
    raise error
    yield


ERRORS: list[tuple[Exception, str]] = [
    (OSError("OS file watch limit reached. about [] (kind: MaxFilesWatch)"), "user_watches"),
    (RuntimeError("Error creating recommended watcher: Too many open files"), "user_instances"),
    (RuntimeError('Unable to decode path "/x/\\xFF.jsonl" to string'), "UTF-8"),
    (ExceptionGroup("", [RuntimeError("Unable to decode path")]), "UTF-8"),
    (FileNotFoundError(2, "No such file or directory"), "tried again"),
    (ValueError("nobody foresaw this"), "tried again"),
]


@pytest.mark.parametrize(("error", "cure"), ERRORS)
async def test_a_watch_that_breaks_is_polled_told_and_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception, cure: str
) -> None:
    monkeypatch.setattr(watch, "awatch", breaking(error, 3, "sessions"))
    cures: list[str] = []

    def note() -> None:
        cures.extend(ailment.cure for ailment in bench.health.ailments)

    await bench.until(lambda: bench.heard.polling == [True, False], note)
    assert any(cure in said for said in cures)
    assert bench.ailing == []
    assert bench.telemetry.names() == ["health_degraded", "health_recovered"]
    # Everything is looked at when the watch is armed: what happened before was not told of.
    assert bench.heard.looks >= 1


async def test_the_trouble_of_one_watch_does_not_silence_the_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = breaking(OSError("OS file watch limit reached."), 10**6, "sessions")
    monkeypatch.setattr(watch, "awatch", broken)
    await bench.until(
        lambda: bench.surface > 2 and bench.ailing == ["watch-sessions"],
        lambda: bench.homes.surface.write_text(str(time.time())),
    )
    other = Bench(bench.homes.home.parent / "other")
    broken = breaking(OSError("OS file watch limit reached."), 10**6, "entropy")
    monkeypatch.setattr(watch, "awatch", broken)
    await other.until(
        lambda: bool(other.heard.hinted) and other.ailing == ["watch-surface"],
        lambda: (other.project / "s.jsonl").write_text(str(time.time())),
    )
    assert other.heard.polling == [False]


class Armed:
    """Notes which folders share a watch; `broken` are those that break any watch on them."""

    def __init__(self, *broken: str) -> None:
        self.together: list[list[str]] = []
        self.broken = set(broken)

    def __call__(self, *roots: Path, **options: Any) -> AsyncGenerator[Found, None]:
        self.together.append([root.name for root in roots])
        if self.broken & set(self.together[-1]):
            return _raising(OSError("OS file watch limit reached."))
        return REAL(*roots, **(options | {"rust_timeout": 100}))


BOTH = ["sessions", "entropy"]


async def test_both_folders_share_one_watch(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    armed = Armed()
    monkeypatch.setattr(watch, "awatch", armed)

    def write() -> None:
        bench.homes.surface.write_text(str(time.time()))
        (bench.project / "s.jsonl").write_text(str(time.time()))

    await bench.until(lambda: bool(bench.heard.hinted) and bench.surface > 1, write)
    assert armed.together == [BOTH]
    assert bench.heard.hinted == {os.fsencode(bench.project / "s.jsonl")}


@pytest.mark.parametrize("broken", BOTH)
async def test_one_that_breaks_the_watch_of_both_is_left_alone_until_it_works(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    armed = Armed(broken)
    monkeypatch.setattr(watch, "awatch", armed)
    [healthy] = set(BOTH) - {broken}

    def mend() -> None:
        if [healthy] in armed.together and len(bench.ailing) == 1:
            armed.broken.clear()

    def is_well() -> bool:
        return not armed.broken and armed.together[-1] == BOTH and not bench.ailing

    await bench.until(is_well, mend)
    # What the watch before it held may be given back only then: they share one more try.
    assert armed.together[:2] == [BOTH, BOTH]
    assert sorted(armed.together[2:4]) == sorted([[broken], [healthy]])


async def test_one_failure_does_not_part_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "awatch", breaking(OSError("Too many open files"), 1))
    await bench.until(lambda: bench.heard.polling == [False])
    assert bench.telemetry.names() == []


async def test_a_missing_folder_joins_the_watch_when_it_appears(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    armed = Armed()
    monkeypatch.setattr(watch, "awatch", armed)
    shutil.rmtree(bench.homes.sessions)

    def appear() -> None:
        if bench.surface > 1:
            bench.homes.sessions.mkdir(exist_ok=True)
        bench.homes.surface.write_text(str(time.time()))

    await bench.until(lambda: BOTH in armed.together, appear)
    assert armed.together == [["entropy"], BOTH]


async def test_noise_in_one_folder_hides_nothing_of_another(bench: Bench) -> None:
    elsewhere = bench.homes.home / "elsewhere"
    (elsewhere / "--repo--").mkdir(parents=True)
    link = bench.homes.sessions
    shutil.move(link, bench.homes.home / "first")
    link.symlink_to(bench.homes.home / "first")
    turned = False

    def write() -> None:
        nonlocal turned
        (bench.homes.entropy / "noise.json").write_text(str(time.time()))
        if bench.heard.hinted and not turned:
            turned = True
            link.unlink()
            link.symlink_to(elsewhere)
            bench.heard.hinted.clear()
        (link / "--repo--" / "s.jsonl").write_text(str(time.time()))

    with anyio.fail_after(12):
        await bench.until(lambda: turned and bool(bench.heard.hinted), write)


class Unreadable(Armed):
    """Some folder may not be read: only a watch that passes over that can be had."""

    def __init__(self) -> None:
        super().__init__()
        self.strict: list[bool] = []

    def __call__(self, *roots: Path, **options: Any) -> AsyncGenerator[Found, None]:
        self.strict.append(not options["ignore_permission_denied"])
        if self.strict[-1]:
            return _raising(PermissionError(13, "Permission denied", os.fspath(roots[0])))
        return super().__call__(*roots, **options)


async def test_what_may_not_be_read_is_passed_over_until_that_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    armed = Unreadable()
    monkeypatch.setattr(watch, "awatch", armed)

    def write() -> None:
        (bench.project / "s.jsonl").write_text(str(time.time()))
        if bench.heard.hinted and len(armed.strict) == 2:
            bench.project.chmod(0o700)

    await bench.until(lambda: len(armed.strict) > 3, write)
    assert armed.strict[:4] == [True, False, True, False]
    assert bench.ailing == []


async def test_exhausted_watches_are_told_also_where_something_may_not_be_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "awatch", Unreadable())
    # Longer than a watch takes to end.
    monkeypatch.setattr(watch, "LAST_PAUSE", 1.0)

    async def exhausted(_: SelfTest) -> None:
        raise OSError("OS file watch limit reached. about [] (kind: MaxFilesWatch)")

    monkeypatch.setattr(SelfTest, "require_watches", exhausted)
    await bench.until(lambda: bench.ailing == ["watch-sessions", "watch-surface"])
    assert bench.heard.polling[-1]


async def test_an_ailment_ends_where_its_folder_does(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "awatch", Armed("sessions"))

    def remove() -> None:
        if bench.ailing == ["watch-sessions"]:
            shutil.rmtree(bench.homes.sessions)

    await bench.until(lambda: bench.heard.polling == [True, False], remove)
    assert bench.ailing == []


async def test_a_root_that_appears_and_one_that_is_made_anew_are_watched(bench: Bench) -> None:
    shutil.rmtree(bench.homes.sessions)
    wiped = False

    def write() -> None:
        nonlocal wiped
        if bench.heard.hinted and not wiped:
            wiped = True
            shutil.rmtree(bench.homes.sessions)
            bench.heard.hinted.clear()
        bench.project.mkdir(parents=True, exist_ok=True)
        (bench.project / "s.jsonl").write_text(str(time.time()))

    await bench.until(lambda: wiped and bool(bench.heard.hinted), write)


async def test_a_root_moved_away_and_made_again_is_soon_noticed(bench: Bench) -> None:
    moved = 0.0

    def move() -> None:
        nonlocal moved
        if not moved and bench.heard.polling == [False]:
            bench.homes.sessions.rename(bench.homes.home / "before")
            bench.project.mkdir(parents=True)
            moved = time.monotonic()
            bench.heard.hinted.clear()
        (bench.project / "s.jsonl").write_text(str(time.time()))

    await bench.until(lambda: moved > 0 and bool(bench.heard.hinted), move)
    assert time.monotonic() - moved < 10.0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such name")
async def test_a_root_that_is_not_utf8_is_polled_and_told(tmp_path: Path) -> None:
    (tmp_path / "logs-\udcff").mkdir()
    bench = Bench(tmp_path / "logs-\udcff")
    await bench.until(lambda: bench.ailing == ["watch-sessions", "watch-surface"])
    assert bench.heard.polling == [True]
    assert {ailment.why for ailment in bench.health.ailments} == {
        "the path of the folder is not UTF-8, which cannot be watched"
    }


async def test_a_link_to_the_root_is_as_good_as_the_root(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.homes.sessions.rename(tmp_path / "elsewhere")
    bench.homes.sessions.symlink_to(tmp_path / "elsewhere")
    await bench.until(
        lambda: bool(bench.heard.hinted),
        lambda: (tmp_path / "elsewhere" / "--repo--" / "s.jsonl").write_text(str(time.time())),
    )
    assert bench.heard.hinted == {os.fsencode(bench.project / "s.jsonl")}


async def test_a_new_project_folder_has_everything_looked_at_and_the_watch_armed_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    armed = 0

    def counted(*roots: Path, **options: Any) -> AsyncGenerator[Found, None]:
        nonlocal armed
        armed += bench.homes.sessions in roots
        return REAL(*roots, **options)

    monkeypatch.setattr(watch, "awatch", counted)
    new = bench.homes.sessions / "--new--"

    def appear() -> None:
        if armed and bench.heard.looks and not new.exists():
            new.mkdir()
            (new / "s.jsonl").write_text("{}")

    await bench.until(lambda: armed > 1, appear)
    # Once for each arming, and once for the folder.
    assert bench.heard.looks >= 3


async def test_what_is_wanted_and_what_follows(tmp_path: Path) -> None:
    heard = Heard()
    ears = SessionEars(Path("/s"), heard)
    assert [*map(ears.wants, ("/s", "/s/p", "/s/p/a.jsonl"))] == [True] * 3
    assert not any(map(ears.wants, ("/s/p/a.zst", "/s/p/q/a.jsonl", "/sx", "/")))
    assert not ears.heard({(Change.modified, "/s/p/a.jsonl")})
    assert (heard.hinted, heard.looks) == ({b"/s/p/a.jsonl"}, 0)
    assert not ears.heard({(Change.deleted, "/s"), (Change.added, "/s/no-folder")})
    assert heard.looks == 2


async def mute(*_: Any, stop_event: anyio.Event, **__: Any) -> AsyncGenerator[Found, None]:
    """A watch that is taken, and never heard of."""
    while not stop_event.is_set():
        await anyio.sleep(0.02)
        yield set()


async def test_a_system_that_tells_of_nothing_is_polled(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "TEST_SECONDS", 0.1)
    monkeypatch.setattr(selftest, "awatch", mute)

    def mended() -> bool:
        if bench.ailing == ["watch-sessions", "watch-surface"]:
            assert bench.heard.polling == [True]
            # It may have been chance, or a very busy machine: the test is repeated.
            monkeypatch.setattr(selftest, "TEST_SECONDS", 10.0)
            monkeypatch.setattr(selftest, "awatch", REAL)
        return bench.heard.polling == [True, False] and bench.ailing == []

    def write() -> None:
        bench.homes.surface.write_text(str(time.time()))
        (bench.project / "s.jsonl").write_text(str(time.time()))

    await bench.until(mended, write)


async def test_a_mount_from_elsewhere_is_polled_and_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mounts = tmp_path / "mountinfo"
    point = os.fspath(bench.homes.sessions.resolve())
    mounts.write_text(f"1 0 0:9 / / rw - ext4 a rw\n2 1 0:8 / {point} rw - 9p host rw\n")
    monkeypatch.setattr(watch, "_MOUNTS", mounts)
    await bench.until(lambda: bench.ailing == ["watch-sessions"] and bench.heard.polling == [True])
    [ailment] = bench.health.ailments
    assert "9p" in ailment.why and "force_polling" in ailment.cure


async def test_polling_that_was_asked_for_watches_nothing_and_is_no_ailment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, force_polling=True)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(watch, "awatch", never)
    monkeypatch.setattr(selftest, "awatch", never)
    await bench.until(lambda: bench.heard.polling == [True])
    assert bench.ailing == []
