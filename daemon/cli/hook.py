"""`fabricd hook`: our hooks in the configuration of the agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.projects import project_root
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say
from fabricd.store.durable import shown

if TYPE_CHECKING:
    from fabricd.daemon.hooks.agents import Place
    from fabricd.daemon.hooks.applying import Plan

# Written down here too, so that a usage message costs no import of what it is about.
AGENT_NAMES = ("claude-code", "codex", "gemini", "opencode", "pi")
# What logs and surfaces call it.
_ALIASES = {"gemini-cli": "gemini"}


def _canonical(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    return None if value is None else _ALIASES.get(value, value)


_NAME = click.Choice((*AGENT_NAMES, *_ALIASES))
_AGENT = click.argument("agent", metavar="AGENT", type=_NAME, callback=_canonical)
_PROJECT = click.option("--project", is_flag=True, help="The project's file, not the user's.")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the difference, write nothing.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
_REPAIR = click.option("--repair", is_flag=True, help="The hook that repairs calls of tools.")
_REFUSED = (
    "Codex takes repaired arguments only from a hook that allows the call as well, and so past "
    "its user: let its servers run through the gateway instead (fabricd wrap install codex SERVER)"
)


@click.group("hook")
def command() -> None:
    """Let an agent tell fabricd when a turn has ended, or have it repair calls.

    The hook that tells only observes: it prints nothing, always succeeds, and takes some
    milliseconds. The one that repairs asks the daemon, and says nothing on any doubt.
    """


@command.command("install", short_help="Write the hook into an agent's configuration.")
@_AGENT
@_REPAIR
@_PROJECT
@_DRY_RUN
@_JSON
def install(agent: str, repair: bool, project: bool, dry_run: bool, as_json: bool) -> int:
    """Write the hook into the configuration of AGENT, beside whatever else is there.

    AGENT is claude-code, codex, gemini, opencode or pi.

    With --repair it is the hook that repairs arguments before a tool is called: those of tools
    whose schemas fabricd surface has for this agent, where the repair is proven. It never lets a
    call pass that the agent would have asked about. Codex makes that impossible.

    A file that is changed is kept as it was, with the suffix .fabricd-backup. Exits 2 where the
    file cannot be read or is not to be written, 1 where the agent is not here or the file changed
    meanwhile; nothing is written then.
    """
    from fabricd.daemon.hooks.program import NoHook, find, words_for

    place = _repair_place(agent, project) if repair else _place(agent, project)
    _require_present(place)
    try:
        words = words_for(find(env()), agent, "repair" if repair else "turn-end")
    except NoHook as error:
        raise Complaint(printable(str(error)), FAILED) from None
    return _edit(place, words, dry_run, as_json)


@command.command("uninstall", short_help="Take the hook out of it again.")
@_AGENT
@_REPAIR
@_PROJECT
@_DRY_RUN
@_JSON
def uninstall(agent: str, repair: bool, project: bool, dry_run: bool, as_json: bool) -> int:
    """Take our hooks out of an agent's configuration again, wherever they were installed from.

    With --repair only the one that repairs.
    """
    if repair:
        return _edit(_repair_place(agent, project), None, dry_run, as_json)
    for place in _own_files(agent, project):
        _edit(place, None, dry_run, as_json)
    return _edit(_place(agent, project), None, dry_run, as_json)


@command.command("list")
@click.argument("agent", metavar="[AGENT]", type=_NAME, callback=_canonical, required=False)
@_PROJECT
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_(agent: str | None, project: bool, as_json: bool) -> int:
    """Show where the hook is installed. Exits 1 where a file cannot be read."""
    from fabricd.daemon.cli.hook_words import states_json, states_table
    from fabricd.daemon.hooks.agents import AGENTS
    from fabricd.daemon.hooks.survey import installed, repairing

    chosen = AGENTS.values() if agent is None else [AGENTS[agent]]
    where = project_root() if project else None
    states = [*installed(env(), where, chosen), *repairing(env(), where, chosen)]
    out(states_json(states) if as_json else states_table(states))
    return FAILED if any(state.state == "unreadable" for state in states) else 0


def _place(agent: str, project: bool) -> Place:
    from fabricd.daemon.hooks.agents import AGENTS, place_of

    return place_of(AGENTS[agent], env(), project_root() if project else None)


def _repair_place(agent: str, project: bool) -> Place:
    from fabricd.daemon.hooks.agents import AGENTS, repair_place_of

    place = repair_place_of(AGENTS[agent], env(), project_root() if project else None)
    if place is None:
        raise Complaint(_REFUSED)
    return place


def _own_files(agent: str, project: bool) -> list[Place]:
    """Where the hook that repairs stands in a file of its own, if it is there."""
    from fabricd.daemon.hooks.agents import AGENTS
    from fabricd.daemon.hooks.survey import state_of

    if AGENTS[agent].repair_file is None:
        return []
    place = _repair_place(agent, project)
    return [place] if state_of(place, env()).commands else []


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
