"""The gate: what the window's real calls say of the plans before an artifact is accepted.

Derivation is proven by schema alone; the gate replays the calls that models really made. Any
change to an accepted call, any second change by a second application, and any repaired call that
the schema still rejects refuses the whole artifact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from fabricd.core.model import AuditCall, Plan, Surface
from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.core.steps import ACTIONS, REPLAYS, Steps
from fabricd.core.validation import Validator

Cost: TypeAlias = Literal["identity", "tightening", "acceptance", "witness", "idempotence"]

COSTS: Mapping[Cost, str] = {
    "identity": "accepted calls would change",
    "tightening": "accepted calls would be rejected",
    "acceptance": "repaired calls would still be rejected",
    "witness": "rejected calls would change without a witness",
    "idempotence": "repaired calls would change again",
}


class GateVerdict(Struct):
    """What a replay found. `costs` counts by (cost, ref).

    `not_replayed` are trace lines whose file vanished or shrank before they could be read again.
    """

    replayed: int = 0
    repaired: int = 0
    not_replayed: int = 0
    costs: dict[tuple[Cost, str], int] = field(default_factory=dict[tuple[Cost, str], int])

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the plans."""
        return not self.costs

    def reasons(self) -> tuple[str, ...]:
        """One sentence a cost and ref, in a fixed order."""
        return tuple(
            f"{cost}: {count} {COSTS[cost]} ({ref})"
            for (cost, ref), count in sorted(self.costs.items())
        )

    def add(self, more: GateVerdict) -> None:
        """Add the findings of another batch of calls."""
        self.replayed += more.replayed
        self.repaired += more.repaired
        self.not_replayed += more.not_replayed
        for key, count in more.costs.items():
            self.costs[key] = self.costs.get(key, 0) + count


class Trialled(Struct, frozen=True):
    """A plan on trial: what applies it, and a judge built from the live schema apart from it."""

    normalizer: Normalizer
    judge: Validator

    def weigh(self, args: dict[str, Any]) -> Weighed:
        """One call before and after its plan."""
        accepted = self.judge.accepts(args)
        applied = self.normalizer.apply(args)
        if applied.args is not args or applied.rules:
            return _weigh_touched(self, args, applied, accepted)
        # Untouched, so a second application would see the same call once more.
        return ACCEPTED if accepted else REJECTED


def trialled_steps(surface: Surface, plans: Iterable[Plan]) -> Steps[dict[str, Trialled]]:
    """Each plan with its judge, yielding between them."""
    schemas = surface.schema_of()
    built: dict[str, Trialled] = {}
    for plan in plans:
        schema = schemas[plan.ref]
        built[plan.ref] = Trialled(Normalizer(plan.ref, schema, plan), Validator(schema))
        if len(built) % ACTIONS == 0:
            yield
    return built


class Weighed(Struct, frozen=True, gc=False):
    """What a judge says of a call before and after its plan, and what speaks against the plan.

    `repaired` says that rules were applied to a call that was rejected before.
    """

    accepted: bool
    accepted_after: bool
    repaired: bool = False
    costs: tuple[Cost, ...] = ()


ACCEPTED = Weighed(True, True)
REJECTED = Weighed(False, False)
REPAIRED = Weighed(False, True, True)


def _weigh_touched(
    trialled: Trialled, args: dict[str, Any], applied: Applied, accepted: bool
) -> Weighed:
    after = trialled.judge.accepts(applied.args)
    again = trialled.normalizer.apply(dict(applied.args))
    repaired = bool(applied.rules) and not accepted
    if repaired and after and not again.rules:
        return REPAIRED
    costs: list[Cost] = ["identity"] if accepted else []
    if accepted and not after:
        costs.append("tightening")
    if repaired and not after:
        costs.append("acceptance")
    if not accepted and not repaired and applied.args != args:
        costs.append("witness")
    if again.rules:
        costs.append("idempotence")
    return Weighed(accepted, after, repaired, tuple(costs))


def cost_of(trialled: Trialled, call: AuditCall) -> tuple[Cost | None, bool]:
    """The first cost of one call, and whether it was repaired."""
    weighed = trialled.weigh(call.args)
    return next(iter(weighed.costs), None), weighed.repaired


def replay_steps(calls: Iterable[AuditCall], plans: Mapping[str, Trialled]) -> Steps[GateVerdict]:
    """Replay calls through the plans, yielding between batches. Refs without a plan are skipped."""
    verdict = GateVerdict()
    for call in calls:
        trialled = plans.get(call.ref)
        if trialled is None:
            continue
        cost, repaired = cost_of(trialled, call)
        verdict.replayed += 1
        verdict.repaired += repaired
        if cost is not None:
            key = (cost, call.ref)
            verdict.costs[key] = verdict.costs.get(key, 0) + 1
        if verdict.replayed % REPLAYS == 0:
            yield
    return verdict
