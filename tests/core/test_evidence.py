from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.evidence import (
    Evidence,
    FlowTally,
    NormalFormTally,
    RefTally,
    add_steps,
    total_steps,
)
from fabricd.core.sessions.pi import ScanState
from fabricd.core.steps import finish
from tests.core.making import WITNESS, Json, log, operation, record, scanned, trace
from tests.core.strategies import logs

few = settings(max_examples=20)
evidences = logs(most=3).map(lambda data: scanned(data)[0])


def copied(evidence: Evidence) -> Evidence:
    """An independent copy, by way of bytes."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(evidence), type=Evidence)


def plus(*pieces: Evidence) -> Evidence:
    """Their sum, with the pieces left as they are."""
    total = Evidence()
    for piece in pieces:
        total.add(piece)
    return total


def unordered(evidence: Evidence) -> Evidence:
    """Spans and distances keep the order in which they were added; a sum has no other order."""
    evidence.audit_spans.sort()
    evidence.churn.sort()
    for tally in evidence.refs.values():
        tally.churn.sort()
    return evidence


@few
@given(evidences)
def test_size_counts_what_adding_has_to_touch(a: Evidence) -> None:
    flows = sum(len(task.flows) for task in a.tasks.values())
    shapes = sum(len(tally.shapes) for tally in a.refs.values())
    odd = sum(len(keysets) for tally in a.refs.values() for keysets in tally.odd.values())
    listed = len(a.audit_spans) + len(a.churn)
    assert a.size == len(a.refs) + shapes + odd + flows + len(a.runs) + listed


def of(*operations: Json, **more: object) -> Evidence:
    """Evidence of one trace."""
    return scanned(log(record(trace(*operations, **more))))[0]


@few
@given(evidences, evidences, evidences)
def test_addition_is_associative(a: Evidence, b: Evidence, c: Evidence) -> None:
    assert plus(plus(a, b), c) == plus(a, plus(b, c))


@few
@given(evidences)
def test_empty_evidence_is_the_identity(a: Evidence) -> None:
    assert plus(Evidence(), a) == a == plus(a, Evidence())


@few
@given(evidences, evidences)
def test_addition_commutes_up_to_the_order_of_members(a: Evidence, b: Evidence) -> None:
    assert unordered(plus(a, b)) == unordered(plus(b, a))


@few
@given(evidences, evidences)
def test_adding_leaves_the_added_piece_as_it_was(a: Evidence, b: Evidence) -> None:
    before = copied(b)
    total = plus(a, b)
    total.add(b)
    assert b == before


@few
@given(st.lists(evidences, max_size=4))
def test_the_total_in_steps_is_the_total(pieces: list[Evidence]) -> None:
    assert finish(total_steps(pieces)) == plus(*pieces)


@few
@given(evidences, evidences)
def test_adding_in_steps_is_adding(a: Evidence, b: Evidence) -> None:
    stepwise, before = copied(a), copied(b)
    finish(add_steps(stepwise, b))
    assert stepwise == plus(a, b)
    assert b == before


@few
@given(logs(most=3))
def test_adding_is_counting_together(data: bytes) -> None:
    ended = data + b"\n"
    total, state = Evidence(), ScanState()
    for part in (ended * 2, ended * 3):
        evidence, state = scanned(part, state)
        total.add(evidence)
    assert total == scanned(ended * 5)[0]


@few
@given(evidences)
def test_evidence_that_says_nothing_is_empty_and_no_other(a: Evidence) -> None:
    assert a.is_empty == (a == Evidence())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3)), max_size=12))
def test_ranks_stay_in_step_with_the_flows(counts: list[tuple[str, int]]) -> None:
    tally = FlowTally()
    for flow, times in counts:
        tally.count(flow, times)
    ranks: dict[int, int] = {}
    for count in tally.flows.values():
        ranks[count] = ranks.get(count, 0) + 1
    assert tally.ranks == ranks
    assert tally.occurrences == sum(times for _, times in counts)


def test_every_outcome_is_counted_once() -> None:
    outcomes = ["succeeded", "failed", "aborted", "timed_out", "failed"]
    evidence = of(*(operation(n, outcome=outcome) for n, outcome in enumerate(outcomes)))
    tally = evidence.refs["mcp.demo.search"]
    assert (tally.succeeded, tally.failed, tally.aborted, tally.timed_out) == (1, 2, 1, 1)
    assert tally.calls == len(outcomes)
    assert tally.stages == {"unknown": 2}


@pytest.mark.parametrize(
    ("stage", "rejections"),
    [("resolve", 1), ("prepare", 1), ("validate", 1), ("approve", 0), ("invoke", 0), ("guard", 0)],
)
def test_a_failure_before_any_effect_is_a_rejection(stage: str, rejections: int) -> None:
    evidence = of(operation(outcome="failed", failureStage=stage))
    assert evidence.refs["mcp.demo.search"].rejections == rejections
    assert evidence.refs["mcp.demo.search"].stages == {stage: 1}


@pytest.mark.parametrize("outcome", ["succeeded", "aborted", "timed_out"])
def test_only_failed_calls_have_stages_and_rejections(outcome: str) -> None:
    tally = of(operation(outcome=outcome, failureStage="validate")).refs["mcp.demo.search"]
    assert (tally.rejections, tally.stages) == (0, {})


def test_navigation_is_no_action() -> None:
    names = ["fabric.discovery.search", "fabric.workflow.step", "fabric.discovery", "fabric.x"]
    evidence = of(*(operation(n, ref, outcome="failed") for n, ref in enumerate(names)))
    assert (evidence.operations, evidence.discovery, evidence.workflow) == (4, 1, 1)
    assert list(evidence.refs) == names[2:]
    assert evidence.tasks["(none)"].flows == {"fabric.discovery→fabric.x": 1}


def churned(shapes: Iterable[tuple[str, str]]) -> RefTally:
    """The tally of one ref after calls with these single argument names and outcomes."""
    calls = [
        operation(n, args={name: 1}, outcome=outcome) for n, (name, outcome) in enumerate(shapes)
    ]
    return of(*calls).refs["mcp.demo.search"]


def test_a_call_after_a_failed_one_is_a_churn_pair() -> None:
    # `(aa:num)` and `(ab:num)` differ in one of eight units.
    tally = churned([("aa", "failed"), ("ab", "succeeded"), ("zz", "succeeded")])
    assert tally.churn == [125_000]


def test_a_failed_retry_waits_for_the_next_one() -> None:
    tally = churned([("aa", "failed"), ("ab", "failed"), ("ab", "aborted"), ("zz", "failed")])
    assert sorted(tally.churn) == [0, 125_000]


def test_a_failure_waits_for_no_other_ref_and_no_other_trace() -> None:
    failed = operation(0, "a", outcome="failed")
    assert of(failed, operation(1, "b")).refs["b"].churn == []
    total = plus(of(failed), of(operation(0, "a")))
    assert total.refs["a"].churn == []
    assert of(failed, operation(1, "b"), operation(2, "a")).refs["a"].churn == [0]


def test_distances_keep_the_order_of_their_retries() -> None:
    calls = [("a", "x"), ("b", "x"), ("b", "xy"), ("a", "xyz"), ("b", "xyzz")]
    failed = [
        operation(n, ref, args={name: 1}, outcome="failed") for n, (ref, name) in enumerate(calls)
    ]
    evidence = plus(of(*failed), of(*failed[:3]))
    one, two, three = 125_000, 222_222, 200_000
    assert evidence.churn == [one, two, three, one]
    assert (evidence.refs["a"].churn, evidence.refs["b"].churn) == ([two], [one, three, one])


def test_witnesses_are_counted_by_how_their_calls_ended() -> None:
    two = WITNESS | {"rules": WITNESS["rules"] * 2}
    evidence = of(
        operation(0, normalization=WITNESS),
        operation(1, normalization=two, outcome="failed", failureStage="invoke"),
        operation(2, "fabric.discovery.x", normalization=WITNESS, outcome="aborted"),
        operation(3),
    )
    assert evidence.normal_forms == NormalFormTally(3, 4, 1, 2)


def test_a_trace_without_actions_has_no_flow() -> None:
    assert of().tasks == {}
    assert of(operation(0, "fabric.workflow.x")).tasks == {}


def test_long_flows_are_told_apart_without_being_kept() -> None:
    calls = [operation(n, f"mcp.server.action_{n:03}") for n in range(60)]
    pieces = [of(*calls), of(*calls), of(*calls[:-1])]
    flows = plus(*pieces).tasks["(none)"].flows
    assert sorted(flows.values()) == [1, 2]
    assert all(len(flow) < 100 for flow in flows)


def test_long_sums_pause() -> None:
    calls = [operation(n, f"a.{n}") for n in range(600)]
    big = of(*calls)
    assert sum(1 for _ in add_steps(Evidence(), big)) >= 2
