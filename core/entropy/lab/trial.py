"""The held-out trial: what a restriction would have done to calls it was not proposed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from fabricd.core.entropy.lab.judging import Judge, Judged, Seen
from fabricd.core.entropy.lab.metric import scores
from fabricd.core.entropy.meter import Report
from fabricd.core.javascript import round6, utf16_key

Verdict: TypeAlias = Literal["no-evidence", "costly", "clean"]
Class: TypeAlias = Literal[
    "both-accept",
    "both-reject",
    "typed-failure-win",
    "quarantine-win",
    "quarantine-cost",
    "tightening-cost",
]
COSTS: frozenset[Class] = frozenset({"quarantine-cost", "tightening-cost"})
_SILENT: frozenset[Class] = frozenset({"both-accept", "both-reject"})


class TrialTotals(Struct, frozen=True, gc=False, rename="camel"):
    """Held-out samples by class. `operations` are all of them, `restricted` those of actions that
    the restriction touches; only these are judged."""

    operations: int
    restricted: int
    both_accept: int
    both_reject: int
    typed_failure_win: int
    quarantine_win: int
    quarantine_cost: int
    tightening_cost: int


class Divergence(Struct, frozen=True, gc=False, rename="camel"):
    """How often calls of one action fell into one class."""

    ref: str
    trial_class: Class
    count: int


class Bill(Struct, frozen=True, gc=False):
    """What one proposal by itself does to the held-out samples of its action."""

    samples: int
    wins: int
    costs: int


class Trial(Struct, frozen=True, rename="camel"):
    """The verdict. Both scores are metric 2 of the held-out calls, on either surface."""

    verdict: Verdict
    declared_score: float
    effective_score: float
    delta: float
    totals: TrialTotals
    divergences: tuple[Divergence, ...]


def class_of(seen: Seen, removed: bool) -> Class:
    """What a restriction does to a sample.

    A call that failed anyway is a win; a call that ended in any other way is a cost, and so is an
    audited one that the declared schema accepts, since nothing says how it ended. What the
    declared schema refuses too is neither, but for traces of removed actions: their outcome is
    known, and their arguments no longer matter.
    """
    if not removed and seen.effective:
        return "both-accept"
    if not seen.declared and not (removed and seen.outcome is not None):
        return "both-reject"
    if removed:
        return "quarantine-win" if seen.outcome == "failed" else "quarantine-cost"
    return "typed-failure-win" if seen.outcome == "failed" else "tightening-cost"


def _classed(judged: Judged, judges: Mapping[str, Judge]) -> Iterator[tuple[str, Seen, Class, int]]:
    for ref, kinds in judged.by_ref.items():
        removed = judges[ref].effective is None
        for seen, calls in kinds.items():
            yield ref, seen, class_of(seen, removed), calls


def tried(
    declared: Report, effective: Report, judged: Judged, judges: Mapping[str, Judge]
) -> Trial:
    """The trial's verdict from held-out samples; without a restriction or a sample of what it
    touches there is no evidence.

    Args:
        declared, effective: metric-3 reports of the held-out calls on the live surface and on the
            restricted one.
    """
    by_class: Counter[Class] = Counter()
    by_ref: Counter[tuple[str, Class]] = Counter()
    for ref, _, kind, calls in _classed(judged, judges):
        by_class[kind] += calls
        by_ref[ref, kind] += calls
    totals = TrialTotals(
        judged.samples,
        sum(by_class.values()),
        by_class["both-accept"],
        by_class["both-reject"],
        by_class["typed-failure-win"],
        by_class["quarantine-win"],
        by_class["quarantine-cost"],
        by_class["tightening-cost"],
    )
    verdict: Verdict = "clean" if totals.restricted else "no-evidence"
    if any(by_class[kind] for kind in COSTS):
        verdict = "costly"
    ranked = sorted(by_ref.items(), key=lambda item: (utf16_key(item[0][0]), item[0][1]))
    before, after = scores(declared).score, scores(effective).score
    return Trial(
        verdict,
        before,
        after,
        round6(after - before),
        totals,
        tuple(Divergence(ref, kind, n) for (ref, kind), n in ranked if kind not in _SILENT),
    )


def bills(judged: Judged, judges: Mapping[str, Judge], proposals: int) -> tuple[Bill, ...]:
    """A bill for each of the first `proposals` proposals that the judges know by number."""
    samples: Counter[int] = Counter()
    wins: Counter[int] = Counter()
    costs: Counter[int] = Counter()
    for ref, seen, kind, calls in _classed(judged, judges):
        for number, _ in judges[ref].alone:
            samples[number] += calls
        if kind not in _SILENT:
            for number in seen.by:
                (costs if kind in COSTS else wins)[number] += calls
    return tuple(Bill(samples[n], wins[n], costs[n]) for n in range(proposals))
