"""The gate finds every kind of cost when the normalizer it judges is sabotaged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.compiling.gate import Cost, GateVerdict, Trialled, cost_of, replay_steps
from fabricd.core.model import AuditCall, Rule
from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.core.steps import finish
from fabricd.core.validation import Validator
from tests.core.making import Json
from tests.core.schemas import cases

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
}
GOOD = AuditCall("a", {"query": "x"})
SLIP = AuditCall("a", {"query": "x", "LIMIT": "5"})
BAD = AuditCall("a", {"limit": 5})
RULES = (Rule("key-form", "query"),)


class Meddler(Normalizer):
    """Changes accepted calls."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied({**args, "limit": 1}, RULES)


class Copier(Normalizer):
    """Gives accepted calls back as another object."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied(dict(args))


class Restless(Normalizer):
    """Repairs a repaired call once more, though the schema accepts either."""

    def apply(self, args: dict[str, Any]) -> Applied:
        if args == GOOD.args:
            return Applied(args)
        return Applied({"query": "x", "limit": args.get("limit", 0) + 1}, RULES)


class Careless(Normalizer):
    """Repairs without asking the schema."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied(
            args if self.accepts(args) else {"limit": "?"}, () if self.accepts(args) else RULES
        )


def trialled(normalizer: Normalizer) -> Trialled:
    return Trialled(normalizer, Validator(normalizer.schema))


def replayed(normalizer: Normalizer, *calls: AuditCall) -> GateVerdict:
    return finish(replay_steps(calls, {"a": trialled(normalizer)}))


@pytest.mark.parametrize(
    ("kind", "call", "cost"),
    [
        (Meddler, GOOD, "identity"),
        (Copier, GOOD, "identity"),
        (Restless, SLIP, "idempotence"),
        (Careless, BAD, "acceptance"),
    ],
)
def test_every_kind_of_cost_is_found(kind: type[Normalizer], call: AuditCall, cost: Cost) -> None:
    verdict = replayed(kind("a", SCHEMA), call, call)
    assert verdict.costs == {(cost, "a"): 2}
    assert not verdict.passed
    assert [reason.split(":")[0] for reason in verdict.reasons()] == [cost]


def test_an_honest_normalizer_costs_nothing() -> None:
    verdict = replayed(Normalizer("a", SCHEMA), GOOD, SLIP, BAD)
    assert verdict.passed
    assert (verdict.replayed, verdict.repaired, verdict.reasons()) == (3, 1, ())


@given(cases())
def test_derived_plans_never_cost_anything(case: tuple[Json, Json]) -> None:
    schema, args = case
    normalizer = Normalizer("a", schema)
    cost, repaired = cost_of(trialled(normalizer), AuditCall("a", args))
    assert cost is None
    assert repaired == normalizer.apply(args).changed


def test_calls_without_a_plan_are_not_replayed() -> None:
    verdict = finish(
        replay_steps([AuditCall("b", {}), GOOD], {"a": trialled(Normalizer("a", SCHEMA))})
    )
    assert verdict.replayed == 1


@given(st.integers(0, 70))
def test_a_replay_pauses_after_every_sixteenth_call(count: int) -> None:
    steps = replay_steps([GOOD] * count, {"a": trialled(Normalizer("a", SCHEMA))})
    assert sum(1 for _ in steps) == count // 16


def test_verdicts_add_up() -> None:
    first = replayed(Meddler("a", SCHEMA), GOOD)
    second = replayed(Careless("a", SCHEMA), BAD)
    second.not_replayed = 3
    first.add(replayed(Meddler("a", SCHEMA), GOOD))
    first.add(second)
    assert (first.replayed, first.repaired, first.not_replayed) == (3, 1, 3)
    assert first.costs == {("identity", "a"): 2, ("acceptance", "a"): 1}
    assert first.reasons() == (
        "acceptance: 1 repaired calls would still be rejected (a)",
        "identity: 2 accepted calls would change (a)",
    )
