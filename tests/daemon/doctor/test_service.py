from __future__ import annotations

import time
from pathlib import Path

import pytest

from fabricd.daemon.doctor import service
from fabricd.daemon.doctor.service import Silent, judge_launchd, judge_linger, judge_unit, said

SILENT = Silent("there is no systemctl here")


def unit(**more: str) -> str:
    values = {
        "LoadState": "loaded",
        "ActiveState": "active",
        "UnitFileState": "enabled",
        "Result": "success",
        "ExecMainStatus": "0",
        "NRestarts": "0",
        **more,
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


@pytest.mark.parametrize(
    ("printed", "state", "words"),
    [
        (SILENT, "ok", "no systemctl"),
        ("LoadState=not-found\nActiveState=inactive\n", "ok", "fabricd service install"),
        ("", "ok", "fabricd service install"),
        (unit(), "ok", "active, enabled"),
        (
            unit(ActiveState="failed", Result="exit-code", ExecMainStatus="1"),
            "wrong",
            "exit code 1",
        ),
        (unit(ActiveState="failed", Result="exit-code", ExecMainStatus="78"), "wrong", "config"),
        (
            unit(ActiveState="activating", Result="exit-code", NRestarts="4"),
            "warning",
            "4 restarts",
        ),
        (unit(NRestarts="4"), "ok", "active"),
    ],
)
def test_the_unit_is_judged_by_its_properties(
    printed: str | Silent, state: str, words: str
) -> None:
    check = judge_unit(printed)
    assert (check.id, check.state) == ("service", state) and words in check.found


def test_a_configuration_error_is_cured_in_the_configuration() -> None:
    failed = unit(ActiveState="failed", ExecMainStatus="78")
    assert judge_unit(failed).cure == "fabricd config check"


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("Linger=yes\n", "after the last logout"),
        ("Linger=no\n", "loginctl enable-linger"),
        (Silent("no bus"), "no bus"),
    ],
)
def test_that_services_end_with_the_login_is_said_and_is_no_fault(
    user: str | Silent, words: str
) -> None:
    check = judge_linger(unit(), user)
    assert check.state == "ok" and words in check.found


def test_without_a_service_linger_matters_to_nobody() -> None:
    assert "no service" in judge_linger(SILENT, "Linger=no\n").found


def test_the_agent_of_macos_is_judged_by_its_state() -> None:
    printed = "gui/501/dev.fabricd = {\n\tactive count = 1\n\tstate = running\n}\n"
    assert "running" in judge_launchd(printed).found
    assert judge_launchd("{}").state == "unknown"
    assert "service install" in judge_launchd(SILENT).found


def program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "systemctl"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_what_a_program_prints_is_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, 'echo "LoadState=loaded $*"', monkeypatch)
    assert said("systemctl", "--user") == "LoadState=loaded --user\n"


def test_a_program_that_fails_is_silent_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "echo first >&2; echo 'no bus' >&2; exit 1", monkeypatch)
    assert said("systemctl") == Silent("systemctl says: no bus")


def test_a_program_that_hangs_or_is_missing_is_silent_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_SECONDS", 0.2)
    program(tmp_path, "exec sleep 30", monkeypatch)
    started = time.monotonic()
    assert said("systemctl") == Silent("systemctl did not answer within 0.2 s")
    assert time.monotonic() - started < 20
    assert said("no-such-program-of-ours") == Silent("there is no no-such-program-of-ours here")
