from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import (
    Applied,
    Artifact,
    Gate,
    Overlay,
    Quarantine,
    artifact_bytes,
    artifact_of,
    artifact_value,
    compile_digest_steps,
    fresh,
    plan_values,
)
from fabricd.core.compiling.compile import plans_steps
from fabricd.core.compiling.merge import Dropped, Merged, Prover, merge_digest_steps, merge_steps
from fabricd.core.documents import strict_json
from fabricd.core.javascript import trim, utf16_key
from fabricd.core.model import Action, Plan, Rule, Surface
from fabricd.core.normalform.derive import derive, proves
from fabricd.core.steps import finish
from tests.core.making import Json
from tests.core.schemas import closed_schemas
from tests.core.strategies import names

VECTORS = Path(__file__).parents[3] / "fixtures" / "conformance" / "merges.json"
SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "order": {"type": "string", "enum": ["newest", "bestMatch"]},
    },
}
DRIFTED: Json = {**SCHEMA, "required": []}
OPEN: Json = {**SCHEMA, "additionalProperties": True}
LIVE = Surface((Action("a", SCHEMA), Action("b", SCHEMA), Action("open", OPEN)), "s" * 64)
LEGACY = Artifact(
    1,
    2,
    (),
    (Applied("enum-tighten", "a", "old"),),
    Gate(True, 0.5, 0.25),
    "digest",
    (Overlay("a", SCHEMA, "digest"), Overlay("z", {}, "stale")),
    (Quarantine("b", "digest"), Quarantine("b", "digest")),
)


def plan(ref: str, schema: Any = SCHEMA) -> Plan:
    found = derive(ref, schema).plan
    assert found is not None
    return found


def holding(*plans: Plan) -> Artifact:
    """An artifact as somebody else made it: its gate and digest say nothing."""
    foreign = (Applied("noise-quarantine", "q", "d"),)
    return Artifact(2, 3, plans, foreign, Gate(False, 0.5, 0.75, ("worse",)), "f" * 64)


def merge(local: Artifact | None, *incoming: Artifact, live: Surface = LIVE) -> Merged:
    return finish(merge_steps(Prover(live), local, incoming))


def only(merged: Merged) -> Dropped:
    assert len(merged.dropped) == 1
    return merged.dropped[0]


# --- what is kept

refs = names.filter(lambda name: trim(name) != "")
surfaces = st.lists(st.tuples(refs, closed_schemas()), max_size=5).map(
    lambda rows: Surface(tuple(Action(ref, schema) for ref, schema in rows), "")
)


@st.composite
def artifacts(draw: st.DrawFn, live: Surface) -> Artifact:
    """Plans of a surface, some as derived and some tampered with."""
    plans: list[Plan] = []
    for sound in finish(plans_steps(live)).plans:
        made = draw(st.sampled_from(["as-is", "left-out", "other-digest", "cut", "turned"]))
        if made == "other-digest":
            sound = replace(sound, base_schema_digest="0" * 64)
        elif made == "cut":
            sound = replace(sound, rules=sound.rules[1:] or (Rule("enum-form", "forged"),))
        elif made == "turned":
            sound = replace(sound, rules=sound.rules[::-1])
        if made != "left-out":
            plans.append(sound)
    return holding(*draw(st.permutations(plans)))


@given(st.data())
def test_what_is_kept_is_what_is_proven_and_the_rest_is_named(data: st.DataObject) -> None:
    live = data.draw(surfaces)
    local = data.draw(st.none() | artifacts(live))
    incoming = data.draw(st.lists(artifacts(live), max_size=3))
    merged = merge(local, *incoming, live=live)
    given_plans = [plan for one in (*filter(None, [local]), *incoming) for plan in one.plans]
    schemas = live.schema_of()
    proven = {one.ref: one for one in given_plans if proves(one, schemas[one.ref])}
    assert merged.artifact.plans == tuple(sorted(proven.values(), key=lambda p: utf16_key(p.ref)))
    lost = sorted(one.ref for one in given_plans if not proves(one, schemas[one.ref]))
    assert sorted(entry.ref for entry in merged.dropped) == lost
    assert merged.dropped_normalizations == len(lost)
    lost_here = sum(entry.origin == "incoming" for entry in merged.dropped)
    assert merged.added + merged.known + lost_here == merged.offered
    assert merged.offered == sum(len(one.plans) for one in incoming)


@given(st.data())
def test_merging_several_is_merging_one_after_the_other(data: st.DataObject) -> None:
    live = data.draw(surfaces)
    first, second = data.draw(artifacts(live)), data.draw(artifacts(live))
    once = merge(None, first, second, live=live)
    step = merge(None, first, live=live)
    twice = merge(step.artifact, second, live=live)
    assert artifact_bytes(twice.artifact) == artifact_bytes(once.artifact)
    assert len(step.dropped) + len(twice.dropped) == len(once.dropped)
    assert step.added + twice.added == once.added


@given(st.data())
def test_merging_again_changes_no_byte(data: st.DataObject) -> None:
    live = data.draw(surfaces)
    local = merge(None, data.draw(artifacts(live)), live=live).artifact
    again = merge(local, local, live=live)
    assert artifact_bytes(again.artifact) == artifact_bytes(local)
    assert (again.added, again.known, again.dropped) == (0, len(local.plans), ())


@given(st.data())
def test_the_result_passes_the_guard(data: st.DataObject) -> None:
    live = data.draw(surfaces)
    merged = merge(None, data.draw(artifacts(live)), live=live).artifact
    found = artifact_of(strict_json(artifact_bytes(merged)))
    assert found is not None
    assert found.plans == merged.plans


def test_nothing_of_the_sources_survives_but_the_plans() -> None:
    merged = merge(holding(plan("b")), holding(plan("a"))).artifact
    plans = (plan("a"), plan("b"))
    assert merged == fresh(plans, digest(plan_values(plans)), 0.0)
    assert merged.gate == Gate(True, 0, 0)
    assert [row.ref for row in merged.applied] == ["a", "b"]


def test_without_plans_the_digest_is_that_of_an_empty_list() -> None:
    assert merge(None).artifact.evidence_digest == digest([])
    assert merge(LEGACY).artifact == fresh((), digest([]), 0.0)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 30])
def test_the_digest_is_that_of_the_list_and_is_made_in_steps(count: int) -> None:
    plans = [replace(plan("a"), ref=str(number)) for number in range(count)]
    assert finish(merge_digest_steps(plans)) == digest(plan_values(plans))
    assert sum(1 for _ in merge_digest_steps(plans)) == count // 8


def test_a_merge_and_a_compile_of_the_same_plans_differ_in_gate_and_digest_alone() -> None:
    plans = finish(plans_steps(LIVE)).plans
    compiled = fresh(plans, finish(compile_digest_steps(LIVE.digest, plans)), 0.25)
    merged = merge(None, compiled).artifact
    there, here = artifact_value(compiled), artifact_value(merged)
    assert {name for name in there if there[name] != here[name]} == {"gate", "evidenceDigest"}


# --- what is dropped


@pytest.mark.parametrize(
    ("given_plan", "cause", "words"),
    [
        (plan("gone"), "unknown-ref", "the surface declares no such action"),
        (plan("a", DRIFTED), "drifted", "derived from another schema than the live one"),
        (plan("open"), "drifted", "derived from another schema"),
        (
            replace(plan("open"), base_schema_digest=digest(OPEN)),
            "no-plan",
            "the live schema permits no plan: the object is open",
        ),
        (
            replace(plan("a"), rules=plan("a").rules[1:]),
            "not-derived",
            "it holds 6 of the 7 rules that the live schema derives",
        ),
        (
            replace(plan("a"), rules=plan("a").rules[::-1]),
            "not-derived",
            "its rules are not in the order",
        ),
        (
            replace(plan("a"), rules=(*plan("a").rules, plan("a").rules[0])),
            "not-derived",
            "it holds a rule twice",
        ),
        (
            replace(plan("a"), rules=(*plan("a").rules[:-1], Rule("numeric-string", "query"))),
            "not-derived",
            "does not derive its rule numeric-string of query",
        ),
        (
            replace(plan("a"), rules=(*plan("a").rules, Rule("optional-null", "query"))),
            "not-derived",
            "does not derive its rule optional-null of query",
        ),
        (
            replace(plan("a"), rules=(Rule("key-form", "elsewhere"), *plan("a").rules[1:])),
            "not-derived",
            "does not derive its rule key-form of elsewhere",
        ),
    ],
    ids=[
        "gone",
        "drifted",
        "opened",
        "open",
        "partial",
        "turned",
        "twice",
        "forged",
        "more",
        "moved",
    ],
)
def test_a_plan_that_is_not_proven_is_dropped_with_the_reason(
    given_plan: Plan, cause: str, words: str
) -> None:
    for merged, origin, source in (
        (merge(None, holding(given_plan)), "incoming", 0),
        (merge(holding(given_plan)), "local", None),
    ):
        entry = only(merged)
        assert (entry.kind, entry.ref, entry.cause) == ("plan", given_plan.ref, cause)
        assert (entry.origin, entry.source) == (origin, source)
        assert words in entry.reason
        assert merged.artifact.plans == ()
        assert merged.dropped_normalizations == 1


def test_a_stale_plan_here_does_not_block_a_sound_one_from_elsewhere() -> None:
    merged = merge(holding(plan("a", DRIFTED)), holding(plan("a")))
    assert merged.artifact.plans == (plan("a"),)
    assert (only(merged).origin, merged.added) == ("local", 1)


def test_a_repeated_sound_plan_is_no_dropped_entry() -> None:
    merged = merge(holding(plan("a")), holding(plan("a"), plan("b")), holding(plan("b")))
    assert merged.artifact.plans == (plan("a"), plan("b"))
    assert (merged.offered, merged.added, merged.known, merged.dropped) == (3, 1, 2, ())


def test_legacy_restrictions_are_counted_whether_they_match_or_not() -> None:
    merged = merge(LEGACY, LEGACY, holding(plan("a")))
    assert merged.artifact.plans == (plan("a"),)
    counts = merged.dropped_overlays, merged.dropped_quarantines, merged.dropped_normalizations
    assert counts == (4, 4, 0)
    entries = [(entry.kind, entry.ref, entry.source) for entry in merged.dropped]
    assert entries[:4] == [
        ("overlay", "a", None),
        ("overlay", "z", None),
        ("quarantine", "b", None),
        ("quarantine", "b", None),
    ]
    assert all("no effect" in entry.reason for entry in merged.dropped)


def test_the_first_action_of_a_name_is_the_live_one() -> None:
    live = Surface((Action("a", SCHEMA), Action("a", DRIFTED)), "")
    assert merge(None, holding(plan("a")), live=live).added == 1
    assert only(merge(None, holding(plan("a", DRIFTED)), live=live)).cause == "drifted"


# --- bounds


def many(first: int, last: int) -> tuple[Plan, ...]:
    return tuple(replace(plan("a"), ref=f"r{number:04}") for number in range(first, last))


def test_the_first_thousand_plans_are_kept_and_the_others_named() -> None:
    live = Surface(tuple(Action(f"r{number:04}", SCHEMA) for number in range(1200)), "")
    merged = merge(
        holding(*many(600, 1200)), holding(*many(0, 500)), holding(*many(300, 700)), live=live
    )
    kept = [one.ref for one in merged.artifact.plans]
    assert kept == sorted(one.ref for one in (*many(600, 1200), *many(0, 400)))
    assert (merged.beyond_limit, merged.dropped_normalizations) == (300, 0)
    assert {entry.ref for entry in merged.dropped} == {one.ref for one in many(400, 600)}
    assert {entry.reason for entry in merged.dropped} == {"beyond the first 1,000 plans"}
    assert (merged.offered, merged.added, merged.known) == (900, 400, 200)
    assert len(merged.artifact.applied) == 256


def test_an_action_is_derived_once_however_often_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counted(ref: str, schema: object) -> Any:
        asked.append(ref)
        return derive(ref, schema)

    monkeypatch.setattr("fabricd.core.compiling.merge.derive", counted)
    prover = Prover(LIVE)
    for _ in range(3):
        both = holding(plan("a"), plan("open"), plan("gone"))
        finish(merge_steps(prover, both, [both, both]))
    assert sorted(asked) == ["a", "open"]


def test_it_pauses_between_plans() -> None:
    live = Surface(tuple(Action(one.ref, SCHEMA) for one in many(0, 80)), "")
    steps = merge_steps(Prover(live), holding(*many(0, 40)), [holding(*many(40, 80))])
    assert sum(1 for _ in steps) >= 20


# --- what the other implementation wrote


def test_an_artifact_of_the_reference_is_merged_and_ours_passes_its_guard() -> None:
    document: Json = json.loads(VECTORS.read_bytes())
    actions = document["surface"]["actions"]
    live = Surface(tuple(Action(row["ref"], row["inputSchema"]) for row in actions), "")
    theirs = artifact_of(document["cases"][0]["incoming"])
    assert theirs is not None
    merged = merge(None, theirs, live=live)
    assert merged.dropped == ()
    written = json.loads(artifact_bytes(merged.artifact))
    assert written == document["cases"][0]["expected"]["file"]
    assert list(written) == list(document["cases"][0]["expected"]["file"])
