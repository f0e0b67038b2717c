"""Gemini CLI: `AfterAgent` in settings.json, which may hold comments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from fabricd.daemon.hooks.settings import Settings, is_set
from fabricd.store.addresses import absolute

# Milliseconds. The name is what /hooks disable takes.
_SETTINGS = Settings("AfterAgent", {"name": "fabricd", "timeout": 5000}, comments=True)
_REPAIR = Settings(
    "BeforeTool",
    {"name": "fabricd-repair", "timeout": 5000},
    comments=True,
    matcher=".*",
    alone=True,
)


class Gemini:
    """Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    program = "gemini"
    form = _SETTINGS
    repair = _REPAIR
    repair_file = None

    def home(self, env: Mapping[str, str]) -> Path:
        """`.gemini` in `GEMINI_CLI_HOME`, else in the home directory."""
        return Path(absolute(env.get("GEMINI_CLI_HOME") or "~", env)) / ".gemini"

    def path(self, home: Path) -> Path:
        """The user's settings."""
        return home / "settings.json"

    def project_path(self, project: Path) -> Path:
        """The project's settings."""
        return project / ".gemini" / "settings.json"

    def switch(self, home: Path) -> Path | None:
        """The user's settings hold for a project too."""
        return self.path(home)

    def muted(self, text: str | None, switch: str | None) -> str | None:
        """Hooks can be turned off as a whole, in either file."""
        names = ("hooksConfig", "enabled")
        if any(is_set(_SETTINGS, each, False, *names) for each in (text, switch)):
            return 'hooks are turned off by "hooksConfig"'
        return None

    def advice(self, scope: Literal["user", "project"]) -> tuple[str, ...]:
        """When it takes effect."""
        first = "Gemini CLI reads it at its next start; /hooks panel shows it"
        if scope == "project":
            return (first, "hooks of a project run only where Gemini CLI trusts the folder")
        return (first,)
