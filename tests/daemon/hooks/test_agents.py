from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.daemon.cli.hook import AGENT_NAMES
from fabricd.daemon.hooks.agents import AGENTS, place_of

HOME = {"HOME": "/home/me"}


def test_the_command_line_knows_every_agent() -> None:
    assert tuple(AGENTS) == AGENT_NAMES
    assert all(name == agent.name for name, agent in AGENTS.items())


@pytest.mark.parametrize(
    ("name", "env", "path"),
    [
        ("claude-code", {}, "/home/me/.claude/settings.json"),
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/settings.json"),
        ("codex", {}, "/home/me/.codex/hooks.json"),
        ("codex", {"CODEX_HOME": "~/x"}, "/home/me/x/hooks.json"),
        ("gemini", {}, "/home/me/.gemini/settings.json"),
        ("gemini", {"GEMINI_CLI_HOME": "/g"}, "/g/.gemini/settings.json"),
        ("opencode", {}, "/home/me/.config/opencode/plugins/fabricd.js"),
        ("opencode", {"XDG_CONFIG_HOME": "/x"}, "/x/opencode/plugins/fabricd.js"),
        ("opencode", {"XDG_CONFIG_HOME": "x"}, "/home/me/.config/opencode/plugins/fabricd.js"),
        ("pi", {}, "/home/me/.pi/agent/extensions/fabricd.ts"),
        ("pi", {"PI_CODING_AGENT_DIR": "/p"}, "/p/extensions/fabricd.ts"),
    ],
)
def test_the_users_file(name: str, env: dict[str, str], path: str) -> None:
    assert place_of(AGENTS[name], {**HOME, **env}, None).path == Path(path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", ".opencode/plugins/fabricd.js"),
        ("pi", ".pi/extensions/fabricd.ts"),
    ],
)
def test_the_projects_file(name: str, path: str) -> None:
    place = place_of(AGENTS[name], HOME, Path("/repo"))
    assert (place.scope, place.path) == ("project", Path("/repo") / path)


OFF = '{"disableAllHooks": true}'
GEMINI_OFF = '{"hooksConfig": {"enabled": false /* for now */}}'


@pytest.mark.parametrize(
    ("name", "text", "switch", "words"),
    [
        ("claude-code", OFF, None, "disableAllHooks"),
        ("claude-code", "{}", OFF, "disableAllHooks"),
        ("claude-code", '{"disableAllHooks": false}', "{", None),
        ("gemini", GEMINI_OFF, None, "hooksConfig"),
        ("gemini", None, GEMINI_OFF, "hooksConfig"),
        ("gemini", '{"hooksConfig": {}}', None, None),
        ("codex", None, "[features]\nhooks = false\n", "turned off in config.toml"),
        ("codex", None, "[features]\ncodex_hooks = false\n", "turned off in config.toml"),
        ("codex", None, "features = 1\n", None),
        ("codex", None, "[[hooks.Stop]]\n", "has hooks too"),
        ("codex", None, "= 1", "not TOML"),
        ("codex", None, None, None),
        ("opencode", "x", None, None),
        ("pi", "x", None, None),
    ],
)
def test_what_keeps_a_hook_from_running_is_told(
    name: str, text: str | None, switch: str | None, words: str | None
) -> None:
    found = AGENTS[name].muted(text, switch)
    assert found is None if words is None else words in str(found)


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_says_how_a_change_takes_effect(name: str) -> None:
    agent = AGENTS[name]
    assert len(agent.advice("user")) == 1
    assert agent.advice("project")[: len(agent.advice("user"))] == agent.advice("user")
