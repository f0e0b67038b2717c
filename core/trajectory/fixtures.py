"""`conformance/v1`: a folder of fixtures measured anew, beside what each says must come out."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct

from fabricd.core.doubles import read_doubles
from fabricd.core.identity import NotCanonical, canonical_text
from fabricd.core.javascript import sorted_by_units
from fabricd.core.plain import is_list
from fabricd.core.steps import finish
from fabricd.core.trajectory.documents import trajectory_of
from fabricd.core.trajectory.measurement import measure_steps
from fabricd.core.trajectory.values import members, same

PROTOCOL = "opsle.agent-trajectory-profiler.conformance/v1"
MANIFEST = "context-firewall-manifest.json"
_STATES = ("UNAVAILABLE", "FULFILLED", "REQUESTED")


class Fixture(Struct, frozen=True):
    """What became of one fixture."""

    name: object
    state: object
    actual: dict[str, Any] | None
    passes: bool


def conformance_value(manifest: bytes, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The report on some fixtures by file name.

    Raises:
        BadDocument: a file is no JSON.
        NotCanonical: a number in a trajectory is not finite.
    """
    told = members(read_doubles(manifest))
    listed = told.get("fixtures")
    rows = [members(row) for row in listed] if is_list(listed) else []
    results = [_fixture(name, files[name], rows, told) for name in sorted_by_units(files)]
    counts_match = len(rows) == len(files) and same(told.get("fixture_count"), len(files))
    passes = counts_match and all(result.passes for result in results)
    return {
        "conformance": "PASS" if passes else "FAIL",
        "fixture_count": len(files),
        "protocol_version": PROTOCOL,
        "results": [
            {
                "actual": result.actual,
                "evidence_validation_state": result.state,
                "fixture": result.name,
                "pass": result.passes,
            }
            for result in results
        ],
    }


def _fixture(
    name: str, data: bytes, rows: list[dict[str, Any]], manifest: dict[str, Any]
) -> Fixture:
    fixture = members(read_doubles(data))
    provenance = members(fixture.get("provenance"))
    measured = finish(measure_steps(trajectory_of(fixture.get("trajectory")))).value()
    codes = sorted_by_units(violation["code"] for violation in measured["violations"])
    found = {
        "measurement_status": measured["measurement_status"],
        "measurements": measured["measurements"],
        "valid": measured["valid"],
        "violation_codes": codes,
    }
    digest = f"sha256:{sha256(data).hexdigest()}"
    row = next((row for row in rows if row.get("file") == name), dict[str, Any]())
    is_listed = row.get("sha256") == digest and _agrees(fixture, provenance, row, manifest)
    passes = is_listed and _same_text(found, fixture.get("expected"))
    state = provenance.get("evidence_validation_state")
    return Fixture(fixture.get("fixture"), state, _actual(measured["measurements"]), passes)


def _agrees(
    fixture: dict[str, Any],
    provenance: dict[str, Any],
    row: dict[str, Any],
    manifest: dict[str, Any],
) -> bool:
    return (
        same(fixture.get("fixture"), row.get("fixture"))
        and all(
            same(provenance.get(key), row.get(key))
            for key in ("packet_identity", "source_input_identity")
        )
        and all(
            same(provenance.get(key), manifest.get(key))
            for key in ("context_firewall_revision", "decision_evidence_revision")
        )
    )


def _same_text(found: object, expected: object) -> bool:
    try:
        return canonical_text(found) == canonical_text(expected)
    except NotCanonical:
        return False


def _actual(measured: dict[str, Any] | None) -> dict[str, Any] | None:
    if measured is None:
        return None
    states = {escalation["status"] for escalation in measured["escalations"]}
    return {
        "effective_reduction_bytes": measured["effective_reduction"]["bytes_avoided"],
        "escalated_bytes": measured["escalated_model_visible_bytes"],
        "escalation_state": next((state for state in _STATES if state in states), "NOT_REQUESTED"),
        "final_visible_bytes": measured["final_model_visible_bytes"],
        "initial_reduction_bytes": measured["initial_reduction"]["bytes_avoided"],
        "initial_visible_bytes": measured["initial_model_visible_bytes"],
        "raw_bytes": measured["raw_available_bytes"],
    }
