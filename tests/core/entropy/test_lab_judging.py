"""Recorded calls before a declared and a restricted schema: the gate, the trial and their bills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.compiling.artifact import Artifact, Gate
from fabricd.core.entropy.lab.judging import Judged, Seen, judged_steps, judges_of
from fabricd.core.entropy.lab.preservation import Breach, GateStudy, gated
from fabricd.core.entropy.lab.proposals import EnumTighten, ModalRename, NoiseQuarantine
from fabricd.core.entropy.lab.renaming import rename_bills_steps
from fabricd.core.entropy.lab.restriction import effective_steps, overlays_of, quarantined_of
from fabricd.core.entropy.lab.trial import Bill, Divergence, Trial, bills, class_of, tried
from fabricd.core.entropy.meter import Catalog, Report, report
from fabricd.core.model import Surface
from fabricd.core.steps import finish
from tests.core.entropy.studied import MODE, audited, call, modes, part, recorded, surface, traced
from tests.core.making import Json

LIVE = surface(a=MODE, b=MODE, other=MODE)
FAST = EnumTighten("a", "mode", ("fast",), 3, 8, 2, 0.5)
NOISE = NoiseQuarantine("b", 3, 0, 3, 1.0)
PROPOSALS = (FAST, NOISE)
NOTHING = report(part().evidence, Catalog())


def restricted(live: Surface, proposals: Sequence[EnumTighten | NoiseQuarantine]) -> Surface:
    enums = [row for row in proposals if isinstance(row, EnumTighten)]
    noise = [row for row in proposals if isinstance(row, NoiseQuarantine)]
    overlays, gone = overlays_of(live, enums), quarantined_of(live, noise)
    return finish(
        effective_steps(live, Artifact(1, 2, (), (), Gate(True, 0, 0), "e", overlays, gone))
    )


JUDGES = judges_of(LIVE, restricted(LIVE, PROPOSALS), PROPOSALS)


def judged(*records: Json) -> Judged:
    return finish(judged_steps(recorded(*records), LIVE, JUDGES))


def gate(*records: Json, before: Report = NOTHING, after: Report = NOTHING) -> GateStudy:
    return gated(before, after, judged(*records), JUDGES)


def trial(*records: Json) -> Trial:
    return tried(NOTHING, NOTHING, judged(*records), JUDGES)


def test_only_actions_that_change_get_a_judge() -> None:
    assert set(JUDGES) == {"a", "b"}
    assert judges_of(LIVE, restricted(LIVE, ()), ()) == {}


def test_audits_replace_the_traces_of_their_action_alone() -> None:
    found = judged(
        traced(*modes("a", ["fast"] * 5), *modes("b", ["fast"] * 3), call("other", {})),
        audited(*modes("a", ["slow"] * 2)),
    )
    # Two audits of a, three operations of b, one of an action that is left as it is.
    assert found.samples == 2 + 3 + 1
    assert found.by_ref["a"] == {Seen(None, True, False, (0,)): 2}
    assert found.by_ref["b"] == {Seen("succeeded", True, False, (1,)): 3}


def test_navigation_and_undeclared_actions_are_no_samples() -> None:
    refs = ("fabric.discovery.search", "fabric.workflow.step", "gone")
    live = surface(fabric_discovery_search=MODE, fabric_workflow_step=MODE)
    found = judged_steps(recorded(traced(*[call(ref, {}) for ref in refs])), live, {})
    assert finish(found) == Judged(0, {})


# The gate.


def test_calls_that_still_validate_pass() -> None:
    found = gate(audited(*modes("a", ["fast"] * 3)), traced(*modes("other", ["slow"])))
    assert (found.passed, found.replayed, found.breaches, found.reasons) == (True, 3, (), ())


def test_an_audited_call_that_would_be_refused_refuses_the_rewrite() -> None:
    found = gate(audited(*modes("a", ["fast", "slow", "plain"])))
    assert not found.passed
    assert found.breaches == (Breach("a", False, True, 2, 0),)
    assert found.reasons == (
        "tightening: 2 audited calls that the declared schema accepts would be refused (a)",
    )


def test_audits_that_the_declared_schema_refuses_are_exempt() -> None:
    found = gate(audited(*modes("a", ["SLOW", "fast"]), call("b", {"mode": "fast"})))
    assert (found.passed, found.exempt, found.replayed) == (True, 2, 1)


def test_of_traces_only_successes_must_validate() -> None:
    found = gate(
        traced(
            *modes("a", ["slow"] * 2, "failed"),
            *modes("a", ["slow"], "aborted"),
            *modes("a", ["slow"], "timed_out"),
            *modes("a", ["slow", "fast"]),
        )
    )
    assert (found.replayed, found.breaches) == (2, (Breach("a", False, False, 1, 0),))
    assert found.reasons == ("tightening: 1 succeeded calls would be refused (a)",)


def test_a_projected_call_breaks_the_gate_though_it_really_parsed() -> None:
    # The path was left out of the trace. The rule counts it, and the figure says what it rests on.
    found = gate(traced(call("a", {}), call("a", {"mode": "slow"})))
    assert found.breaches == (Breach("a", False, False, 2, 2),)
    assert "2 of them by projected arguments" in found.reasons[0]


def test_every_success_of_a_removed_action_is_lost() -> None:
    found = gate(traced(call("b", {}), *modes("b", ["fast"], "failed")))
    assert found.breaches == (Breach("b", True, False, 1, 0),)
    assert found.reasons == ("removal: 1 succeeded calls would be refused (b)",)


def of_score(divisor: int, shapes: int = 4) -> Report:
    calls = [call("x", {f"k{n}": 1}) for n in range(shapes)]
    measured = report(part(traced(*calls)).evidence, Catalog())
    return structs.replace(measured, totals=structs.replace(measured.totals, succeeded=divisor))


def test_the_score_must_not_rise_and_successes_must_not_drop() -> None:
    assert gate(before=of_score(2), after=of_score(2)).passed
    assert gate(before=of_score(2, 4), after=of_score(2, 2)).passed
    risen = gate(before=of_score(2, 2), after=of_score(2, 4))
    assert risen.reasons == ("score: it would rise from 0.500000 to 1.000000",)
    dropped = gate(before=of_score(2, 4), after=of_score(1, 1))
    assert dropped.reasons == ("succeeded: it would drop from 2 to 1",)
    assert not risen.passed and not dropped.passed


def test_the_verdict_says_why_it_is_not_enough() -> None:
    assert "whenever the surface shrinks" in gate().caveat


# The trial.


@pytest.mark.parametrize(
    ("seen", "removed", "kind"),
    [
        (Seen("succeeded", True, True), False, "both-accept"),
        (Seen(None, True, True), False, "both-accept"),
        (Seen("succeeded", False, False), False, "both-reject"),
        (Seen("failed", False, False), False, "both-reject"),
        (Seen(None, False, False), False, "both-reject"),
        (Seen("failed", True, False), False, "typed-failure-win"),
        (Seen("succeeded", True, False), False, "tightening-cost"),
        (Seen("aborted", True, False), False, "tightening-cost"),
        (Seen("timed_out", True, False), False, "tightening-cost"),
        (Seen(None, True, False), False, "tightening-cost"),  # an audited rejection, always
        (Seen("failed", True, False), True, "quarantine-win"),
        (Seen("failed", False, False), True, "quarantine-win"),
        (Seen("succeeded", False, False), True, "quarantine-cost"),
        (Seen("aborted", True, False), True, "quarantine-cost"),
        (Seen(None, True, False), True, "quarantine-cost"),
        (Seen(None, False, False), True, "both-reject"),
    ],
)
def test_classes(seen: Seen, removed: bool, kind: str) -> None:
    assert class_of(seen, removed) == kind


def test_a_trial_counts_every_class_and_says_what_differs() -> None:
    found = trial(
        traced(
            *modes("a", ["fast", "slow"]),
            *modes("a", ["slow"] * 2, "failed"),
            *modes("a", ["SLOW"], "failed"),
            *modes("b", ["fast"], "failed"),
            *modes("b", ["fast"]),
            *modes("other", ["slow"] * 4),
        )
    )
    totals = found.totals
    assert (totals.operations, totals.restricted) == (11, 7)
    assert (totals.both_accept, totals.both_reject) == (1, 1)
    assert (totals.typed_failure_win, totals.tightening_cost) == (2, 1)
    assert (totals.quarantine_win, totals.quarantine_cost) == (1, 1)
    assert found.divergences == (
        Divergence("a", "tightening-cost", 1),
        Divergence("a", "typed-failure-win", 2),
        Divergence("b", "quarantine-cost", 1),
        Divergence("b", "quarantine-win", 1),
    )
    assert found.verdict == "costly"


def test_wins_alone_are_clean() -> None:
    assert trial(traced(*modes("a", ["slow"], "failed"))).verdict == "clean"
    assert trial(traced(*modes("a", ["fast"]))).verdict == "clean"


def test_without_a_sample_of_what_is_restricted_there_is_no_evidence() -> None:
    assert trial().verdict == "no-evidence"
    assert trial(traced(*modes("other", ["slow"]))).verdict == "no-evidence"


def test_both_scores_are_metric_2_of_the_held_out_calls() -> None:
    found = tried(of_score(2, 4), of_score(2, 2), judged(), JUDGES)
    assert (found.declared_score, found.effective_score, found.delta) == (1.0, 0.5, -0.5)


values = st.sampled_from(["fast", "slow", "SLOW", 1, None])
ends = st.sampled_from(["succeeded", "failed", "aborted", "timed_out"])
calls = st.lists(st.tuples(st.sampled_from(["a", "b", "other"]), values, ends), max_size=6)


@settings(max_examples=30)
@given(calls, calls)
def test_every_sample_has_one_class(first: list[Any], second: list[Any]) -> None:
    made = [modes(ref, [value], end)[0] for ref, value, end in first]
    heard = [modes(ref, [value], end)[0] for ref, value, end in second]
    totals = trial(traced(*made), audited(*heard)).totals
    classes = (totals.both_accept, totals.both_reject, totals.typed_failure_win)
    others = (totals.quarantine_win, totals.quarantine_cost, totals.tightening_cost)
    assert sum(classes) + sum(others) == totals.restricted
    by_audit = {each["ref"] for each in heard}
    alone = [each for each in made if each["ref"] not in by_audit]
    assert totals.operations == len(alone) + len(heard)


# Bills: what each proposal would do by itself.

PAIR: Json = {
    "type": "object",
    "properties": {"x": {"enum": [1, 2]}, "y": {"enum": [1, 2]}},
}


def test_the_cost_of_each_proposal_is_told_apart() -> None:
    live = surface(a=PAIR)
    proposals = [structs.replace(FAST, key=key, values=(1,), declared=2) for key in "xy"]
    judges = judges_of(live, restricted(live, proposals), proposals)
    made = [{"x": 1}, {"x": 2}, {"x": 2, "y": 2}, {"x": 3}]
    recordings = recorded(
        traced(*[call("a", args) for args in made], call("a", {"y": 2}, "failed"))
    )
    found = bills(finish(judged_steps(recordings, live, judges)), judges, 2)
    assert found == (Bill(samples=5, wins=0, costs=2), Bill(samples=5, wins=1, costs=1))


def test_a_removal_is_billed_for_all_calls_of_its_action() -> None:
    found = bills(
        judged(traced(*modes("b", ["fast"]), *modes("b", ["slow"] * 2, "failed"))), JUDGES, 2
    )
    assert found == (Bill(0, 0, 0), Bill(samples=3, wins=2, costs=1))


FILE = ModalRename("a", "keyAlias", "path", "file")
GET = ModalRename("m.get", "actionAlias", "m.get", "m.Get")


def renamed(*records: Json) -> tuple[Bill, ...]:
    return finish(rename_bills_steps(recorded(*records), [FILE, GET]))


def test_a_rename_is_billed_for_every_call_that_is_right_today() -> None:
    found = renamed(
        traced(
            call("a", {"path": "x"}),
            call("a", {"path": "x"}, "failed"),
            call("a", {"file": "x"}, "failed"),
            call("a", {}),
            call("m.get", {}),
            call("m.Get", {}, "failed"),
            call("m.other", {}),
        )
    )
    assert found == (Bill(samples=4, wins=1, costs=1), Bill(samples=2, wins=1, costs=1))


def test_audited_calls_are_billed_by_the_name_they_use() -> None:
    found = renamed(
        traced(call("a", {"path": "x"})),
        audited(call("a", {"file": "x"}), call("a", {"path": "x"}), call("a", {"path": "y"})),
    )
    assert found == (Bill(samples=3, wins=1, costs=2), Bill(0, 0, 0))


def test_a_proposal_has_its_own_bill_where_another_removes_the_whole_action() -> None:
    proposals = (FAST, structs.replace(NOISE, ref="a"))
    judges = judges_of(LIVE, restricted(LIVE, proposals), proposals)
    recordings = recorded(traced(*modes("a", ["fast", "slow"]), call("a", {}, "failed")))
    found = bills(finish(judged_steps(recordings, LIVE, judges)), judges, 2)
    assert found == (Bill(samples=3, wins=0, costs=1), Bill(samples=3, wins=1, costs=2))


@settings(max_examples=10)
@given(st.integers(0, 70))
def test_judging_pauses_after_every_sixteenth_call(count: int) -> None:
    steps = judged_steps(recorded(traced(*modes("other", ["fast"] * count))), LIVE, JUDGES)
    assert sum(1 for _ in steps) == count // 16
