"""One measurement of a receipt: its members, its values, and whether they fit its unit."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from fabricd.core.identity import canonical_text, is_canonical
from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.values import ABSENT, count_of
from fabricd.core.value.ceilings import check_ceilings
from fabricd.core.value.evidence import STATES
from fabricd.core.value.findings import Findings, shape
from fabricd.core.value.numbers import finite

_ID = re.compile("[a-z][a-z0-9_]*")
COUNTED: Final = frozenset({"byte", "event", "count", "millisecond", "token"})
CLASSES: Final = ("EXACT", "OBSERVED", "ESTIMATED", "MODELED", "EXPERIMENTAL")
_UNITS = COUNTED | {"ratio", "percent", "boolean", "usd", "state"}
_DIRECTIONS = frozenset(
    {"HIGHER_IS_VALUE", "LOWER_IS_VALUE", "NEUTRAL", "PROTECTION_SIGNAL", "NOT_APPLICABLE"}
)
_COMPARABLE = frozenset({"NOT_APPLICABLE", "NOT_COMPARABLE", "CONTROLLED"})
_ENTRY = shape(
    "id unit class direction source_verification operator_display baseline result delta "
    "evidence_refs limitations derivation aggregation"
)
_DERIVATION = shape("method assumptions input_measurement_ids experiment_id comparability")
_AGGREGATION = shape("safe method")
_TOLERANCE = 1e-12
_SHOWN = 120


def is_measurement_id(value: object) -> bool:
    """Whether a value can be the id of a measurement."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def check_measurement(
    findings: Findings, value: object, path: str, seen: set[str], cited: Collection[str]
) -> None:
    """Check an entry of `measurements`, claim ceilings included.

    Args:
        seen: the ids of the entries before it; that of this one is added.
        cited: the ids of the evidence.
    """
    entry = findings.members(value, path, _ENTRY)
    if entry is None:
        return
    _check_id(findings, entry.get("id"), f"{path}/id", seen)
    _check_words(findings, entry, path)
    _check_values(findings, entry, path)
    _check_refs(findings, entry.get("evidence_refs"), f"{path}/evidence_refs", cited)
    findings.texts(entry.get("limitations"), f"{path}/limitations")
    _check_derivation(findings, entry.get("derivation", ABSENT), f"{path}/derivation")
    _check_aggregation(findings, entry, f"{path}/aggregation")
    check_ceilings(findings, entry, path)


def _check_id(findings: Findings, name: object, path: str, seen: set[str]) -> None:
    if not isinstance(name, str) or not is_measurement_id(name):
        findings.add("INVALID_MEASUREMENT_ID", path)
    elif name in seen:
        findings.add("DUPLICATE_MEASUREMENT_ID", path)
    else:
        seen.add(name)


def _check_words(findings: Findings, entry: Mapping[str, Any], path: str) -> None:
    findings.one_of(entry.get("unit"), _UNITS, "INVALID_UNIT", f"{path}/unit")
    findings.one_of(entry.get("class"), CLASSES, "INVALID_MEASUREMENT_CLASS", f"{path}/class")
    findings.one_of(entry.get("direction"), _DIRECTIONS, "INVALID_DIRECTION", f"{path}/direction")
    findings.one_of(
        entry.get("source_verification"),
        STATES,
        "INVALID_SOURCE_VERIFICATION",
        f"{path}/source_verification",
    )
    if not isinstance(entry.get("operator_display"), bool):
        findings.add("BOOLEAN_REQUIRED", f"{path}/operator_display")


def _check_values(findings: Findings, entry: Mapping[str, Any], path: str) -> None:
    for name in ("baseline", "result", "delta"):
        if not _is_scalar(entry.get(name, ABSENT)):
            findings.add("INVALID_VALUE", f"{path}/{name}")
    _check_delta(findings, entry, f"{path}/delta")
    unit = entry.get("unit")
    if unit == "boolean" and not _are(bool, entry):
        findings.add("INVALID_BOOLEAN_MEASUREMENT", path)
    elif unit == "state" and not _are(str, entry):
        findings.add("INVALID_STATE_MEASUREMENT", path)
    elif isinstance(unit, str) and unit in COUNTED:
        for name in ("baseline", "result"):
            if (value := entry.get(name, ABSENT)) is not None and count_of(value) is None:
                findings.add("INVALID_NONNEGATIVE_INTEGER", f"{path}/{name}")


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, (str, bool)) or finite(value) is not None


def _are(kind: type, entry: Mapping[str, Any]) -> bool:
    states = (entry.get("baseline", ABSENT), entry.get("result", ABSENT))
    return all(state is None or isinstance(state, kind) for state in states)


def _check_delta(findings: Findings, entry: Mapping[str, Any], path: str) -> None:
    baseline, result = finite(entry.get("baseline")), finite(entry.get("result"))
    if baseline is None or result is None:
        if entry.get("delta", ABSENT) is not None:
            findings.add("DELTA_WITHOUT_NUMERIC_STATE", path)
        return
    delta = finite(entry.get("delta"))
    # In doubles and absolute, so that decimal differences of large numbers are refused.
    if delta is None or not abs(delta - (result - baseline)) <= _TOLERANCE:
        findings.add("DELTA_MISMATCH", path)


def _check_refs(findings: Findings, refs: object, path: str, cited: Collection[str]) -> None:
    if not is_list(refs) or not refs:
        findings.add("EVIDENCE_REFS_REQUIRED", path)
        return
    for ref in refs:
        if not isinstance(ref, str) or ref not in cited:
            shown = canonical_text(ref) if is_canonical(ref) else "a number that is not finite"
            findings.add("UNRESOLVED_EVIDENCE_REF", path, f": {shown[:_SHOWN]}")


def _check_derivation(findings: Findings, value: object, path: str) -> None:
    if value is None:
        return
    if not is_object(value):
        findings.add("INVALID_DERIVATION", path)
        return
    derivation = findings.members(value, path, _DERIVATION) or {}
    findings.identities(derivation, ("method", "experiment_id"), path)
    findings.texts(derivation.get("assumptions"), f"{path}/assumptions")
    inputs = derivation.get("input_measurement_ids")
    if is_list(inputs):
        for index, name in enumerate(inputs):
            if not is_measurement_id(name):
                findings.add("INVALID_MEASUREMENT_ID", f"{path}/input_measurement_ids/{index}")
    else:
        findings.add("ARRAY_REQUIRED", f"{path}/input_measurement_ids")
    findings.one_of(
        derivation.get("comparability"),
        _COMPARABLE,
        "INVALID_COMPARABILITY",
        f"{path}/comparability",
    )


def _check_aggregation(findings: Findings, entry: Mapping[str, Any], path: str) -> None:
    value = entry.get("aggregation")
    if not is_object(value):
        findings.add("INVALID_AGGREGATION", path)
        return
    aggregation = findings.members(value, path, _AGGREGATION) or {}
    method = aggregation.get("method", ABSENT)
    if not isinstance(aggregation.get("safe"), bool) or (method is not None and method != "SUM"):
        findings.add("INVALID_AGGREGATION", path)
