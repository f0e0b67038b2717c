"""Figures that others have published, from their own files where these are at hand.

`FABRICD_OPSLE_FIXTURES` names the folder; by default it is sought beside the checkout.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.trajectory.packets import packet_event
from fabricd.daemon.cli.trajectory.work import folder_report
from tests.core.trajectory.making import measured, trajectory
from tests.harness import ROOT

FOLDER = Path(
    os.environ.get("FABRICD_OPSLE_FIXTURES")
    or ROOT.parent / "shared" / "vectors" / "opsle-fixtures"
)
FREEZE = FOLDER / "research" / "program" / "evidence" / "exp-001-offline-freeze"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the public files are not here")


def test_the_fixtures_and_their_manifest() -> None:
    folder = FOLDER / "agent-trajectory-profiler" / "fixtures" / "context-firewall"
    report, line = folder_report(str(folder))
    assert (report["conformance"], report["fixture_count"]) == ("PASS", 14)
    assert all(result["pass"] for result in report["results"])
    assert line == "[Trajectory Profiler] 14 fixtures checked | PASS\n"


def test_the_trajectory_of_the_public_packet() -> None:
    profile: Any = json.loads((FREEZE / "profile.json").read_bytes())
    packet_bytes = (FREEZE / "packet.json").read_bytes()
    validation = json.loads((FREEZE / "decision-evidence-validation.json").read_bytes())
    names = ("arm_id", "configuration_id", "run_id", "task_id")
    run = {name: profile[name] for name in names}
    arm, configuration, run_id, _ = run.values()
    packet = json.loads(packet_bytes)
    event = packet_event(f"{run_id}:packet", arm, configuration, packet, validation, packet_bytes)
    result = measured({**trajectory(event), "run": run})
    assert result.head["trajectory_identity"] == (
        "sha256:6094f5eee028f4750e076f53dc93e1aa91abec6b474ed6fb4a6baabe40ac7fa7"
    )
    assert result.value() == profile
