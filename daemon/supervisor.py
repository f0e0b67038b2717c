"""The supervisor: owns, binds, starts in order, stops in order.

Start: locks → socket → cursors → first look → ready. Stop: reading ends, the last compile is
awaited (5 s), cursors are written (2 s), then the socket goes and the locks are released. A thread
that takes longer than all that together, in a dead mount, is left behind.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, getsignal
from typing import Any

import anyio
import anyio.to_thread

# Imported here although used deep inside: a package replaced under a running daemon must not be
# imported half old, half new.
from rapidfuzz.distance import Levenshtein

from fabricd.daemon.accountant import Accountant
from fabricd.daemon.answers import Answers
from fabricd.daemon.beats import until_beat
from fabricd.daemon.clock import SystemClock
from fabricd.daemon.compiling.compiler import Compiler, Finished
from fabricd.daemon.compiling.declared import SurfaceKeeper
from fabricd.daemon.compiling.grace import Context, GraceQueue
from fabricd.daemon.compiling.lexicon import Lexicon
from fabricd.daemon.compiling.poolkeeper import PoolKeeper
from fabricd.daemon.compiling.reviewer import Reviewer
from fabricd.daemon.config import Config
from fabricd.daemon.context.attendant import Attendant
from fabricd.daemon.context.child import started, worker_command
from fabricd.daemon.context.methods import attached_methods, context_methods
from fabricd.daemon.exits import FAILED, OK, REPLACED
from fabricd.daemon.health import Health
from fabricd.daemon.liveness.clockwatch import ClockWatch
from fabricd.daemon.liveness.doorkeeper import Doorkeeper
from fabricd.daemon.liveness.heartbeat import Heartbeat
from fabricd.daemon.liveness.notify import feed_watchdog, manager, notify
from fabricd.daemon.liveness.replaced import CodeWatch
from fabricd.daemon.metering import Metering
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.checkpointer import Checkpointer
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.daemon.tailing.watcher import Watcher
from fabricd.daemon.telemetry.counters import CountedTelemetry
from fabricd.ipc import PROTOCOL
from fabricd.ipc.broadcast import Broadcast
from fabricd.ipc.places import Places
from fabricd.ipc.server import Server
from fabricd.ipc.socket_file import BoundSocket
from fabricd.store.atomic import remove_leftovers
from fabricd.store.durable import shown
from fabricd.store.homes import Homes

_IMPORTED_EARLY = (Levenshtein,)

LAST_COMPILE_SECONDS = 5.0
CHECKPOINT_SECONDS = 2.0
# More than all that has a bound of its own takes, and less than `fabricd stop` waits.
LEAVE_SECONDS = 13.0
SURFACE_SECONDS = 10.0
AGAIN_SECONDS = 30.0

Ready = Callable[["Running"], Any]


@dataclass(frozen=True)
class Running:
    """What a caller of `supervise` gets to see once the daemon is ready."""

    answers: Answers
    tailer: Tailer


class Supervisor:
    """One daemon, from ready to stopped."""

    def __init__(
        self,
        homes: Homes,
        config: Config,
        bound: BoundSocket,
        version: str,
        log: Any,
        leaving: Callable[[], None] = lambda: None,
    ) -> None:
        """Nothing runs yet; `leaving` is called once it begins to stop."""
        self._homes = homes
        self._leaving = leaving
        self._bound = bound
        self._clock = SystemClock()
        self._stopping = anyio.Event()
        self._reason = "stopped"
        broadcast = Broadcast(version)
        self._telemetry = CountedTelemetry(log, broadcast.publish, self._clock)
        self._heartbeat = Heartbeat(self._clock)
        self._health = Health(self._telemetry)
        self._books = Books()
        self._keeper = SurfaceKeeper(homes.surface, self._health)
        self._pool = PoolKeeper(homes, self._health)
        self._accountant = Accountant(homes, self._health)
        self._lexicon = Lexicon(homes, self._health, self._clock)
        self._reviewer = Reviewer(self._books, self._keeper, self._pool)
        self._compiler = Compiler(
            homes,
            self._books,
            self._keeper,
            self._pool,
            self._reviewer,
            self._lexicon,
            self._health,
            self._telemetry,
            self._clock,
            config.entropy.compile,
        )
        self._grace = GraceQueue(self._compile, config.daemon.grace_ms / 1000)
        self._tailer = Tailer(
            homes,
            self._books,
            self._health,
            self._telemetry,
            self._clock,
            config.watch.rescan_seconds,
            self._evidence_changed,
        )
        self._checkpointer = Checkpointer(
            homes.checkpoints, self._books, self._health, self._telemetry
        )
        self._watcher = Watcher(
            homes,
            self._health,
            self._tailer,
            self._evidence_changed,
            config.watch.force_polling,
        )
        self._attendant = Attendant(
            partial(started, worker_command(homes.state)), version, self._telemetry
        )
        self.answers = Answers(
            homes=homes,
            socket=bound.path,
            version=version,
            clock=self._clock,
            books=self._books,
            keeper=self._keeper,
            lexicon=self._lexicon,
            tailer=self._tailer,
            compiler=self._compiler,
            reviewer=self._reviewer,
            grace=self._grace,
            health=self._health,
            telemetry=self._telemetry,
            counters=self._telemetry.counters,
            stop=self.stop,
            worker=self._attendant,
        )
        places = Places()
        metering = Metering(
            clock=self._clock,
            started=self._clock.monotonic(),
            counters=self._telemetry.counters,
            heartbeat=self._heartbeat,
            books=self._books,
            keeper=self._keeper,
            lexicon=self._lexicon,
            tailer=self._tailer,
            compiler=self._compiler,
            grace=self._grace,
            health=self._health,
            places=places,
            broadcast=broadcast,
            worker=self._attendant,
        )
        methods = {
            **self.answers.methods(),
            **metering.methods(),
            **context_methods(self._attendant),
        }
        attached = attached_methods(self._attendant, version)
        self._server = Server(bound, version, methods, broadcast, self._telemetry, places, attached)
        self._clockwatch = ClockWatch(self._clock, self._telemetry, self._time_jumped)
        self._doorkeeper = Doorkeeper(
            bound, homes.lock, self._server, self._health, self._telemetry, self._clock, self.stop
        )
        restarts = self._leave_to_new_code if manager(os.environ) else None
        self._codewatch = CodeWatch(self._health, self._telemetry, restarts)
        self._version = version
        self.exit_code = OK

    def stop(self, reason: str) -> None:
        """Begin to stop; more than one reason is one too many."""
        if not self._stopping.is_set():
            self._reason = reason
            self._stopping.set()
            self._leaving()

    def _leave_to_new_code(self) -> None:
        self.exit_code = REPLACED
        self.stop("its code was replaced")

    def _evidence_changed(self) -> None:
        self._grace.submit(Context())

    def _time_jumped(self) -> None:
        self._tailer.hint_all()
        self._evidence_changed()

    async def _compile(self, _: Context) -> Finished:
        return await self._compiler.compile()

    async def run(self, ready: Ready | None = None) -> None:
        """Run until stopped."""
        # Signals are heeded to the very end: a second one must not kill what the first one ends.
        async with anyio.create_task_group() as group:
            group.start_soon(self._heed_signals)
            await self._serve(ready)
            group.cancel_scope.cancel()

    async def _serve(self, ready: Ready | None) -> None:
        started = self._clock.monotonic()
        async with anyio.create_task_group() as outer:
            await outer.start(self._attendant.run)
            await outer.start(self._server.run)
            try:
                async with anyio.create_task_group() as inner:
                    inner.start_soon(self._live, ready)
                    await self._stopping.wait()
                    self.answers.state = "stopping"
                    notify("STOPPING=1")
                    inner.cancel_scope.cancel()
            finally:
                # Also where something above failed: what was read is worth keeping.
                started = self._clock.monotonic()
                await self._wind_down()
            outer.cancel_scope.cancel()
        self._telemetry.daemon_stopped(self._reason, self._clock.monotonic() - started)

    async def _heed_signals(self) -> None:
        # A terminal that closes ends us in order, but for whoever said nohup.
        hang_up = () if getsignal(SIGHUP) == SIG_IGN else (SIGHUP,)
        with anyio.open_signal_receiver(SIGTERM, SIGINT, *hang_up) as signals:
            async for number in signals:
                self.stop(f"received {number.name}")

    async def _live(self, ready: Ready | None) -> None:
        # What was imported lives to the end: no collection of the first pass looks through it.
        gc.freeze()
        await anyio.to_thread.run_sync(self._clean_up)
        await self._compiler.start()
        await self._pool.start()
        restored = await self._checkpointer.restore()
        await self._keeper.refresh()
        await self._lexicon.refresh(self._keeper.surface)
        async with anyio.create_task_group() as group:
            # Nothing is compiled before everything was read once: a trigger that comes sooner would
            # be served from empty books.
            await group.start(self._tailer.run)
            await group.start(self._grace.run)
            group.start_soon(self._watcher.run)
            group.start_soon(self._kept_going, "checkpoints", self._checkpointer.run)
            group.start_soon(self._accountant.run)
            group.start_soon(self._kept_going, "surface-look", self._look_at_surface)
            group.start_soon(self._heartbeat.run)
            group.start_soon(self._clockwatch.run)
            group.start_soon(self._doorkeeper.run)
            group.start_soon(self._kept_going, "code-look", self._codewatch.run)
            group.start_soon(feed_watchdog)
            # What lives now lives as long as the daemon: later collections need not look at it.
            gc.collect()
            gc.freeze()
            self.answers.state = "ready"
            self._telemetry.daemon_started(self._greeting(restored))
            self._grace.submit(Context())
            notify("READY=1")
            if ready is not None:
                await ready(Running(self.answers, self._tailer))

    def _greeting(self, restored: int) -> dict[str, object]:
        files = self._tailer.files
        return {
            "pid": os.getpid(),
            "version": self._version,
            "protocol": PROTOCOL,
            "home": shown(self._homes.home),
            "sessions": shown(self._homes.sessions),
            "socket": shown(self._bound.path),
            "files": files.known,
            "window": files.window,
            "restored": restored,
        }

    def _clean_up(self) -> None:
        repairs = self._homes.repairs.parent
        for directory in (self._homes.entropy, repairs, self._homes.state):
            remove_leftovers(directory)

    async def _kept_going(self, what: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run what looks at something now and then; a look that breaks ends nothing."""
        while True:
            try:
                await run()
                return
            except Exception as error:
                # A border: where no thread is to be had, for one, the daemon goes on without it.
                why = f"it broke ({type(error).__name__}: {error})"
                self._health.degrade(what, why, "it is tried again by itself")
            await anyio.sleep(AGAIN_SECONDS)
            self._health.recover(what)

    async def _look_at_surface(self) -> None:
        """The timer behind the surface watch."""
        while True:
            await anyio.sleep(until_beat(self._clock.monotonic(), SURFACE_SECONDS))
            self._tailer.tell_if_stuck()
            if self._health.ails("repairs"):
                await self._lexicon.refresh(self._keeper.surface)
            # A damaged file is tried again too: somebody may have moved it away meanwhile.
            if await self._keeper.refresh() or self._compiler.is_blocked:
                self._evidence_changed()

    async def _wind_down(self) -> None:
        try:
            with anyio.move_on_after(LAST_COMPILE_SECONDS, shield=True):
                if self._grace.is_open and self._grace.is_pending:
                    await self._grace.serve()
        finally:
            with anyio.move_on_after(CHECKPOINT_SECONDS, shield=True):
                await self._checkpointer.flush()


def serve(
    homes: Homes,
    config: Config,
    bound: BoundSocket,
    version: str,
    log: Any,
    ready: Ready | None = None,
    held: ExitStack | None = None,
) -> int:
    """Run a daemon on a bound socket until it is stopped; then remove the socket, release locks.

    Gives the exit code: 0, or 75 where it left for a newly installed package to be started.
    """

    def leave() -> None:
        # A thread that a dead mount holds is waited for without end, here and when Python ends.
        log.error("left_unfinished", seconds=LEAVE_SECONDS)
        bound.unlink()
        os._exit(FAILED)

    def leaving() -> None:
        timer = threading.Timer(LEAVE_SECONDS, leave)
        timer.daemon = True
        timer.start()

    async def main() -> int:
        supervisor = Supervisor(homes, config, bound, version, log, leaving)
        await supervisor.run(ready)
        return supervisor.exit_code

    with held or ExitStack():
        try:
            return anyio.run(main)
        finally:
            bound.unlink()
            bound.raw.close()
