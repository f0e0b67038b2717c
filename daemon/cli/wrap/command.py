"""`fabricd wrap install` and `uninstall`: servers of an agent that run through the gateway."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.projects import project_root
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say
from fabricd.store.durable import shown

if TYPE_CHECKING:
    from fabricd.daemon.wrapping.planning import Plan

# Written down here too, so that a usage message costs no import of what it is about.
AGENT_NAMES = ("claude-code", "codex", "gemini-cli", "opencode", "cursor", "vscode", "copilot-cli")
# As the hook of the same agent is called.
_ALIASES = {"gemini": "gemini-cli"}


def _canonical(_: click.Context, __: click.Parameter, value: str) -> str:
    return _ALIASES.get(value, value)


_NAME = click.Choice((*AGENT_NAMES, *_ALIASES))
_AGENT = click.argument("agent", metavar="AGENT", type=_NAME, callback=_canonical)
_SERVER = click.argument("server", metavar="SERVER")
_PROJECT = click.option("--project", is_flag=True, help="The project's file, not the user's.")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the difference, write nothing.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")


@click.group("wrap")
def command() -> None:
    """Repair calls between an agent and an MCP server.

    fabricd wrap [OPTIONS] -- COMMAND starts the server behind the gateway, fabricd wrap --url URL
    speaks to one over HTTP, with these options:

    \b
    --name NAME                       What reports call it.
    --mode repair|observe             Repair what is proven, or only look on.
    --conventions extended|classic    Which repairs there are.
    --audits projected|full           What is logged of the arguments.
    --header 'NAME=$VARIABLE'         Sent to a URL; may be given several times.

    The commands below write that into an agent's MCP configuration, and take it out again.
    """


@command.command("install", short_help="Let one server of an agent run through the gateway.")
@_AGENT
@_SERVER
@_PROJECT
@_DRY_RUN
@_JSON
def install(agent: str, server: str, project: bool, dry_run: bool, as_json: bool) -> int:
    """Let SERVER, an MCP server in the configuration of AGENT, run through the gateway.

    AGENT is claude-code, codex, gemini-cli, opencode, cursor, vscode or copilot-cli.

    Only the command of this server changes; the file as it was is kept with the suffix
    .fabricd-wrap-backup. Exits 2 where there is no such server or it cannot be wrapped, 1 where
    the file changed meanwhile or cannot be written; nothing is written then.
    """
    from fabricd.daemon.wrapping.words import NoProgram, find

    try:
        program = find(env())
    except NoProgram as error:
        raise Complaint(printable(str(error)), FAILED) from None
    return _edit(agent, server, program, project, dry_run, as_json)


@command.command("uninstall", short_help="Let it run by itself again.")
@_AGENT
@_SERVER
@_PROJECT
@_DRY_RUN
@_JSON
def uninstall(agent: str, server: str, project: bool, dry_run: bool, as_json: bool) -> int:
    """Let SERVER run by itself again, as its entry was before it was wrapped."""
    return _edit(agent, server, None, project, dry_run, as_json)


def _edit(
    agent: str, server: str, program: str | None, project: bool, dry_run: bool, as_json: bool
) -> int:
    from fabricd.daemon.wrapping.agents import TITLES, places_of
    from fabricd.daemon.wrapping.planning import NoServer, Unusable, plan

    places = places_of(agent, env(), _here(), project_root() if project else None)
    try:
        planned = plan(places, server, program)
    except NoServer as error:
        raise Complaint(
            f'{TITLES[agent]} has no MCP server "{printable(server)}" there: '
            f"{printable(str(error))}"
        ) from None
    except Unusable as error:
        raise Complaint(f"nothing is changed: {printable(str(error))}") from None
    backup = None if dry_run or not planned.changes else _done(planned)
    _tell(planned, backup, dry_run, as_json)
    return 0


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise Complaint("the current directory is gone") from None


def _done(planned: Plan) -> Path | None:
    from fabricd.daemon.wrapping.planning import carry_out
    from fabricd.store.configurations import ChangedMeanwhile

    try:
        return carry_out(planned)
    except ChangedMeanwhile as error:
        raise Complaint(str(error), FAILED) from None
    except OSError as error:
        path, reason = shown(planned.place.path), error.strerror or str(error)
        raise Complaint(f"{path} cannot be written: {reason}", FAILED) from None


def _tell(planned: Plan, backup: Path | None, dry_run: bool, as_json: bool) -> None:
    from fabricd.daemon.cli.hook_words import unified
    from fabricd.daemon.cli.wrap.words import edit_json, sentences

    # No line around the difference: keys and tokens stand there.
    diff = unified(planned.place.path, planned.before, planned.after, 0) if dry_run else None
    if as_json:
        out(edit_json(planned, backup, diff))
        return
    if diff is not None:
        out(diff)
    for sentence in sentences(planned, backup, dry_run):
        say(sentence)
