from __future__ import annotations

import json
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fabricd.daemon.cli.hook import AGENT_NAMES
from fabricd.store import configurations
from tests.cli.running import Cli, Outcome, process
from tests.daemon.hooks.placing import installed_hook
from tests.ipc.test_hook import STDIN, post

PYTHON = sys.executable
_OVERRIDES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME")
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/plugins/fabricd.js",
    "pi": ".pi/agent/extensions/fabricd.ts",
}
PROJECT_FILES = {
    **FILES,
    "opencode": ".opencode/plugins/fabricd.js",
    "pi": ".pi/extensions/fabricd.ts",
}
SETTINGS = """\
{
  "model": "opus",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
  }
}
"""


@pytest.fixture
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which every agent has run."""
    home = place / "me"
    for name in (".claude", ".codex", ".gemini", ".config/opencode", ".pi/agent"):
        (home / name).mkdir(parents=True)
    for name in _OVERRIDES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(place / "path"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "")
    return home


@pytest.fixture(autouse=True)
def hook(place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed hook client."""
    [hook] = installed_hook(place, monkeypatch)
    return hook


@pytest.fixture
def project(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree; the current directory lies within."""
    root = place / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    return root


def lines(found: Outcome) -> list[str]:
    assert "Traceback" not in found.err
    assert all(line.startswith("fabricd: ") for line in found.err.splitlines())
    return [line.removeprefix("fabricd: ") for line in found.err.splitlines()]


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_installed_twice_is_installed_once_and_uninstalled_is_as_before(
    cli: Cli, home: Path, hook: str, agent: str
) -> None:
    found = cli("hook", "install", agent)
    assert (found.code, found.out) == (0, b"")
    path = home / FILES[agent]
    assert lines(found)[0].endswith(f"is installed in {path}")
    # How it takes effect is said, too, and what it is good for.
    assert len(lines(found)) == (2 if agent == "pi" else 3)
    assert ("nothing useful" in found.err) == (agent != "pi")
    first = everything(home)
    assert list(first) == [FILES[agent]]
    assert f"{hook}" in first[FILES[agent]].decode()
    assert f"--agent {agent}" in first[FILES[agent]].decode().replace('", "', " ")
    found = cli("hook", "install", agent)
    assert (found.code, len(lines(found))) == (0, 1)
    assert "already installed" in found.err
    assert everything(home) == first
    assert cli("hook", "uninstall", agent).code == 0
    assert everything(home) == {}
    found = cli("hook", "uninstall", agent)
    assert (found.code, found.out) == (0, b"")
    assert "no hook of" in found.err


def test_others_stay_and_the_file_as_it_was_is_kept(cli: Cli, home: Path, hook: str) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text(SETTINGS)
    found = cli("hook", "install", "claude-code")
    backup = path.with_name("settings.json.fabricd-backup")
    assert f"the file as it was: {backup}" in lines(found)
    assert backup.read_text() == SETTINGS
    ours = {"type": "command", "command": f"{hook} turn-end --agent claude-code", "timeout": 5}
    group = json.dumps({"hooks": [ours]})
    assert path.read_text() == SETTINGS.replace('done" }] }]', f'done" }}] }}, {group}]')
    assert cli("hook", "uninstall", "claude-code").code == 0
    assert everything(home) == {".claude/settings.json": SETTINGS.encode()}


def test_another_path_is_updated(
    cli: Cli, home: Path, place: Path, hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("hook", "install", "claude-code")
    [other] = installed_hook(place, monkeypatch, "my tools")
    found = cli("hook", "list", "claude-code")
    assert "installed, of another fabricd" in found.out.decode()
    assert f"runs {hook}" in found.out.decode()
    found = cli("hook", "install", "claude-code", "--json")
    assert found.json["state"] == "updated"
    assert found.json["command"] == f"'{other}' turn-end --agent claude-code"
    text = (home / FILES["claude-code"]).read_text()
    assert hook not in text and other in text
    Path(other).unlink()
    # Whoever removed fabricd first can still remove its hook.
    assert cli("hook", "uninstall", "claude-code").code == 0
    assert everything(home) == {}


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_a_dry_run_shows_the_difference_and_writes_nothing(
    cli: Cli, home: Path, agent: str
) -> None:
    found = cli("hook", "install", agent, "--dry-run")
    assert found.code == 0
    shown = found.out.decode().splitlines()
    path = home / FILES[agent]
    assert shown[:2] == ["--- /dev/null", f"+++ {path}"]
    assert len(lines(found)) == 1 and "would be installed" in found.err
    assert everything(home) == {}
    cli("hook", "install", agent)
    assert path.read_text().splitlines() == [line[1:] for line in shown[3:]]
    found = cli("hook", "uninstall", agent, "--dry-run")
    assert found.out.decode().splitlines()[:2] == [f"--- {path}", "+++ /dev/null"]
    assert "would be uninstalled" in found.err
    assert list(everything(home)) == [FILES[agent]]
    found = cli("hook", "install", agent, "--dry-run")
    assert (found.code, found.out) == (0, b"")
    assert "already installed" in found.err


def test_a_difference_is_safe_to_look_at(cli: Cli, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_bytes(b'{\r\n\t"a": "\xc2\x9b31m"\r\n}')
    found = cli("hook", "install", "claude-code", "--dry-run")
    shown = found.out.decode()
    assert "\x9b" not in shown and "\\x9b31m" in shown
    assert '\n-\t"a": ' in shown and "\r\n" in shown
    assert "\n\\ No newline at end of file\n" in shown


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_a_project_has_files_of_its_own(
    cli: Cli, home: Path, project: Path, hook: str, agent: str
) -> None:
    found = cli("hook", "install", agent, "--project")
    assert found.code == 0
    path = project.resolve() / PROJECT_FILES[agent]
    assert str(path) in lines(found)[0]
    assert "a path of this machine" in lines(found)[-1]
    assert hook in path.read_text()
    assert everything(home) == {}
    assert path.stat().st_mode & 0o777 == 0o644
    [state] = cli("hook", "list", agent, "--project", "--json").json["hooks"]
    assert (state["state"], state["scope"], state["path"]) == ("installed", "project", str(path))
    [state] = cli("hook", "list", agent, "--json").json["hooks"]
    assert (state["state"], state["scope"]) == ("not_installed", "user")
    assert cli("hook", "uninstall", agent, "--project").code == 0
    assert everything(project) == {}


def test_a_project_without_a_working_tree_is_the_current_directory(
    cli: Cli, home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "plain").mkdir()
    monkeypatch.chdir(place / "plain")
    cli("hook", "install", "codex", "--project")
    assert list(everything(place / "plain")) == [".codex/hooks.json"]


def test_the_home_directory_is_no_project(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".git").mkdir()
    (home / "notes").mkdir()
    monkeypatch.chdir(home)
    cli("hook", "install", "codex", "--project").complains(2, "home directory is no project")
    monkeypatch.chdir(home / "notes")
    cli("hook", "install", "codex", "--project")
    assert list(everything(home)) == ["notes/.codex/hooks.json"]


def test_a_link_stays_and_what_it_leads_to_changes(cli: Cli, home: Path, place: Path) -> None:
    real, link = place / "dotfiles.json", home / ".claude" / "settings.json"
    real.write_text(SETTINGS)
    real.chmod(0o600)
    link.symlink_to(real)
    cli("hook", "install", "claude-code")
    assert link.is_symlink()
    assert "turn-end" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600
    cli("hook", "uninstall", "claude-code")
    assert link.is_symlink() and real.read_text() == SETTINGS


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": 1,}', 'a comma before "}"'),
        (b'{\n// why\n"a": 1}', "line 2 column 1: a comment"),
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'{"hooks": []}', '"hooks" is not an object'),
    ],
)
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_what_cannot_be_read_is_left_as_it_is(
    cli: Cli, home: Path, data: bytes, words: str, verb: str
) -> None:
    path = home / ".claude" / "settings.json"
    path.write_bytes(data)
    cli("hook", verb, "claude-code").complains(2, str(path), "left as it is", words)
    assert everything(home) == {".claude/settings.json": data}
    found = cli("hook", "list")
    assert found.code == 1
    assert "unreadable" in found.out.decode() and words in found.out.decode()


def test_comments_that_the_agent_reads_are_kept(cli: Cli, home: Path) -> None:
    path = home / ".gemini" / "settings.json"
    path.write_text('{\n  // why\n  "a": 1 /* so */\n}\n')
    assert cli("hook", "install", "gemini").code == 0
    assert path.read_text().startswith('{\n  // why\n  "a": 1, /* so */\n  "hooks": {\n')
    assert cli("hook", "uninstall", "gemini").code == 0
    assert path.read_text() == '{\n  // why\n  "a": 1 /* so */\n}\n'


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_a_file_of_somebody_else_is_left_alone(cli: Cli, home: Path, agent: str, verb: str) -> None:
    path = home / FILES[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("export default {};\n")
    cli("hook", verb, agent).complains(2, str(path), "not written by fabricd")
    assert everything(home) == {FILES[agent]: b"export default {};\n"}


def test_a_read_only_file_is_left_as_it_is(cli: Cli, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text(SETTINGS)
    path.chmod(0o400)
    cli("hook", "install", "claude-code").complains(2, "read-only")
    assert everything(home) == {".claude/settings.json": SETTINGS.encode()}


def test_a_change_in_the_middle_is_not_lost(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text(SETTINGS)
    read = configurations.read

    def and_then_they_wrote(where: Path) -> Any:
        found = read(where)
        if where == path:
            path.write_text('{"theirs": true}')
        return found

    monkeypatch.setattr("fabricd.daemon.hooks.applying.read", and_then_they_wrote)
    cli("hook", "install", "claude-code").complains(1, "changed by somebody else", "try again")
    assert path.read_text() == '{"theirs": true}'


def test_a_file_that_cannot_be_made_is_a_sentence(cli: Cli, home: Path) -> None:
    (home / ".config" / "opencode" / "plugins").write_text("")
    cli("hook", "install", "opencode").complains(2, "fabricd.js", "Not a directory")
    (home / ".claude" / "settings.json.fabricd-backup").mkdir()
    (home / ".claude" / "settings.json").write_text("{}")
    cli("hook", "install", "claude-code").complains(1, "cannot be written")


def test_an_agent_that_is_not_here_gets_no_home(
    cli: Cli, home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(place / "none"))
    found = cli("hook", "install", "codex")
    found.complains(1, "Codex was not found", str(place / "none"), "codex on PATH")
    assert not (place / "none").exists()
    assert "agent not found" in cli("hook", "list", "codex").out.decode()


def test_without_an_installed_hook_nothing_is_written(cli: Cli, home: Path, hook: str) -> None:
    Path(hook).unlink()
    cli("hook", "install", "codex").complains(1, "fabricd-hook", "install fabricd")
    assert everything(home) == {}


def test_what_keeps_it_from_running_is_said(cli: Cli, home: Path) -> None:
    (home / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    found = cli("hook", "install", "codex")
    assert found.code == 0
    assert "hooks are turned off in config.toml, under [features]" in lines(found)
    assert "turned off" in cli("hook", "list", "codex").out.decode()
    found = cli("hook", "install", "codex", "--json")
    assert "turned off" in found.json["note"]


@pytest.mark.parametrize("verb", ["install", "uninstall", "list"])
def test_an_unknown_agent_is_answered_with_the_known_ones(cli: Cli, home: Path, verb: str) -> None:
    cli("hook", verb, "cursor").complains(2, "cursor", *AGENT_NAMES)


def test_an_agent_has_to_be_named(cli: Cli, home: Path) -> None:
    for verb in ("install", "uninstall"):
        cli("hook", verb).complains(2, "AGENT")


def test_json_on_an_edit_has_one_shape(cli: Cli, home: Path, hook: str) -> None:
    members = {
        "agent",
        "hook",
        "scope",
        "path",
        "state",
        "dryRun",
        "command",
        "backup",
        "note",
        "advice",
    }
    (home / ".claude" / "settings.json").write_text("{}")
    tried = cli("hook", "install", "claude-code", "--dry-run", "--json").json
    done = cli("hook", "install", "claude-code", "--json").json
    again = cli("hook", "install", "claude-code", "--json").json
    gone = cli("hook", "uninstall", "claude-code", "--json").json
    assert set(tried) == {*members, "diff"}
    assert [set(each) == members for each in (done, again, gone)] == [True] * 3
    states = [each["state"] for each in (tried, done, again, gone)]
    assert states == ["installed", "installed", "already_installed", "uninstalled"]
    assert [each["dryRun"] for each in (tried, done)] == [True, False]
    assert tried["diff"].startswith("--- ") and tried["backup"] is None
    assert done["backup"] == f"{done['path']}.fabricd-backup"
    assert done["command"] == f"{hook} turn-end --agent claude-code"
    assert gone["command"] is gone["backup"] is None
    assert [bool(each["advice"]) for each in (tried, done, again, gone)] == [
        False,
        True,
        False,
        True,
    ]


def test_the_list_is_a_table_and_json(cli: Cli, home: Path, hook: str) -> None:
    cli("hook", "install", "gemini")
    found = cli("hook", "list")
    assert (found.code, found.err) == (0, "")
    table = [line.split() for line in found.out.decode().splitlines()]
    assert table[0] == ["agent", "state", "file"]
    assert [row[0] for row in table[1:]] == list(AGENT_NAMES)
    assert table[3] == ["gemini", "installed", str(home / FILES["gemini"])]
    hooks = cli("hook", "list", "--json").json["hooks"]
    assert [each["state"] for each in hooks].count("installed") == 1
    assert hooks[2] == {
        "agent": "gemini",
        "scope": "user",
        "path": str(home / FILES["gemini"]),
        "state": "installed",
        "commands": [hook],
        "hook": "turn-end",
        "note": None,
    }


def test_two_at_once_leave_one_hook(
    home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text(SETTINGS)
    # A process of its own may run from a checkout, with no hook client beside it.
    (place / "bin").rename(place / "path")
    monkeypatch.setattr("sys.executable", PYTHON)
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: process("hook", "install", "claude-code"), range(2)))
    assert all(each.code in (0, 1) and "Traceback" not in each.err for each in both)
    assert path.read_text().count("turn-end") == 1
    assert json.loads(path.read_text())["model"] == "opus"


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini"])
def test_the_line_that_is_written_runs_as_agents_run_it(
    cli: Cli, home: Path, place: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [hook] = installed_hook(place, monkeypatch, "it's $HOME & more")
    Path(hook).write_text(f'#!/bin/sh\nexec {shlex.quote(PYTHON)} -m fabricd.ipc.hook "$@"\n')
    line = cli("hook", "install", agent, "--json").json["command"]
    assert json.dumps(line) in (home / FILES[agent]).read_text()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    [message] = post(place, STDIN, ["sh", "-c", line])
    assert message["method"] == "turn_end"
    assert message["params"]["agent"] == agent
    assert message["params"]["session"] == "s-1"
