"""The gate of the earlier design: the score must not rise, and what worked must still work."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from fabricd.core.entropy.lab.judging import Judge, Judged
from fabricd.core.entropy.lab.metric import scores
from fabricd.core.entropy.meter import Report
from fabricd.core.javascript import sorted_by_units

CAVEAT = (
    "the score falls whenever the surface shrinks, since a schema with fewer members, or one "
    "action less, leaves less open, whether or not a single call gets better; and the successes "
    "are of calls that were made on the declared surface, which no rewrite can lower"
)


class Breach(Struct, frozen=True, gc=False, rename="camel"):
    """Calls of one action that worked and would be refused.

    `projected` of them rest on trace arguments that the declared schema refuses as well: what was
    left out of the trace may be all that is missing.
    """

    ref: str
    removed: bool
    audited: bool
    calls: int
    projected: int


class GateStudy(Struct, frozen=True, rename="camel"):
    """The gate's verdict over the proposing sessions.

    `exempt` are audited calls that the declared schema refuses as well.
    """

    passed: bool
    before_score: float
    after_score: float
    before_succeeded: int
    after_succeeded: int
    replayed: int
    exempt: int
    breaches: tuple[Breach, ...]
    reasons: tuple[str, ...]
    caveat: str = CAVEAT


def gated(before: Report, after: Report, judged: Judged, judges: Mapping[str, Judge]) -> GateStudy:
    """The verdict on a rewrite.

    Args:
        before, after: the metric-3 reports of the same calls on the live and the rewritten surface.
        judged: those calls before both schemas.
    """
    breaches: list[Breach] = []
    replayed = exempt = 0
    for ref in sorted_by_units(judged.by_ref):
        kinds = judged.by_ref[ref]
        audited = any(seen.outcome is None for seen in kinds)
        removed = judges[ref].effective is None
        refused = projected = 0
        for seen, calls in kinds.items():
            if seen.outcome is None and not seen.declared:
                exempt += calls
            elif seen.outcome in (None, "succeeded"):
                replayed += calls
                refused += 0 if seen.effective else calls
                projected += 0 if removed or seen.effective or seen.declared else calls
        if refused:
            breaches.append(Breach(ref, removed, audited, refused, projected))
    scored, rescored = scores(before).score, scores(after).score
    succeeded = before.totals.succeeded, after.totals.succeeded
    reasons = [*_monotone(scored, rescored, *succeeded), *map(_sentence, breaches)]
    return GateStudy(
        not reasons, scored, rescored, *succeeded, replayed, exempt, tuple(breaches), tuple(reasons)
    )


def _monotone(before: float, after: float, succeeded: int, still: int) -> list[str]:
    found: list[str] = []
    if after > before:
        found.append(f"score: it would rise from {before:.6f} to {after:.6f}")
    if still < succeeded:
        found.append(f"succeeded: it would drop from {succeeded} to {still}")
    return found


def _sentence(breach: Breach) -> str:
    what = "removal" if breach.removed else "tightening"
    whose = (
        "audited calls that the declared schema accepts" if breach.audited else "succeeded calls"
    )
    note = f", {breach.projected} of them by projected arguments" if breach.projected else ""
    return f"{what}: {breach.calls} {whose} would be refused{note} ({breach.ref})"
