"""Arguments as models really sent them: what the classic and the extended conventions make of them.

A case is a file of its own. Its members say what application gives, and which kinds of rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fabricd.core.model import Rule
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.normalform.extended import CountedRule, ExtendedNormalizer
from tests.conformance.values import Case, Check, is_object

NAME = "field_arguments"
MEMBERS = ("classic", "extended")


def field_arguments(case: Case) -> Check:
    """One call under both conventions."""
    expected = {name: _sorted(case[name]) for name in MEMBERS}
    schema, args = case["schema"], case["arguments"]
    extended = ExtendedNormalizer("x", schema).apply(args)
    found = {"classic": _classic(schema, args), "extended": _told(extended.args, extended.rules)}
    return Check(expected, found)


def _classic(schema: Any, args: Any) -> Case:
    if not is_object(args):
        return _told(args, ())
    applied = Normalizer("x", schema).apply(args)
    return _told(applied.args, applied.rules)


def _told(args: object, rules: Iterable[Rule | CountedRule]) -> Case:
    return {"arguments": args, "rules": sorted({rule.kind for rule in rules})}


def _sorted(member: Case) -> Case:
    return {**member, "rules": sorted(set(member["rules"]))}
