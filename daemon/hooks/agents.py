"""What every agent's module answers, and the agents there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from fabricd.daemon.hooks.claude_code import ClaudeCode
from fabricd.daemon.hooks.codex import Codex
from fabricd.daemon.hooks.edits import Form
from fabricd.daemon.hooks.gemini import Gemini
from fabricd.daemon.hooks.opencode import OpenCode
from fabricd.daemon.hooks.pi import Pi

Scope = Literal["user", "project"]


class Agent(Protocol):
    """An agent: where its configuration lies, and how the hook is written there."""

    @property
    def name(self) -> str:
        """As on our command line."""
        ...

    @property
    def title(self) -> str:
        """As people call it."""
        ...

    @property
    def program(self) -> str:
        """As it is called on PATH."""
        ...

    @property
    def form(self) -> Form:
        """How the hook stands in its file."""
        ...

    def home(self, env: Mapping[str, str]) -> Path:
        """The user's own directory of this agent; it exists once the agent has run."""
        ...

    def path(self, home: Path) -> Path:
        """The file in the user's directory that the hook stands in."""
        ...

    def project_path(self, project: Path) -> Path:
        """The same for one project."""
        ...

    def switch(self, home: Path) -> Path | None:
        """Another file of the user that can turn hooks off; None where it is the same file."""
        ...

    def muted(self, text: str | None, switch: str | None) -> str | None:
        """Why an installed hook would not run, or would be complained about. Pure.

        Args:
            text: the file that the hook stands in.
            switch: the file of `switch`.
        """
        ...

    def advice(self, scope: Scope) -> tuple[str, ...]:
        """Sentences on how a change takes effect."""
        ...


class Place(Struct, frozen=True):
    """One file of one agent."""

    agent: Agent
    scope: Scope
    path: Path
    home: Path
    switch: Path | None


AGENTS: dict[str, Agent] = {
    agent.name: agent for agent in (ClaudeCode(), Codex(), Gemini(), OpenCode(), Pi())
}


def place_of(agent: Agent, env: Mapping[str, str], project: Path | None) -> Place:
    """The file of an agent: the user's, or that of a project."""
    home = agent.home(env)
    if project is None:
        return Place(agent, "user", agent.path(home), home, agent.switch(home))
    return Place(agent, "project", agent.project_path(project), home, agent.switch(home))
