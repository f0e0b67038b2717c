"""`fabricd hook`: the turn-end hook in the configuration of the agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say
from fabricd.store.durable import shown

if TYPE_CHECKING:
    from fabricd.daemon.hooks.agents import Place
    from fabricd.daemon.hooks.applying import Plan

# Written down here too, so that a usage message costs no import of what it is about.
AGENT_NAMES = ("claude-code", "codex", "gemini", "opencode", "pi")
_AGENT = click.argument("agent", metavar="AGENT", type=click.Choice(AGENT_NAMES))
_PROJECT = click.option("--project", is_flag=True, help="The project's file, not the user's.")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the difference, write nothing.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")


@click.group("hook")
def command() -> None:
    """Let an agent tell fabricd when a turn has ended.

    The hook only observes: it prints nothing, always succeeds, and takes some milliseconds.
    """


@command.command("install", short_help="Write the hook into an agent's configuration.")
@_AGENT
@_PROJECT
@_DRY_RUN
@_JSON
def install(agent: str, project: bool, dry_run: bool, as_json: bool) -> int:
    """Write the hook into the configuration of AGENT, beside whatever else is there.

    AGENT is claude-code, codex, gemini, opencode or pi.

    A file that is changed is kept as it was, with the suffix .fabricd-backup. Exits 2 where the
    file cannot be read or is not to be written, 1 where the agent is not here or the file changed
    meanwhile; nothing is written then.
    """
    from fabricd.daemon.hooks.program import NoHook, find, words_for

    place = _place(agent, project)
    _require_present(place)
    try:
        words = words_for(find(env()), agent)
    except NoHook as error:
        raise Complaint(printable(str(error)), FAILED) from None
    return _edit(place, words, dry_run, as_json)


@command.command("uninstall", short_help="Take the hook out of it again.")
@_AGENT
@_PROJECT
@_DRY_RUN
@_JSON
def uninstall(agent: str, project: bool, dry_run: bool, as_json: bool) -> int:
    """Take the hook out of an agent's configuration again, wherever it was installed from."""
    return _edit(_place(agent, project), None, dry_run, as_json)


@command.command("list")
@click.argument("agent", metavar="[AGENT]", type=click.Choice(AGENT_NAMES), required=False)
@_PROJECT
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_(agent: str | None, project: bool, as_json: bool) -> int:
    """Show where the hook is installed. Exits 1 where a file cannot be read."""
    from fabricd.daemon.cli.hook_words import states_json, states_table
    from fabricd.daemon.hooks.agents import AGENTS
    from fabricd.daemon.hooks.survey import installed

    chosen = AGENTS.values() if agent is None else [AGENTS[agent]]
    states = installed(env(), _project() if project else None, chosen)
    out(states_json(states) if as_json else states_table(states))
    return FAILED if any(state.state == "unreadable" for state in states) else 0


def _place(agent: str, project: bool) -> Place:
    from fabricd.daemon.hooks.agents import AGENTS, place_of

    return place_of(AGENTS[agent], env(), _project() if project else None)


def _require_present(place: Place) -> None:
    """A home made for an agent that is not there would look like an agent that is."""
    from fabricd.daemon.hooks.survey import is_present

    agent = place.agent
    if place.scope == "user" and not is_present(agent, env()):
        raise Complaint(
            f"{agent.title} was not found: there is neither {shown(place.home)} nor a program "
            f"{agent.program} on PATH",
            FAILED,
        )


def _project() -> Path:
    """The working tree around the current directory, else that directory itself."""
    try:
        here = Path.cwd()
    except OSError:
        raise Complaint("the current directory is gone") from None
    home = Path(os.path.realpath(env().get("HOME") or os.path.expanduser("~")))
    for folder in (here, *here.parents):
        if folder == home:
            break
        if (folder / ".git").exists():
            return folder
    if here == home:
        raise Complaint("the home directory is no project: its files are the user's own")
    return here


def _edit(place: Place, words: tuple[str, ...] | None, dry_run: bool, as_json: bool) -> int:
    from fabricd.daemon.hooks.applying import Unusable, plan

    try:
        planned = plan(place, words)
    except Unusable as error:
        raise Complaint(f"{shown(place.path)} is left as it is: {error}") from None
    backup = None if dry_run or not planned.changes else _done(planned)
    _tell(planned, words, backup, dry_run, as_json)
    return 0


def _done(planned: Plan) -> Path | None:
    from fabricd.daemon.hooks.applying import carry_out
    from fabricd.store.configurations import ChangedMeanwhile

    try:
        return carry_out(planned)
    except ChangedMeanwhile as error:
        raise Complaint(str(error), FAILED) from None
    except OSError as error:
        path, reason = shown(planned.place.path), error.strerror or str(error)
        raise Complaint(f"{path} cannot be written: {reason}", FAILED) from None


def _tell(
    planned: Plan,
    words: tuple[str, ...] | None,
    backup: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    from fabricd.daemon.cli.hook_words import difference, edit_json, sentences
    from fabricd.daemon.hooks.survey import state_of

    note = None if words is None or dry_run else state_of(planned.place, env()).note
    if as_json:
        out(edit_json(planned, words, backup, dry_run, note))
        return
    if dry_run:
        out(difference(planned))
    for sentence in sentences(planned, backup, dry_run, note):
        say(sentence)
