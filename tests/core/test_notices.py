"""Scores in words: as many decimals as it takes, and never two equal numbers for a change."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.entropy.signals import (
    Cluster,
    DeclareEnum,
    NotOnSurface,
    OverloadSplit,
    PropertyNotJudged,
    RulesCut,
    SequenceFuse,
    Signal,
)
from fabricd.core.notices import compiled_notice, review_notice, score_change

scores = st.one_of(
    st.integers(0, 10**6).map(lambda n: n / 10**6),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.0078125, 0.1, 0.30000000000000004, 5e-324, 1e-7, 5e-7]),
)


LESS = "\u2212"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (0.333333, 0.25, f"improved 0.333333 → 0.250000 ({LESS}0.083333"),
        (0.2, 0.3, "changed 0.200000 → 0.300000 (+0.100000"),
        (0.0044001, 0.0044, f"improved 0.0044001 → 0.0044000 ({LESS}0.0000001"),
        (0.5, 0.5 - 1e-8, f"improved 0.50000000 → 0.49999999 ({LESS}0.00000001"),
        # Seen to differ at the sixth decimal, although the difference is none there.
        (5.1e-7, 4.9e-7, f"improved 0.000001 → 0.000000 ({LESS}2.00e-8"),
        (0.1, 0.1 + 1e-13, "changed 0.100000000000 → 0.100000000000 (+1.00e-13"),
        (0.0078125, 0, f"improved 0.007813 → 0.000000 ({LESS}0.007813"),
        (1e300, 0, f"improved 1e+300 → 0.000000 ({LESS}1e+300"),
        (2.0**60, 1.0, f"improved {2**60}.000000 → 1.000000 ({LESS}{2**60}.000000"),
    ],
)
def test_a_score_change(before: float, after: float, text: str) -> None:
    assert score_change(before, after) == f"score {text}; lower is better)"


def test_a_score_that_stays() -> None:
    assert score_change(0.5, 0.5) == "score unchanged at 0.500000 (lower is better)"


@given(scores, scores)
def test_what_differs_by_a_trillionth_is_seen_to_differ(before: float, after: float) -> None:
    found = re.fullmatch(
        r"score (improved|changed) (\S+) → (\S+) \((.)(\S+); lower is better\)",
        score_change(before, after),
    )
    if before == after:
        assert found is None
        return
    assert found is not None
    word, was, now, sign, by = found.groups()
    assert (word, sign) == (("improved", LESS) if after < before else ("changed", "+"))
    assert (was != now) or abs(before - after) <= 1e-12
    assert float(by) > 0
    assert len(was.partition(".")[2]) == len(now.partition(".")[2]) in range(6, 13)


def test_a_compile_without_an_earlier_score_tells_its_own() -> None:
    text = "compiled in 1,500 ms · 1 normal-form plan · score 0.250000 · safety checks passed"
    assert compiled_notice(1.5, 1, None, 0.25, 0) == text
    assert compiled_notice(0.0004, 2, 0.5, 0.25, 3) == (
        "compiled in 0 ms · 2 normal-form plans · score improved 0.500000 → 0.250000 "
        f"({LESS}0.250000; lower is better) · safety checks passed · 3 suggestions to review "
        "(fabricd report)"
    )


def test_a_review_is_counted_by_kind() -> None:
    signals: list[Signal] = [
        NotOnSurface("a", 1),
        NotOnSurface("b", 1),
        DeclareEnum("r", "k", ("x", "y"), 8, 2, 0.5),
        OverloadSplit("r", 1.0, (Cluster(("a",), 2), Cluster(("b",), 2))),
        SequenceFuse(("a", "b", "c"), 3),
        RulesCut("r", 4),
        PropertyNotJudged("r", None, "no"),
    ]
    assert review_notice(signals) == (
        "7 suggestions to review · 1 enum to declare · 1 action to split · 1 sequence to fuse · "
        "1 plan that was cut · 1 property nobody can judge · 2 actions called but not declared"
    )
    assert review_notice(signals[:1]).startswith("1 suggestion to review · 1 action called")
