"""The tailer: keeps the books of the window in step with the files.

Events are hints and a rescan timer is the truth: the watcher may lose events, see none at all on
some file systems, or die, and still every byte is found. One pass runs at a time; within it up to
four files are read side by side.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from msgspec import Struct, structs

from fabricd.core.resume import Restart, Resume, Unchanged, is_as_seen
from fabricd.core.watching import seconds_to_look
from fabricd.core.window import (
    COMPRESSED,
    WINDOW,
    SessionFile,
    departure_of,
    newest_first,
    project_folder,
    select,
)
from fabricd.daemon.clock import Clock
from fabricd.daemon.cooperate import drive_reading
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.telemetry.events import Telemetry
from fabricd.store.durable import shown
from fabricd.store.homes import Homes
from fabricd.store.reading import Pass, read_steps
from fabricd.store.sessions import Listing, OpenLog, discover

READERS = 4
# No single file takes so long to read on a disk that answers.
STUCK_SECONDS = 60.0
# A second look at once where a log vanished under the first; more can wait for the timer.
_PASSES = 2


class Files(Struct, frozen=True):
    """Files as `status` counts them; `behind` are bytes of the window not yet read."""

    known: int
    window: int
    bytes: int
    behind: int


class Tailer:
    """Reads what is new, when hinted at and when the timer says so."""

    def __init__(
        self,
        homes: Homes,
        books: Books,
        health: Health,
        telemetry: Telemetry,
        clock: Clock,
        rescan_seconds: float,
        changed: Callable[[], None],
    ) -> None:
        self._homes = homes
        self._books = books
        self._health = health
        self._telemetry = telemetry
        self._clock = clock
        self._rescan = rescan_seconds
        self._changed = changed
        self._lock = anyio.Lock()
        self._wake = anyio.Event()
        self._hinted: set[bytes] = set()
        self._full = True
        self._polling = False
        self._project: bytes | None = None
        self._listing = Listing((), ())
        self._chosen: tuple[SessionFile, ...] = ()
        self._busy_at = clock.monotonic()
        self._failed: dict[str, str] = {}
        # When the last step of a look ended.
        self._moved_at = clock.monotonic()

    @property
    def files(self) -> Files:
        """What is known of the files now."""
        behind = size = 0
        for file in self._chosen:
            seen = self._seen(file)
            behind += max(0, file.size - seen.size)
            size += max(file.size, seen.size)
        return Files(len(self._listing.files), len(self._chosen), size, behind)

    def _seen(self, file: SessionFile) -> SessionFile:
        """The file as it was last read, where that is newer than the listing."""
        mark = self._books.book(file.path).mark
        if mark is None:
            return structs.replace(file, size=0)
        seen = mark.seen
        return structs.replace(file, size=seen.size, mtime_ns=max(file.mtime_ns, seen.mtime_ns))

    @property
    def newest_first(self) -> list[bytes]:
        """The sessions of the window, newest first."""
        return [file.path for file in newest_first(map(self._seen, self._chosen))]

    def hint(self, paths: Iterable[bytes]) -> None:
        """These session files may have changed."""
        self._hinted.update(paths)
        self._wake.set()

    def hint_all(self) -> None:
        """Anything may have changed."""
        self._full = True
        self._wake.set()

    def poll(self, polling: bool) -> None:
        """Nobody tells of changes from now on, or somebody does again."""
        if polling != self._polling:
            self._polling = polling
            self.hint_all()

    def attend(self, cwd: str | None) -> None:
        """The project whose newest session always counts: that of the last turn."""
        if cwd is not None and os.path.isabs(cwd):
            project = os.fsencode(project_folder(cwd))
            if project != self._project:
                self._project = project
                self.hint_all()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Read until cancelled; started once the window has been read."""
        await self.read_all()
        task_status.started()
        while True:
            with anyio.move_on_after(self._interval()) as timer:
                await self._wake.wait()
            self._wake = anyio.Event()
            if timer.cancelled_caught:
                self._full = True
            try:
                if await self._read_hinted():
                    self._busy_at = self._clock.monotonic()
            except Exception as error:
                # A border: where no thread is to be had, for one, the next look tries again.
                why = f"they could not be looked at ({type(error).__name__}: {error})"
                self._health.degrade("sessions", why, "it is tried again by itself")

    def tell_if_stuck(self) -> None:
        """Say so where the file system does not come back; the end of the look recovers."""
        if self._lock.locked() and self._clock.monotonic() - self._moved_at > STUCK_SECONDS:
            why = f"{shown(self._homes.sessions)} has not answered for {STUCK_SECONDS:g} s"
            cure = "see whether the file system that it lies on still answers"
            self._health.degrade("sessions", why, cure)

    def _interval(self) -> float:
        quiet = self._clock.monotonic() - self._busy_at
        return seconds_to_look(self._rescan, self._polling, quiet)

    async def read_all(self) -> bool:
        """One full pass; whether any evidence changed."""
        self._full = True
        return await self._read_hinted()

    async def _read_hinted(self) -> bool:
        async with self._lock:
            self._moved_at = self._clock.monotonic()
            paths, self._hinted = self._hinted, set()
            found = False
            try:
                for _ in range(_PASSES):
                    full, self._full = self._full, False
                    found = await self._pass(paths, full) or found
                    if not self._full:
                        break
                    # A log vanished: what takes its place in the window need not wait.
                    paths = set[bytes]()
                return found
            except BaseException:
                # What was hinted at has not been read: the next pass must look again.
                self._full = True
                raise

    async def _pass(self, paths: set[bytes], full: bool) -> bool:
        changed = False
        if full or not paths.issubset(self._books.window):
            changed = await self._choose()
            targets = [
                file.path
                for file in self._chosen
                if file.path in paths or not is_as_seen(self._books.book(file.path).mark, file)
            ]
        else:
            targets = sorted(paths)
        found: list[bool] = []
        limiter = anyio.CapacityLimiter(READERS)
        async with anyio.create_task_group() as group:
            for path in targets:
                group.start_soon(self._read_one, path, limiter, found)
        self._report_health()
        if changed or any(found):
            self._changed()
            return True
        return False

    async def _choose(self) -> bool:
        listing = self._with_unlisted(
            await anyio.to_thread.run_sync(discover, self._homes.sessions)
        )
        self._moved_at = self._clock.monotonic()
        chosen = tuple(select(listing.files, WINDOW, self._project))
        window = {file.path for file in chosen}
        left = [file for file in self._chosen if file.path not in window]
        turned = [file.path + COMPRESSED for file in left]
        others = await anyio.to_thread.run_sync(_existing, turned) if left else set[bytes]()
        changed = await self._books.show(window)
        # Nothing is awaited below: a look that was cancelled has not happened.
        self._listing, self._chosen = listing, chosen
        for file in left:
            how = departure_of(file, listing.files, others)
            self._telemetry.session_left(shown(file.path), how)
        return changed

    def _with_unlisted(self, found: Listing) -> Listing:
        """What was known of folders that cannot be listed now is no more gone than they are."""
        if not found.unlisted:
            return found
        kept = [
            file
            for file in self._listing.files
            if any(file.path.startswith(folder + b"/") for folder in found.unlisted)
        ]
        files = {file.path: file for file in (*kept, *found.files)}
        return replace(found, files=tuple(files[path] for path in sorted(files)))

    async def _read_one(
        self, path: bytes, limiter: anyio.CapacityLimiter, found: list[bool]
    ) -> None:
        async with limiter:
            try:
                log = await anyio.to_thread.run_sync(OpenLog, path)
                with log:
                    steps = read_steps(log, self._books.book(path), self._clock.wall_ns())
                    result = await drive_reading(steps, log)
            except (FileNotFoundError, NotADirectoryError):
                # Gone since it was listed: the next listing says so.
                self._full = True
                return
            except OSError as error:
                self._failed[shown(path)] = error.strerror or str(error)
                return
            except Exception as error:
                # A border: one log that breaks us must not take the others along.
                self._failed[shown(path)] = f"{type(error).__name__}: {error}"
                self._telemetry.session_failed(shown(path), self._failed[shown(path)])
                return
            self._moved_at = self._clock.monotonic()
            self._failed.pop(shown(path), None)
            found.append(await self._books.commit(path, result))
            self._tell(path, result)

    def _report_health(self) -> None:
        """What cannot be read stays visible until it can."""
        current = {shown(file.path) for file in self._chosen}
        self._failed = {path: why for path, why in self._failed.items() if path in current}
        problems = {skip.path: skip.reason for skip in self._listing.skipped} | self._failed
        if not problems:
            self._health.recover("sessions")
            return
        path, why = min(problems.items())
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        cure = "mend the permissions, or move it out of the sessions folder"
        self._health.degrade("sessions", f"{path} cannot be read: {why}{more}", cure)

    def _tell(self, path: bytes, result: Pass) -> None:
        match result.decision:
            case Unchanged():
                return
            case Resume():
                how = "resumed"
            case Restart(reason=reason):
                how = reason
        self._telemetry.session_read(shown(path), how, result.bytes_read, result.fresh.traces)


def _existing(paths: Iterable[bytes]) -> set[bytes]:
    return {path for path in paths if os.path.lexists(path)}
