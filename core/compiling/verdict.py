"""What a trial says: verdict, counts, and what could not be tried."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from fabricd.core.canonical import as_given, text
from fabricd.core.compiling.gate import Cost

Verdict: TypeAlias = Literal["clean", "costly", "no-evidence"]


class Totals(Struct, frozen=True, gc=False, rename="camel"):
    """Counts over all samples. The last three are always 0: nothing is ever restricted."""

    operations: int
    both_accept: int
    both_reject: int
    normalization_win: int
    canonical_identity_checks: int
    canonical_identity_cost: int
    idempotence_cost: int
    tightening_cost: int
    typed_failure_win: Literal[0] = 0
    quarantine_win: Literal[0] = 0
    quarantine_cost: Literal[0] = 0


class Divergence(Struct, frozen=True, gc=False, rename="camel"):
    """Samples of one action that are judged otherwise after the plan than before."""

    ref: str
    trial_class: Literal["normalization-win", "tightening-cost"]
    count: int


class CostRow(Struct, frozen=True, gc=False):
    """What speaks against the plan of one action, and how often."""

    ref: str
    cost: Cost
    count: int


class Gap(Struct, frozen=True, gc=False, rename="camel"):
    """An action with fewer audits than the trace operations that they replace."""

    ref: str
    operations: int
    audits: int
    not_replayable: int


class Coverage(Struct, frozen=True, rename="camel"):
    """How many trace operations audits stand for, and how many of those have no audit."""

    replaced_operations: int
    not_replayable: int
    refs: tuple[Gap, ...]


class Remark(Struct, frozen=True, gc=False):
    """An action that took no part as it should, its samples, and why."""

    ref: str
    operations: int
    reason: str


class Plans(Struct, frozen=True):
    """The plans on trial: proven ones, those that met a sample, and how many samples they met.

    `unproven` are given plans that the live surface does not derive: they were left out.
    """

    proven: int
    used: int
    operations: int
    unproven: tuple[Remark, ...]


class Trial(Struct, frozen=True, rename="camel"):
    """The outcome, in the order of its JSON members.

    Both scores are the historical rejection rate of the traces. `not_judged` are actions whose
    schema no validator compiles, so that it accepts none of their samples.
    """

    verdict: Verdict
    declared_score: float
    effective_score: float
    delta: Literal[0]
    totals: Totals
    divergences: tuple[Divergence, ...]
    costs: tuple[CostRow, ...]
    coverage: Coverage
    plans: Plans
    not_judged: tuple[Remark, ...]


def trial_value(trial: Trial) -> dict[str, Any]:
    """The outcome as plain values, members in print order."""
    value: dict[str, Any] = msgspec.to_builtins(trial)
    return value


def trial_text(trial: Trial) -> str:
    """The outcome as compact JSON."""
    return text(trial_value(trial), as_given)
