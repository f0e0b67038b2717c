"""What the tests of the rules share: cases made up, and the verdict on a result."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.runner import KINDS, Tally, judge
from tests.conformance.values import Case, Check

ELSE = "e" * 64


def verdict(kind: str, case: Case, expected: Any, found: Any) -> str:
    """`passed`, `failed`, or the names of the rules that explain the mismatch."""
    tally = Tally()
    judge(kind, case, Check(expected, found), "case", tally)
    return "passed" if tally.passed else " ".join(tally.rules) or "failed"


def ours(kind: str, case: Case) -> Any:
    """Our result, as JSON would hold it."""
    return json.loads(json.dumps(KINDS[kind](case).found))


def changed(value: Any, **places: Any) -> Any:
    """A copy with some places changed; `a__b` is the member `b` of `a`."""
    copied = json.loads(json.dumps(value))
    for path, new in places.items():
        inner, *steps = copied, *path.split("__")
        for step in steps[:-1]:
            inner = inner[int(step) if isinstance(inner, list) else step]
        inner[steps[-1]] = new
    return copied


def closed(properties: Case, **more: Any) -> Case:
    """A closed object schema."""
    return {"type": "object", "additionalProperties": False, "properties": properties, **more}


def call(schema: Case, args: Case, **more: Any) -> Case:
    """A case of derive_apply."""
    return {"ref": "demo.call", "schema": schema, "args": args, "expected": None, **more}


def compiling(*schemas: Case) -> Case:
    """A case of compile."""
    actions = [{"ref": f"demo.{i}", "inputSchema": s} for i, s in enumerate(schemas)]
    surface = {"version": 1, "actions": actions}
    given: Case = {"surface": surface, "traces": [], "artifact": None}
    return {"input": given, "expected": {"proposals": []}}
