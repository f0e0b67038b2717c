"""One compile: measure the window, derive from the live surface, pass the gate, keep it."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import METRIC_VERSION, Artifact, fresh
from fabricd.core.compiling.gate import Cost, GateVerdict
from fabricd.core.entropy.signals import Signal, line_of, review_key
from fabricd.core.model import Surface
from fabricd.core.notices import compiled_notice, review_notice
from fabricd.core.repairs import Row
from fabricd.daemon.clock import Clock
from fabricd.daemon.compiling.declared import Declared, SurfaceKeeper
from fabricd.daemon.compiling.formkeeper import FormKeeper
from fabricd.daemon.compiling.gatekeeper import Gatekeeper
from fabricd.daemon.compiling.lexicon import Lexicon
from fabricd.daemon.compiling.locked import locked
from fabricd.daemon.compiling.patience import Patience
from fabricd.daemon.compiling.poolkeeper import Kept, PoolKeeper
from fabricd.daemon.compiling.reviewer import Reviewer
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.telemetry.events import Telemetry
from fabricd.store import artifacts
from fabricd.store.artifacts import DamagedArtifact
from fabricd.store.durable import Damaged, Load, Loaded, Missing, shown
from fabricd.store.homes import Homes
from fabricd.store.pilock import PiLockBusy

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
_RETRIED = frozenset({"locked", "failed"})
# A surface without actions makes every called one a suggestion: an event names the first.
_LINES = 64


class Finished(Struct, frozen=True):
    """How a compile ended. `reason` is there where nothing could be kept.

    `pool` says how the observation pool fared beside it, where it did not fare well.
    """

    outcome: Outcome
    reason: str | None = None
    pool: Literal["damaged", "locked", "failed"] | None = None

    @property
    def is_retried(self) -> bool:
        """Whether trying again by itself may help."""
        return self.outcome in _RETRIED or self.pool in _RETRIED


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
        pool: PoolKeeper,
        reviewer: Reviewer,
        lexicon: Lexicon,
        health: Health,
        telemetry: Telemetry,
        clock: Clock,
        enabled: bool,
    ) -> None:
        self._homes = homes
        self._books = books
        self._keeper = keeper
        self._pool = pool
        self._reviewer = reviewer
        self._lexicon = lexicon
        self._health = health
        self._telemetry = telemetry
        self._clock = clock
        self._enabled = enabled
        self._gatekeeper = Gatekeeper()
        self._forms = FormKeeper(homes.normal_forms, health)
        self._patience = Patience("artifact", homes.compiled_lock, health)
        self._lock = anyio.Lock()
        self._told_reasons: set[frozenset[tuple[Cost, str]]] = set()
        self._told_reviews: set[str] = set()
        self._saved: Artifact | None = None
        self.last: Finished | None = None
        self.artifact = ArtifactView("missing")

    @property
    def is_blocked(self) -> bool:
        """Whether a file was in the way of the last compile, of its pool or of its plans."""
        pool_is = self.last is not None and self.last.pool == "damaged"
        return pool_is or self.artifact.state == "damaged" or self._forms.is_owed

    @property
    def is_enabled(self) -> bool:
        """Whether artifacts are compiled at all, or only measured."""
        return self._enabled

    async def start(self) -> None:
        """See what artifact is there before the first compile."""
        load = await anyio.to_thread.run_sync(artifacts.load, self._homes.compiled)
        self.artifact = _view(load)
        self._saved = load.value if isinstance(load, Loaded) else None
        self._report_damage(load)

    async def compile(self) -> Finished:
        """Compile the window as it is now."""
        async with self._lock:
            started = self._clock.monotonic()
            try:
                finished, fields = await self._attempt(started)
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

    async def _attempt(self, started: float) -> tuple[Finished, dict[str, object]]:
        if self.artifact.state == "damaged":
            # Somebody may have moved it away, and there may be nothing to write in its place.
            await self.start()
        await self._keeper.refresh()
        await self._lexicon.refresh(self._keeper.surface)
        report = await self._books.report(self._lexicon.catalog(self._keeper.catalog))
        fields: dict[str, object] = {
            "score": report.score,
            "operations": report.totals.action_operations,
        }
        if not self._enabled:
            return Finished("disabled", "entropy.compile is false"), fields
        pooled = await self._pooled()
        signals = await self._reviewer.review()
        self._tell_review(signals)
        finished = await self._from_surface(report.score, started, fields)
        return _beside(finished, pooled), fields

    async def _pooled(self) -> Kept:
        try:
            return await self._pool.update(await self._books.audit_spans())
        except Exception as error:
            # A border: the pool is advice, and whatever ails it must not hold up an artifact.
            cure = "it is tried again by itself; please report it with the log"
            self._health.degrade("pool", f"{type(error).__name__}: {error}", cure)
            self._telemetry.compile_failed(error)
            return "failed"

    async def _from_surface(
        self, score: float, started: float, fields: dict[str, object]
    ) -> Finished:
        match self._keeper.load:
            case Missing():
                return Finished("no_surface", "no surface has been exported yet")
            case Damaged(reason=reason):
                return Finished("surface_damaged", reason)
            case Loaded(value=declared):
                fields["plans"] = len(declared.plans.plans)
                return await self._gate_and_keep(declared, score, started, fields)

    def _tell_review(self, signals: tuple[Signal, ...]) -> None:
        key = digest(review_key(signals))
        if signals and key not in self._told_reviews:
            self._told_reviews.add(key)
            lines = [line_of(signal) for signal in signals[:_LINES]]
            self._telemetry.review(review_notice(signals), lines, key)

    async def _gate_and_keep(
        self, declared: Declared, score: float, started: float, fields: dict[str, object]
    ) -> Finished:
        verdict = await self._gatekeeper.judge(declared, await self._books.audit_spans())
        await self._learn(declared.surface)
        fields["replayed"] = verdict.replayed
        fields["notReplayed"] = verdict.not_replayed
        if not verdict.passed:
            return self._refuse(verdict)
        artifact = fresh(declared.plans.plans, declared.evidence_digest, score)
        finished = await self._keep(artifact)
        if finished.reason is None:
            self.artifact = ArtifactView("loaded", len(artifact.plans))
            if finished.outcome == "written":
                await self._tell_compiled(artifact, started)
            self._saved = artifact
            await self._forms.keep(declared.surface)
        return finished

    async def _learn(self, surface: Surface) -> None:
        actions = await self._books.unresolved(surface)
        # Taken last: nothing may end this task between that and the lexicon's owing them.
        aliases: list[Row] = [*self._gatekeeper.take_learned(), *actions]
        await self._lexicon.learn(aliases, surface)

    async def _tell_compiled(self, artifact: Artifact, started: float) -> None:
        """Told where plans changed or the score is better: anything else is no news."""
        before = self._saved
        score = _comparable(before)
        after = artifact.gate.after_score
        same_plans = before is not None and before.plans == artifact.plans
        if same_plans and (score is None or after >= score):
            return
        seconds = self._clock.monotonic() - started
        suggestions = len(await self._reviewer.review())
        notice = compiled_notice(seconds, len(artifact.plans), score, after, suggestions)
        fields = {
            "seconds": round(seconds, 6),
            "targets": [plan.ref for plan in artifact.plans],
            "before": score,
            "after": after,
            "suggestions": suggestions,
        }
        self._telemetry.compiled(notice, fields)

    def _refuse(self, verdict: GateVerdict) -> Finished:
        reasons = verdict.reasons()
        # More calls that say the same are no news.
        if (key := frozenset(verdict.costs)) not in self._told_reasons:
            self._told_reasons.add(key)
            self._telemetry.gate_rejected(reasons)
        reason = "; ".join(reasons)
        self.artifact = ArtifactView("refused", self.artifact.plans, reason)
        return Finished("refused", reason)

    async def _keep(self, artifact: Artifact) -> Finished:
        """Save under the lock that a running Pi honours too."""
        try:
            async with locked(self._homes.compiled_lock):
                path = self._homes.compiled
                saved = await anyio.to_thread.run_sync(artifacts.save, path, artifact)
        except PiLockBusy as error:
            self._patience.busy(self._clock.monotonic())
            return Finished("locked", str(error))
        except DamagedArtifact as error:
            self._report_damage(error.damage)
            self.artifact = ArtifactView("damaged", 0, error.damage.reason)
            return Finished("artifact_damaged", error.damage.reason)
        except OSError as error:
            return self._failed(error)
        self._patience.over()
        self._health.recover("artifact")
        return Finished(saved)

    def _failed(self, error: OSError) -> Finished:
        reason = error.strerror or str(error)
        cure = "free space or mend the permissions; it is tried again by itself"
        where = shown(self._homes.compiled)
        self._health.degrade("artifact", f"{where} could not be written: {reason}", cure)
        return Finished("failed", reason)

    def _report_damage(self, load: Load[Artifact]) -> None:
        match load:
            case Damaged() as damage:
                self._health.degrade("artifact", damage.reason, damage.cure)
            case Loaded() | Missing():
                self._health.recover("artifact")


def _comparable(artifact: Artifact | None) -> float | None:
    """The score of an earlier artifact, where it was measured as ours is."""
    if artifact is None or artifact.version != 2 or artifact.metric_version != METRIC_VERSION:
        return None
    return artifact.gate.after_score


def _beside(finished: Finished, pooled: Kept) -> Finished:
    return finished if pooled == "kept" else structs.replace(finished, pool=pooled)


def _view(load: Load[Artifact]) -> ArtifactView:
    match load:
        case Loaded(value=artifact):
            return ArtifactView("loaded", len(artifact.plans))
        case Missing():
            return ArtifactView("missing")
        case Damaged(reason=reason):
            return ArtifactView("damaged", 0, reason)
