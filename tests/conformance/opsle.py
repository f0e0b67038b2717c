"""Vectors of the opsle protocols: functions called by name, and command lines.

Compared is everything but the texts of messages. A trajectory's functions stand in
`opsle_trajectory`, those of values in `opsle_value`; so do the differences on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_text
from tests.conformance import opsle_trajectory, opsle_value
from tests.conformance.commands import as_bytes, files_of, outcome, ran, without_messages
from tests.conformance.values import ANYTHING, Case, Check

KINDS = (
    "adapter",
    "canonical-json",
    "cli",
    "compare",
    "escalation-states",
    "fuzz-numbers",
    "fuzz-record-mutated",
    "fuzz-summary-valid",
    "fuzz-trajectory-mutated",
    "fuzz-trajectory-valid",
    "identity-quirks",
    "legacy-metrics",
    "overflow",
    "receipts",
    "run-records",
    "summaries",
    "totals-and-tokens",
    "trajectory-invalid",
    "trajectory-peer-crash",
    "trajectory-valid",
    "trajectory-validation-state",
)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **opsle_trajectory.FUNCTIONS,
    **opsle_value.FUNCTIONS,
}
CHANGES: dict[str, Callable[[Case, Any], Any]] = {
    **opsle_trajectory.CHANGES,
    **opsle_value.CHANGES,
}
THROWS = {"throws": True}


def opsle(case: Case) -> Check:
    """One call or one command line."""
    if case.get("peer_limit"):
        return Check(ANYTHING, ANYTHING)
    return _command(case) if case["kind"] == "cli" else _call(case)


def _command(case: Case) -> Check:
    expected = dict(case["expect"])
    found = outcome(ran(case["argv"], files_of(case)), expected)
    if "stdout_json" in expected:
        expected["stdout_json"] = without_messages(expected["stdout_json"])
    if "stderr_json" in expected:
        expected["stderr_json"] = {"code": expected["stderr_json"]["code"]}
    return Check(expected, found)


# --- calls


def _call(case: Case) -> Check:
    expected: Any = case["expect"]
    if expected.get("throws"):
        wanted: Any = THROWS
    elif "returns_canonical" in expected:
        wanted = json.loads(expected["returns_canonical"])
    else:
        wanted = without_messages(expected["returns_json"])
    return Check(wanted, called(case["fn"], read_doubles(as_bytes(case["input_text"])), expected))


def called(name: str, given: Any, expected: Any) -> Any:
    """What a function gives, as the vectors say it."""
    try:
        text = canonical_text(FUNCTIONS[name](given))
    except ValueError:
        return THROWS
    if "returns_canonical" not in expected:
        return without_messages(json.loads(text))
    # Equal values of unequal texts are a failure too.
    exact = text == expected["returns_canonical"]
    found = json.loads(text)
    return found if exact or found != json.loads(expected["returns_canonical"]) else {"text": text}
