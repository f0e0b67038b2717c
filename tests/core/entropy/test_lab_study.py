"""Whole studies: what is proposed, what it would cost, and that nothing comes of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import (
    MAX_APPLIED,
    Applied,
    Artifact,
    artifact_bytes,
    artifact_of,
)
from fabricd.core.compiling.compile import compile_plans, plans_steps
from fabricd.core.compiling.gate import replay_steps, trialled_steps
from fabricd.core.compiling.merge import Prover, merge_steps
from fabricd.core.compiling.trial import trial_steps
from fabricd.core.documents import strict_json
from fabricd.core.entropy.freedom import freedom_steps
from fabricd.core.entropy.lab.metric import scores
from fabricd.core.entropy.lab.restriction import effective_steps
from fabricd.core.entropy.lab.study import Part, Priced, Study, study_steps
from fabricd.core.entropy.lab.trial import Bill
from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.model import AuditCall, Surface
from fabricd.core.repairs import KeyAlias
from fabricd.core.sessions.samples import recordings
from fabricd.core.steps import finish
from tests.core.entropy.studied import MODE, audited, call, modes, part, surface, traced
from tests.core.making import Json, everything
from tests.core.strategies import common_lines, logs

LIVE = surface(a=MODE, b=MODE, c=MODE)
ALIAS = KeyAlias("a", "file", "path")
OLDER: list[Json] = [
    audited(*modes("a", ["fast"] * 6 + ["slow"] * 3)),
    traced(
        call("b", {}, "failed", "validate"),
        call("b", {}, "failed", "invoke"),
        call("b", {}),
    ),
]
NEWER: list[Json] = [
    audited(*modes("a", ["fast", "plain", "plain", "PLAIN"])),
    traced(call("b", {}), call("b", {}, "failed", "invoke"), call("c", {})),
]


def catalog(live: Surface = LIVE) -> Catalog:
    return Catalog(live.digest, finish(freedom_steps(live)), {"a": 1}, 1)


def studied(older: Part, newer: Part, live: Surface = LIVE) -> Study:
    return finish(study_steps(live, catalog(live), [ALIAS], older, newer))


def example() -> Study:
    return studied(part(*OLDER), part(*NEWER))


def test_proposals_come_with_what_they_would_do_to_held_out_calls() -> None:
    enum, noise, rename = example().proposals
    assert [type(row.proposal).__name__ for row in (enum, noise, rename)] == [
        "EnumTighten",
        "NoiseQuarantine",
        "ModalRename",
    ]
    # Two calls ask for a member that the older sessions never used.
    assert enum.bill == Bill(samples=4, wins=0, costs=2)
    assert noise.bill == Bill(samples=2, wins=1, costs=1)
    assert rename.bill == Bill(samples=4, wins=0, costs=4)


def test_a_rename_is_shown_and_never_part_of_an_artifact() -> None:
    artifact = example().artifact
    assert [row.kind for row in artifact.applied] == ["enum-tighten", "noise-quarantine"]
    [overlay] = artifact.overlays
    assert set(overlay.input_schema["properties"]) == {"path", "mode"}


def test_the_gate_stands_in_the_artifact_as_it_came_out() -> None:
    found = example()
    assert not found.gate.passed
    assert [breach.ref for breach in found.gate.breaches] == ["b"]
    stored = found.artifact.gate
    assert (stored.passed, stored.reasons) == (False, found.gate.reasons)
    assert (
        stored.before_score
        == found.gate.before_score
        == scores(report(part(*OLDER).evidence, catalog())).score
    )


def test_the_score_falls_because_the_surface_shrinks() -> None:
    # Not one call is any better for it, and two held-out ones are lost.
    found = studied(part(OLDER[0]), part(NEWER[0]))
    assert found.gate.passed
    assert found.gate.after_score < found.gate.before_score
    assert found.gate.after_succeeded == found.gate.before_succeeded == 9
    assert (found.trial.verdict, found.trial.totals.tightening_cost) == ("costly", 2)
    assert found.trial.delta < 0


def test_the_ledger_says_what_was_done() -> None:
    assert example().artifact.applied == (
        Applied("enum-tighten", "a", 'kept 2 of 3 members of "mode"'),
        Applied("noise-quarantine", "b", "removed: 2 of 3 calls failed"),
    )


def test_the_ledger_holds_every_argument_of_an_action() -> None:
    schema: Json = {"type": "object", "properties": {k: {"enum": [1, 2, 3]} for k in "xy"}}
    calls = [call("a", {"x": n % 2 + 1, "y": n % 2 + 1}) for n in range(8)]
    found = studied(part(audited(*calls)), part(), surface(a=schema)).artifact
    assert [row.detail for row in found.applied] == [
        'kept 2 of 3 members of "x"',
        'kept 2 of 3 members of "y"',
    ]
    assert len(found.overlays) == 1


def test_the_evidence_digest_is_of_the_evidence_and_the_restricted_surface() -> None:
    found = example().artifact
    calls = [{"ref": row["ref"], "args": row["args"]} for row in modes("a", ["fast"] * 6)]
    calls += [{"ref": row["ref"], "args": row["args"]} for row in modes("a", ["slow"] * 3)]
    assert found.evidence_digest == digest(
        {
            "traces": 2,
            "operations": 12,
            "succeeded": 10,
            "failed": 2,
            "surface": finish(effective_steps(LIVE, found)).digest,
            "repairs": 1,
            "valueObservations": digest(
                [
                    {"ref": "a", "key": key, "value": row["args"][key]}
                    for row in calls
                    for key in ("path", "mode")
                ]
            ),
            "auditCalls": digest(calls),
        }
    )


def test_without_anything_to_propose_there_is_an_empty_artifact_and_no_evidence() -> None:
    found = studied(part(), part(*NEWER))
    assert found.proposals == ()
    assert (found.artifact.overlays, found.artifact.quarantined) == ((), ())
    assert (found.gate.passed, found.trial.verdict) == (True, "no-evidence")
    assert studied(part(*OLDER), part()).trial.verdict == "no-evidence"


# Inert: what is written loads, and no part of the program takes anything from it.


def loaded(artifact: Artifact) -> Artifact:
    found = artifact_of(strict_json(artifact_bytes(artifact)))
    assert found is not None
    return found


def test_the_artifact_loads_as_it_was_written() -> None:
    artifact = example().artifact
    assert (artifact.version, artifact.metric_version) == (1, 2)
    assert loaded(artifact) == artifact


def test_no_part_of_the_program_gets_a_plan_from_it() -> None:
    artifact = loaded(example().artifact)
    assert artifact.plans == ()
    assert finish(trialled_steps(LIVE, artifact.plans)) == {}
    lost = AuditCall("a", {"path": "x", "mode": "plain"})
    verdict = finish(replay_steps([lost], finish(trialled_steps(LIVE, artifact.plans))))
    assert (verdict.replayed, verdict.passed) == (0, True)
    tried = finish(trial_steps(part(*NEWER).recordings, LIVE, artifact.plans))
    assert (tried.verdict, tried.plans.proven) == ("no-evidence", 0)
    assert tried.totals.tightening_cost == tried.totals.quarantine_cost == 0


def test_a_compile_replaces_it_and_a_merge_drops_it() -> None:
    artifact = loaded(example().artifact)
    plans = finish(plans_steps(LIVE)).plans
    for derived in (plans, ()):
        compiled = compile_plans(derived, LIVE.digest, 0.0, artifact)
        assert (compiled.status, compiled.artifact is artifact) == ("compiled", False)
    merged = finish(merge_steps(Prover(LIVE), artifact, [artifact]))
    assert merged.artifact.plans == merged.artifact.overlays == merged.artifact.quarantined == ()
    assert (merged.dropped_overlays, merged.dropped_quarantines) == (2, 2)


# Laws.


@settings(max_examples=20)
@given(logs(most=4, of=common_lines))
def test_a_study_of_anything_changes_nothing_and_gives_a_loadable_artifact(
    data: bytes,
) -> None:
    lines = [each for each in data.split(b"\n") if b"pi-fabric.execution" in each]
    whole = Part(everything(data), [found for each in lines for found in recordings(each)])
    live = surface(pi_read=MODE, mcp_a_b={"type": "object"})
    before = copy.deepcopy(live)
    found = studied(whole, whole, live)
    assert live == before
    assert loaded(found.artifact) == found.artifact
    assert all(isinstance(row, Priced) for row in found.proposals)
    assert len(found.artifact.applied) <= MAX_APPLIED


@settings(max_examples=20)
@given(st.permutations(modes("a", ["fast"] * 6 + ["slow"] * 3 + ["FAST"])))
def test_proposals_do_not_depend_on_the_order_of_calls(calls: list[Json]) -> None:
    newer = part(*NEWER)
    found = studied(part(audited(*calls)), newer)
    again = studied(part(audited(*sorted(calls, key=str))), newer)
    assert found.proposals == again.proposals
    assert found.trial == again.trial
    assert found.artifact.overlays == again.artifact.overlays


def test_recordings_are_read_anew_each_time() -> None:
    class Counted:
        passes = 0

        def __iter__(self) -> Any:
            self.passes += 1
            return iter(part(*OLDER).recordings)

    counted = Counted()
    found = studied(structs.replace(part(*OLDER), recordings=counted), part(*NEWER))
    assert found == example() and counted.passes == 2


@pytest.mark.parametrize("number", [10**400, float("inf")])
def test_an_argument_beyond_doubles_does_not_end_a_study(number: Any) -> None:
    older = part(*OLDER)
    for recording in older.recordings:
        for audit in recording.audits:
            audit.args["mode"] = number
    assert studied(older, older).proposals[0].proposal.ref == "b"
