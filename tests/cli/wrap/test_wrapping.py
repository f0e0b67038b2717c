"""`fabricd wrap install` and `uninstall`: one entry changes, and comes back."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from fabricd.daemon.cli.wrap.command import AGENT_NAMES, command
from fabricd.daemon.wrapping import agents, planning
from fabricd.store import configurations
from tests.cli.running import Cli, Outcome
from tests.daemon.wrapping.texts import TEXTS

FILES = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini-cli": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "copilot-cli": ".copilot/mcp-config.json",
}


@pytest.fixture
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which every agent has a configuration."""
    for name in ("XDG_CONFIG_HOME", "OPENCODE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.chdir(place)
    home = place / "user"
    for agent, name in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(TEXTS[agent])
    return home


@pytest.fixture(autouse=True)
def program(place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed fabricd."""
    return install_program(place, monkeypatch, "bin")


def install_program(place: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> str:
    found = place / folder / "fabricd"
    found.parent.mkdir()
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(found.with_name("python")))
    return str(found)


def wrap(cli: Cli, *words: str | Path) -> Outcome:
    found = cli("wrap", *words)
    assert "Traceback" not in found.err
    return found


def backup_of(path: Path) -> Path:
    return path.with_name(path.name + planning.BACKUP_SUFFIX)


def test_the_names_are_the_same_in_both_places() -> None:
    assert AGENT_NAMES == agents.NAMES and set(agents.TITLES) == set(AGENT_NAMES)
    assert sorted(command.commands) == ["install", "uninstall"]


@pytest.mark.parametrize("agent", AGENT_NAMES)
@pytest.mark.parametrize("server", ["files", "bare"])
def test_a_server_is_wrapped_once_and_comes_back_to_the_byte(
    cli: Cli, home: Path, program: str, agent: str, server: str
) -> None:
    path = home / FILES[agent]
    before = path.read_bytes()
    path.chmod(0o640)
    dry = wrap(cli, "install", agent, server, "--dry-run")
    assert dry.code == 0 and b"+" in dry.out and path.read_bytes() == before
    assert b"s3cret" not in dry.out
    done = wrap(cli, "install", agent, server, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["state"] == "wrapped" and done.json["command"][0] == program
    assert done.json["command"][1:5] == ["wrap", "--name", server, "--"]
    backup = Path(done.json["backup"])
    assert backup == backup_of(path) and backup.read_bytes() == before
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    wrapped = path.read_bytes()
    again = wrap(cli, "install", agent, server)
    assert again.code == 0 and "already" in again.err and path.read_bytes() == wrapped
    back = wrap(cli, "uninstall", agent, server, "--json")
    assert back.code == 0 and back.json["state"] == "unwrapped"
    assert path.read_bytes() == before and not backup.exists()
    again = wrap(cli, "uninstall", agent, server)
    assert again.code == 0 and "does not run" in again.err and path.read_bytes() == before


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_two_servers_come_back_in_any_order(cli: Cli, home: Path, agent: str) -> None:
    path = home / FILES[agent]
    before = path.read_bytes()
    for order in (("files", "bare"), ("bare", "files")):
        for server in ("files", "bare"):
            assert wrap(cli, "install", agent, server).code == 0
        assert backup_of(path).read_bytes() == before
        for server in order:
            assert wrap(cli, "uninstall", agent, server).code == 0
        assert path.read_bytes() == before and not backup_of(path).exists()


def test_what_was_changed_meanwhile_stays_changed(cli: Cli, home: Path) -> None:
    path = home / FILES["cursor"]
    before = path.read_text()
    wrap(cli, "install", "cursor", "files")
    path.write_text(path.read_text().replace("s3cret", "another"))
    found = wrap(cli, "uninstall", "cursor", "files")
    assert found.code == 0
    assert path.read_text() == before.replace("s3cret", "another")


def test_an_empty_list_of_arguments_stays_where_there_was_one(cli: Cli, home: Path) -> None:
    path = home / FILES["cursor"]
    before = '{"mcpServers": {"a": {"command": "x", "args": []}}, "b": 1}\n'
    path.write_text(before)
    wrap(cli, "install", "cursor", "a")
    path.write_text(path.read_text().replace('"b": 1', '"b": 2'))
    wrap(cli, "uninstall", "cursor", "a")
    assert path.read_text() == before.replace('"b": 1', '"b": 2')


def test_another_installation_takes_it_over(
    cli: Cli, home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / FILES["codex"]
    before = path.read_bytes()
    wrap(cli, "install", "codex", "files")
    other = install_program(place, monkeypatch, "new")
    found = wrap(cli, "install", "codex", "files", "--json")
    assert found.json["state"] == "updated" and found.json["command"][0] == other
    wrap(cli, "uninstall", "codex", "files")
    assert path.read_bytes() == before


def test_what_cannot_be_wrapped_is_one_sentence(cli: Cli, home: Path) -> None:
    wrap(cli, "install", "cursor", "web").complains(2, "URL", "web")
    missing = wrap(cli, "install", "cursor", "nobody")
    missing.complains(2, "nobody", '"files", "bare", "web"')
    (home / FILES["cursor"]).unlink()
    wrap(cli, "install", "cursor", "files").complains(2, "does not exist")
    (home / FILES["codex"]).write_text("x = [")
    wrap(cli, "install", "codex", "files").complains(2, "not TOML")
    (home / FILES["vscode"]).write_bytes(b"\xff")
    wrap(cli, "install", "vscode", "files").complains(2, "UTF-8")
    (home / FILES["gemini-cli"]).write_text('{"mcpServers": {"a": {"command": "x"},}}')
    wrap(cli, "install", "gemini-cli", "a").complains(2, "not JSON")
    wrap(cli, "install", "nobody", "x").complains(2, "nobody")


def test_a_file_that_changed_after_it_was_read_is_left_alone(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / FILES["cursor"]
    original = configurations.write

    def late(found: configurations.Found, data: bytes, shared: bool = False) -> None:
        path.write_text("{}")
        original(found, data, shared)

    monkeypatch.setattr(planning, "write", late)
    wrap(cli, "install", "cursor", "files").complains(1, "changed by somebody else")
    assert path.read_text() == "{}"


def test_a_project_has_files_of_its_own(
    cli: Cli, place: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = place / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    path = root / ".mcp.json"
    path.write_text('{"mcpServers": {"a": {"command": "x"}}}')
    found = wrap(cli, "install", "claude-code", "a", "--project")
    assert found.code == 0 and "path of this machine" in found.err
    assert "wrap" in json.loads(path.read_text())["mcpServers"]["a"]["args"]
    assert (home / FILES["claude-code"]).read_text() == TEXTS["claude-code"]


def test_gemini_cli_has_two_names(cli: Cli, home: Path) -> None:
    assert wrap(cli, "install", "gemini", "files", "--json").json["agent"] == "gemini-cli"


def test_a_link_stays_a_link(cli: Cli, home: Path, place: Path) -> None:
    path = home / FILES["cursor"]
    path.rename(place / "real.json")
    path.symlink_to(place / "real.json")
    assert wrap(cli, "install", "cursor", "files").code == 0
    assert path.is_symlink() and "wrap" in (place / "real.json").read_text()
    assert os.readlink(path) == str(place / "real.json")


def test_without_a_program_there_is_nothing_to_write_down(
    cli: Cli, home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(place / "none" / "python"))
    monkeypatch.setenv("PATH", str(place))
    wrap(cli, "install", "cursor", "files").complains(1, "PATH")
