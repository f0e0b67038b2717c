"""A surface that has drifted must not make rejections of calls that were carried out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fixtures.make_histories import make

from fabricd.core.history.judging import Judge, Snapshot
from fabricd.daemon.cli.report import history as report_history
from tests.cli.running import Cli

# What nobody's calls satisfy: every known member is gone, others are required.
DRIFTED = {
    "type": "object",
    "properties": {"anew": {"type": "integer"}},
    "required": ["anew"],
    "additionalProperties": False,
}
TOOLS = ["bash", "Bash", "Read", "Grep", "read", "read_file", "exec_command"]
ALWAYS = (0, 2**52)


def report(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, snapshots: list[Snapshot]
) -> Any:
    """The agents of a report, judged by these snapshots alone."""
    monkeypatch.setattr(report_history, "_snapshots", lambda homes: snapshots)
    return cli("report", "--all", "--json", "--path", folder).json["agents"]


def check(agents: Any) -> None:
    """No succeeded call was rejected, and no more were explained than failed."""
    for agent in agents:
        rejected = agent["rejections"]["replayed"]["rejected"]
        assert rejected <= agent["outcomes"]["failed"]
        assert agent["acceptedThoughInvalid"] <= agent["outcomes"]["succeeded"]


@pytest.mark.parametrize("agent", ["pi", "claude-code", "codex", "copilot-cli", "opencode"])
def test_calls_that_were_carried_out_are_never_rejected(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    make(place / "logs")
    drifted = Snapshot(agent, dict.fromkeys(TOOLS, DRIFTED), seen=ALWAYS)
    agents = report(cli, place / "logs", monkeypatch, [drifted])
    check(agents)
    (found,) = [each for each in agents if each["agent"] == agent]
    assert found["acceptedThoughInvalid"] > 0
    rejected = found["rejections"]["replayed"]["rejected"]
    assert rejected == sum(row["rejected"] for row in found["tools"])


def test_a_drifted_surface_of_another_time_judges_nothing(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(place / "logs")
    drifted = [Snapshot("pi", dict.fromkeys(TOOLS, DRIFTED), seen=(0, 1))]
    versions = [Snapshot("codex", dict.fromkeys(TOOLS, DRIFTED), ("0.1.0", "0.139.9"), ALWAYS)]
    for agent in report(cli, place / "logs", monkeypatch, drifted + versions):
        if agent["agent"] in ("pi", "codex"):
            assert agent["rejections"]["replayed"] == {"rejected": 0, "calls": 0}


def test_a_call_broken_off_before_its_arguments_came_is_judged_by_nobody(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {"status": "error", "input": {}, "error": "aborted", "time": {"start": 5}}
    part = {"type": "tool", "tool": "bash", "callID": "c", "state": state}
    export = {"info": {"id": "s", "version": "1"}, "messages": [{"info": {}, "parts": [part]}]}
    (place / "logs").mkdir()
    (place / "logs" / "export.json").write_text(json.dumps(export))
    drifted = [Snapshot("opencode", {"bash": DRIFTED}, seen=ALWAYS)]
    (agent,) = report(cli, place / "logs", monkeypatch, drifted)
    assert (agent["errors"], agent["noSchema"]) == (1, 1)


def test_other_schemas_judge_anew(cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(place / "user")
    monkeypatch.delenv("PI_CODING_AGENT_DIR")
    monkeypatch.setattr(report_history, "_snapshots", lambda homes: [])
    first = cli("report", "--all", "--json").json["agents"]
    drifted = [Snapshot("pi", {"bash": DRIFTED}, seen=ALWAYS)]
    assert Judge(drifted).digest != Judge().digest
    monkeypatch.setattr(report_history, "_snapshots", lambda homes: drifted)
    second = cli("report", "--all", "--json").json["agents"]
    assert first[0]["rejections"]["replayed"]["calls"] == 0
    assert second[0]["rejections"]["replayed"]["calls"] == second[0]["calls"]
