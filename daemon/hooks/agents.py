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
        """How the hook that tells of turns stands in its file."""
        ...

    @property
    def repair(self) -> Form | None:
        """How the hook that repairs stands in its file; None where it would not be safe."""
        ...

    @property
    def repair_file(self) -> str | None:
        """The name of a file of its own beside the other's; None: both stand in one."""
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
    """One file of one agent.

    Attributes:
        own: how the hook that repairs stands there; None where the other one is meant.
    """

    agent: Agent
    scope: Scope
    path: Path
    home: Path
    switch: Path | None
    own: Form | None = None

    @property
    def form(self) -> Form:
        """How the hook that is meant stands there."""
        return self.agent.form if self.own is None else self.own

    @property
    def forms(self) -> tuple[Form, ...]:
        """How each hook of ours stands that may stand there."""
        if self.agent.repair is None or self.agent.repair_file is not None:
            return (self.form,)
        return (self.agent.form, self.agent.repair)


AGENTS: dict[str, Agent] = {
    agent.name: agent for agent in (ClaudeCode(), Codex(), Gemini(), OpenCode(), Pi())
}


def place_of(agent: Agent, env: Mapping[str, str], project: Path | None) -> Place:
    """The file of an agent: the user's, or that of a project."""
    home = agent.home(env)
    if project is None:
        return Place(agent, "user", agent.path(home), home, agent.switch(home))
    return Place(agent, "project", agent.project_path(project), home, agent.switch(home))


def repair_place_of(agent: Agent, env: Mapping[str, str], project: Path | None) -> Place | None:
    """The file of the hook that repairs; None where the agent makes that unsafe."""
    if agent.repair is None:
        return None
    place = place_of(agent, env, project)
    path = place.path if agent.repair_file is None else place.path.with_name(agent.repair_file)
    return Place(agent, place.scope, path, place.home, place.switch, agent.repair)
