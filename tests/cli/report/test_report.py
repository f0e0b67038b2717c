"""`report` where no daemon answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import fabricd
from fabricd.ipc import PROTOCOL
from tests.cli.running import Cli
from tests.cli.test_measure import newest
from tests.ipc.listeners import listening, replying, silent
from tests.oracle import naive


@pytest.fixture
def agent(bundled: Path, place: Path) -> Path:
    """The bundled agent directory where commands look for it."""
    return shutil.copytree(bundled, place / "agent")


@pytest.fixture
def declared(agent: Path, place: Path) -> Path:
    """The surface where commands look for it."""
    folder = place / "home" / "entropy"
    folder.mkdir(parents=True)
    return Path(shutil.copy(agent / "fabric" / "entropy" / "surface.json", folder))


def measured_members(value: dict[str, Any]) -> dict[str, Any]:
    """The members of the metric-3 report; ours stand beside them."""
    value = value["metric3"]
    oracle = naive.measure(Path("/nonexistent"), None)
    return {name: value[name] for name in oracle}


def test_the_newest_8_sessions_are_measured_here_and_said_so(
    cli: Cli, agent: Path, declared: Path, place: Path
) -> None:
    found = cli("report", "--json")
    assert found.code == 0
    assert "no daemon runs" in found.err and str(agent / "sessions") in found.err
    assert "Traceback" not in found.err
    expected = naive.measure(newest(agent / "sessions", 8, place / "newest"), declared)
    assert measured_members(found.json) == expected


def test_it_tells_what_surrounds_the_measures(cli: Cli, agent: Path, declared: Path) -> None:
    whole = cli("report", "--json").json
    value = whole["metric3"]
    assert set(value) - set(measured_members(whole)) == {
        "skipped", "gluedLines", "normalizedCalls", "rejections", "sessions", "trend", "models",
        "coverage", "review", "scope",
    }  # fmt: skip
    assert value["normalizedCalls"] > 0
    assert sum(value["rejections"].values()) == value["totals"]["invocationRejections"]
    assert all(session["file"].startswith(str(agent)) for session in value["sessions"])
    assert value["coverage"]["plans"] > 0


def test_a_log_beside_the_project_folders_is_none_of_the_window(cli: Cli, agent: Path) -> None:
    before = cli("report", "--json").json
    shutil.copy(max(agent.glob("sessions/*/*.jsonl")), agent / "sessions" / "stray.jsonl")
    assert cli("report", "--json").json == before


def test_without_a_surface_there_is_no_coverage(cli: Cli, agent: Path) -> None:
    found = cli("report", "--json")
    assert (found.code, found.json["metric3"]["coverage"]) == (0, None)
    assert "no surface" in cli("report").out.decode()


def test_words_and_json_agree(cli: Cli, agent: Path, declared: Path) -> None:
    totals = cli("report", "--json").json["metric3"]["totals"]
    text = cli("report").out.decode()
    assert f"{totals['invocationRejections']} of {totals['actionOperations']} calls" in text
    assert "Worst actions" in text and "Models" in text and "Trend" in text


def test_a_damaged_surface_is_said_and_left_out(cli: Cli, agent: Path, declared: Path) -> None:
    declared.write_text('{"version": 7}')
    found = cli("report", "--json")
    assert (found.code, found.json["metric3"]["coverage"]) == (0, None)
    assert "surface is damaged" in found.err and "version 1" in found.err
    assert "Traceback" not in found.err


def test_no_session_logs_at_all_is_said_kindly(cli: Cli, place: Path) -> None:
    found = cli("report")
    assert (found.code, found.err) == (0, "")
    assert b"fabricd sources" in found.out
    value = cli("report", "--json").json
    assert (value["agents"], value["metric3"]) == ([], None)


def test_it_writes_into_its_state_alone(cli: Cli, agent: Path, declared: Path, place: Path) -> None:
    before = sorted(place.rglob("*"))
    cli("report")
    new = [path for path in sorted(place.rglob("*")) if path not in before]
    state = place / "home" / "state"
    assert new == [state, state / "history.lock", state / "history.msgpack"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in new)


@pytest.mark.usefixtures("agent", "declared")
def test_a_daemon_that_does_not_answer_is_said_and_replaced(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = cli("report", "--json")
    monkeypatch.setattr("fabricd.daemon.cli.report.window._SECONDS", 0.3)
    monkeypatch.setenv("FABRICD_SOCKET", str(place / "s"))
    with listening(place / "s", silent):
        found = cli("report", "--json")
    assert (found.code, found.out) == (0, alone.out)
    assert "does not answer" in found.err
    # It runs and is silent: saying that none runs would send its owner the wrong way.
    assert "no daemon runs" not in found.err


@pytest.mark.usefixtures("agent", "declared")
@pytest.mark.parametrize(
    ("result", "version", "protocol"),
    [
        ({}, fabricd.__version__, PROTOCOL + 1),
        (None, fabricd.__version__, PROTOCOL),
        ([1], fabricd.__version__, PROTOCOL),
        ({}, "0.0.1", PROTOCOL),
    ],
)
def test_an_answer_of_another_shape_never_ends_in_a_traceback(
    cli: Cli, place: Path, result: object, version: str, protocol: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("FABRICD_SOCKET", str(place / "s"))
    body = {"id": 1, "result": result, "version": version, "protocol": protocol}
    with listening(place / "s", replying(json.dumps(body).encode() + b"\n")):
        found = cli("report")
    assert found.code in (0, 4)
    assert "Traceback" not in found.err and found.err.startswith("fabricd: ")


@pytest.mark.usefixtures("agent", "declared")
def test_a_daemon_that_fails_to_report_is_said_and_replaced(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRICD_SOCKET", str(place / "s"))
    body = {"error": {"code": -32000, "message": "its log says why", "data": {"reason": "failed"}}}
    with listening(place / "s", replying(json.dumps(body).encode() + b"\n")):
        found = cli("report", "--json")
    assert found.code == 0 and found.json["metric3"]["totals"]["traces"] > 0
    assert "its log says why" in found.err
