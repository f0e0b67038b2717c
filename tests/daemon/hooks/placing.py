"""Homes of agents for tests, and an installed hook client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fabricd.daemon.hooks.agents import AGENTS, Agent, Place, place_of


def environment(place: Path) -> dict[str, str]:
    """A home of its own, in which no agent is found."""
    (place / "home").mkdir(exist_ok=True)
    return {"HOME": str(place / "home"), "PATH": str(place / "path")}


def installed_hook(
    place: Path, monkeypatch: pytest.MonkeyPatch, folder: str = "bin"
) -> tuple[str, ...]:
    """Install a hook client that fabricd finds; gives its path alone."""
    hook = place / folder / "fabricd-hook"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(hook.with_name("python")))
    return (str(hook),)


def present(name: str, env: Mapping[str, str]) -> tuple[Agent, Place]:
    """An agent that has run in this home."""
    agent = AGENTS[name]
    place = place_of(agent, env, None)
    place.home.mkdir(parents=True, exist_ok=True)
    return agent, place
