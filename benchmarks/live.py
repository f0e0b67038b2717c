"""Stall, idle, hook, status and completion: what needs a running daemon."""

from __future__ import annotations

import gc
import json
import random
import shutil
import sys
import time
from pathlib import Path

import anyio
import anyio.lowlevel
from tests.harness import daemon

from benchmarks.corpus import surface, write
from benchmarks.measuring import Figure, cpu_of, median, process_wall
from fabricd.daemon.clock import SystemClock
from fabricd.daemon.compiling.compiler import Compiler
from fabricd.daemon.compiling.declared import SurfaceKeeper
from fabricd.daemon.compiling.lexicon import Lexicon
from fabricd.daemon.compiling.poolkeeper import PoolKeeper
from fabricd.daemon.compiling.reviewer import Reviewer
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.daemon.telemetry.events import LogTelemetry
from fabricd.store.homes import Homes


class _Silent:
    """A logger that says nothing."""

    def info(self, _: str, **fields: object) -> None:
        """Say nothing."""

    debug = warning = error = info


def _publish_nothing(_: str, __: dict[str, object]) -> None:
    """Nobody subscribes."""


def longest_stall(folder: Path, gigabytes: float, giant: int = 0) -> Figure:
    """The longest time the loop did not turn while a window was read, compiled and replayed."""
    sessions = folder / "agent" / "sessions" / "--repo--"
    per_file = int(gigabytes * 1e9 / 8 / 1350)
    write(sessions, 8, per_file, 0.02, 1300)
    if giant:
        filler = random.Random(1).randbytes(giant // 2).hex()
        line = '{"type":"message","message":{"role":"toolResult","details":{"trace":{"kind":'
        with (sessions / "s0000.jsonl").open("a") as file:
            file.write(f'{line}"pi-fabric.execution","x":"{filler}"}}}}}}}}\n')
    homes = Homes(folder / "home", folder / "state", folder / "agent", is_pi_home=False)
    homes.entropy.mkdir(parents=True)
    homes.surface.write_text(json.dumps(surface()))
    longest = 0.0

    async def heartbeat() -> None:
        nonlocal longest
        last = time.perf_counter()
        while True:
            await anyio.lowlevel.checkpoint()
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    async def run() -> float:
        # As the daemon does, before it reads anything.
        gc.collect()
        gc.freeze()
        started = time.perf_counter()
        telemetry = LogTelemetry(_Silent(), _publish_nothing)
        health, books, clock = Health(telemetry), Books(), SystemClock()
        keeper = SurfaceKeeper(homes.surface, health)
        pool, lexicon = PoolKeeper(homes, health), Lexicon(homes, health, clock)
        reviewer = Reviewer(books, keeper, pool)
        compiler = Compiler(
            homes, books, keeper, pool, reviewer, lexicon, health, telemetry, clock, True
        )
        tailer = Tailer(homes, books, health, telemetry, clock, 10.0, lambda: None)
        async with anyio.create_task_group() as group:
            group.start_soon(heartbeat)
            await tailer.read_all()
            finished = await compiler.compile()
            assert finished.outcome == "written", finished
            group.cancel_scope.cancel()
        return time.perf_counter() - started

    seconds = anyio.run(run)
    size = sum(path.stat().st_size for path in sessions.iterdir()) / 1e9
    name = f"longest loop stall, {size:.2f} GB window"
    budget = 20.0
    if giant:
        name, budget = f"{name} with a {giant >> 20} MiB record", 400.0
    baseline = f"the whole pass in one step: {seconds * 1000:.0f} ms"
    return Figure(name, longest * 1000, "ms", budget, False, baseline)


def idle(folder: Path) -> list[Figure]:
    """Memory and CPU of a daemon over 1,000 session files with nothing to do."""
    soon, rss = _idle(folder / "soon", 10)
    # After ten quiet minutes it looks at all files as often as if this were set. The first look
    # reads those again that were written just before the start.
    later, _ = _idle(folder / "later", 30, 36)
    alone, _ = _idle(folder / "alone", 30, 6, has_sessions=False)
    quiet = "it looks at all files every 30 s"
    return [
        Figure("daemon idle, 1,000 files: RSS", rss, "MiB", 64.0, False, "imports and watch: 47"),
        Figure("daemon idle, 1,000 files: CPU", later, "% of a core", 0.1, False, quiet),
        Figure("its CPU in the ten minutes before", soon, "% of a core", 0.16, False, "every 10 s"),
        Figure("its CPU where Pi has no folder of sessions", alone, "% of a core", 0.1, False, ""),
    ]


def _idle(
    folder: Path,
    rescan: int,
    settled: float = 6.0,
    seconds: float = 30.0,
    has_sessions: bool = True,
) -> tuple[float, float]:
    """Percent of a core and MiB, where all files are looked at every so many seconds."""
    looks = {"FABRICD_WATCH_RESCAN_SECONDS": str(rescan)}
    with daemon(folder, MALLOC_ARENA_MAX="2", **looks) as subject:
        if has_sessions:
            write(subject.sessions, 1000, 40, 0.15, 400)
        else:
            shutil.rmtree(subject.sessions.parent)
        subject.declare(surface())
        subject.start()
        assert subject.process is not None
        time.sleep(settled)
        before = cpu_of(subject.process.pid)
        time.sleep(seconds)
        used = (cpu_of(subject.process.pid) - before) / seconds * 100
        return used, subject.status()["rssBytes"] / 1048576


def clients(folder: Path) -> list[Figure]:
    """Cold processes: the hook, `status` and a completion, beside a bare interpreter."""
    scripts = Path(sys.executable).parent
    with daemon(folder) as subject:
        subject.declare(surface())
        subject.start()
        hook = [str(scripts / "fabricd-hook"), "turn-end"]
        payload = b'{"session_id": "s", "cwd": "/repo"}'
        hooked = median(lambda: process_wall(hook, subject.env, payload), 21) * 1000
        status = [str(scripts / "fabricd"), "status"]
        asked = median(lambda: process_wall(status, subject.env), 21) * 1000
        words = {"COMP_WORDS": "fabricd config show --", "COMP_CWORD": "3"}
        prompt = {**subject.env, "_FABRICD_COMPLETE": "bash_complete", **words}
        completed = median(lambda: process_wall(status[:1], prompt), 21) * 1000
    bare = median(lambda: process_wall([sys.executable, "-c", "pass"]), 21) * 1000
    baseline = f"a bare interpreter: {bare:.0f} ms"
    return [
        Figure("fabricd-hook, cold", hooked, "ms", 40.0, False, baseline),
        Figure("fabricd status, cold", asked, "ms", 100.0, False, baseline),
        Figure("a word completed at a prompt, cold", completed, "ms", 150.0, False, baseline),
    ]
