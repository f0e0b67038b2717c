"""Profiles of large trajectories: 100,000 results shown whole, and as many shown as packets."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import Figure, bare_cpu, clean_env, least, peak, process_cpu

_EVENTS = 100_000
_RUN = {
    "arm_id": "arm-a",
    "configuration_id": "cfg-1",
    "run_id": "run-1",
    "task_id": "task-1",
}


def _identity(number: int) -> str:
    return f"sha256:{hashlib.sha256(str(number).encode()).hexdigest()}"


def _raw(number: int) -> dict[str, Any]:
    shown = {"bytes": 100 + number % 900, "content_identity": _identity(number)}
    return {
        "arm_id": "arm-a",
        "configuration_id": "cfg-1",
        "event_id": f"op-{number}:ev",
        "initial_model_visible": shown,
        "operation_id": f"op-{number}",
        "raw_evidence": {**shown, "locator_present": True},
        "suppression": {
            "ambiguous_evidence_count": 0,
            "original_evidence_count": 3,
            "retained_evidence_count": 3,
            "suppressed_categories": {},
            "suppressed_evidence_count": 0,
        },
        "type": "raw_tool_evidence",
    }


def _packet(number: int) -> dict[str, Any]:
    return {
        **_raw(number),
        "disposition": "SUFFICIENT",
        "escalation_reasons": [],
        "initial_model_visible": {"bytes": 90, "content_identity": _identity(-number)},
        "payload": {
            "affected_by_ceiling": False,
            "ceiling_bytes": None,
            "semantics": "PACKET_WITH_OVERHEAD",
        },
        "reducer": {
            "configuration_identity": _identity(0),
            "name": "test/reducer",
            "policy_revision": "p/v1",
            "version": "1.0",
        },
        "reduction_requires_escalation": False,
        "source": {"id": "suite", "run_id": "r"},
        "suppression": {
            "ambiguous_evidence_count": 0,
            "original_evidence_count": 5,
            "retained_evidence_count": 0,
            "suppressed_categories": {"structure": 1, "successful_test": 4},
            "suppressed_evidence_count": 5,
        },
        "type": "context_firewall_reduction",
        "validation": {
            "classification": "VALID",
            "cryptographic_verification": "VERIFIED",
            "evidence_packet_validated": True,
            "evidence_sufficient": True,
            "source_backed_verification_performed": True,
            "structural_valid": True,
            "sufficiency": "SUFFICIENT",
            "trust": "SOURCE_BACKED_VERIFIED",
            "valid": True,
            "violation_codes": [],
        },
    }


def _make(path: Path, kind: Any) -> None:
    head = {
        "protocol_version": "opsle.agent-trajectory-profiler.trajectory/v1",
        "run": _RUN,
    }
    with path.open("w") as file:
        file.write(json.dumps(head, separators=(",", ":"))[:-1] + ',"events":[')
        for number in range(_EVENTS):
            file.write("," * bool(number) + json.dumps(kind(number), separators=(",", ":")))
        file.write("]}")


def _plain(path: Path) -> str:
    started = time.process_time()
    value: Any = json.loads(path.read_bytes())
    hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())
    return f"json.loads, json.dumps and SHA-256: {time.process_time() - started:.1f} s"


def trajectories(folder: Path) -> list[Figure]:
    """CPU and peak memory of `trajectory profile`, whole processes."""
    folder.mkdir(parents=True)
    env, bare = clean_env(FABRICD_HOME=str(folder / "home")), bare_cpu()
    figures: list[Figure] = []
    for name, kind, budget in (("raw", _raw, 2.0), ("packet", _packet, 3.0)):
        path = folder / f"{name}.json"
        _make(path, kind)
        size = path.stat().st_size / 1e6
        command = [sys.executable, "-m", "fabricd", "trajectory", "profile", "--quiet", str(path)]
        seconds = least(lambda command=command: process_cpu(command, env), 5) - bare
        what = f"profile of {_EVENTS:,} {name} events ({size:.0f} MB)"
        figures.append(Figure(what, seconds, "s CPU", budget, False, _plain(path)))
        figures.append(Figure("its peak memory", peak(command, env), "MiB", 350))
    return figures
