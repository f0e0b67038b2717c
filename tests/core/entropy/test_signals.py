"""The author's review equals a plain one, whatever names and values the calls have."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from fabricd.core.entropy.keysets import keysets_of, runs_in, runs_text
from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.entropy.observations import Observed
from fabricd.core.entropy.signals import (
    Cluster,
    DeclareEnum,
    NotOnSurface,
    OverloadSplit,
    PropertyNotJudged,
    RulesCut,
    SequenceFuse,
    Signal,
    enum_steps,
    identity_of,
    line_of,
    review_key,
    sequence_steps,
    split_steps,
    undeclared,
)
from fabricd.core.evidence import Evidence
from fabricd.core.model import Action, Surface
from fabricd.core.steps import finish
from tests.core.making import Json, log, operation, record, scanned, trace
from tests.core.strategies import odd_names
from tests.oracle import review as oracle


def evidence_of(traces: list[Json], sessions: int = 1) -> Evidence:
    """The evidence of traces that lie in one session or in several."""
    total = Evidence()
    for number in range(sessions):
        total.add(scanned(log(*map(record, traces[number::sessions])))[0])
    return total


def dealt(traces: list[Json], sessions: int) -> list[Json]:
    """The traces in the order in which `evidence_of` counts them."""
    return [each for number in range(sessions) for each in traces[number::sessions]]


# --- sequences

REFS = [
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "mcp.é",
    "pi.read",
    "fabric.x",
    "fabric.discovery.x",
    "",
    "g\0h",
]
ordinary = st.sampled_from(REFS[:7])


@st.composite
def habits(draw: DrawFn) -> list[Json]:
    """Traces that repeat a few sequences, often whole and sometimes disturbed."""
    plans = draw(st.lists(st.lists(ordinary, min_size=3, max_size=9), min_size=1, max_size=3))
    traces: list[Json] = []
    for _ in range(draw(st.integers(0, 9))):
        refs = list(draw(st.sampled_from(plans))) * draw(st.sampled_from([1, 1, 2]))
        outcomes = ["succeeded"] * len(refs)
        for at in draw(st.lists(st.integers(0, len(refs) - 1), max_size=2)):
            refs[at] = draw(st.sampled_from(REFS))
            outcomes[at] = draw(st.sampled_from(["succeeded", "failed", "aborted", "timed_out"]))
        calls = [
            operation(n, ref, outcome=outcome)
            for n, (ref, outcome) in enumerate(zip(refs, outcomes, strict=True))
        ]
        traces.append(trace(*calls))
    return traces


@settings(max_examples=150)
@given(habits(), st.integers(1, 3))
def test_fused_sequences_are_those_of_all_windows(traces: list[Json], sessions: int) -> None:
    found = finish(sequence_steps(evidence_of(traces, sessions)))
    assert [(signal.sequence, signal.occurrences) for signal in found] == oracle.fusions(traces)


@given(st.lists(st.sampled_from(["", "", *REFS]), max_size=24))
def test_runs_are_read_back_as_they_were(ended: list[str]) -> None:
    operations = [{"ref": ref, "outcome": "succeeded"} for ref in ended]
    expected = [run for run in oracle.runs(operations) if len(run) >= 3]
    assert runs_in(runs_text(ended)) == expected
    assert bool(runs_text(ended)) == bool(expected)


@pytest.mark.parametrize("odd", [[], ["pi.read"], ["x\0y"], ["x\0y", "pi.read"]])
def test_only_the_first_operations_of_an_endless_trace_are_looked_at(odd: list[str]) -> None:
    ended = [*odd, *(f"r{n}" for n in range(5000))]
    assert runs_in(runs_text(ended)) == [ended[len(odd) : 2048]]


def test_thrice_within_two_traces_is_not_enough() -> None:
    once = [operation(n, ref) for n, ref in enumerate("abc")]
    twice = [operation(n, ref) for n, ref in enumerate("abcabc")]
    assert finish(sequence_steps(evidence_of([trace(*once), trace(*twice)]))) == []
    (found,) = finish(sequence_steps(evidence_of([trace(*once), trace(*once), trace(*twice)])))
    assert (found.sequence, found.occurrences) == (("a", "b", "c"), 4)


def test_the_longest_is_chosen_and_what_is_inside_it_is_not() -> None:
    calls = [operation(n, ref) for n, ref in enumerate("abcdefg")]
    found = finish(sequence_steps(evidence_of([trace(*calls)] * 3)))
    assert [signal.sequence for signal in found] == [tuple("abcdef"), tuple("bcdefg")]


def test_eight_sequences_at_most() -> None:
    traces = [
        trace(*(operation(n, f"{plan}{ref}") for n, ref in enumerate("abc")))
        for plan in range(12)
        for _ in range(3)
    ]
    assert len(finish(sequence_steps(evidence_of(traces)))) == 8


def test_many_different_runs_pause() -> None:
    rng = random.Random(2)
    traces = [trace(*(operation(n, rng.choice("abcdefgh")) for n in range(12))) for _ in range(600)]
    evidence = evidence_of(traces)
    assert sum(1 for _ in sequence_steps(evidence)) > 4
    found = finish(sequence_steps(evidence))
    assert [(signal.sequence, signal.occurrences) for signal in found] == oracle.fusions(traces)


# --- splits

key_sets: SearchStrategy[list[str]] = st.one_of(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=2, unique=True),
    st.lists(odd_names, max_size=3, unique=True),
    # More than a shape names, and of equal shape although they differ.
    st.integers(0, 2).map(lambda last: [f"k{n:02}" for n in range(33)] + [f"z{last}"]),
)
values: SearchStrategy[Any] = st.sampled_from([1, "x", None, True, [], {"n": {"m": {"o": {}}}}])


@st.composite
def called(draw: DrawFn) -> list[Json]:
    """Traces of calls that repeat a few sets of argument names."""
    sets = draw(st.lists(key_sets, min_size=1, max_size=5))
    traces: list[Json] = []
    for _ in range(draw(st.integers(1, 3))):
        calls: list[Json] = []
        for number in range(draw(st.integers(0, 10))):
            value = draw(values)
            args = dict.fromkeys(draw(st.sampled_from(sets)), value)
            ref = draw(st.sampled_from(["r", "r", "mcp.é", "fabric.x", "fabric.workflow.x"]))
            outcome = draw(st.sampled_from(["succeeded", "failed"]))
            stage = {"failureStage": "validate"} if outcome == "failed" else {}
            calls.append(operation(number, ref, args=args, outcome=outcome, **stage))
        traces.append(trace(*calls))
    return traces


def split(traces: list[Json], sessions: int) -> list[OverloadSplit]:
    evidence = evidence_of(traces, sessions)
    return finish(split_steps(report(evidence, Catalog()), evidence))


@settings(max_examples=150)
@given(called(), st.integers(1, 3))
def test_splits_are_those_of_the_arguments_themselves(traces: list[Json], sessions: int) -> None:
    found = [
        (s.ref, s.shape_entropy_bits, [(list(each.keys), each.calls) for each in s.clusters])
        for s in split(traces, sessions)
    ]
    assert found == oracle.splits(dealt(traces, sessions))


@settings(max_examples=150)
@given(st.lists(key_sets, max_size=8))
def test_argument_names_are_told_exactly(sets: list[list[str]]) -> None:
    calls = [operation(n, "r", args=dict.fromkeys(names, 1)) for n, names in enumerate(sets)]
    tallies = scanned(log(record(trace(*calls))))[0].refs
    found = keysets_of(tallies["r"].shapes, tallies["r"].odd) if calls else {}
    expected: dict[tuple[str, ...], int] = {}
    for names in sets:
        key = tuple(sorted(names, key=lambda name: name.encode("utf-16-be")))
        expected[key] = expected.get(key, 0) + 1
    assert found == expected


def test_sets_that_join_to_the_same_text_are_told_apart_in_a_fixed_order() -> None:
    one, other = {"a,b": 1, "x": 1}, {"a": 1, "b,x": 1}
    plain = [{"z": 1}] * 3
    for order in ([one, other], [other, one]):
        calls = [operation(n, "r", args=args) for n, args in enumerate([*plain, *order, *order])]
        (found,) = split([trace(*calls)], 1)
        assert [each.keys for each in found.clusters] == [("z",), ("a", "b,x"), ("a,b", "x")]


# --- enums

MARK = "x-fabric-enum-candidate"
scalars: SearchStrategy[Any] = st.sampled_from(["x", "x", "x", "y", "1", "true", "", 1, 2.5, True])


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(st.sampled_from("rs"), st.sampled_from("kl"), scalars, st.integers(1, 5)),
        max_size=14,
    ),
    st.sampled_from(
        [
            {MARK: True},
            {MARK: True, "type": "string", "enum": "no list"},
            {MARK: 1},
            {MARK: True, "enum": []},
            {MARK: True, "type": "boolean"},
            True,
        ]
    ),
)
def test_enums_are_those_of_the_single_values(
    observed: list[tuple[str, str, Any, int]], declared: Any
) -> None:
    schema = {"properties": {"k": declared, "l": {MARK: True}}}
    actions: list[Json] = [
        {"ref": "r", "inputSchema": schema},
        {"ref": "s", "inputSchema": {"properties": 1}},
    ]
    surface = Surface(tuple(Action(a["ref"], a["inputSchema"]) for a in actions), "d")
    rows = [Observed(*row) for row in observed]
    found = msgspec.to_builtins(finish(enum_steps(rows, surface)))
    for row in found:
        assert row.pop("kind") == "declare-enum"
        row["values"] = list(row["values"])
    assert json.dumps(found) == json.dumps(oracle.enums(observed, actions))


def test_many_observations_pause() -> None:
    rows = [Observed("r", "k", number % 3) for number in range(2000)]
    assert sum(1 for _ in enum_steps(rows, Surface((), "d"))) == 7


# --- lines and identity

ONE: list[Signal] = [
    DeclareEnum("r", "k", ("a", "b", 1, True, "e"), 9, 5, 0.5),
    OverloadSplit("r", 1.5, (Cluster(("a",), 3), Cluster((), 2))),
    SequenceFuse(("a", "b", "c"), 3),
    RulesCut("r", 7),
    PropertyNotJudged("r", "k", "why"),
    PropertyNotJudged("s", None, "why"),
    NotOnSurface("r", 4),
]


def test_a_signal_in_a_line() -> None:
    assert [line_of(signal) for signal in ONE] == [
        "declare-enum r.k (a, b, 1, true, ...)",
        "overload-split r (2 key-set clusters)",
        "sequence-fuse a -> b -> c",
        "rules-cut r (7 rules)",
        "property-not-judged r.k",
        "property-not-judged s",
        "not-on-surface r",
    ]


@given(st.permutations(ONE))
def test_more_of_the_same_is_no_news(signals: list[Signal]) -> None:
    more: list[Signal] = [
        DeclareEnum("r", "k", ("e", True, 1, "b", "a"), 90, 5, 0.9),
        OverloadSplit("r", 2.5, (Cluster((), 30), Cluster(("a",), 20))),
        SequenceFuse(("a", "b", "c"), 30),
        RulesCut("r", 70),
        PropertyNotJudged("r", "k", "another reason"),
        PropertyNotJudged("s", None, "another reason"),
        NotOnSurface("r", 40),
    ]
    assert review_key(signals) == review_key(more)
    for left_out in range(len(ONE)):
        assert review_key(ONE[:left_out] + ONE[left_out + 1 :]) != review_key(ONE)


def test_one_and_the_text_1_are_other_values() -> None:
    one, text = (DeclareEnum("r", "k", ("a", value), 8, 2, 0.5) for value in (1, "1"))
    assert identity_of(one) != identity_of(text)


def test_actions_called_and_not_declared_come_by_their_calls() -> None:
    calls = [operation(n, ref) for n, ref in enumerate(["b", "c", "c", "a", "fabric.x", "known"])]
    evidence = scanned(log(record(trace(*calls))))[0]
    surface = Surface((Action("known", {}),), "d")
    found = undeclared(report(evidence, Catalog()), surface)
    assert found == [NotOnSurface("c", 2), NotOnSurface("a", 1), NotOnSurface("b", 1)]
