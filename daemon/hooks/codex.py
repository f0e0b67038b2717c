"""Codex: `Stop` in hooks.json, the same shape as Claude Code's; config.toml is only looked at."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from fabricd.core.plain import is_object
from fabricd.daemon.hooks.settings import Settings
from fabricd.store.addresses import absolute

# Seconds.
_SETTINGS = Settings("Stop", {"timeout": 5})
_FLAGS = ("hooks", "codex_hooks")


class Codex:
    """Codex."""

    name = "codex"
    title = "Codex"
    program = "codex"
    form = _SETTINGS
    # It takes other arguments only from a hook that allows the call as well.
    repair = None
    repair_file = None

    def home(self, env: Mapping[str, str]) -> Path:
        """`CODEX_HOME`, else `~/.codex`."""
        return Path(absolute(env.get("CODEX_HOME") or "~/.codex", env))

    def path(self, home: Path) -> Path:
        """The user's hooks."""
        return home / "hooks.json"

    def project_path(self, project: Path) -> Path:
        """The project's hooks."""
        return project / ".codex" / "hooks.json"

    def switch(self, home: Path) -> Path | None:
        """Features are turned off in the configuration."""
        return home / "config.toml"

    def muted(self, text: str | None, switch: str | None) -> str | None:
        """The feature may be off; hooks in config.toml as well are merged, with a warning."""
        try:
            config = tomllib.loads(switch or "")
        except tomllib.TOMLDecodeError:
            return "config.toml is not TOML, so nobody can tell whether hooks are turned on"
        features = config.get("features")
        if is_object(features) and any(features.get(flag) is False for flag in _FLAGS):
            return "hooks are turned off in config.toml, under [features]"
        if "hooks" in config:
            return "config.toml has hooks too: Codex runs both, and says so at each start"
        return None

    def advice(self, scope: Literal["user", "project"]) -> tuple[str, ...]:
        """Codex runs what its user has trusted."""
        first = "Codex skips a new or changed hook until it is trusted: start Codex and open /hooks"
        if scope == "project":
            return (first, "hooks of a project run only where Codex trusts the project")
        return (first,)
