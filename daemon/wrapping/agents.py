"""The agents whose MCP configuration is known: the files, and how servers stand in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from fabricd.daemon.wrapping.forms import Form
from fabricd.daemon.wrapping.json_form import JsonForm
from fabricd.daemon.wrapping.toml_form import TomlForm
from fabricd.store.addresses import absolute

NAMES = ("claude-code", "codex", "gemini-cli", "opencode", "cursor", "vscode", "copilot-cli")
TITLES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "opencode": "OpenCode",
    "cursor": "Cursor",
    "vscode": "VS Code",
    "copilot-cli": "Copilot CLI",
}
_SERVERS = ("mcpServers",)
_STRICT = JsonForm((_SERVERS,), comments=False)
_LOOSE = JsonForm((_SERVERS,))
# The newer layout has one table more.
_OPENCODE = JsonForm((("mcp", "servers"), ("mcp",)), joined=True)
_VSCODE = JsonForm((("servers",),))
_CODEX = TomlForm("mcp_servers")


class Place(Struct, frozen=True):
    """One file in which servers of an agent may stand."""

    agent: str
    path: Path
    form: Form
    is_shared: bool

    @property
    def title(self) -> str:
        """The agent as people call it."""
        return TITLES[self.agent]


def places_of(
    agent: str, env: Mapping[str, str], here: Path, project: Path | None
) -> tuple[Place, ...]:
    """The files of an agent in the order in which they are looked into.

    Args:
        here: the current directory, for what an agent keeps for one directory in the user's file.
        project: None for the user's own files.
    """
    if project is not None:
        found = _project_files(agent, project)
        return tuple(Place(agent, path, form, True) for path, form in found)
    return tuple(Place(agent, path, form, False) for path, form in _user_files(agent, env, here))


def _user_files(agent: str, env: Mapping[str, str], here: Path) -> tuple[tuple[Path, Form], ...]:
    def at(variable: str, default: str) -> Path:
        return Path(absolute(env.get(variable) or default, env))

    match agent:
        case "claude-code":
            # Servers of one directory alone stand there too, under its path.
            local = ("projects", str(here), "mcpServers")
            form = JsonForm((_SERVERS, local), comments=False)
            return ((at("CLAUDE_CONFIG_DIR", "~") / ".claude.json", form),)
        case "codex":
            return ((at("CODEX_HOME", "~/.codex") / "config.toml", _CODEX),)
        case "gemini-cli":
            return ((at("GEMINI_CLI_HOME", "~") / ".gemini" / "settings.json", _LOOSE),)
        case "opencode":
            folder = _base(env) / "opencode"
            files = [folder / name for name in ("opencode.json", "opencode.jsonc")]
            if named := env.get("OPENCODE_CONFIG"):
                files.insert(0, Path(absolute(named, env)))
            return tuple((path, _OPENCODE) for path in files)
        case "cursor":
            return ((at("", "~/.cursor") / "mcp.json", _LOOSE),)
        case "vscode":
            return ((_vscode(env) / "mcp.json", _VSCODE),)
        case _:
            return ((at("COPILOT_HOME", "~/.copilot") / "mcp-config.json", _STRICT),)


def _project_files(agent: str, project: Path) -> tuple[tuple[Path, Form], ...]:
    match agent:
        case "claude-code":
            return ((project / ".mcp.json", _STRICT),)
        case "codex":
            return ((project / ".codex" / "config.toml", _CODEX),)
        case "gemini-cli":
            return ((project / ".gemini" / "settings.json", _LOOSE),)
        case "opencode":
            names = ("opencode.json", "opencode.jsonc", ".opencode/opencode.json")
            return tuple((project / name, _OPENCODE) for name in names)
        case "cursor":
            return ((project / ".cursor" / "mcp.json", _LOOSE),)
        case "vscode":
            return ((project / ".vscode" / "mcp.json", _VSCODE),)
        case _:
            return tuple((project / name, _STRICT) for name in (".mcp.json", ".github/mcp.json"))


def _base(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_CONFIG_HOME", "")
    return Path(base if os.path.isabs(base) else absolute("~/.config", env))


def _vscode(env: Mapping[str, str]) -> Path:
    if sys.platform == "darwin":
        return Path(absolute("~/Library/Application Support", env)) / "Code" / "User"
    return _base(env) / "Code" / "User"
