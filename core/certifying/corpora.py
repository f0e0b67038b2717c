"""Checks of a recorded corpus: what its sessions say, and what plans would have made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import floor
from typing import Any, NamedTuple

from msgspec import Struct

from fabricd.core.certifying.claims import Check, Claim, Claims
from fabricd.core.certifying.laws import Laws
from fabricd.core.compiling.artifact import Artifact
from fabricd.core.compiling.compile import Plans
from fabricd.core.compiling.verdict import Trial, trial_value
from fabricd.core.entropy.meter import WITHOUT_SURFACE, Catalog, Report, report_value
from fabricd.core.evidence import Evidence
from fabricd.core.model import Surface
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import REPLAYS, Steps

_NAVIGATION = ("fabric.discovery.", "fabric.workflow.")
_REFUSING = ("resolve", "prepare", "validate")


class Corpus(Struct, frozen=True):
    """Recorded sessions: how many logs were read and how many were not, and what they say.

    `recordings` walks the logs anew, by another way than the one that gave the evidence.
    """

    logs: int
    unread: int
    evidence: Evidence
    recordings: Callable[[], Iterator[Recording]]


class Counted(NamedTuple):
    """A corpus as its recordings count it."""

    traces: int
    operations: int
    actions: int
    refusals: int


class Examined(Struct, frozen=True):
    """A corpus with what was made of it. Surface, artifact and trial only where asked for.

    `samples` are the calls that a trial on the surface has to try, as the recordings count them.
    """

    corpus: Corpus
    report: Report
    counted: Counted
    samples: int
    surface: Surface | None
    plans: Plans | None
    artifact: Artifact | None
    trial: Trial | None


def examine_steps(
    laws: Laws, corpus: Corpus, surface: Surface | None, artifact: Artifact | None, tried: bool
) -> Steps[Examined]:
    """Measure a corpus, count it once more and, where `tried`, try plans on it.

    Tried are the plans of the artifact, or without one those that the surface derives.
    """
    catalog = Catalog(WITHOUT_SURFACE)
    if surface is not None:
        catalog = Catalog(surface.digest, laws.freedom(surface))
    report = laws.measure(corpus.evidence, catalog)
    counted = yield from _count_steps(corpus)
    samples = 0
    if tried and surface is not None:
        samples = yield from _samples_steps(corpus, surface)
    plans = None if surface is None else laws.plans(surface)
    trial: Trial | None = None
    if tried and surface is not None:
        given = None if artifact is None else artifact.plans
        trial = yield from laws.trial(corpus.recordings(), surface, given)
    return Examined(corpus, report, counted, samples, surface, plans, artifact, trial)


def _count_steps(corpus: Corpus) -> Steps[Counted]:
    traces = operations = actions = refusals = 0
    for recording in corpus.recordings():
        traces += 1
        operations += len(recording.trace.operations)
        for operation in recording.trace.operations:
            if not operation.ref.startswith(_NAVIGATION):
                actions += 1
                if operation.outcome == "failed" and operation.failure_stage in _REFUSING:
                    refusals += 1
        if traces % REPLAYS == 0:
            yield
    return Counted(traces, operations, actions, refusals)


def _samples_steps(corpus: Corpus, surface: Surface) -> Steps[int]:
    """The audits of each declared action, or its trace operations where it has no audit at all."""
    schemas = surface.schema_of().items()
    declared = {ref for ref, schema in schemas if schema is not None}
    audited: Counter[str] = Counter()
    traced: Counter[str] = Counter()
    for index, recording in enumerate(corpus.recordings(), start=1):
        audited.update(call.ref for call in recording.audits)
        traced.update(operation.ref for operation in recording.trace.operations)
        if index % REPLAYS == 0:
            yield
    return sum(audited[ref] or traced[ref] for ref in declared if not ref.startswith(_NAVIGATION))


def rate(counted: Counted) -> float:
    """Refusals by calls of actions, to six decimals, ties upwards."""
    if not counted.actions:
        return 0.0
    return floor(counted.refusals / counted.actions * 1e6 + 0.5) / 1e6


# --- the checks


def corpus_checks(laws: Laws, examined: Examined) -> tuple[Check, ...]:
    """The checks that apply to what was examined."""
    checks = [Check("corpus-mode", _corpus_words(examined), partial(_corpus, examined))]
    trial, artifact = examined.trial, examined.artifact
    if trial is not None:
        checks.append(Check("trial-mode", _trial_words(trial), partial(_trial, examined, trial)))
        if artifact is not None:
            claims = partial(_artifact, laws, examined, artifact, trial)
            checks.append(Check("artifact-mode", _artifact_words(artifact, trial), claims))
        checks.append(
            Check(
                "trial-costs", "no plan would have cost any call anything", partial(_costs, trial)
            )
        )
    return tuple(checks)


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _corpus_words(examined: Examined) -> str:
    counted = examined.counted
    return (
        f"{_many(examined.corpus.logs, 'log')}, {_many(counted.actions, 'call')}, "
        f"{counted.refusals:,} refused; both ways of reading them agree"
    )


def _corpus(examined: Examined) -> Claims:
    counted, totals = examined.counted, examined.report.totals
    yield Claim("that the corpus has operations", True, totals.operations > 0)
    yield Claim("logs that could not be read", 0, examined.corpus.unread)
    found = Counted(
        totals.traces, totals.operations, totals.action_operations, totals.invocation_rejections
    )
    yield Claim("traces, operations, calls of actions and refusals", counted, found)
    yield Claim("the score", rate(counted), examined.report.score)


def _trial_words(trial: Trial) -> str:
    totals = trial.totals
    return (
        f"{trial.verdict}: {_many(totals.operations, 'call')} tried, "
        f"{totals.normalization_win:,} repaired, {totals.both_reject:,} beyond repair"
    )


def _trial(examined: Examined, trial: Trial) -> Claims:
    totals = trial.totals
    yield Claim("that any call could be tried", True, totals.operations > 0)
    past = rate(examined.counted)
    yield Claim("the declared score", past, trial.declared_score)
    yield Claim("the effective score", past, trial.effective_score)
    yield Claim("calls that were tried", examined.samples, totals.operations)
    judged = totals.both_accept + totals.normalization_win + totals.both_reject
    judged += totals.tightening_cost
    yield Claim("calls with a verdict", examined.samples, judged)
    gained = (totals.quarantine_win, totals.typed_failure_win)
    yield Claim("wins of removals and of failures", (0, 0), gained)


def _artifact_words(artifact: Artifact, trial: Trial) -> str:
    if not artifact.plans:
        return "it holds no plans: nothing of it was tried"
    proven = f"{_many(len(artifact.plans), 'plan')}, each proven by the live surface"
    if not trial.plans.operations:
        return f"{proven}; no call met any of them"
    return f"{proven}; {_many(trial.plans.operations, 'call')} met them"


def _artifact(laws: Laws, examined: Examined, artifact: Artifact, trial: Trial) -> Claims:
    yield Claim("the version, of which 1 is inert and has no effect anywhere", 2, artifact.version)
    schemas = {} if examined.surface is None else examined.surface.schema_of()
    unproven: list[str] = []
    for plan in artifact.plans:
        if not laws.proves(plan, schemas.get(plan.ref)):
            unproven.append(plan.ref)
        yield None
    yield Claim("plans that the live surface does not prove", [], unproven)
    # What only looks around is not tried, whatever it declares.
    tried = [plan.ref for plan in artifact.plans if not plan.ref.startswith(_NAVIGATION)]
    left_out = [row.ref for row in trial.plans.unproven if row.ref in tried]
    yield Claim("plans that the trial left out", [], left_out)
    yield Claim("plans that the trial held for proven", len(tried), trial.plans.proven)


def _costs(trial: Trial) -> Claims:
    totals = trial.totals
    yield Claim("accepted calls that would be rejected", 0, totals.tightening_cost)
    yield Claim("calls of removed actions", 0, totals.quarantine_cost)
    yield Claim("accepted calls that would change", 0, totals.canonical_identity_cost)
    yield Claim("repaired calls that would change again", 0, totals.idempotence_cost)
    others = [[row.ref, row.cost, row.count] for row in trial.costs]
    yield Claim("everything that speaks against a plan", [], others)


# --- for the certificate


def corpus_value(laws: Laws, examined: Examined) -> dict[str, Any]:
    """What was examined, as members of a certificate. Nothing in it tells where a log lies."""
    corpus, totals, losses = (
        examined.corpus,
        examined.report.totals,
        examined.corpus.evidence.losses,
    )
    refused = corpus.evidence.refused
    value: dict[str, Any] = {
        "corpus": {
            "logs": corpus.logs,
            "unread": corpus.unread,
            "traces": totals.traces,
            "operations": totals.operations,
            "actionOperations": totals.action_operations,
            "invocationRejections": totals.invocation_rejections,
            "score": examined.report.score,
            "refusedTraces": {reason: refused[reason] for reason in sorted(refused)},
            "losses": {
                "badLines": losses.bad_lines,
                "gluedLines": losses.glued_lines,
                "overlongLines": losses.overlong_lines,
            },
            "reportDigest": laws.digest(report_value(examined.report)),
        }
    }
    surface, plans, artifact = examined.surface, examined.plans, examined.artifact
    if surface is not None and plans is not None:
        value["surface"] = {
            "digest": surface.digest,
            "actions": len(surface.actions),
            "plans": len(plans.plans),
            "rules": plans.rules,
            "withoutPlan": len(plans.without),
            "beyondLimit": plans.beyond_limit,
        }
    if artifact is not None:
        value["artifact"] = {
            "version": artifact.version,
            "plans": len(artifact.plans),
            "evidenceDigest": artifact.evidence_digest,
        }
    if examined.trial is not None:
        value["trial"] = trial_value(examined.trial)
    return value
