"""The older metrics where the vectors do not reach."""

from __future__ import annotations

import math
from typing import Any

import pytest

from fabricd.core.trajectory.mutations import (
    BadMetrics,
    metrics_compare,
    metrics_profile,
    metrics_ratio,
)
from fabricd.core.trajectory.values import ABSENT


def test_ratios_at_their_edges() -> None:
    assert metrics_ratio(1, 1e-9)["kind"] == "finite"
    assert metrics_ratio(1, 0, 0)["value"] == math.inf
    assert metrics_ratio(-1, -0.0, 0)["value"] == math.inf


@pytest.mark.parametrize(
    "given",
    [
        None,
        {"mutations": None},
        {"mutations": [], "editPayloadBytes": 1},
        {"mutations": [{"cause": "DISCOVERY"}], "editPayloadBytes": 1, "semanticResultBytes": 1},
        *(
            {
                "mutations": [{"cause": "DISCOVERY", "bytes": size}],
                "editPayloadBytes": 1,
                "semanticResultBytes": 1,
            }
            for size in (None, "5", True, [])
        ),
        {"mutations": [], "editPayloadBytes": None, "semanticResultBytes": "1"},
        {"mutations": ["x"], "editPayloadBytes": 1, "semanticResultBytes": 1},
    ],
)
def test_metrics_that_are_none(given: Any) -> None:
    with pytest.raises(BadMetrics):
        metrics_profile(given)


def test_an_incorrect_run_is_profiled() -> None:
    given = {"mutations": [], "editPayloadBytes": 0, "semanticResultBytes": 0, "correctness": False}
    assert metrics_profile(given)["correctness"] is False


@pytest.mark.parametrize("bad", [None, "1", True, [], {}, ABSENT])
def test_a_ratio_is_of_numbers(bad: Any) -> None:
    for given in ((bad, 1), (1, bad), (1, 1, bad)):
        with pytest.raises(BadMetrics):
            metrics_ratio(*given)


def test_profiles_that_are_none_do_not_compare() -> None:
    for left, right in ((None, {}), ({"correctness": True}, ABSENT)):
        with pytest.raises(BadMetrics):
            metrics_compare(left, right)
    assert metrics_compare({"correctness": False}, None)["comparable"] is False
