"""A trial counts what plans do to recorded calls, and finds every cost of a broken normalizer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from fabricd.core.compiling import trial as trying
from fabricd.core.compiling.trial import trial_steps
from fabricd.core.compiling.verdict import Gap, Plans, Trial, trial_text, trial_value
from fabricd.core.documents import strict_json
from fabricd.core.model import AuditCall, Operation, Plan, Rule, Surface, Trace, TraceCounts
from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.core.normalform.derive import derive, plan_value
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import finish
from tests.conformance import trialling
from tests.conformance.plans import surface_of
from tests.conformance.trial_changes import ours, tried
from tests.conformance.values import difference
from tests.core.making import Json
from tests.core.schemas import cases

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
}
GOOD: Json = {"query": "x"}
SLIP: Json = {"query": "x", "LIMIT": "5"}
BAD: Json = {"limit": 5}
RULES = (Rule("key-form", "query"),)


def surface(**schemas: Any) -> Surface:
    """A surface of actions by name."""
    actions = [{"ref": ref, "inputSchema": schema} for ref, schema in schemas.items()]
    return surface_of({"version": 1, "actions": actions})


def call(ref: str, args: Json, outcome: Any = "succeeded", stage: Any = UNSET) -> Operation:
    """One trace operation."""
    return Operation("call", 0, ref, args, outcome, failure_stage=stage)


def recording(
    operations: Iterable[Operation] = (), audits: Iterable[tuple[str, Json]] = ()
) -> Recording:
    """A trace of operations with audit calls beside it."""
    calls, counts = tuple(operations), TraceCounts(0, 0, 0, 0)
    trace = Trace("pi-fabric.execution", 1, "succeeded", (), calls, counts)
    return Recording(trace, tuple(AuditCall(ref, args) for ref, args in audits))


def tried_on(live: Surface, *recordings: Recording, plans: Iterable[Plan] | None = None) -> Trial:
    return finish(trial_steps(recordings, live, plans))


def audited(*args: Json, live: Surface | None = None) -> Trial:
    """The trial of one action's derived plan on audit calls."""
    calls = [("a", each) for each in args]
    return tried_on(surface(a=SCHEMA) if live is None else live, recording(audits=calls))


def counts(trial: Trial) -> tuple[int, int, int, int]:
    """Samples, accepted, repaired and refused ones."""
    totals = trial.totals
    found = (totals.both_accept, totals.normalization_win, totals.both_reject)
    return (totals.operations, *found)


# --- verdicts


def test_an_honest_plan_is_clean() -> None:
    trial = audited(GOOD, SLIP, BAD, SLIP)
    assert (trial.verdict, counts(trial)) == ("clean", (4, 1, 2, 1))
    assert [(row.ref, row.trial_class, row.count) for row in trial.divergences] == [
        ("a", "normalization-win", 2)
    ]
    assert trial.totals.canonical_identity_checks == 1
    assert trial.plans == Plans(proven=1, used=1, operations=4, unproven=())


def test_a_plan_without_a_win_is_clean_too() -> None:
    assert audited(GOOD, BAD).verdict == "clean"


@pytest.mark.parametrize(
    "recorded",
    [recording(), recording(audits=[("b", GOOD)]), recording([call("ghost", {})])],
    ids=["nothing", "no plan", "not on the surface"],
)
def test_without_a_call_that_meets_a_plan_there_is_no_evidence(recorded: Recording) -> None:
    trial = tried_on(surface(a=SCHEMA, b={"type": "object"}), recorded)
    assert trial.verdict == "no-evidence"
    assert (trial.plans.proven, trial.plans.used, trial.plans.operations) == (1, 0, 0)


def test_members_are_written_in_their_order() -> None:
    value = strict_json(trial_text(audited(GOOD)).encode())
    assert list(value) == [
        "verdict", "declaredScore", "effectiveScore", "delta", "totals", "divergences", "costs",
        "coverage", "plans", "notJudged",
    ]  # fmt: skip
    assert list(value["totals"]) == [
        "operations", "bothAccept", "bothReject", "normalizationWin", "canonicalIdentityChecks",
        "canonicalIdentityCost", "idempotenceCost", "tighteningCost", "typedFailureWin",
        "quarantineWin", "quarantineCost",
    ]  # fmt: skip
    assert list(value["coverage"]) == ["replacedOperations", "notReplayable", "refs"]


# --- broken normalizers


class Meddler(Normalizer):
    """Changes accepted calls, though the schema accepts the change."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied({"query": "y"}, RULES) if args == GOOD else Applied(args)


class Copier(Normalizer):
    """Gives accepted calls back as another object."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied(dict(args))


class Breaker(Normalizer):
    """Turns accepted calls into rejected ones, once."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied({}, RULES) if args == GOOD else Applied(args)


class Restless(Normalizer):
    """Repairs a repaired call once more, though the schema accepts either."""

    def apply(self, args: dict[str, Any]) -> Applied:
        if args == SLIP or "limit" in args:
            return Applied({"query": "x", "limit": args.get("limit", 0) + 1}, RULES)
        return Applied(args)


class Careless(Normalizer):
    """Repairs without asking the schema."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied({"limit": "?"}, RULES) if args == BAD else Applied(args)


class Silent(Normalizer):
    """Repairs without a witness."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied(dict(GOOD)) if args == BAD else Applied(args)


@pytest.mark.parametrize(
    ("kind", "args", "costs", "member"),
    [
        (Meddler, GOOD, ["identity"], "canonicalIdentityCost"),
        (Copier, GOOD, ["identity"], "canonicalIdentityCost"),
        (Breaker, GOOD, ["identity", "tightening"], "tighteningCost"),
        (Restless, SLIP, ["idempotence"], "idempotenceCost"),
        (Careless, BAD, ["acceptance"], None),
        (Silent, BAD, ["witness"], None),
    ],
)
def test_every_cost_of_a_broken_normalizer_is_found(
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Normalizer],
    args: Json,
    costs: list[str],
    member: str | None,
) -> None:
    monkeypatch.setattr(trying, "Normalizer", kind)
    trial = audited(args, args, {"query": 5})
    assert trial.verdict == "costly"
    assert [(row.ref, row.cost, row.count) for row in trial.costs] == [
        ("a", cost, 2) for cost in costs
    ]
    totals = trial_value(trial)["totals"]
    named = {"canonicalIdentityCost", "idempotenceCost", "tighteningCost"}
    expected = {"canonicalIdentityCost"} if "identity" in costs else set[str]()
    expected |= {member} if member else set()
    assert {name for name in named if totals[name]} == expected
    parts = ("bothAccept", "bothReject", "normalizationWin", "tighteningCost")
    assert sum(totals[name] for name in parts) == totals["operations"] == 3


def test_a_call_that_is_rejected_after_its_plan_is_a_divergence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trying, "Normalizer", Breaker)
    trial = audited(GOOD, BAD)
    [row] = trial.divergences
    assert (row.trial_class, row.count, trial.totals.both_accept) == ("tightening-cost", 1, 0)
    assert trial.totals.canonical_identity_checks == 1


# --- plans


def test_a_given_plan_is_tried_only_where_the_live_schema_derives_it() -> None:
    live = surface(a=SCHEMA, b=SCHEMA, c={**SCHEMA, "title": "drifted"}, d={"type": "object"})
    plans = [derive(ref, SCHEMA).plan for ref in ("d", "a", "c", "é", "b")]
    given = [plan for plan in plans if plan is not None]
    given[-1] = Plan(1, "b", given[-1].base_schema_digest, given[-1].rules[:1])
    calls = recording(audits=[(ref, SLIP) for ref in ("a", "b", "c", "c", "d")])
    trial = tried_on(live, calls, plans=given)
    assert (trial.verdict, counts(trial)) == ("clean", (5, 1, 1, 3))
    assert (trial.plans.proven, trial.plans.used, trial.plans.operations) == (1, 1, 1)
    assert [(row.ref, row.operations) for row in trial.plans.unproven] == [
        ("b", 1),
        ("c", 2),
        ("d", 1),
        ("é", 0),
    ]
    assert all(row.reason for row in trial.plans.unproven)


def test_without_plans_everything_is_judged_and_nothing_repaired() -> None:
    trial = tried_on(surface(a=SCHEMA), recording(audits=[("a", GOOD), ("a", SLIP)]), plans=())
    assert (trial.verdict, counts(trial)) == ("no-evidence", (2, 1, 0, 1))


def test_only_the_first_thousand_actions_have_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "MAX_PLANS", 1)
    live = surface(b=SCHEMA, a=SCHEMA)
    trial = tried_on(live, recording(audits=[("a", SLIP), ("b", SLIP)]))
    assert (trial.plans.proven, counts(trial)) == (1, (2, 0, 1, 1))


@pytest.mark.parametrize("schema", [True, 5, [], {"type": 5}, {"pattern": "("}])
def test_a_schema_that_cannot_be_judged_accepts_nothing_and_is_named(schema: Any) -> None:
    trial = audited(GOOD, BAD, live=surface(a=schema))
    assert (trial.verdict, counts(trial)) == ("no-evidence", (2, 0, 0, 2))
    [remark] = trial.not_judged
    assert (remark.ref, remark.operations) == ("a", 2) and remark.reason


def test_an_action_without_a_schema_is_not_tried() -> None:
    actions: list[Json] = [{"ref": "a"}, {"ref": "b", "inputSchema": None}]
    live = surface_of({"version": 1, "actions": actions})
    assert counts(tried_on(live, recording(audits=[("a", {}), ("b", {})]))) == (0, 0, 0, 0)


def test_navigation_is_neither_tried_nor_counted() -> None:
    refs = ("fabric.discovery.search", "fabric.workflow.step", "fabric.other")
    live = surface(**dict.fromkeys(refs, SCHEMA))
    calls = [call(ref, GOOD, "failed", "validate") for ref in refs]
    trial = tried_on(live, recording(calls, [(refs[0], GOOD)]))
    assert counts(trial) == (1, 1, 0, 0)
    assert (trial.declared_score, trial.plans.proven) == (1.0, 1)


# --- samples


def test_one_audit_anywhere_replaces_all_operations_of_its_ref() -> None:
    before = recording([call("a", SLIP)] * 4 + [call("b", SLIP)])
    after = recording([call("a", BAD)] * 5, [("a", GOOD)])
    for order in ((before, after), (after, before)):
        trial = tried_on(surface(a=SCHEMA, b=SCHEMA), *order)
        assert counts(trial) == (2, 1, 1, 0)
        assert trial.coverage.replaced_operations == 9
        assert trial.coverage.not_replayable == 8
        assert trial.coverage.refs == (Gap("a", 9, 1, 8),)


def test_operations_with_as_many_audits_leave_no_gap() -> None:
    calls = recording([call("a", {})] * 2, [("a", GOOD)] * 3)
    trial = tried_on(surface(a=SCHEMA), calls)
    coverage = trial.coverage
    assert (coverage.replaced_operations, coverage.not_replayable, coverage.refs) == (2, 0, ())


def test_only_samples_can_leave_a_gap() -> None:
    calls = recording([call("ghost", {})] * 3, [("ghost", {})])
    assert tried_on(surface(a=SCHEMA), calls).coverage.replaced_operations == 0


@pytest.mark.parametrize(
    ("outcome", "stage", "rejected"),
    [
        ("failed", "validate", 1),
        ("failed", "resolve", 1),
        ("failed", "prepare", 1),
        ("failed", "invoke", 0),
        ("failed", UNSET, 0),
        ("aborted", "validate", 0),
        ("timed_out", "validate", 0),
        ("succeeded", "validate", 0),
    ],
)
def test_the_scores_are_the_rejections_of_the_traces(
    outcome: str, stage: Any, rejected: int
) -> None:
    calls = [call("x", {}, outcome, stage), call("a", GOOD), call("a", GOOD)]
    trial = tried_on(surface(a=SCHEMA), recording(calls, [("a", BAD)]))
    score = 0.333333 if rejected else 0.0
    assert (trial.declared_score, trial.effective_score, trial.delta) == (score, score, 0)


def test_rows_come_by_code_unit() -> None:
    refs = ("\ue000", "\U0001f600", "b", "B")
    trial = tried_on(
        surface(**dict.fromkeys(refs, SCHEMA)),
        recording(audits=[(ref, SLIP) for ref in refs]),
    )
    assert [row.ref for row in trial.divergences] == ["B", "b", "\U0001f600", "\ue000"]


def test_names_without_a_text_form_are_escaped() -> None:
    trial = tried_on(surface(**{"\ud800": SCHEMA}), recording(audits=[("\ud800", SLIP)]))
    assert '"ref":"\\ud800"' in trial_text(trial)


# --- laws


@st.composite
def trials(draw: st.DrawFn) -> Json:
    """A trial as the vectors hold one: two actions, the plans of one or both, and calls."""
    live: list[Json] = []
    calls: list[Json] = []
    for ref in ("a", "b"):
        schema, args = draw(cases())
        live.append({"ref": ref, "inputSchema": schema})
        calls += [{"ref": ref, "args": each} for each in (args, args, {}, {"x": 1})]
    calls.append({"ref": "c", "args": {}})
    picked = [draw(st.lists(st.sampled_from(calls), max_size=5)) for _ in range(2)]
    outcomes = st.sampled_from(["succeeded", "failed", "aborted"])
    stages = st.sampled_from(["validate", "invoke"])
    operations = [
        {**each, "outcome": draw(outcomes), "failureStage": draw(stages)} for each in picked[0]
    ]
    found = [derive(row["ref"], row["inputSchema"]).plan for row in live]
    plans = [plan_value(plan) for plan in found if plan is not None][: draw(st.integers(0, 2))]
    artifact: Json = {"version": 2, "normalizations": plans}
    return {
        "live": {"version": 1, "actions": live},
        "artifact": artifact,
        "traces": [{"operations": operations}],
        "auditCalls": picked[1],
        "expected": None,
    }


@settings(max_examples=60)
@given(trials())
def test_a_trial_equals_the_plain_one(case: Json) -> None:
    assert difference(tried(case, ours), trialling.trials(case).found) is None


@settings(max_examples=40)
@given(st.lists(st.sampled_from([GOOD, SLIP, BAD]), max_size=12), st.data())
def test_the_order_of_recordings_does_not_matter(calls: list[Json], data: st.DataObject) -> None:
    heard = [recording(audits=[("a", each)]) for each in calls[::2]]
    seen = [recording([call("a", each), call("b", each)]) for each in calls[1::2]]
    live = surface(a=SCHEMA, b=SCHEMA)
    shuffled = data.draw(st.permutations(heard + seen))
    assert tried_on(live, *shuffled) == tried_on(live, *heard, *seen)


def test_replays_pause_after_every_sixteenth(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    class Counting(Normalizer):
        def apply(self, args: dict[str, Any]) -> Applied:
            nonlocal asked
            asked += 1
            return Applied(args)

    monkeypatch.setattr(trying, "Normalizer", Counting)
    heard = [recording(audits=[("a", GOOD)] * 70), recording([call("b", GOOD)] * 600)]
    steps = trial_steps(heard, surface(a=SCHEMA, b=SCHEMA), None)
    most = before = 0
    for _ in steps:
        most, before = max(most, asked - before), asked
    assert (asked, most) == (670, 16)


def test_a_surface_of_many_actions_pauses_while_plans_are_proven() -> None:
    live = surface(**{f"a{n}": SCHEMA for n in range(40)})
    plans = [plan for action in live.actions if (plan := derive(action.ref, SCHEMA).plan)]
    assert sum(1 for _ in trial_steps([], live, None)) == 5
    assert sum(1 for _ in trial_steps([], live, plans)) == 5
