"""`fabricd hook install AGENT --repair`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Cli
from tests.cli.test_hook_install import FILES, home, hook, project

__all__ = ["home", "hook", "project"]

REPAIR_FILES = {
    **{name: path for name, path in FILES.items() if name != "codex"},
    "opencode": ".config/opencode/plugins/fabricd-repair.js",
    "pi": ".pi/agent/extensions/fabricd-repair.ts",
}


@pytest.mark.parametrize("agent", REPAIR_FILES)
def test_it_comes_and_goes_beside_the_other(cli: Cli, home: Path, hook: str, agent: str) -> None:
    path = home / REPAIR_FILES[agent]
    cli("hook", "install", agent)
    before = path.read_bytes() if path.exists() else None
    dry = cli("hook", "install", agent, "--repair", "--dry-run")
    assert dry.code == 0 and b"repair" in dry.out and "would be installed" in dry.err
    done = cli("hook", "install", agent, "--repair", "--json").json
    assert (done["hook"], done["state"]) == ("repair", "installed")
    assert done["path"] == str(path)
    assert done["command"] == f"{hook} repair --agent {agent}"
    assert any("surface capture" in sentence for sentence in done["advice"])
    rows = [line.split()[:2] for line in cli("hook", "list").out.decode().splitlines()]
    assert rows.count([agent, "installed"]) == 1 and rows.count([agent, "installed,"]) == 1
    states = cli("hook", "list", agent, "--json").json["hooks"]
    assert [state["hook"] for state in states] == ["turn-end", "repair"]
    again = cli("hook", "install", agent, "--repair")
    assert again.code == 0 and "already installed" in again.err
    assert cli("hook", "uninstall", agent, "--repair").code == 0
    assert (path.read_bytes() if path.exists() else None) == before
    assert len(cli("hook", "list", agent, "--json").json["hooks"]) == 1


@pytest.mark.parametrize("agent", REPAIR_FILES)
def test_to_uninstall_takes_both_out(cli: Cli, home: Path, agent: str) -> None:
    cli("hook", "install", agent)
    cli("hook", "install", agent, "--repair")
    assert cli("hook", "uninstall", agent).code == 0
    assert not (home / FILES[agent]).exists() and not (home / REPAIR_FILES[agent]).exists()
    assert cli("hook", "list", agent, "--json").json["hooks"][0]["state"] == "not_installed"


def test_claude_code_asks_for_tools_of_servers_alone(cli: Cli, home: Path, hook: str) -> None:
    cli("hook", "install", "claude-code", "--repair")
    [group] = json.loads((home / FILES["claude-code"]).read_text())["hooks"]["PreToolUse"]
    assert group["matcher"] == "mcp__.*"
    assert group["hooks"] == [
        {"type": "command", "command": f"{hook} repair --agent claude-code", "timeout": 5}
    ]


def test_codex_is_refused_with_the_reason(cli: Cli, home: Path) -> None:
    for verb in ("install", "uninstall"):
        found = cli("hook", verb, "codex", "--repair")
        found.complains(2, "allows", "gateway")
    assert not (home / FILES["codex"]).exists()


def test_gemini_cli_has_two_names(cli: Cli, home: Path, hook: str) -> None:
    found = cli("hook", "install", "gemini-cli", "--repair", "--json").json
    assert found["agent"] == "gemini" and found["command"] == f"{hook} repair --agent gemini"


def test_a_project_has_it_too(cli: Cli, project: Path, home: Path) -> None:
    found = cli("hook", "install", "opencode", "--repair", "--project", "--json")
    assert found.json["path"] == str(project / ".opencode/plugins/fabricd-repair.js")
