"""The numbers of the running daemon: what was counted, and what can be read off it now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import orjson

from fabricd.daemon.answers import rss_bytes
from fabricd.daemon.clock import Clock
from fabricd.daemon.compiling.compiler import Compiler
from fabricd.daemon.compiling.declared import SurfaceKeeper
from fabricd.daemon.compiling.grace import GraceQueue
from fabricd.daemon.compiling.lexicon import Lexicon
from fabricd.daemon.context.attendant import Attendant
from fabricd.daemon.health import Health
from fabricd.daemon.liveness.heartbeat import Heartbeat
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.daemon.telemetry.counters import Counters
from fabricd.daemon.telemetry.logging import lines_lost
from fabricd.ipc.broadcast import Broadcast
from fabricd.ipc.places import Places
from fabricd.ipc.protocol import NoParams
from fabricd.ipc.server import Method

_DESCRIPTORS = ("/proc/self/fd", "/dev/fd")


@dataclass(frozen=True)
class Metering:
    """Answers `metrics`. `started` is when the daemon began, on its monotonic clock."""

    clock: Clock
    started: float
    counters: Counters
    heartbeat: Heartbeat
    books: Books
    keeper: SurfaceKeeper
    lexicon: Lexicon
    tailer: Tailer
    compiler: Compiler
    grace: GraceQueue
    health: Health
    places: Places
    broadcast: Broadcast
    worker: Attendant | None = None

    def methods(self) -> Mapping[str, Method]:
        """The method by its name."""
        return {"metrics": Method(NoParams, self.metrics)}

    async def metrics(self, _: NoParams) -> bytes:
        """Counters and gauges, as plain numbers."""
        counters = {**msgspec.to_builtins(self.counters), "logLinesLost": lines_lost()}
        return orjson.dumps({"counters": counters, "gauges": await self._gauges()})

    async def _gauges(self) -> dict[str, int | float | None]:
        report = await self.books.report(self.lexicon.catalog(self.keeper.catalog))
        files = self.tailer.files
        return {
            "uptimeSeconds": round(self.clock.monotonic() - self.started, 3),
            "residentBytes": rss_bytes(),
            "openDescriptors": _open_descriptors(),
            "loopLagSeconds": round(self.heartbeat.largest_lag, 6),
            "knownFiles": files.known,
            "windowFiles": files.window,
            "windowBytes": files.bytes,
            "windowBehindBytes": files.behind,
            "score": report.score,
            "actionOperations": report.totals.action_operations,
            "invocationRejections": report.totals.invocation_rejections,
            "plans": self.compiler.artifact.plans,
            "degraded": len(self.health.ailments),
            "compilesPending": int(self.grace.is_pending),
            "repairsOwed": self.lexicon.owes,
            "connections": len(self.places),
            "heldBytes": self.places.held,
            "subscribers": self.broadcast.subscribers,
            "longestQueue": self.broadcast.longest_queue,
            "contextWorkerBytes": (self.worker and self.worker.rss_bytes) or 0,
        }


def _open_descriptors() -> int | None:
    """How many this process has open, the one that looks included; None where it is not told."""
    for directory in _DESCRIPTORS:
        try:
            return len(os.listdir(directory))
        except OSError:
            continue
    return None
