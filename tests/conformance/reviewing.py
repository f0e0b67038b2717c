"""Author review: signals, their lines, their identity, and how many of each kind a notice tells."""

from __future__ import annotations

import json
import re

import msgspec

from fabricd.core.entropy.observations import Observed
from fabricd.core.entropy.signals import (
    line_of,
    review_key,
)
from fabricd.core.notices import compiled_notice, review_notice
from tests.conformance.plans import measured, projected, signals_of, surface_of
from tests.conformance.values import Case, Check

_KINDS = (
    ("enum declaration", "enums? to declare"),
    ("action split", "actions? to split"),
    ("sequence fusion", "sequences? to fuse"),
)
_SCORE = re.compile(
    r"score (unchanged) at (\S+) |score (improved|changed) (\S+) → (\S+) \((\S+); lower is better\)"
)


def reviews(case: Case) -> Check:
    """The review of traces and observations beside the surface of the file."""
    evidence = measured(case["traces"])
    given = case["valueObservations"]
    rows = projected(case["traces"]) if given is None else [Observed(**row) for row in given]
    found = signals_of(evidence, surface_of(case["surface"]), rows)
    expected = case["expected"]
    return Check(
        {**expected, "notice": _told(expected["notice"])},
        {
            "signals": [msgspec.to_builtins(signal) for signal in found],
            "lines": [line_of(signal) for signal in found],
            "key": review_key(found),
            "notice": _told(review_notice(found)),
        },
    )


def _told(notice: str) -> list[int]:
    """What a notice counts, all and by kind: the words are ours, the numbers are not."""
    found = [re.search(r"(\d+) suggestion", notice)]
    found += [re.search(rf"(\d+) (?:{theirs}|{ours})", notice) for theirs, ours in _KINDS]
    return [0 if match is None else int(match[1]) for match in found]


def notices(case: Case) -> Check:
    """The notice of a compile: plans, how the score moved, suggestions."""
    ours = compiled_notice(0.0, 3, case["beforeScore"], case["afterScore"], 2)
    return Check(_compiled(case["text"]), _compiled(ours))


def _compiled(text: str) -> Case:
    score = _SCORE.search(text)
    plans = re.search(r"(\d+) normal-form plans?", text)
    return {
        "plans": plans and plans[1],
        "score": score and list(score.groups()),
        "checked": "safety checks passed" in text,
        "suggestions": _told(text)[0],
    }


def without_ranks(key: str) -> str:
    """A review's identity with values and clusters sorted by their texts instead of by counts."""
    parts = [json.loads(part) for part in json.loads(key)]
    for part in parts:
        if part[0] in ("declare-enum", "overload-split"):
            part[-1].sort(key=_compact)
    return _compact(sorted(map(_compact, parts)))


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
