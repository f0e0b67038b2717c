"""The gate: what the window's real calls say of the plans before an artifact is accepted.

Derivation is proven by schema alone; the gate replays the calls that models really made. Any
change to an accepted call, any second change by a second application, and any repaired call that
the schema still rejects refuses the whole artifact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from fabricd.core.model import AuditCall, Plan, Surface
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.steps import ACTIONS, REPLAYS, Steps
from fabricd.core.validation import Validator

Cost: TypeAlias = Literal["identity", "idempotence", "acceptance"]

_WORDS: Mapping[Cost, str] = {
    "identity": "accepted calls would change",
    "idempotence": "repaired calls would change again",
    "acceptance": "repaired calls would still be rejected",
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
            f"{cost}: {count} {_WORDS[cost]} ({ref})"
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


def cost_of(trialled: Trialled, call: AuditCall) -> tuple[Cost | None, bool]:
    """The cost of one call, and whether it was repaired."""
    normalizer, judge = trialled.normalizer, trialled.judge
    accepted = judge.accepts(call.args)
    applied = normalizer.apply(call.args)
    if accepted:
        untouched = not applied.changed and applied.args is call.args
        return (None if untouched else "identity"), False
    if not applied.changed:
        return None, False
    if not judge.accepts(applied.args):
        return "acceptance", True
    again = normalizer.apply(dict(applied.args))
    return ("idempotence" if again.changed else None), True


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
