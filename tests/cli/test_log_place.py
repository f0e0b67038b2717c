"""Where the log file may lie, and what is said where launchd would try again for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.store.locks import hold
from tests.cli.running import Cli, process

COMMANDS = (["run"], ["start"], ["config", "check"])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_log_file_among_the_sessions_is_refused(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    sessions = place / "agent" / "sessions"
    sessions.mkdir(parents=True)
    (place / "link").symlink_to(sessions)
    for path in (sessions / "--repo--" / "d.jsonl", place / "link" / "d.jsonl"):
        monkeypatch.setenv("FABRICD_LOG_FILE", str(path))
        cli(*command).complains(78, str(path), "read as a session")
    assert list(sessions.iterdir()) == []


def test_a_named_configuration_is_checked_alike(cli: Cli, place: Path) -> None:
    file = place / "other.toml"
    file.write_text(f'[log]\nfile = "{place}/agent/sessions/d.jsonl"\n')
    cli("config", "check", file).complains(78, "read as a session")
    file.write_text('[log]\nfile = "a\\u0000b"\n')
    cli("config", "check", file).complains(78, "log")


@pytest.mark.parametrize("command", ["run", "start"])
def test_a_log_file_that_is_a_directory_is_a_sentence(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("FABRICD_LOG_FILE", str(place))
    cli(command).complains(78, f"the log file {place} is a directory")
    (place / "file").write_text("")
    monkeypatch.setenv("FABRICD_LOG_FILE", str(place / "file" / "d.log"))
    cli(command).complains(78, "lies below a file")


def test_launchd_is_told_of_success_where_trying_again_is_useless(place: Path) -> None:
    label = "dev.fabricd"
    bad = process("run", "--log-level", "loud")
    told = process("run", "--log-level", "loud", XPC_SERVICE_NAME=label)
    assert (bad.code, told.code, told.err) == (78, 0, bad.err)
    told.says("--log-level")
    (place / "home").mkdir()
    held = hold(place / "home" / "fabricd.lock", b"/nowhere.sock")
    try:
        stale = process("run", XPC_SERVICE_NAME=label)
    finally:
        held.close()
    stale.says("another fabricd holds this home")
    assert stale.code == 0
