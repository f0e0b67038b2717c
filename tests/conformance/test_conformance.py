"""The bundled vectors hold, the written differences are the coded ones, the totals are honest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import fields
from tests.conformance.__main__ import main
from tests.conformance.differences import RULES
from tests.conformance.opsle import KINDS as OPSLE_KINDS
from tests.conformance.oracle_corpora import corpus
from tests.conformance.runner import KINDS, field_cases, run_field_cases, run_file
from tests.conformance.values import ANYTHING, Case, difference, has_undefined, same

BUNDLED = Path(__file__).parents[2] / "fixtures" / "conformance"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_bundled_vectors(kind: str) -> None:
    if kind == fields.NAME:
        tally = run_field_cases(field_cases(BUNDLED))
    else:
        tally = run_file(BUNDLED / ("opsle" if kind in OPSLE_KINDS else "") / f"{kind}.json")
    assert tally.failures == []
    assert tally.passed > 0


def test_written_and_coded_differences_are_the_same() -> None:
    written = re.findall(r"^- `([a-z-]+)` — \S", (BUNDLED / "DIFFERENCES.md").read_text(), re.M)
    assert sorted(written) == sorted(rule.name for rule in RULES)


@pytest.mark.parametrize("case", json.loads((BUNDLED / "corpora.json").read_bytes())["cases"])
def test_the_plain_reading_agrees_with_the_reference(case: Case) -> None:
    logs = [case["files"][name] for name in sorted(case["files"])]
    assert difference(case["expected"], corpus(case, logs)) is None


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (None, False, False),
        ("1", 1, False),
        ({"a": 1, "b": [2]}, {"b": (2.0,), "a": 1}, True),
        ({"a": None}, {}, False),
        ([1], [1, 2], False),
        ([], {}, False),
        ([1, 2], [1, ANYTHING], True),
    ],
)
def test_equality_of_values(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal


def test_undefined_is_found_at_any_depth() -> None:
    assert has_undefined({"args": [{"a": {"$undefined": True}}]})
    assert not has_undefined({"args": [{"undefined": True}]})


# --- the command


def vectors(directory: Path, **kinds: list[Case]) -> Path:
    directory.mkdir(exist_ok=True)
    for kind, cases in kinds.items():
        (directory / f"{kind}.json").write_text(json.dumps({"cases": cases}))
    return directory


def test_last_line_holds_the_totals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds: list[Case] = [{"x": "-0", "rounded": 0}, {"x": {"$undefined": True}, "rounded": 0}]
    verdicts: list[Case] = [{"id": 7, "schema": {"allOf": []}, "value": 1, "accepts": True}]
    vectors(tmp_path / "fabric", round=rounds, validator=verdicts, unheard_of=[])
    (tmp_path / "opsle").mkdir()
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "round: 1 passed, 0 failed, 0 differ on purpose, 1 skipped (undefined)",
        "validator: 0 passed, 0 failed, 1 differ on purpose",
        "  on purpose: invalid-schema 1",
        "not run by this version: opsle/, unheard_of.json",
        "1 passed, 0 failed, 1 differ on purpose",
    ]


def test_both_inner_folders_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors(tmp_path / "fabric", round=[{"x": "-0", "rounded": 0}])
    ratio = {"kind": "call", "fn": "metricsRatio", "input_text": '{"numerator":1,"denominator":4}'}
    told = {"returns_canonical": '{"kind":"finite","value":0.25}'}
    vectors(tmp_path / "opsle", **{"legacy-metrics": [{**ratio, "expect": told}]})
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "legacy-metrics: 1 passed, 0 failed, 0 differ on purpose",
        "round: 1 passed, 0 failed, 0 differ on purpose",
        "2 passed, 0 failed, 0 differ on purpose",
    ]


def test_a_failure_is_named_and_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts: list[Case] = [{"value": 1, "text": "1"}, {"value": 2, "text": "x" * 999}, {"value": 3}]
    vectors(tmp_path, js_numbers=texts, trend=[{"id": "t", "scores": [], "trend": {"count": 1}}])
    assert main([str(tmp_path)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "js_numbers: 1 passed, 2 failed, 0 differ on purpose"
    assert out[1].startswith('  failed: #1: expected at /0 "xxx')
    assert out[2] == "  failed: #2: KeyError \"'text'\""
    assert out[4] == "  failed: t: expected at /count 1, found 0"
    assert out[-1] == "1 passed, 3 failed, 0 differ on purpose"
    assert max(map(len, out)) < 300


def test_each_field_case_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema: Case = {"type": "object", "properties": {"n": {"type": "integer"}}}
    left: Case = {"arguments": {"n": "5"}, "rules": []}
    done: Case = {"arguments": {"n": 5}, "rules": ["numeric-string"]}
    case: Case = {"schema": schema, "arguments": {"n": "5"}, "classic": left}
    (tmp_path / "arg-1.json").write_text(json.dumps({**case, "extended": done}))
    (tmp_path / "arg-2.json").write_text(json.dumps({**case, "extended": left}))
    (tmp_path / "arg-3.json").write_text("{")
    (tmp_path / "README.md").write_text("")
    assert main([str(tmp_path)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "field_arguments: 1 passed, 2 failed, 0 differ on purpose"
    assert [line.split(":")[1] for line in out[1:3]] == [" arg-2", " arg-3"]
    assert out[3] == "not run by this version: README.md"


@pytest.mark.parametrize("text", ["{", "[]", '{"cases": 1}', "\ud800"])
def test_a_broken_file_is_one_failure(tmp_path: Path, text: str) -> None:
    path = tmp_path / "round.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert len(run_file(path).failures) == 1


def test_nothing_to_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "unheard_of.json").write_text("{}")
    assert main([str(tmp_path)]) == 2
    assert main([str(tmp_path / "gone")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        f"{place} holds no vector file, nor does a folder fabric/ or opsle/ in it."
        for place in (tmp_path, tmp_path / "gone")
    ]


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == "usage: python -m tests.conformance DIR\n"
