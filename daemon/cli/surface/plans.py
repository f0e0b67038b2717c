"""What a listing of tools yields under the extended conventions: plans, or the reasons for none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from fabricd.core.model import Action
from fabricd.core.normalform.extended.derive import derive_extended_steps
from fabricd.core.normalform.extended.plan import EXTENDED_KINDS
from fabricd.core.plain import counted, printable
from fabricd.core.steps import finish


class Yield(Struct, frozen=True):
    """What one tool yields: how many rules of each kind, or why there is no plan."""

    tool: str
    rules: Mapping[str, int]
    reason: str | None


def yields_of(tools: Mapping[str, Any]) -> list[Yield]:
    """What each tool yields, in the order of names."""
    actions = [Action(name, tools[name]) for name in sorted(tools)]
    found: list[Yield] = []
    for action, derived in zip(actions, finish(derive_extended_steps(actions)), strict=True):
        if derived.plan is None:
            found.append(Yield(action.ref, {}, _reason(action, derived.reason)))
        else:
            count = Counter(rule.kind for rule in derived.plan.rules)
            kinds: dict[str, int] = {kind: count[kind] for kind in EXTENDED_KINDS if count[kind]}
            found.append(Yield(action.ref, kinds, None))
    return found


def _reason(action: Action, reason: str | None) -> str:
    if action.input_schema is None:
        return "it declares no schema"
    return reason or "nobody can tell why"


def json_of(yields: Iterable[Yield]) -> dict[str, Any]:
    """The members that tell of plans: those there are, and the tools without one."""
    every = list(yields)
    return {
        "conventions": "extended",
        "plans": [{"tool": one.tool, "rules": dict(one.rules)} for one in every if one.rules],
        "withoutPlan": [
            {"tool": one.tool, "reason": one.reason} for one in every if one.reason is not None
        ],
    }


def words_of(yields: Iterable[Yield]) -> list[str]:
    """The same as lines of text."""
    every = list(yields)
    if not every:
        return []
    width = max(len(printable(one.tool)) for one in every)
    with_plan = sum(bool(one.rules) for one in every)
    head = f"Repairs can be proven for {with_plan} of {counted(len(every), 'tool', 'tools')}:"
    return [head, *(f"  {printable(one.tool):<{width}}  {_what(one)}" for one in every)]


def _what(one: Yield) -> str:
    if one.reason is not None:
        return f"none: {printable(one.reason)}"
    return ", ".join(f"{count} {kind}" for kind, count in one.rules.items())
