"""Broken laws, at least one for each check: what any good check would have to notice."""

from __future__ import annotations

from msgspec import structs

from fabricd.core.certifying.corpora import Corpus
from fabricd.core.certifying.laws import Laws
from fabricd.core.evidence import Evidence
from fabricd.daemon.offline.certifying import PROGRAM, Machine
from tests.core.certifying.broken_plans import (
    FirstOnly,
    Substituting,
    always_anew,
    claiming_gain,
    dated_artifact,
    digest_as_given,
    digest_by_code_unit,
    in_surface_order,
    merge_anything,
    merge_in_silence,
    merge_incoming_alone,
    never_anew,
    no_legacy,
    of_text,
    only_with_evidence,
    proves_by_digest,
    proves_by_rules,
    restricting,
    restrictions_in_force,
    trust_in_trial,
    with_compile,
    with_plans,
    without_nulls,
)
from tests.core.certifying.broken_reading import (
    adding,
    by_look,
    by_place,
    dated_report,
    deaf,
    forgetful,
    free,
    hoarding,
    in_writing_order,
    leaking,
    line_by_line,
    orphaned,
    projected,
    rising,
    trimmed,
    with_audits,
    with_measure,
    with_observed,
    with_recordings,
    with_scan,
    without_churn,
)
from tests.core.certifying.broken_repairs import (
    BY_HASH,
    BY_LOCALE,
    Choosing,
    Copying,
    Eager,
    Lossy,
    Restless,
    Unwitnessed,
    cost_rows,
    costly,
    derive_little,
    derive_through,
    half_tried,
    load_forgetful,
    missing_one,
    quiet,
    save_always,
    save_compactly,
    save_openly,
    trial_on,
    unwrapped,
    with_a_win,
    with_trial,
)

Mutation = Laws | Machine
LAWS = Laws()

MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    "metric-v3-exact": (
        with_measure(lambda r: {"score": r.totals.failed / 10, "behavioral_score": 0.4}),
        with_measure(lambda r: {"refs": r.refs[::-1]}),
        with_scan((b'"aborted"', b'"failed" ')),
        with_scan((b'"approve"', b'"prepare"')),
        with_scan((b"fabric.discovery.", b"fabric.look.about")),
        Laws(freedom=free),
        Laws(add=without_churn),
    ),
    "sample-count-invariance": (
        with_measure(lambda r: {"score": r.score / max(1, r.totals.succeeded)}),
        with_measure(lambda r: {"score": r.score * (1 - 0.1 / r.totals.traces)}),
    ),
    "diagnostics-not-objective": (
        with_measure(lambda r: {"score": r.score + 0.25 * r.static_freedom}),
        with_measure(lambda r: {"score": r.score + r.shape_entropy_bits}),
        with_measure(lambda r: {"shape_entropy_bits": 0, "churn_rate": 0}),
    ),
    "allfail-nonzero": (
        with_measure(lambda r: {"score": r.score if r.totals.succeeded else 0}),
        with_measure(lambda r: {"score": len(r.refs[0].shape_signatures) / 100}),
    ),
    "determinism-double-run": (rising(), dated_report()),
    "static-compilation": (
        with_plans(without_nulls),
        with_plans(lambda found: {"plans": found.plans[:1]}),
    ),
    "empty-corpus-compilation": (Laws(compile=only_with_evidence),),
    "historical-outcomes-unchanged": (
        with_compile(claiming_gain),
        with_trial(lambda trial: {"effective_score": 0}),
    ),
    "compile-determinism": (
        dated_artifact(),
        with_compile(
            lambda made: structs.replace(
                made, artifact=made.artifact and structs.replace(made.artifact, evidence_digest="-")
            )
        ),
    ),
    "identical-plans-converge": (Laws(compile=always_anew), Laws(compile=never_anew)),
    "static-preservation": (with_compile(restricting), Laws(normalizer=Eager)),
    "canonical-identity": (Laws(normalizer=Copying), Laws(normalizer=Eager)),
    "normalization-idempotence": (
        Laws(normalizer=Restless),
        Laws(normalizer=Unwitnessed),
        Laws(normalizer=FirstOnly),
    ),
    "ambiguity-and-loss-refusal": (Laws(normalizer=Lossy), Laws(normalizer=Choosing)),
    "unsupported-schema-no-plan": (Laws(derive=derive_through), Laws(derive=derive_little)),
    "forged-plan-refusal": (
        Laws(proves=proves_by_digest),
        Laws(normalizer=Substituting),
        Laws(merge=merge_anything),
    ),
    "schema-drift-refusal": (
        Laws(proves=proves_by_rules),
        Laws(normalizer=Substituting),
        Laws(trial=trust_in_trial),
    ),
    "exact-plan-merge": (
        Laws(merge=merge_anything),
        Laws(merge=merge_in_silence),
        Laws(merge=merge_incoming_alone),
    ),
    "legacy-inert-migration": (
        Laws(artifact_of=no_legacy),
        Laws(artifact_of=restrictions_in_force),
        Laws(compile=never_anew),
    ),
    "artifact-store-roundtrip": (
        Machine(save=save_always),
        Machine(save=save_openly),
        Machine(save=save_compactly),
        Machine(load=load_forgetful),
    ),
    "ingestion-requires-trace-envelope": (
        with_scan((b'"version":2', b'"version":1')),
        with_scan((b'"durationMs":5', b'"error":"late"')),
        Laws(recordings=lambda line: LAWS.recordings(line.replace(b'"version":2', b'"version":1'))),
    ),
    "ingestion-verbatim-audits": (
        with_audits(projected),
        with_audits(trimmed),
        with_audits(lambda call: None if call.ref.startswith("fabric.") else call),
        with_recordings(deaf),
    ),
    "ingestion-model-attribution": (
        leaking(),
        with_scan((b'"type" : "model_change"', b'"type" : "model_bygone"')),
    ),
    "ingestion-value-observations": (
        with_observed(lambda row: structs.replace(row, value=str(row.value))),
        Laws(observed=in_writing_order),
        Laws(observed=lambda calls: (row for row in LAWS.observed(calls) if row.value)),
    ),
    "ingestion-trial-verbatim": (trial_on(deaf), with_recordings(deaf)),
    "same-normalizer-trial": (trial_on(unwrapped), Laws(normalizer=Eager)),
    "no-quarantine-wins": (with_trial(with_a_win), trial_on(quiet)),
    "order-invariance": (
        Laws(digest=digest_as_given),
        Laws(digest=digest_by_code_unit),
        Laws(plans=in_surface_order),
        Laws(normalizer=FirstOnly),
        Laws(surface=of_text),
    ),
    "cut-invariance": (
        Laws(scan=forgetful),
        Laws(scan=line_by_line),
        Laws(open_end=lambda state: Evidence()),
        Laws(add=without_churn),
    ),
    "locale-invariance": (
        Machine(program=BY_HASH + PROGRAM),
        Machine(program=BY_LOCALE + PROGRAM),
        Machine(program="raise SystemExit(1)"),
        Machine(program="print('none')"),
        Laws(digest=digest_as_given),
    ),
    "pool-exactly-once": (
        Laws(enter=adding),
        by_look(),
        Laws(enter=orphaned),
        Laws(pool=hoarding),
        Laws(record=by_place),
    ),
    "corpus-mode": (
        with_measure(lambda r: {"score": r.totals.failed / r.totals.action_operations}),
        with_measure(lambda r: {"totals": structs.replace(r.totals, invocation_rejections=0)}),
    ),
    "trial-mode": (
        with_trial(lambda trial: {"effective_score": 0}),
        with_trial(half_tried),
        with_trial(missing_one),
        with_trial(with_a_win),
    ),
    "artifact-mode": (
        Laws(proves=lambda plan, schema: plan.ref != "mcp.notes.update"),
        with_trial(lambda trial: {"plans": structs.replace(trial.plans, proven=1)}),
    ),
    "trial-costs": (
        with_trial(costly(tightening_cost=1)),
        with_trial(costly(quarantine_cost=1)),
        with_trial(costly(canonical_identity_cost=1)),
        with_trial(costly(idempotence_cost=1)),
        with_trial(cost_rows),
    ),
}


def corpus_of(laws: Laws, *sessions: bytes) -> Corpus:
    """Sessions in memory as a corpus."""
    from fabricd.core.certifying.lines import heard, recorded_in

    return Corpus(len(sessions), 0, heard(laws, *sessions), lambda: recorded_in(laws, *sessions))
