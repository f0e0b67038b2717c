"""What the daemon answers over the socket."""

from __future__ import annotations

import os
import resource
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec
import orjson

from fabricd.core.canonical import as_given, text, utf8
from fabricd.core.entropy.meter import Catalog
from fabricd.core.overview import Scope, coverage_of, overview_value
from fabricd.daemon.clock import Clock
from fabricd.daemon.compiling.compiler import Compiler, Finished
from fabricd.daemon.compiling.declared import SurfaceKeeper
from fabricd.daemon.compiling.grace import Context, GraceQueue
from fabricd.daemon.compiling.lexicon import Lexicon
from fabricd.daemon.compiling.reviewer import Reviewer
from fabricd.daemon.context.attendant import Attendant
from fabricd.daemon.health import Health
from fabricd.daemon.repairer import Repairer
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.daemon.telemetry.counters import Counters
from fabricd.daemon.telemetry.events import Telemetry
from fabricd.ipc import PROTOCOL
from fabricd.ipc.protocol import NoParams, RepairAsk, TurnEnd
from fabricd.ipc.server import Method
from fabricd.store.durable import Loaded, shown
from fabricd.store.homes import Homes

# No file system knows longer ones.
_LONGEST_PATH = 4096
# So many transcripts are looked for at once.
_LOOKS = 4


class Answers:
    """The methods of the control socket."""

    def __init__(
        self,
        *,
        homes: Homes,
        socket: Path,
        version: str,
        clock: Clock,
        books: Books,
        keeper: SurfaceKeeper,
        lexicon: Lexicon,
        tailer: Tailer,
        compiler: Compiler,
        reviewer: Reviewer,
        grace: GraceQueue,
        health: Health,
        telemetry: Telemetry,
        counters: Counters,
        stop: Callable[[str], None],
        worker: Attendant | None = None,
    ) -> None:
        self._homes = homes
        self._socket = socket
        self._version = version
        self._clock = clock
        self._started = clock.monotonic()
        self._books = books
        self._keeper = keeper
        self._lexicon = lexicon
        self._tailer = tailer
        self._compiler = compiler
        self._reviewer = reviewer
        self._grace = grace
        self._health = health
        self._telemetry = telemetry
        self._counters = counters
        self._repairer = Repairer(homes, clock)
        self._stop = stop
        self._worker = worker
        self._looking = anyio.CapacityLimiter(_LOOKS)
        self.state = "starting"

    def methods(self) -> Mapping[str, Method]:
        """The methods by name; `subscribe` is the server's own."""
        return {
            "status": Method(NoParams, self.status),
            "report": Method(NoParams, self.report, at_once=16),
            "turn_end": Method(TurnEnd, self.turn_end),
            "repair": Method(RepairAsk, self.repair, at_once=16),
            "compile_now": Method(NoParams, self.compile_now, at_once=8),
            "shutdown": Method(NoParams, self.shutdown),
        }

    @property
    def _catalog(self) -> Catalog:
        return self._lexicon.catalog(self._keeper.catalog)

    async def status(self, _: NoParams) -> bytes:
        """How the daemon is."""
        report = await self._books.report(self._catalog)
        artifact = self._compiler.artifact
        value: dict[str, Any] = {
            "state": self.state,
            "pid": os.getpid(),
            "version": self._version,
            "protocol": PROTOCOL,
            "uptimeSeconds": round(self._clock.monotonic() - self._started, 3),
            "home": shown(self._homes.home),
            "socket": shown(self._socket),
            "rssBytes": rss_bytes(),
            "degraded": [msgspec.to_builtins(ailment) for ailment in self._health.ailments],
            "files": msgspec.to_builtins(self._tailer.files),
            "report": {
                "score": report.score,
                "actionOperations": report.totals.action_operations,
                "invocationRejections": report.totals.invocation_rejections,
            },
            "artifact": _without_none(msgspec.to_builtins(artifact)),
            "lastCompile": _finished_value(self._compiler.last),
            "ignoredTranscripts": self._counters.ignored_transcripts,
            "context": None if self._worker is None else self._worker.value,
        }
        if isinstance(self._keeper.load, Loaded) and self._keeper.load.value.plans.beyond_limit:
            value["artifact"]["beyondLimit"] = self._keeper.load.value.plans.beyond_limit
        return orjson.dumps(value)

    async def report(self, _: NoParams) -> bytes:
        """The metric-3 report with its surroundings."""
        newest_first = self._tailer.newest_first
        report, aside, corpus = await self._books.overview(self._catalog, newest_first)
        coverage = None
        if isinstance(self._keeper.load, Loaded):
            coverage = coverage_of(self._keeper.load.value.plans, report, aside)
        review = await self._reviewer.review()
        scope = Scope(corpus.files, None, compiles=self._compiler.is_enabled)
        value = overview_value(report, aside, corpus, coverage, review, scope)
        # Names come from session text and may have no UTF-8 form: the canonical writer escapes.
        return utf8(text(value, as_given))

    async def turn_end(self, params: TurnEnd) -> bytes:
        """A turn ended somewhere: read its transcript at once and compile soon."""
        self._telemetry.turn_ended(params.agent, params.session)
        self._tailer.attend(params.cwd)
        if params.transcript_path is None:
            self._tailer.hint_all()
        else:
            await self._hint(params.transcript_path)
        self._grace.submit(Context(params.agent, params.session, params.cwd))
        return b'{"queued":true}'

    async def _hint(self, transcript: str) -> None:
        """Have a transcript read at once, if it is one of those that are read."""
        path = None
        if len(transcript) <= _LONGEST_PATH:
            if self._looking.borrowed_tokens == self._looking.total_tokens:
                # On a mount that hangs each look keeps its thread: one to look at all is enough.
                self._tailer.hint_all()
                return
            path = await anyio.to_thread.run_sync(
                _session_path,
                transcript,
                self._homes.sessions,
                abandon_on_cancel=True,
                limiter=self._looking,
            )
        if path is None:
            self._telemetry.transcript_ignored(transcript[:_LONGEST_PATH])
        else:
            self._tailer.hint([path])

    async def repair(self, params: RepairAsk) -> bytes:
        """The arguments that a hook may put in the place of a call's, or nothing on any doubt."""
        found = await self._repairer.repair(params.agent, params.tool, params.arguments)
        if found is None:
            return b"{}"
        value = {"arguments": found.arguments, "witness": msgspec.to_builtins(found.witness)}
        return utf8(text(value, as_given))

    async def compile_now(self, _: NoParams) -> bytes:
        """Look at everything and compile; answers how it ended."""
        await self._grace.opened()
        await self._tailer.read_all()
        return orjson.dumps(_finished_value(await self._compiler.compile()))

    async def shutdown(self, _: NoParams) -> bytes:
        """Begin to stop."""
        self._stop("shutdown was asked for")
        return b'{"stopping":true}'


def _finished_value(finished: Finished | None) -> dict[str, Any] | None:
    return None if finished is None else _without_none(msgspec.to_builtins(finished))


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if item is not None}


def _session_path(transcript: str, root: Path) -> bytes | None:
    """The path of a regular session log below `root`, spelled as discovery spells it."""
    try:
        real = os.path.realpath(os.fsencode(transcript), strict=True)
        real_root = os.path.realpath(os.fsencode(root), strict=True)
        regular = stat.S_ISREG(os.stat(real).st_mode)
    except (OSError, ValueError):
        return None
    inside = real.startswith(real_root + b"/") and real.endswith(b".jsonl")
    if not regular or not inside:
        return None
    return os.path.join(os.fsencode(root), real[len(real_root) + 1 :])


def rss_bytes() -> int:
    """Resident memory now; the peak where the system tells no more."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
