"""Claim ceilings: what a measurement of a class may say, and what may be added up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.values import ABSENT, is_text, is_true, members
from fabricd.core.value.findings import Findings
from fabricd.core.value.numbers import finite

_MEASURED = ("EXACT", "OBSERVED")
_DERIVED = ("ESTIMATED", "MODELED")
_NOT_ADDED = ("ratio", "percent", "boolean", "state")
_DID_NOT_HAPPEN = ("failure_prevented", "failures_prevented")


def check_ceilings(findings: Findings, entry: Mapping[str, Any], path: str) -> None:
    """Check what the class of a measurement allows it to claim."""
    claimed, derivation = entry.get("class"), members(entry.get("derivation"))
    if claimed in _MEASURED:
        _check_measured(findings, entry, path)
    elif claimed in _DERIVED:
        if not is_text(derivation.get("method")) or not _assumptions(derivation):
            findings.add("DERIVATION_REQUIRED", f"{path}/derivation")
    elif claimed == "EXPERIMENTAL" and not (
        is_text(derivation.get("experiment_id")) and derivation.get("comparability") == "CONTROLLED"
    ):
        findings.add("CONTROLLED_EXPERIMENT_REQUIRED", f"{path}/derivation")
    aggregation = entry.get("aggregation")
    if is_object(aggregation):
        _check_sum(findings, entry, aggregation, f"{path}/aggregation")


def _assumptions(derivation: Mapping[str, Any]) -> list[Any]:
    assumptions = derivation.get("assumptions")
    return assumptions if is_list(assumptions) else []


def _check_measured(findings: Findings, entry: Mapping[str, Any], path: str) -> None:
    if _assumptions(members(entry.get("derivation"))):
        findings.add("ASSUMPTIONS_EXCEED_CLASS", f"{path}/derivation")
    if entry["class"] == "EXACT" and entry.get("source_verification") != "VERIFIED":
        findings.add("EXACT_REQUIRES_VERIFIED_SOURCE", f"{path}/source_verification")
    name = entry.get("id")
    if isinstance(name, str) and any(word in name for word in _DID_NOT_HAPPEN):
        findings.add("COUNTERFACTUAL_CLASS_MISUSE", f"{path}/class")


def _check_sum(
    findings: Findings, entry: Mapping[str, Any], aggregation: Mapping[str, Any], path: str
) -> None:
    method = aggregation.get("method", ABSENT)
    if is_true(aggregation.get("safe", ABSENT)):
        if method != "SUM" or not _can_be_added(entry):
            findings.add("UNSAFE_AGGREGATION", path)
    elif method is not None:
        findings.add("UNSAFE_AGGREGATION_METHOD", path)


def _can_be_added(entry: Mapping[str, Any]) -> bool:
    baseline, delta = entry.get("baseline", ABSENT), entry.get("delta", ABSENT)
    is_one_shape = (baseline is None and delta is None) or (
        finite(baseline) is not None and finite(delta) is not None
    )
    return (
        entry.get("class") in _MEASURED
        and entry.get("unit") not in _NOT_ADDED
        and finite(entry.get("result")) is not None
        and is_one_shape
    )


def check_money(
    findings: Findings, entry: Mapping[str, Any], path: str, tokens: Collection[str]
) -> None:
    """Check that estimated money derives from tokens.

    Args:
        tokens: the ids of the receipt's measurements in tokens.
    """
    if entry.get("unit") != "usd" or entry.get("class") not in _DERIVED:
        return
    inputs = members(entry.get("derivation")).get("input_measurement_ids")
    named = inputs if is_list(inputs) else []
    if not any(isinstance(name, str) and name in tokens for name in named):
        findings.add("MONETARY_ESTIMATE_WITHOUT_TOKENS", f"{path}/derivation")
