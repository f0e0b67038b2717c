"""The rules about verdicts and logs excuse what they say, and nothing beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.oracle_corpora import corpus
from tests.conformance.oracles import graphemes
from tests.conformance.runner import KINDS
from tests.conformance.samples import verdict
from tests.conformance.values import Case
from tests.oracle import naive

# --- verdicts


def nested(levels: int) -> Case:
    """A schema of so many levels."""
    schema: Case = {}
    for _ in range(levels - 1):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "value", "theirs", "rule"),
    [
        ({"maxLength": 1}, "e\u0301", True, "grapheme-length"),
        ({"minLength": 2}, "🇩🇪", False, "grapheme-length"),
        # Five code points and one grapheme: neither count accepts, so nothing is explained.
        ({"minLength": 9}, "👨‍👩‍👧", True, "failed"),
        ({"maxLength": 1}, "ab", True, "failed"),
        ({"pattern": "^.$"}, "e\u0301", True, "failed"),
        ({"allOf": []}, 5, True, "invalid-schema"),
        ({"minimum": "1"}, 0, True, "invalid-schema"),
        # As draft 7, which knows no such keyword, these would compile.
        ({"items": [{}], "dependentRequired": {"a": ["b"]}}, [1], True, "invalid-schema"),
        ({"items": [{"not": [{"minContains": 1}]}]}, [1], True, "invalid-schema"),
        ({"items": [{}], "properties": {"prefixItems": {}}}, [1], True, "invalid-schema"),
        ({"items": [{}], "dependencies": {"a": ["b"]}}, [1], True, "failed"),
        ({"dependentRequired": {"a": ["b"]}}, [1], True, "failed"),
        (nested(65), 1, True, "invalid-schema"),
        (nested(64), 1, True, "failed"),
        ({"maximum": 10**309}, 1, True, "invalid-schema"),
        ({"type": "string"}, 5, True, "failed"),
        ({"required": ["toString"]}, {}, True, "inherited-names"),
        ({"properties": {"valueOf": {"type": "string"}}}, {}, False, "inherited-names"),
        ({"dependentRequired": {"a": ["toString"]}}, {"a": 1}, True, "inherited-names"),
        # Its own member is there, so inheritance explains nothing.
        ({"required": ["toString"]}, {"toString": 1}, False, "failed"),
        ({"required": ["size"]}, {}, True, "failed"),
    ],
)
def test_verdicts(schema: Case, value: Any, theirs: bool, rule: str) -> None:
    case = {"schema": schema, "value": value, "accepts": theirs}
    assert verdict("validator", case, theirs, not theirs) == rule


@pytest.mark.parametrize(
    ("schema", "value", "wrong"),
    [
        ({"maxLength": 1}, "e\u0301", True),
        ({"allOf": []}, 5, True),
        ({"items": [{}], "prefixItems": []}, [1], True),
        ({"required": ["toString"]}, {}, True),
        ({"properties": {"valueOf": {"type": "string"}}}, {}, False),
    ],
)
def test_a_wrong_verdict_is_not_excused(schema: Case, value: Any, wrong: bool) -> None:
    case = {"schema": schema, "value": value}
    assert verdict("validator", case, not wrong, wrong) == "failed"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("ab", 2),
        ("e\u0301\u0302", 1),
        ("👨‍👩‍👧", 1),
        ("🇩🇪🇫", 2),
        ("👍🏽", 2),
        ("☀\ufe0f", 1),
    ],
)
def test_graphemes(text: str, count: int) -> None:
    assert graphemes(text) == count


# --- logs


def trace_line(*calls: tuple[Case, str], **more: Any) -> str:
    """A line with one trace of calls to one action."""
    operations = [
        {"type": "call", "sequence": i, "ref": "a.b", "args": args, "outcome": outcome}
        for i, (args, outcome) in enumerate(calls)
    ]
    names = ("droppedValues", "truncatedValues", "redactedValues", "droppedOperations")
    trace = {
        "kind": "pi-fabric.execution",
        "version": 1,
        "outcome": "succeeded",
        "phases": [],
        "operations": operations,
        "counts": dict.fromkeys(names, 0),
    }
    return json.dumps({"details": {"trace": trace, **more}})


PLAIN = trace_line(({"x": 1}, "succeeded"), audits=[{"ref": "a.b", "args": {"x": 1}}])


def logs(*lines: str) -> Case:
    """A corpus of one log."""
    return {"files": {"a.jsonl": [*lines]}, "surface": None, "repairs": None, "expected": None}


def test_glued_lines() -> None:
    case = logs(PLAIN, PLAIN + PLAIN)
    found, expected = KINDS["corpora"](case).found, corpus(case, [[PLAIN]])
    assert found["traces"] == 3
    assert verdict("corpora", case, expected, found) == "glued"
    assert verdict("corpora", case, expected, {**found, "traces": 2}) == "failed"
    assert verdict("corpora", case, expected, {**found, "auditCalls": []}) == "failed"
    # The reference differs by more than the glued line.
    assert verdict("corpora", case, corpus(case, [[]]), found) == "failed"


def test_deep_lines() -> None:
    deep = PLAIN[:-1] + ', "deep": ' + "[" * 520 + "]" * 520 + "}"
    case = logs(PLAIN, deep)
    found, expected = KINDS["corpora"](case).found, corpus(case, [[PLAIN, deep]])
    assert (found["traces"], expected["traces"]) == (1, 2)
    assert verdict("corpora", case, expected, found) == "depth"
    assert verdict("corpora", case, expected, {**found, "traces": 0}) == "failed"
    shallow = logs(PLAIN, PLAIN)
    assert verdict("corpora", shallow, corpus(case, [[PLAIN]]), found | {"traces": 0}) == "failed"


def test_distances_are_summed_as_the_reference_does() -> None:
    retries = [("abc", "failed"), ("xyz", "succeeded")]
    retries += [("aaaaaaaaaaaa", "failed"), ("aaaabbbbbbbb", "succeeded")]
    case = logs(trace_line(*(({name: 1}, outcome) for name, outcome in retries)))
    found, expected = KINDS["corpora"](case).found, corpus(case, [case["files"]["a.jsonl"]])
    assert expected["report"]["churnRate"] == found["report"]["churnRate"] == 0.388888
    wrong = {**found, "report": {**found["report"], "churnRate": 0.388889}}
    assert verdict("corpora", case, expected, wrong) == "failed"


def test_long_signatures() -> None:
    case = {"left": "a" * 8192 + "b" * 2000, "right": "a" * 8192 + "c" * 2000}
    expected, found = (
        naive.round6(2000 / 10192),
        KINDS["signature_distance"]({**case, "distance": None}).found,
    )
    assert found == 0
    assert verdict("signature_distance", case, expected, found) == "long-signature"
    assert verdict("signature_distance", case, expected, 0.1) == "failed"
    assert verdict("signature_distance", case, 0.5, found) == "failed"
    short = {"left": "ab", "right": "ac"}
    assert verdict("signature_distance", short, 0.5, 0) == "failed"
