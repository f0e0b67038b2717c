"""The differences on purpose: named rules, each of which says what our result must then be.

A rule turns what the reference expects of a case into what we give instead, and leaves it as it is
where its condition does not hold. A mismatch counts as on purpose only if our result is exactly
what the rules make of the expected one; no rule looks at the id of a case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.conformance.concerns import VERDICT_RULES, concerned
from tests.conformance.drafts import compiles
from tests.conformance.opsle import CHANGES as OPSLE_CHANGES
from tests.conformance.opsle import KINDS as OPSLE_KINDS
from tests.conformance.oracle_corpora import corpus, is_deep, is_glued
from tests.conformance.oracles import INHERITED
from tests.conformance.plan_changes import (
    Change,
    on_plans,
    refers,
    with_own_names_only,
    with_references_followed,
    without_uncompilable,
)
from tests.conformance.pooling import differs_from_exact, exact_pool
from tests.conformance.readings import judge
from tests.conformance.reviewing import without_ranks
from tests.conformance.text_changes import (
    by_units,
    equal_by_units,
    has_equal_keys,
    has_non_ascii_keys,
    on_texts,
)
from tests.conformance.trial_changes import on_trials
from tests.conformance.values import (
    Case,
    Unstated,
    has_half_characters,
    keys_of,
    objects_in,
    same,
    walk,
)
from tests.conformance.verdict_changes import ON_UNWRITABLE, on_verdicts
from tests.oracle import naive

_HEAD = 8192
_REQUIRING = ("required", "dependentRequired", "dependencies")


@dataclass(frozen=True)
class Rule:
    """A named difference: by kind of file, what becomes of the expected result."""

    name: str
    by_kind: Mapping[str, Change]

    def adjusted(self, kind: str, case: Case, expected: Any) -> Any:
        """The expected result under this rule."""
        change = self.by_kind.get(kind)
        try:
            return expected if change is None else change(case, expected)
        except Unstated:
            return expected


def inherits(case: Case) -> bool:
    """Whether a declared name that JavaScript objects inherit is absent from some object given.

    Or the other way round: whether such a name is given and not declared.
    """
    given = [case.get("value"), case.get("args")]
    declared = INHERITED.intersection(_mentioned(case["schema"]))
    objects = (INHERITED.intersection(members) for members in objects_in(given))
    return any(names != declared for names in objects)


def _mentioned(schema: Any) -> set[str]:
    listed = (members.get(word) for members in objects_in(schema) for word in _REQUIRING)
    required = (name for names in listed for name in walk(names) if isinstance(name, str))
    return keys_of(schema).union(required)


def _verdict_where_compiled(case: Case, expected: Any) -> Any:
    return expected if compiles(case["schema"]) else False


def _verdict_of_own_members(case: Case, expected: Any) -> Any:
    if not inherits(case) or not compiles(case["schema"]):
        return expected
    return judge(case["schema"], concerned(case)).accepts(case["value"])


def _on_lines(differs: Callable[[str], bool], ours: bool) -> dict[str, Change]:
    """Lines that only one side counts; the reference's result must be that of the other choice."""

    def adjusted(case: Case, expected: Any) -> Any:
        logs: list[list[str]] = [case["files"][name] for name in sorted(case["files"])]
        fewer = [[line for line in lines if not differs(line)] for lines in logs]
        if fewer == logs:
            return expected
        with_them, without = corpus(case, logs), corpus(case, fewer)
        mine, other = (with_them, without) if ours else (without, with_them)
        return mine if same(expected, other) else expected

    return {"corpora": adjusted}


def _distance_of_heads(case: Case, expected: Any) -> Any:
    from rapidfuzz.distance import Levenshtein

    left, right = naive.units(case["left"]), naive.units(case["right"])
    longest = max(len(left), len(right))

    def distance(units: int) -> float:
        a, b = left[:units], right[:units]
        return naive.round6(Levenshtein.distance(a, b) / max(len(a), len(b), 1))

    explained = longest > _HEAD and same(distance(longest), expected)
    return distance(_HEAD) if explained else expected


def _pool_of_books(case: Case, expected: Any) -> Any:
    return exact_pool(case) if differs_from_exact(case) else expected


def _key_without_ranks(case: Case, expected: Any) -> Any:
    return {**expected, "key": without_ranks(expected["key"])}


def _in_trials() -> dict[str, dict[str, Change]]:
    """By rule, what it does to a trial that has an action which it concerns."""

    def reads(name: str) -> Callable[[Case], bool]:
        return lambda view: name in concerned(view)

    changes = on_trials(
        {
            "lone-surrogate": lambda view: has_half_characters([view["schema"], view["args"]]),
            "invalid-schema": lambda view: not compiles(view["schema"]),
            "inherited-names": inherits,
            "ref-nullable": refers,
            **{name: reads(name) for name in VERDICT_RULES},
            "non-ascii-keys": lambda view: has_non_ascii_keys(view["schema"]),
            "equal-keys": lambda view: has_equal_keys(view["schema"]),
        }
    )
    return {name: {"trials": change} for name, change in changes.items()}


_TRIALS = _in_trials()

# Ordered: what nobody can judge comes first, digests come after what they are taken of.
RULES = (
    Rule("lone-surrogate", {**ON_UNWRITABLE, **_TRIALS["lone-surrogate"]}),
    Rule(
        "invalid-schema",
        {
            **on_plans(without_uncompilable),
            **_TRIALS["invalid-schema"],
            "validator": _verdict_where_compiled,
        },
    ),
    Rule(
        "inherited-names",
        {
            **on_plans(with_own_names_only, inherits),
            **_TRIALS["inherited-names"],
            "validator": _verdict_of_own_members,
        },
    ),
    Rule("ref-nullable", {**on_plans(with_references_followed, refers), **_TRIALS["ref-nullable"]}),
    *(Rule(name, {**on_verdicts(name), **_TRIALS[name]}) for name in VERDICT_RULES),
    Rule(
        "non-ascii-keys",
        {**on_texts(has_non_ascii_keys, by_units), **_TRIALS["non-ascii-keys"]},
    ),
    Rule("equal-keys", {**on_texts(has_equal_keys, equal_by_units), **_TRIALS["equal-keys"]}),
    Rule("glued", _on_lines(is_glued, ours=True)),
    Rule("depth", _on_lines(is_deep, ours=False)),
    Rule("long-signature", {"signature_distance": _distance_of_heads}),
    Rule("pool-books", {"pool": _pool_of_books}),
    Rule("review-ranks", {"review": _key_without_ranks}),
    *(Rule(name, dict.fromkeys(OPSLE_KINDS, change)) for name, change in OPSLE_CHANGES.items()),
)
