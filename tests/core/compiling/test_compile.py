from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import Artifact, Gate, Overlay, Quarantine, artifact_bytes
from fabricd.core.compiling.compile import (
    Plans,
    compile_plans,
    ordered_actions,
    plans_steps,
)
from fabricd.core.compiling.gate import trialled_steps
from fabricd.core.model import Action, Plan, Surface
from fabricd.core.normalform.derive import derive
from fabricd.core.steps import finish
from tests.core.making import Json
from tests.core.schemas import closed_schemas
from tests.core.strategies import names

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"limit": {"type": "integer"}},
}
OPEN: Json = {"type": "object", "properties": {}}
LEGACY = Artifact(
    1,
    2,
    (),
    (),
    Gate(True, 0.5, 0.25),
    "digest",
    (Overlay("a", {"type": "object"}, "digest"),),
    (Quarantine("b", "digest"),),
)
surfaces = st.lists(st.tuples(names, st.one_of(closed_schemas(), st.just(OPEN))), max_size=5).map(
    lambda rows: tuple(Action(ref, schema) for ref, schema in rows)
)


def plans_of(actions: tuple[Action, ...]) -> Plans:
    return finish(plans_steps(Surface(actions, "s" * 64)))


def plans(*refs: str) -> tuple[Plan, ...]:
    return plans_of(tuple(Action(ref, SCHEMA) for ref in refs)).plans


@given(surfaces, st.randoms(use_true_random=False))
def test_bytes_do_not_depend_on_the_order_of_actions(actions: tuple[Action, ...], rng: Any) -> None:
    first: dict[str, Action] = {}
    for action in actions:
        first.setdefault(action.ref, action)
    others = list(first.values())
    rng.shuffle(others)
    there = compile_plans(plans_of(actions).plans, "s" * 64, 0.5).artifact
    back = compile_plans(plans_of(tuple(others)).plans, "s" * 64, 0.5).artifact
    assert there == back
    assert there is None or back is None or artifact_bytes(there) == artifact_bytes(back)


@given(surfaces)
def test_every_action_has_a_plan_or_a_reason(actions: tuple[Action, ...]) -> None:
    found = plans_of(actions)
    refs = [plan.ref for plan in found.plans] + [row.ref for row in found.without]
    assert sorted(refs) == sorted({action.ref for action in actions})
    assert all(row.reason for row in found.without)
    assert found.rules == sum(len(plan.rules) for plan in found.plans)


@given(surfaces)
def test_every_plan_has_a_normalizer_that_proves_it(actions: tuple[Action, ...]) -> None:
    surface = Surface(actions, "")
    found = finish(plans_steps(surface))
    built = finish(trialled_steps(surface, found.plans))
    assert {ref: trialled.normalizer.plan for ref, trialled in built.items()} == {
        plan.ref: plan for plan in found.plans
    }


def test_actions_are_ordered_by_code_unit_and_the_first_of_a_name_counts() -> None:
    actions = [("\uffff", 1), ("\U0001f600", 2), ("a", 3), ("a", 4)]
    ordered = ordered_actions(Surface(tuple(Action(ref, {"n": n}) for ref, n in actions), ""))
    assert [(action.ref, action.input_schema["n"]) for action in ordered] == [
        ("a", 3),
        ("\U0001f600", 2),
        ("\uffff", 1),
    ]


def test_plans_end_at_a_thousand_actions() -> None:
    actions = tuple(Action(f"a{n:04}", SCHEMA if n % 100 == 0 else OPEN) for n in range(1005))
    found = plans_of(actions[::-1])
    assert (len(found.plans), found.beyond_limit) == (10, 5)
    assert found.plans[-1].ref == "a0900"
    assert plans_of(actions[:1000]).beyond_limit == 0


def test_cut_rules_are_told() -> None:
    wide = SCHEMA | {"properties": {f"k{n:02}": {"type": "integer"} for n in range(60)}}
    found = plans_of((Action("a", wide), Action("b", SCHEMA)))
    assert [(row.ref, row.cut) for row in found.cut] == [("a", 52)]


def test_a_first_compile_writes_what_it_derived() -> None:
    found = compile_plans(plans("b", "a"), "s" * 64, 0.25)
    assert found.status == "compiled"
    artifact = found.artifact
    assert artifact is not None
    assert (artifact.version, artifact.metric_version) == (2, 3)
    assert [plan.ref for plan in artifact.plans] == ["a", "b"]
    assert artifact.gate == found.gate == Gate(True, 0.25, 0.25, ())
    assert [(row.kind, row.ref, row.detail) for row in artifact.applied] == [
        ("normal-form", "a", "3 proven rules"),
        ("normal-form", "b", "3 proven rules"),
    ]
    [plan, _] = json.loads(artifact_bytes(artifact))["normalizations"]
    assert plan["rules"][0] == {"kind": "key-form", "key": "limit"}


def test_the_evidence_digest_covers_surface_and_plans() -> None:
    artifact = compile_plans(plans("a"), "s" * 64, 0.25).artifact
    assert artifact is not None
    written = json.loads(artifact_bytes(artifact))
    expected = digest({"surface": "s" * 64, "plans": written["normalizations"]})
    assert artifact.evidence_digest == expected


def test_proposals_are_the_plans() -> None:
    [proposal] = compile_plans(plans("a"), "s" * 64, 0).proposals
    plan = derive("a", SCHEMA).plan
    assert plan is not None
    assert (proposal["kind"], proposal["ref"]) == ("normal-form", "a")
    assert proposal["baseSchemaDigest"] == plan.base_schema_digest
    assert [rule["kind"] for rule in proposal["rules"]] == [rule.kind for rule in plan.rules]


def test_equal_plans_converge_on_the_very_artifact_that_was_there() -> None:
    previous = compile_plans(plans("a"), "old" * 20, 0.75).artifact
    found = compile_plans(plans("a"), "s" * 64, 0.25, previous)
    assert found.status == "converged"
    assert found.artifact is previous
    assert (found.gate, found.proposals) == (None, ())


def test_nothing_derived_and_nothing_before_is_no_artifact() -> None:
    found = compile_plans((), "s" * 64, 0.25)
    assert (found.status, found.artifact) == ("converged", None)


@pytest.mark.parametrize("refs", [(), ("a", "b"), ("b",)])
def test_other_plans_replace_the_artifact(refs: tuple[str, ...]) -> None:
    previous = compile_plans(plans("a"), "s" * 64, 0.5).artifact
    found = compile_plans(plans(*refs), "s" * 64, 0.25, previous)
    assert found.status == "compiled"
    assert found.artifact is not None
    assert [plan.ref for plan in found.artifact.plans] == list(refs)


@pytest.mark.parametrize("refs", [(), ("a",)])
@pytest.mark.parametrize("previous", [LEGACY, replace(LEGACY, overlays=(), quarantined=())])
def test_a_legacy_artifact_is_always_replaced(previous: Artifact, refs: tuple[str, ...]) -> None:
    found = compile_plans(plans(*refs), "s" * 64, 0.25, previous)
    assert found.status == "compiled"
    assert found.artifact is not None
    assert (found.artifact.version, found.artifact.overlays, found.artifact.quarantined) == (
        2,
        (),
        (),
    )


def test_the_ledger_ends_at_256_plans() -> None:
    many = plans(*(f"a{n:03}" for n in range(300)))
    artifact = compile_plans(many, "s" * 64, 0).artifact
    assert artifact is not None
    assert (len(artifact.plans), len(artifact.applied)) == (300, 256)
