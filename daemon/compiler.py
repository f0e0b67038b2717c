"""One compile: measure the window, derive from the live surface, pass the gate, keep it."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import anyio
import anyio.to_thread
from msgspec import Struct

from fabricd.core.compiling.artifact import Artifact, fresh
from fabricd.core.compiling.gate import GateVerdict
from fabricd.daemon.books import Books
from fabricd.daemon.clock import Clock
from fabricd.daemon.declared import Declared, SurfaceKeeper
from fabricd.daemon.gatekeeper import Gatekeeper
from fabricd.daemon.health import Health
from fabricd.daemon.telemetry import Telemetry
from fabricd.store import artifacts
from fabricd.store.artifacts import DamagedArtifact
from fabricd.store.durable import Damaged, Load, Loaded, Missing
from fabricd.store.homes import Homes
from fabricd.store.pilock import PiLock, PiLockBusy

Outcome: TypeAlias = Literal[
    "written",
    "already_written",
    "refused",
    "no_surface",
    "surface_damaged",
    "artifact_damaged",
    "disabled",
    "locked",
    "failed",
]
RETRIED: frozenset[Outcome] = frozenset({"locked", "failed"})

_LOCK_ATTEMPTS = 50
_LOCK_PAUSE = 0.005


class Finished(Struct, frozen=True):
    """How a compile ended. `reason` is there where nothing could be kept."""

    outcome: Outcome
    reason: str | None = None


class ArtifactView(Struct, frozen=True):
    """The artifact as `status` shows it."""

    state: Literal["loaded", "missing", "damaged", "refused"]
    plans: int = 0
    reason: str | None = None


class Compile(Protocol):
    """What the grace queue drives."""

    async def compile(self) -> Finished:
        """Compile once."""
        ...


class Compiler:
    """Compiles on demand, one at a time; remembers how the last one ended."""

    def __init__(
        self,
        homes: Homes,
        books: Books,
        keeper: SurfaceKeeper,
        health: Health,
        telemetry: Telemetry,
        clock: Clock,
        enabled: bool,
    ) -> None:
        self._homes = homes
        self._books = books
        self._keeper = keeper
        self._health = health
        self._telemetry = telemetry
        self._clock = clock
        self._enabled = enabled
        self._gatekeeper = Gatekeeper()
        self._lock = anyio.Lock()
        self._told_reasons: set[tuple[str, ...]] = set()
        self.last: Finished | None = None
        self.artifact = ArtifactView("missing")

    async def start(self) -> None:
        """See what artifact is there before the first compile."""
        load = await anyio.to_thread.run_sync(artifacts.load, self._homes.compiled)
        self.artifact = _view(load)
        self._report_damage(load)

    async def compile(self) -> Finished:
        """Compile the window as it is now."""
        async with self._lock:
            started = self._clock.monotonic()
            try:
                finished, fields = await self._attempt()
                self._health.recover("compile")
            except Exception as error:
                # A border: a compile that breaks must not end the daemon that reads the logs.
                reason = f"{type(error).__name__}: {error}"
                finished, fields = Finished("failed", reason), {}
                cure = "it is tried again by itself; please report it with the log"
                self._health.degrade("compile", reason, cure)
                self._telemetry.compile_failed(error)
            self.last = finished
            seconds = round(self._clock.monotonic() - started, 6)
            self._telemetry.compile_finished(
                {
                    "outcome": finished.outcome,
                    "reason": finished.reason,
                    "seconds": seconds,
                    **fields,
                }
            )
            return finished

    async def _attempt(self) -> tuple[Finished, dict[str, object]]:
        await self._keeper.refresh()
        report = await self._books.report(self._keeper.catalog)
        fields: dict[str, object] = {
            "score": report.score,
            "operations": report.totals.action_operations,
        }
        if not self._enabled:
            return Finished("disabled", "entropy.compile is false"), fields
        match self._keeper.load:
            case Missing():
                return Finished("no_surface", "no surface has been exported yet"), fields
            case Damaged(reason=reason):
                return Finished("surface_damaged", reason), fields
            case Loaded(value=declared):
                fields["plans"] = len(declared.plans.plans)
                return await self._gate_and_keep(declared, report.score, fields), fields

    async def _gate_and_keep(
        self, declared: Declared, score: float, fields: dict[str, object]
    ) -> Finished:
        verdict = await self._gatekeeper.judge(declared, await self._books.audit_spans())
        fields["replayed"] = verdict.replayed
        fields["notReplayed"] = verdict.not_replayed
        if not verdict.passed:
            return self._refuse(verdict)
        artifact = fresh(declared.plans.plans, declared.evidence_digest, score)
        finished = await self._keep(artifact)
        if finished.reason is None:
            self.artifact = ArtifactView("loaded", len(artifact.plans))
        return finished

    def _refuse(self, verdict: GateVerdict) -> Finished:
        reasons = verdict.reasons()
        if reasons not in self._told_reasons:
            self._told_reasons.add(reasons)
            self._telemetry.gate_rejected(reasons)
        reason = "; ".join(reasons)
        self.artifact = ArtifactView("refused", self.artifact.plans, reason)
        return Finished("refused", reason)

    async def _keep(self, artifact: Artifact) -> Finished:
        """Save under the locks that a running Pi honours too."""
        try:
            lock = await self._pi_lock()
        except PiLockBusy as error:
            return Finished("locked", str(error))
        except OSError as error:
            return self._failed(error)
        try:
            saved = await anyio.to_thread.run_sync(artifacts.save, self._homes.compiled, artifact)
        except DamagedArtifact as error:
            self._report_damage(error.damage)
            self.artifact = ArtifactView("damaged", 0, error.damage.reason)
            return Finished("artifact_damaged", error.damage.reason)
        except OSError as error:
            return self._failed(error)
        finally:
            if lock is not None:
                lock.release()
        self._health.recover("artifact")
        return Finished(saved)

    async def _pi_lock(self) -> PiLock | None:
        if not self._homes.is_pi_home:
            return None
        self._homes.entropy.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = PiLock(self._homes.entropy / "compiled.lock")
        for _ in range(_LOCK_ATTEMPTS):
            if lock.try_acquire():
                return lock
            await anyio.sleep(_LOCK_PAUSE)
        raise PiLockBusy(lock.path)

    def _failed(self, error: OSError) -> Finished:
        reason = error.strerror or str(error)
        cure = "free space or mend the permissions; it is tried again by itself"
        self._health.degrade("artifact", f"it could not be written: {reason}", cure)
        return Finished("failed", reason)

    def _report_damage(self, load: Load[Artifact]) -> None:
        match load:
            case Damaged() as damage:
                self._health.degrade("artifact", damage.reason, damage.cure)
            case Loaded() | Missing():
                self._health.recover("artifact")


def _view(load: Load[Artifact]) -> ArtifactView:
    match load:
        case Loaded(value=artifact):
            return ArtifactView("loaded", len(artifact.plans))
        case Missing():
            return ArtifactView("missing")
        case Damaged(reason=reason):
            return ArtifactView("damaged", 0, reason)
