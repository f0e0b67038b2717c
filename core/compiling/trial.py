"""The trial: recorded calls replayed through proven plans, before a judge of their own.

Samples are audit calls, which hold arguments as the model sent them. A trace operation is one
only where its ref has no audit anywhere: traces keep few arguments, and those cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from fabricd.core.compiling.artifact import MAX_PLANS
from fabricd.core.compiling.compile import ordered_actions
from fabricd.core.compiling.gate import ACCEPTED, REJECTED, Cost, Trialled, Weighed
from fabricd.core.compiling.verdict import (
    CostRow,
    Coverage,
    Divergence,
    Gap,
    Plans,
    Remark,
    Totals,
    Trial,
    Verdict,
)
from fabricd.core.entropy.meter import ratio
from fabricd.core.javascript import utf16_key
from fabricd.core.model import REJECTING_STAGES, AuditCall, Operation, Plan, Surface
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import ACTIONS, REPLAYS, Steps
from fabricd.core.validation import Unjudgeable, Validator

_NAVIGATION = ("fabric.discovery.", "fabric.workflow.")


class _Tally(Struct):
    """The samples of one action from one source: its audits or its trace operations."""

    samples: int = 0
    accepted: int = 0
    wins: int = 0
    costs: dict[Cost, int] = field(default_factory=dict[Cost, int])

    def add(self, weighed: Weighed) -> None:
        self.samples += 1
        # Almost all samples give one of the two shared answers.
        if weighed is ACCEPTED:
            self.accepted += 1
        elif weighed is not REJECTED:
            self.accepted += weighed.accepted
            self.wins += weighed.repaired and weighed.accepted_after
            for cost in weighed.costs:
                self.costs[cost] = self.costs.get(cost, 0) + 1


class _Subject:
    """A declared action on trial. Its judge is built when the first sample comes."""

    def __init__(self, ref: str, schema: object) -> None:
        self.ref = ref
        self.schema = schema
        self.normalizer: Normalizer | None = None
        self.not_judged: str | None = None
        self.operations = 0
        self.audited = _Tally()
        self.traced = _Tally()
        self.weigh: Callable[[dict[str, Any]], Weighed] = self._weigh_first

    @property
    def tally(self) -> _Tally:
        """The tally that counts: a single audit replaces all trace operations of its ref."""
        return self.audited if self.audited.samples else self.traced

    def _weigh_first(self, args: dict[str, Any]) -> Weighed:
        self.weigh = self._weigher()
        return self.weigh(args)

    def _weigher(self) -> Callable[[dict[str, Any]], Weighed]:
        try:
            judge = Validator(self.schema)
        except Unjudgeable as error:
            self.not_judged = error.reason
            return lambda _: REJECTED
        if self.normalizer is None:
            return lambda args: ACCEPTED if judge.accepts(args) else REJECTED
        return Trialled(self.normalizer, judge).weigh


class _Bench:
    """The subjects by ref, and what the traces say of the past."""

    def __init__(self, surface: Surface) -> None:
        # An action that declares no schema claims nothing that a call could be held to.
        self.subjects = {
            ref: _Subject(ref, schema)
            for ref, schema in surface.schema_of().items()
            if schema is not None and not ref.startswith(_NAVIGATION)
        }
        self.actions = 0
        self.rejections = 0

    def hear(self, calls: Sequence[AuditCall]) -> None:
        """Take audits for samples."""
        subjects = self.subjects
        for call in calls:
            subject = subjects.get(call.ref)
            if subject is not None:
                subject.audited.add(subject.weigh(call.args))

    def follow(self, operations: Sequence[Operation]) -> None:
        """Count what became of trace operations; those without audits are samples."""
        subjects = self.subjects
        for operation in operations:
            subject = subjects.get(operation.ref)
            if subject is not None:
                subject.operations += 1
                if not subject.audited.samples:
                    subject.traced.add(subject.weigh(operation.args))
            elif operation.ref.startswith(_NAVIGATION):
                continue
            self.actions += 1
            if operation.outcome == "failed":
                self.rejections += operation.failure_stage in REJECTING_STAGES


def trial_steps(
    recordings: Iterable[Recording], surface: Surface, plans: Iterable[Plan] | None
) -> Steps[Trial]:
    """Try plans on recordings, yielding between batches of replays.

    Args:
        plans: those of an artifact, of which the proven ones are tried; None for those that the
            surface itself derives.
    """
    bench = _Bench(surface)
    unproven: dict[str, str] = {}
    if plans is None:
        yield from _derive_steps(bench, surface)
    else:
        unproven = yield from _prove_steps(bench, plans)
    for recording in recordings:
        audits, operations = recording.audits, recording.trace.operations
        # Audits first: the operations that they replace need not be judged.
        for first in range(0, len(audits), REPLAYS):
            bench.hear(audits[first : first + REPLAYS])
            yield
        for first in range(0, len(operations), REPLAYS):
            bench.follow(operations[first : first + REPLAYS])
            yield
    return _outcome(bench, unproven)


def _derive_steps(bench: _Bench, surface: Surface) -> Steps[None]:
    """Give each subject the plan that its schema derives, where it derives one."""
    actions = ordered_actions(surface)[:MAX_PLANS]
    for index, action in enumerate(actions, start=1):
        subject = bench.subjects.get(action.ref)
        if subject is not None:
            normalizer = Normalizer(subject.ref, subject.schema)
            subject.normalizer = None if normalizer.plan is None else normalizer
        if index % ACTIONS == 0:
            yield


def _prove_steps(bench: _Bench, plans: Iterable[Plan]) -> Steps[dict[str, str]]:
    """Give each subject its proven plan; the refs of the others with the reason."""
    unproven: dict[str, str] = {}
    for index, plan in enumerate(plans, start=1):
        subject = bench.subjects.get(plan.ref)
        if subject is None:
            unproven[plan.ref] = "the surface declares no schema for it"
        else:
            normalizer = Normalizer(subject.ref, subject.schema, plan)
            if normalizer.plan is not None:
                subject.normalizer = normalizer
            elif normalizer.reason is not None:
                unproven[plan.ref] = normalizer.reason
        if index % ACTIONS == 0:
            yield
    return unproven


def _outcome(bench: _Bench, unproven: dict[str, str]) -> Trial:
    subjects = sorted(bench.subjects.values(), key=lambda subject: utf16_key(subject.ref))
    tried = [subject for subject in subjects if subject.tally.samples]
    costs = tuple(row for subject in tried for row in _costs(subject))
    plans = _plans(subjects, {ref: unproven[ref] for ref in sorted(unproven, key=utf16_key)})
    score = ratio(bench.rejections, bench.actions)
    return Trial(
        verdict=_verdict(costs, plans),
        declared_score=score,
        effective_score=score,
        delta=0,
        totals=_totals(tried),
        divergences=tuple(row for subject in tried for row in _divergences(subject)),
        costs=costs,
        coverage=_coverage(tried),
        plans=plans,
        not_judged=tuple(
            Remark(subject.ref, subject.tally.samples, subject.not_judged)
            for subject in tried
            if subject.not_judged is not None
        ),
    )


def _verdict(costs: Sequence[CostRow], plans: Plans) -> Verdict:
    if costs:
        return "costly"
    return "clean" if plans.operations else "no-evidence"


def _totals(tried: Sequence[_Subject]) -> Totals:
    tallies = [subject.tally for subject in tried]
    costs = [tally.costs for tally in tallies]
    operations = sum(tally.samples for tally in tallies)
    accepted = sum(tally.accepted for tally in tallies)
    wins = sum(tally.wins for tally in tallies)
    tightening = sum(found.get("tightening", 0) for found in costs)
    return Totals(
        operations=operations,
        both_accept=accepted - tightening,
        both_reject=operations - accepted - wins,
        normalization_win=wins,
        canonical_identity_checks=accepted,
        canonical_identity_cost=sum(found.get("identity", 0) for found in costs),
        idempotence_cost=sum(found.get("idempotence", 0) for found in costs),
        tightening_cost=tightening,
    )


def _divergences(subject: _Subject) -> list[Divergence]:
    wins, tightening = subject.tally.wins, subject.tally.costs.get("tightening", 0)
    found: list[Divergence] = []
    if wins:
        found.append(Divergence(subject.ref, "normalization-win", wins))
    if tightening:
        found.append(Divergence(subject.ref, "tightening-cost", tightening))
    return found


def _costs(subject: _Subject) -> list[CostRow]:
    counts = sorted(subject.tally.costs.items())
    return [CostRow(subject.ref, cost, count) for cost, count in counts]


def _coverage(tried: Sequence[_Subject]) -> Coverage:
    replaced = [subject for subject in tried if subject.audited.samples]
    gaps = tuple(
        Gap(subject.ref, operations, audits, operations - audits)
        for subject in replaced
        if (operations := subject.operations) > (audits := subject.audited.samples)
    )
    return Coverage(
        replaced_operations=sum(subject.operations for subject in replaced),
        not_replayable=sum(gap.not_replayable for gap in gaps),
        refs=gaps,
    )


def _plans(subjects: Sequence[_Subject], unproven: dict[str, str]) -> Plans:
    samples = {subject.ref: subject.tally.samples for subject in subjects}
    proven = [subject for subject in subjects if subject.normalizer is not None]
    met = [samples[subject.ref] for subject in proven if samples[subject.ref]]
    return Plans(
        proven=len(proven),
        used=len(met),
        operations=sum(met),
        unproven=tuple(Remark(ref, samples.get(ref, 0), why) for ref, why in unproven.items()),
    )
