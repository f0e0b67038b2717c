"""What stands in the agents' configuration now."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from fabricd.daemon.hooks import program
from fabricd.daemon.hooks.agents import AGENTS, Agent, Place, Scope, place_of, repair_place_of
from fabricd.daemon.hooks.applying import Unusable, text_of
from fabricd.daemon.hooks.edits import Unfit
from fabricd.daemon.hooks.program import Verb
from fabricd.store.durable import shown

State = Literal["installed", "another_path", "not_installed", "agent_not_found", "unreadable"]


class HookState(Struct, frozen=True):
    """The hook in one file of one agent.

    Attributes:
        hook: which of the two.
        state: `another_path`: a hook of ours, but of another installation than this one;
            `agent_not_found`: neither hook nor agent.
        commands: the programs that our hooks there run.
        note: what is wrong, or why the hook would not run; None where nothing is.
    """

    agent: str
    title: str
    scope: Scope
    path: Path
    state: State
    commands: tuple[str, ...]
    note: str | None
    hook: Verb = "turn-end"


def repairing(
    env: Mapping[str, str], project: Path | None = None, agents: Iterable[Agent] | None = None
) -> list[HookState]:
    """The hook that repairs of each agent that has it. Changes nothing."""
    chosen = AGENTS.values() if agents is None else agents
    places = [repair_place_of(agent, env, project) for agent in chosen]
    states = [state_of(place, env) for place in places if place is not None]
    return [state for state in states if state.commands]


def installed(
    env: Mapping[str, str], project: Path | None = None, agents: Iterable[Agent] | None = None
) -> list[HookState]:
    """The hook of each agent, in the user's files or in those of a project. Changes nothing."""
    chosen = AGENTS.values() if agents is None else agents
    return [state_of(place_of(agent, env, project), env) for agent in chosen]


def is_present(agent: Agent, env: Mapping[str, str]) -> bool:
    """Whether the agent has run here, or can."""
    on_path = shutil.which(agent.program, path=env.get("PATH", os.defpath))
    return on_path is not None or agent.home(env).is_dir()


def state_of(place: Place, env: Mapping[str, str]) -> HookState:
    """The hook in one file."""
    try:
        text = text_of(place.path)
        commands = tuple(words[0] for words in place.form.commands(text))
    except (Unusable, Unfit) as error:
        return _told(place, "unreadable", (), str(error))
    if not commands:
        present = text is not None or is_present(place.agent, env)
        return _told(place, "not_installed" if present else "agent_not_found", (), None)
    gone = [command for command in commands if not os.access(command, os.X_OK)]
    if gone:
        return _told(place, "another_path", commands, f"{shown(gone[0])} cannot be run")
    state: State = "installed" if set(commands) == {_here(env)} else "another_path"
    return _told(place, state, commands, place.agent.muted(text, _switch(place)))


def _here(env: Mapping[str, str]) -> str | None:
    try:
        return program.find(env)
    except program.NoHook:
        return None


def _switch(place: Place) -> str | None:
    try:
        return None if place.switch is None else text_of(place.switch)
    except Unusable:
        return None


def _told(place: Place, state: State, commands: tuple[str, ...], note: str | None) -> HookState:
    agent = place.agent
    hook: Verb = "turn-end" if place.own is None else "repair"
    return HookState(agent.name, agent.title, place.scope, place.path, state, commands, note, hook)
