"""Arguments as models really sent them: how they are called, and what may be done about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.history.calls import INVALID, UNDECLARED, VALID, Row
from fabricd.core.history.judging import Judge, Snapshot
from fabricd.core.history.malformation import slugs_in
from fabricd.core.normalform.apply import Normalizer

_FILE = Path(__file__).parents[3] / "fixtures" / "conformance" / "field_cases.json"
CASES: dict[str, Any] = json.loads(_FILE.read_text())


@pytest.mark.parametrize("name", CASES)
def test_the_four_conventions_do_what_the_case_says(name: str) -> None:
    case = CASES[name]
    applied = Normalizer("x", case["schema"]).apply(case["arguments"])
    assert dict(applied.args) == case["classic"]["arguments"]
    assert {rule.kind for rule in applied.rules} == set(case["classic"]["rules"])


@pytest.mark.parametrize("name", CASES)
def test_the_kind_has_its_name_and_the_repair_is_told(name: str) -> None:
    case = CASES[name]
    row = Row(0, 0, 0, 0, 0, 5, 0)
    judge = Judge([Snapshot("pi", {"x": case["schema"]}, seen=(0, 9))])
    judge.judge(row, "pi", "x", case["arguments"], "")
    assert slugs_in(row.kinds) == case["malformations"]
    assert row.repairable == bool(case["classic"]["rules"])
    if case["extended"]["rules"]:
        assert row.verdict == INVALID


@pytest.mark.parametrize("called", ["Read", "todo_write", "rea", "read "])
def test_a_name_in_another_spelling_is_another_tool(called: str) -> None:
    tools: dict[str, Any] = {"read": {"type": "object"}, "todowrite": {"type": "object"}}
    row = Row(0, 0, 0, 0, 0, 5, 0)
    judge = Judge([Snapshot("pi", tools, seen=(0, 9), covers="")])
    judge.judge(row, "pi", called, {}, "")
    assert (row.verdict, slugs_in(row.kinds)) == (UNDECLARED, ["unknown-tool"])
    judge.judge(row, "pi", "read", {}, "")
    assert row.verdict == VALID
