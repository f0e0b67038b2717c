"""A study from its sessions to its figures: propose from some, hold against the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from fabricd.core.canonical import digest, string_text
from fabricd.core.compiling.artifact import MAX_APPLIED, Applied, Artifact, Gate
from fabricd.core.entropy.freedom import freedom_steps
from fabricd.core.entropy.lab.judging import Judge, judged_steps, judges_of
from fabricd.core.entropy.lab.metric import METRIC_VERSION, restated
from fabricd.core.entropy.lab.observations import Observations, enum_targets, observe_steps
from fabricd.core.entropy.lab.preservation import GateStudy, gated
from fabricd.core.entropy.lab.proposals import (
    EnumTighten,
    NoiseQuarantine,
    Proposal,
    quarantines,
    renames,
    tightenings,
)
from fabricd.core.entropy.lab.renaming import rename_bills_steps
from fabricd.core.entropy.lab.restriction import effective_steps, overlays_of, quarantined_of
from fabricd.core.entropy.lab.trial import Bill, Trial, bills, tried
from fabricd.core.entropy.meter import Catalog, Report, report_steps
from fabricd.core.evidence import Evidence
from fabricd.core.model import Surface
from fabricd.core.repairs import Row
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import Steps


class Part(Struct, frozen=True):
    """Some sessions: their evidence, and their recordings, which may be asked for several times."""

    evidence: Evidence
    recordings: Iterable[Recording]


class Priced(Struct, frozen=True):
    """A proposal, and what it would do to held-out calls."""

    proposal: Proposal
    bill: Bill


class Study(Struct, frozen=True):
    """What a study found. `from_audits`: whether values were observed verbatim or projected."""

    proposals: tuple[Priced, ...]
    gate: GateStudy
    trial: Trial
    artifact: Artifact
    from_audits: bool


class _Bench(Struct, frozen=True):
    """The live surface and the restricted one, each with what it contributes to a report."""

    live: Surface
    catalog: Catalog
    effective: Surface
    restricted: Catalog
    judges: dict[str, Judge]


def study_steps(
    surface: Surface,
    catalog: Catalog,
    rows: Iterable[Row],
    proposing: Part,
    held_out: Part,
) -> Steps[Study]:
    """Propose from one part, gate there, try on the other. Nothing that is found is applied.

    Args:
        catalog: what the surface and the repair rows contribute to a report.
        rows: the repair rows themselves.
    """
    before = yield from report_steps(proposing.evidence, catalog)
    targets = enum_targets(surface)
    observed = yield from observe_steps(proposing.recordings, targets)
    ranked = restated(before, {})
    enums = tightenings(observed, targets, surface)
    noise = quarantines(ranked, surface)
    names = renames(rows, ranked, surface)
    entries = Artifact(
        version=1,
        metric_version=METRIC_VERSION,
        plans=(),
        applied=_ledger(enums, noise),
        gate=Gate(False, 0.0, 0.0),
        evidence_digest="",
        overlays=overlays_of(surface, enums),
        quarantined=quarantined_of(surface, noise),
    )
    bench = yield from _bench(surface, catalog, entries, (*enums, *noise))
    gate = yield from _gate(proposing, before, bench)
    trial, priced = yield from _trial(held_out, bench, len(enums) + len(noise))
    renamed = yield from rename_bills_steps(held_out.recordings, names)
    artifact = structs.replace(
        entries,
        gate=Gate(gate.passed, gate.before_score, gate.after_score, gate.reasons),
        evidence_digest=_evidence_digest(before, bench, observed),
    )
    proposals: tuple[Proposal, ...] = (*enums, *noise, *names)
    return Study(
        tuple(map(Priced, proposals, (*priced, *renamed))),
        gate,
        trial,
        artifact,
        observed.from_audits,
    )


def _ledger(enums: Iterable[EnumTighten], noise: Iterable[NoiseQuarantine]) -> tuple[Applied, ...]:
    rows = [
        Applied(
            "enum-tighten",
            row.ref,
            f"kept {len(row.values)} of {row.declared} members of {string_text(row.key)}",
        )
        for row in enums
    ]
    rows += [
        Applied("noise-quarantine", row.ref, f"removed: {row.failed} of {row.calls} calls failed")
        for row in noise
    ]
    once = {f"{row.kind}:{row.ref}:{row.detail}": row for row in rows}
    return tuple(once.values())[:MAX_APPLIED]


def _bench(
    surface: Surface,
    catalog: Catalog,
    artifact: Artifact,
    proposals: Sequence[EnumTighten | NoiseQuarantine],
) -> Steps[_Bench]:
    effective = yield from effective_steps(surface, artifact)
    freedom = yield from freedom_steps(effective)
    restricted = structs.replace(catalog, digest=effective.digest, freedom=freedom)
    judges = judges_of(surface, effective, proposals)
    return _Bench(surface, catalog, effective, restricted, judges)


def _gate(proposing: Part, before: Report, bench: _Bench) -> Steps[GateStudy]:
    after = yield from report_steps(proposing.evidence, bench.restricted)
    judged = yield from judged_steps(proposing.recordings, bench.live, bench.judges)
    return gated(before, after, judged, bench.judges)


def _trial(held_out: Part, bench: _Bench, proposals: int) -> Steps[tuple[Trial, tuple[Bill, ...]]]:
    declared = yield from report_steps(held_out.evidence, bench.catalog)
    effective = yield from report_steps(held_out.evidence, bench.restricted)
    judged = yield from judged_steps(held_out.recordings, bench.live, bench.judges)
    trial = tried(declared, effective, judged, bench.judges)
    return trial, bills(judged, bench.judges, proposals)


def _evidence_digest(before: Report, bench: _Bench, observed: Observations) -> str:
    """The digest of what an artifact of version 1 rests on; its surface is the restricted one."""
    return digest(
        {
            "traces": before.totals.traces,
            "operations": before.totals.operations,
            "succeeded": before.totals.succeeded,
            "failed": before.totals.failed,
            "surface": bench.effective.digest,
            "repairs": before.lexicon_rows,
            "valueObservations": observed.values_digest,
            "auditCalls": observed.calls_digest,
        }
    )
