from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from fabricd.core.canonical import digest
from fabricd.core.entropy.lab.metric import restated
from fabricd.core.entropy.lab.observations import Observations, enum_targets, observe_steps
from fabricd.core.entropy.lab.proposals import (
    EnumTighten,
    ModalRename,
    NoiseQuarantine,
    quarantines,
    renames,
    tightenings,
)
from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.model import Action, Surface
from fabricd.core.repairs import ActionAlias, KeyAlias
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import finish
from tests.core.entropy.studied import MODE, audited, call, modes, part, recorded, surface, traced
from tests.core.making import Json
from tests.core.strategies import scalars


def observed(live: Surface, recordings: list[Recording]) -> Observations:
    return finish(observe_steps(recordings, enum_targets(live)))


def proposed(live: Surface, recordings: list[Recording]) -> tuple[EnumTighten, ...]:
    return tightenings(observed(live, recordings), enum_targets(live), live)


def tightened(values: Sequence[object], schema: Any = MODE) -> tuple[EnumTighten, ...]:
    return proposed(surface(a=schema), recorded(audited(*modes("a", values))))


def with_mode(**mode: Any) -> Json:
    return MODE | {"properties": MODE["properties"] | {"mode": mode}}


# enum-tighten


def test_members_that_were_seen_are_kept_most_frequent_first() -> None:
    values = ["slow"] * 3 + ["fast"] * 6
    assert tightened(values) == (
        EnumTighten("a", "mode", ("fast", "slow"), 3, calls=9, distinct=2, top_share=0.666667),
    )


def test_equal_counts_are_ranked_by_the_value() -> None:
    [found] = tightened(["slow"] * 4 + ["fast"] * 4)
    assert (found.values, found.top_share) == (("fast", "slow"), 0.5)


def test_values_that_are_not_declared_count_but_are_never_kept() -> None:
    # A restriction may only take away: what was never declared is not declared by being seen.
    [found] = tightened(["FAST"] * 5 + ["fast"] * 3)
    assert (found.values, found.calls, found.distinct) == (("fast",), 8, 2)


@pytest.mark.parametrize(
    "values",
    [
        ["fast"] * 6 + ["slow"],  # seven observations
        ["fast"] * 20,  # one value
        ["fast"] * 10 + [f"v{n}" for n in range(8)],  # nine values
        ["fast"] * 9 + ["slow"] * 5 + ["x"] * 5,  # a top share of 9 in 19
        ["FAST"] * 6 + ["Slow"] * 2,  # none remains
        ["fast"] * 6 + ["slow", "plain"],  # all remain
        ["fast"] * 7 + [["slow"]],  # a list is no observation
    ],
)
def test_too_little_too_much_none_or_all_proposes_nothing(values: Sequence[object]) -> None:
    assert tightened(values) == ()


@pytest.mark.parametrize(
    "schema",
    [
        MODE | {"properties": {"mode": True}},
        with_mode(type="string"),  # an open string is nobody's to close
        with_mode(type="string", **{"x-fabric-enum-candidate": True}),
        with_mode(type="boolean", enum=["fast", "slow", "plain"]),
        with_mode(enum=["fast", "slow", True]),
        {"type": "object", "properties": {"mode": {"items": {"enum": ["fast", "slow", "x"]}}}},
        with_mode(enum=["fast", "slow", "x"], pattern="(["),  # nobody can judge it
        "none",
        None,
    ],
)
def test_only_beneath_a_declared_enum_that_can_be_judged(schema: object) -> None:
    assert tightened(["fast"] * 6 + ["slow"] * 3, schema) == ()


def test_numbers_and_texts_are_told_apart() -> None:
    schema = with_mode(enum=[1, "1", 2, None, {"a": 1}, {"a": 1.0}])
    [found] = tightened([1.0] * 6 + ["1"] * 2, schema)
    assert (found.values, found.declared) == ((1, "1"), 5)
    assert [type(value) for value in found.values] == [int, str]


def test_a_number_beyond_doubles_is_a_value_like_no_declared_one() -> None:
    huge = 10**400
    calls = modes("a", ["fast"] * 7)
    found = recorded(audited(*calls))
    found[0].audits[0].args["mode"] = huge
    counted = observed(surface(a=MODE), found)
    assert counted.tallies["a", "mode"].values == {"string:fast": 6, "number:null": 1}


def test_projected_arguments_count_only_where_no_audit_says_anything() -> None:
    live = surface(a=MODE, fabric_x=MODE)
    values = ["fast"] * 6 + ["slow"] * 3
    alone = recorded(traced(*modes("a", values), *modes("fabric.x", values)))
    assert [found.ref for found in proposed(live, alone)] == ["a"]
    assert not observed(live, alone).from_audits
    silent = recorded(audited(call("other", {"list": []})))
    assert len(proposed(live, alone + silent)) == 1
    anything = recorded(audited(call("other", {"x": 1})))
    assert proposed(live, alone + anything) == ()
    assert observed(live, alone + anything).from_audits


def test_proposals_come_by_ref_and_key_and_are_eight_at_most() -> None:
    names = [f"k{n}" for n in range(10)]
    schema: Json = {"type": "object", "properties": {k: {"enum": [1, 2, 3]} for k in names}}
    calls = [call(ref, dict.fromkeys(reversed(names), n % 2)) for ref in "ba" for n in range(8)]
    found = proposed(surface(b=schema, a=schema), recorded(audited(*calls)))
    assert [(row.ref, row.key) for row in found] == [("a", key) for key in names[:8]]
    assert found[0].values == (1,)


@pytest.mark.parametrize("ref", ["", " ", "a ", "\ufeffa"])
def test_what_no_artifact_can_name_is_left_alone(ref: str) -> None:
    live = Surface((Action(ref, MODE),), "live")
    assert proposed(live, recorded(audited(*modes(ref, ["fast"] * 6 + ["slow"] * 2)))) == ()


def test_what_no_artifact_can_hold_is_left_alone() -> None:
    deep: Json = {}
    for _ in range(58):
        deep = {"not": deep}
    assert tightened(["fast"] * 6 + ["slow"] * 2, MODE | {"not": deep})
    for _ in range(4):
        deep = {"not": deep}
    assert tightened(["fast"] * 6 + ["slow"] * 2, MODE | {"not": deep}) == ()


@settings(max_examples=25)
@given(st.lists(scalars, max_size=12), st.lists(scalars, max_size=6))
def test_kept_values_are_declared_ones_and_a_part_of_them(
    seen: list[Any], declared: list[Any]
) -> None:
    members = [1, "x", *declared]
    schema = {"type": "object", "properties": {"mode": {"enum": members}}}
    live = surface(a=schema)
    values = [*seen, *[1] * (len(seen) + 8)]
    for found in proposed(live, recorded(audited(*modes("a", values)))):
        assert 0 < len(found.values) < found.declared <= len(members)
        assert all(any(value is member for member in members) for value in found.values)
        assert not any(isinstance(value, bool) for value in members)
        assert found.top_share >= 0.5 and 2 <= found.distinct <= 8 <= found.calls


def test_digests_are_those_of_the_whole_lists() -> None:
    calls = [call("a", {"b": 1, "9": True, "x": [1]}), call("c", {"k": "é"})]
    found = observed(surface(), recorded(audited(calls[0]), audited(calls[1])))
    assert found.calls_digest == digest([{"ref": c["ref"], "args": c["args"]} for c in calls])
    rows = [("a", "9", True), ("a", "b", 1), ("c", "k", "é")]
    assert found.values_digest == digest(
        [{"ref": ref, "key": key, "value": value} for ref, key, value in rows]
    )
    assert observed(surface(), []).values_digest == digest([])


# noise-quarantine

NOISY = [("failed", "validate"), ("failed", "invoke"), ("succeeded", None)]


def removed(live: Surface, *calls: Json) -> tuple[NoiseQuarantine, ...]:
    measured = report(part(traced(*calls)).evidence, Catalog())
    return quarantines(restated(measured, {}), live)


def ended(ref: str, ends: Sequence[tuple[str, str | None]]) -> list[Json]:
    return [call(ref, {}, outcome, stage) for outcome, stage in ends]


def test_an_action_that_fails_in_several_ways_would_be_removed() -> None:
    assert removed(surface(a=MODE), *ended("a", NOISY)) == (
        NoiseQuarantine("a", calls=3, succeeded=1, failed=2, failure_stage_entropy_bits=1.0),
    )


@pytest.mark.parametrize(
    "ends",
    [
        NOISY[:2],  # two calls
        [*NOISY, ("succeeded", None)],  # failed as often as it succeeded
        [("failed", "validate")] * 9,  # in one way
        [("failed", "validate")] * 8 + [("failed", "invoke")],  # 0.5 bits
        [("aborted", "validate"), ("timed_out", "invoke"), ("failed", "guard")],
    ],
)
def test_less_noise_removes_nothing(ends: Sequence[tuple[str, str | None]]) -> None:
    assert removed(surface(a=MODE), *ended("a", ends)) == ()


def test_an_action_that_is_not_declared_cannot_be_removed() -> None:
    assert removed(surface(b=MODE), *ended("a", NOISY)) == ()


def test_removals_come_in_the_order_of_the_report_and_are_eight_at_most() -> None:
    refs = [f"r{n}" for n in range(10)]
    calls = [each for ref in refs for each in ended(ref, NOISY)]
    worst = ended("r7", [("failed", "guard"), ("failed", "resolve")])
    found = removed(surface(**dict.fromkeys(refs, MODE)), *calls, *worst)
    assert [row.ref for row in found] == ["r7", "r0", "r1", "r2", "r3", "r4", "r5", "r6"]


# modal-rename

KEY = KeyAlias("a", given="file", meant="path")
ACTION = ActionAlias("m", given="Get", meant="get")


def named(live: Surface, *rows: KeyAlias | ActionAlias, ref: str = "a") -> Any:
    measured = report(part(traced(call(ref, {}))).evidence, Catalog())
    return renames(rows, restated(measured, {}), live)


def test_a_spelling_that_is_not_declared_yet_would_take_the_place_of_the_declared_one() -> None:
    assert named(surface(a=MODE), KEY) == (ModalRename("a", "keyAlias", "path", "file"),)
    assert named(surface(m_get=MODE), ACTION, ref="m.get") == (
        ModalRename("m.get", "actionAlias", "m.get", "m.Get"),
    )
    assert to_builtins(named(surface(a=MODE), KEY)[0]) == {
        "kind": "modal-rename",
        "ref": "a",
        "alias": "keyAlias",
        "from": "path",
        "to": "file",
    }


@pytest.mark.parametrize(
    ("live", "row", "ref"),
    [
        (surface(a=MODE), KEY, "b"),  # not called
        (surface(b=MODE), KEY, "a"),  # not declared
        (surface(a=MODE), KeyAlias("a", "mode", "path"), "a"),  # the spelling is declared
        (surface(a=MODE), KeyAlias("a", "file", "gone"), "a"),  # nothing to rename
        (surface(a=None), KEY, "a"),
        (surface(m_get=MODE, m_Get=MODE), ACTION, "m.get"),
        (surface(m_get=MODE), ACTION, "m.Get"),
    ],
)
def test_anything_else_renames_nothing(
    live: Surface, row: KeyAlias | ActionAlias, ref: str
) -> None:
    assert named(live, row, ref=ref) == ()


def test_renames_come_in_the_order_of_the_table_and_are_eight_at_most() -> None:
    rows = [KeyAlias("a", f"file{9 - n}", "path") for n in range(10)]
    found = named(surface(a=MODE), *rows)
    assert [row.spelling for row in found] == [row.given for row in rows[:8]]
