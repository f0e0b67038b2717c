"""Claude Code: `Stop` in settings.json. A subagent's end is none of a session log's turns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from fabricd.daemon.hooks.settings import Settings, is_set
from fabricd.store.addresses import absolute

# Seconds. Comments make Claude Code discard the whole file, so they are refused, not kept.
_SETTINGS = Settings("Stop", {"timeout": 5})
# Arguments of its own tools are validated before any hook sees them: only servers' are repaired.
_REPAIR = Settings("PreToolUse", {"timeout": 5}, matcher="mcp__.*", alone=True)


class ClaudeCode:
    """Claude Code."""

    name = "claude-code"
    title = "Claude Code"
    program = "claude"
    form = _SETTINGS
    repair = _REPAIR
    repair_file = None

    def home(self, env: Mapping[str, str]) -> Path:
        """`CLAUDE_CONFIG_DIR`, else `~/.claude`."""
        return Path(absolute(env.get("CLAUDE_CONFIG_DIR") or "~/.claude", env))

    def path(self, home: Path) -> Path:
        """The user's settings."""
        return home / "settings.json"

    def project_path(self, project: Path) -> Path:
        """The project's settings, shared with whoever has the project."""
        return project / ".claude" / "settings.json"

    def switch(self, home: Path) -> Path | None:
        """The user's settings hold for a project too."""
        return self.path(home)

    def muted(self, text: str | None, switch: str | None) -> str | None:
        """Hooks can be turned off as a whole."""
        if any(is_set(_SETTINGS, each, True, "disableAllHooks") for each in (text, switch)):
            return 'hooks are turned off by "disableAllHooks"'
        return None

    def advice(self, scope: Literal["user", "project"]) -> tuple[str, ...]:
        """When it takes effect."""
        return ("sessions that run already may need a restart; /hooks shows what is in force",)
