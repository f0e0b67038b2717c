"""The six laws over generated schemas and calls, and the product beside a brute force."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fabricd.core.canonical import digest
from fabricd.core.normalform.extended import (
    Edit,
    ExtendedNormalizer,
    ExtendedPlan,
    ExtendedRule,
    ExtendedWitness,
    Repaired,
)
from fabricd.core.normalform.extended.derive import derive_extended
from fabricd.core.normalform.extended.plan import (
    EXTENDED_KINDS,
    extended_plan_of,
    extended_plan_value,
)
from tests.core.making import Json
from tests.core.normalform.extended.making import calls, schemas
from tests.oracle.naive_extended import Naive, folded, judge_of

Case = tuple[Json, Any]
many = settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])


def applied(case: Case) -> tuple[ExtendedNormalizer, Repaired]:
    normalizer = ExtendedNormalizer("r", case[0])
    return normalizer, normalizer.apply(case[1])


@many
@given(calls())
def test_it_repairs_exactly_what_brute_force_repairs(case: Case) -> None:
    schema, args = case
    _, found = applied(case)
    naive = Naive(schema)
    wanted = naive.repair(args)
    assert found.args == wanted
    assert {rule.kind for rule in found.rules} == naive.kinds


# Drawing a call costs more than judging it, so that one test holds the laws of one call.
@settings(many, max_examples=70)
@given(calls())
def test_a_call_keeps_the_laws(case: Case) -> None:
    schema, args = case
    before = json.dumps(args)
    normalizer, found = applied(case)
    keeps_identity(schema, args, normalizer, found)
    keeps_validated_output_and_idempotence(schema, normalizer, found)
    assert means_the_same(args, found.args), "losslessness"
    keeps_edits(args, found)
    keeps_witness(case, normalizer, found)
    assert json.dumps(args) == before


def keeps_identity(
    schema: Json, args: Any, normalizer: ExtendedNormalizer, found: Repaired
) -> None:
    """No call that the schema accepts is changed."""
    if judge_of(schema).is_valid(args):
        assert found.args is args
        assert (found.rules, found.edits, normalizer.witness(args, found)) == ((), (), None)
    if not found.changed:
        assert found.args is args


def keeps_validated_output_and_idempotence(
    schema: Json, normalizer: ExtendedNormalizer, found: Repaired
) -> None:
    """A changed call is a sound one, for another validator too, and is not changed again."""
    if found.changed:
        assert judge_of(schema).is_valid(found.args)
        again = normalizer.apply(found.args)
        assert again.args is found.args and not again.changed


def means_the_same(sent: Any, now: Any) -> bool:
    """Whether nothing was lost but nulls: equal values, names and members at most respelt."""
    if isinstance(sent, str) and not isinstance(now, str):
        if isinstance(now, bool):
            return sent.isascii() and sent.lower() == json.dumps(now)
        if isinstance(now, int | float):
            return Decimal(sent) == Decimal(repr(now))
        return bool(json.loads(sent) == now)
    if isinstance(sent, str):
        return sent == now or (folded(sent) is not None and folded(sent) == folded(now))
    if isinstance(sent, list) and isinstance(now, list):
        return len(sent) == len(now) and all(map(means_the_same, sent, now))
    if isinstance(sent, dict) and isinstance(now, dict):
        kept = [key for key in sent if sent[key] is not None or key in now]
        if len(kept) < len(now):
            # A name that was respelt may hold a null that stays.
            kept = [key for key in sent if key in now or _respelt(key, now)]
        return len(kept) == len(now) and all(
            (spelt := key if key in now else _respelt(key, now)) is not None
            and means_the_same(sent[key], now[spelt])
            for key in kept
        )
    return bool(sent == now and type(sent) is type(now))


def _respelt(key: str, now: Json) -> str | None:
    return next((name for name in now if folded(key) and folded(name) == folded(key)), None)


def spliced(value: Any, edits: dict[tuple[Any, ...], dict[str, str]], path: Any = ()) -> str:
    """The text of arguments with edits done to it."""
    mine = edits.get(path, {})
    if "replace" in mine:
        return mine["replace"]
    if isinstance(value, list):
        return f"[{','.join(spliced(v, edits, (*path, n)) for n, v in enumerate(value))}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    rows: list[str] = []
    for key, member in value.items():
        here = edits.get((*path, key), {})
        if "drop" not in here:
            name = json.dumps(here.get("rename", key))
            rows.append(f"{name}:{spliced(member, edits, (*path, key))}")
    return "{" + ",".join(rows) + "}"


def by_path(edits: tuple[Edit, ...]) -> dict[tuple[Any, ...], dict[str, str]]:
    found: dict[tuple[Any, ...], dict[str, str]] = {}
    for edit in edits:
        kinds = found.setdefault(edit.path, {})
        assert edit.kind not in kinds
        kinds[edit.kind] = edit.text
    assert all(
        set(kinds) in ({"drop"}, {"rename"}, {"replace"}, {"rename", "replace"})
        for kinds in found.values()
    )
    return found


def keeps_edits(args: Any, found: Repaired) -> None:
    """Edits make the repaired call of the text that was sent."""
    text = spliced(args, by_path(found.edits))
    assert json.dumps(json.loads(text)) == json.dumps(found.args)
    assert bool(found.edits) == found.changed


@many
@given(calls(), st.randoms(use_true_random=False))
def test_no_order_of_names_changes_the_outcome(case: Case, rng: Any) -> None:
    schema, args = case
    assume(isinstance(args, dict))
    members, properties = list(args.items()), list(schema["properties"].items())
    rng.shuffle(members)
    rng.shuffle(properties)
    _, there = applied(case)
    _, back = applied((schema | {"properties": dict(properties)}, dict(members)))
    assert (back.args, back.rules) == (there.args, there.rules)


def keeps_witness(case: Case, normalizer: ExtendedNormalizer, found: Repaired) -> None:
    """A witness counts the rules in the order of the plan."""
    witness = normalizer.witness(case[1], found)
    assert (witness is not None) == found.changed
    if witness is None or normalizer.plan is None:
        return
    assert msgspec.json.decode(msgspec.json.encode(witness), type=ExtendedWitness) == witness
    assert witness.base_schema_digest == digest(case[0])
    rules = [ExtendedRule(rule.kind, rule.at) for rule in witness.rules]
    assert rules == [rule for rule in normalizer.plan.rules if rule in rules]
    # A member that was respelt, read and so on has one edit for each rule but where it is dropped.
    drops = sum(rule.count for rule in witness.rules if rule.kind == "optional-null")
    assert len(found.edits) <= sum(rule.count for rule in witness.rules) <= len(found.edits) + drops


@given(schemas(), st.data())
def test_exact_proof_a_plan_that_is_not_derived_repairs_nothing(
    schema: Json, data: st.DataObject
) -> None:
    plan = derive_extended("r", schema).plan
    assume(plan is not None)
    assert plan is not None
    assert derive_extended(plan.ref, schema).plan == plan
    assert ExtendedNormalizer("r", schema, plan).plan == plan
    changes: list[Json] = [
        {"base_schema_digest": "0" * 64},
        {"rules": plan.rules[1:]},
        {"rules": (*plan.rules, ExtendedRule("enum-form", "/x"))},
        {"rules": (plan.rules[-1], *plan.rules[:-1])},
    ]
    forged: ExtendedPlan = msgspec.structs.replace(plan, **data.draw(st.sampled_from(changes)))
    assume(forged != plan)
    refused = ExtendedNormalizer("r", schema, forged)
    assert derive_extended(forged.ref, schema).plan != forged
    assert refused.plan is None and "not what the live schema derives" in (refused.reason or "")
    args: Json = {"limit": "5"}
    assert refused.apply(args).args is args


@given(schemas())
def test_a_plan_holds_each_rule_once_and_survives_the_wire(schema: Json) -> None:
    plan = derive_extended("r", schema).plan
    if plan is not None:
        assert len(set(plan.rules)) == len(plan.rules)
        assert {rule.kind for rule in plan.rules} <= set(EXTENDED_KINDS)
        value = json.loads(json.dumps(extended_plan_value(plan)))
        assert extended_plan_of(value) == plan
        assert list(value) == ["version", "ref", "baseSchemaDigest", "conventions", "rules"]
