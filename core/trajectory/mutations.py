"""The older metrics of edits: how much was written for what remained."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from fabricd.core.plain import is_list
from fabricd.core.trajectory.values import ABSENT, double, is_true, key_of, members

CAUSES = (
    "KNOWN_AHEAD",
    "DISCOVERY",
    "TEST_RUNTIME_EVIDENCE",
    "SELF_CORRECTION",
    "FORMATTER",
    "CONFLICT",
    "OTHER_UNKNOWN",
)
_EPSILON = 1e-9


class BadMetrics(ValueError):
    """Raised where metrics are not of their shape, a number is none, or a cause is unknown."""


def metrics_ratio(
    numerator: object, denominator: object, epsilon: object = _EPSILON
) -> dict[str, Any]:
    """A ratio, or why there is none.

    Raises:
        BadMetrics: one of them is no number.
    """
    return _ratio(
        _number(numerator, "numerator"),
        _number(denominator, "denominator"),
        _number(epsilon, "epsilon"),
    )


def _ratio(numerator: float, denominator: float, epsilon: float = _EPSILON) -> dict[str, Any]:
    if numerator == 0 and denominator == 0:
        return {"kind": "zero-over-zero", "value": None}
    if abs(denominator) < epsilon:
        return {"kind": "near-zero-denominator", "value": None}
    return {"kind": "finite", "value": _quotient(numerator, denominator)}


def _quotient(numerator: float, denominator: float) -> float:
    if denominator == 0:
        return math.copysign(math.inf, numerator) * math.copysign(1, denominator)
    return numerator / denominator


def metrics_profile(given: object) -> dict[str, Any]:
    """The metrics of one run; an incorrect run has metrics too.

    Raises:
        BadMetrics: no list of mutations, a number that is none, or an unknown cause.
    """
    metrics = members(given)
    mutations = metrics.get("mutations")
    if not is_list(mutations):
        raise BadMetrics("mutations must be an array")
    gross, net, visits = 0.0, 0.0, Counter[object]()
    for mutation in map(members, mutations):
        if mutation.get("cause") not in CAUSES:
            raise BadMetrics(f"the cause of a mutation is one of {', '.join(CAUSES)}")
        size = _number(mutation.get("bytes"), "bytes")
        gross += abs(size)
        net += size if is_true(mutation.get("retained", ABSENT)) else 0.0
        visits[key_of(mutation.get("region", ABSENT))] += 1
    revisited = sum(count > 1 for count in visits.values())
    copied = {"correctness": metrics["correctness"]} if "correctness" in metrics else {}
    return {
        **copied,
        "editPayloadAmplification": _ratio(
            _number(metrics.get("editPayloadBytes"), "editPayloadBytes"),
            _number(metrics.get("semanticResultBytes"), "semanticResultBytes"),
        ),
        "grossMutation": gross,
        "mutationAmplification": _ratio(gross, abs(net)),
        "netMutation": net,
        "semanticRegionRevisitRate": revisited / len(visits) if visits else 0,
    }


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadMetrics(f"{name} must be a number")
    return double(value)


def metrics_compare(left: object, right: object) -> dict[str, Any]:
    """Whether two profiles compare: only where both runs were correct.

    Raises:
        BadMetrics: a profile that is asked for is null or missing.
    """
    if _is_correct(left) and _is_correct(right):
        return {"comparable": True}
    return {"comparable": False, "reason": "correctness-gate"}


def _is_correct(profile: object) -> bool:
    if profile is None or profile is ABSENT:
        raise BadMetrics("a profile must be an object")
    return is_true(members(profile).get("correctness"))
