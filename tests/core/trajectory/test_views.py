"""What is made of measurements: comparisons, differences, gates, drawings' figures, fixtures."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from fabricd.core.canonical import by_units, deep_text
from fabricd.core.trajectory.comparison import comparison_pieces, comparison_value
from fabricd.core.trajectory.differing import differences
from fabricd.core.trajectory.fixtures import conformance_value
from fabricd.core.trajectory.gating import Limits, gated
from fabricd.core.trajectory.waterfall import waterfall
from tests.core.trajectory.making import (
    asked,
    measured,
    missed,
    packet,
    raw,
    shown,
    trajectory,
    written,
)


def some() -> dict[str, Any]:
    """A trajectory of two operations."""
    return trajectory(
        packet("a"), raw("b"), asked("a"), shown("a"), asked("b", "e2"), missed("b", "e2")
    )


def test_a_comparison_in_pieces_is_that_in_one() -> None:
    other = {**some(), "run": {**some()["run"], "arm_id": "arm-\U0001f600", "task_id": "t2"}}
    other["events"] = []
    for trajectories in ([some(), other], [other, some(), trajectory(1)]):
        measurements = [measured(value) for value in trajectories]
        text = b"".join(comparison_pieces(measurements)).decode()
        assert text == deep_text(comparison_value(measurements), by_units)
    assert (
        comparison_value([measured(some()), measured(other)])["reason"] == "task-identity-mismatch"
    )


def test_differences_are_those_of_b() -> None:
    left = measured(some())
    right = measured(trajectory(packet("a", visible=250), raw("c")))
    found = differences(left, right)
    assert found["totals"]["final_model_visible_bytes"] == {"a": 410, "b": 350, "delta": -60}
    rows = {row["operation_id"]: row["final_delta"] for row in found["operations"]}
    assert rows == {"a": -60, "b": None, "c": None}


@pytest.mark.parametrize(
    ("limits", "passes"),
    [
        (Limits(), True),
        (Limits(62.7), True),
        (Limits(62.8), False),
        (Limits(None, 410), True),
        (Limits(None, 409), False),
        (Limits(no_unavailable=True), False),
    ],
)
def test_gates(limits: Limits, passes: bool) -> None:
    row = gated("f", measured(some()), limits)
    assert row["pass"] is passes
    assert len(row["reasons"]) == (not passes)


def test_no_figures_pass_no_gate() -> None:
    assert not gated("f", measured(trajectory(1)), Limits())["pass"]
    assert not gated("f", measured(trajectory()), Limits(1.0))["pass"]


def test_a_waterfall_adds_up() -> None:
    fall = waterfall(measured(some()), 1)
    assert (fall.total.available, fall.total.final, fall.total.unavailable) == (1100, 410, 1)
    assert [one.name for one in fall.falls] == ["a"]
    assert fall.others is not None and fall.others.available == 100
    assert fall.total.avoided == fall.falls[0].avoided + fall.others.avoided


def fixture_folder(value: dict[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A manifest and its one fixture."""
    result = measured(value).value()
    provenance = {
        "context_firewall_revision": "c",
        "decision_evidence_revision": "d",
        "evidence_validation_state": "X",
        "packet_identity": None,
        "source_input_identity": "s",
    }
    expected = {name: result[name] for name in ("measurement_status", "measurements", "valid")}
    codes = sorted(violation["code"] for violation in result["violations"])
    fixture = {
        "fixture": "one",
        "trajectory": value,
        "expected": {**expected, "violation_codes": codes},
        "provenance": provenance,
    }
    data = json.dumps(fixture).encode()
    row = {"file": "one.json", "fixture": "one", "packet_identity": None}
    row |= {"sha256": f"sha256:{sha256(data).hexdigest()}", "source_input_identity": "s"}
    revisions = {name: provenance[name] for name in list(provenance)[:2]}
    return {**revisions, "fixture_count": 1, "fixtures": [row]}, {"one.json": data}


def test_a_fixture_passes_or_says_what_came_instead() -> None:
    manifest, files = fixture_folder(some())
    report = conformance_value(written(manifest), files)
    assert report["conformance"] == "PASS"
    assert report["results"][0]["actual"]["escalation_state"] == "UNAVAILABLE"
    manifest, files = fixture_folder(trajectory(1))
    assert conformance_value(written(manifest), files)["results"][0]["actual"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"fixture_count": 2},
        {"fixtures": []},
        {"fixtures": None},
        {"context_firewall_revision": "other"},
    ],
)
def test_a_manifest_that_disagrees_fails(change: dict[str, Any]) -> None:
    manifest, files = fixture_folder(some())
    assert conformance_value(written({**manifest, **change}), files)["conformance"] == "FAIL"


def test_a_changed_fixture_fails() -> None:
    manifest, files = fixture_folder(some())
    report = conformance_value(written(manifest), {"one.json": files["one.json"] + b" "})
    assert report["conformance"] == "FAIL"
