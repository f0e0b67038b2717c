"""`fabricd trajectory from-session`: what an agent's own log says of the evidence it was shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say

if TYPE_CHECKING:
    from fabricd.core.history.calls import AgentName
    from fabricd.core.trajectory.sessions.joining import Run, Source
    from fabricd.daemon.cli.trajectory.session_finding import Last

_AGENTS = ("pi", "claude-code", "codex", "copilot-cli", "opencode", "gemini-cli")


@click.command("from-session")
@click.argument(
    "names", metavar="[FILE]...", nargs=-1, type=click.Path(readable=False), shell_complete=files
)
@click.option("--last", is_flag=True, help="Take the session that was written to last.")
@click.option(
    "--agent", type=click.Choice(_AGENTS), help="With --last: of this agent.", metavar="AGENT"
)
@click.option("--arm", required=True, metavar="ARM", help="The arm of the run; never guessed.")
@click.option("--task", metavar="TASK", help="The task of the run.  [default: the session id]")
@click.option(
    "--session", "wanted", metavar="ID", help="Which session, where the files are of several."
)
@click.option("--quiet", is_flag=True, help="Do not say what the log cannot tell.")
def command(
    names: tuple[str, ...],
    last: bool,
    agent: AgentName | None,
    arm: str,
    task: str | None,
    wanted: str | None,
    quiet: bool,
) -> int:
    """Build a trajectory from an agent's own log.

    FILE is a session log of any agent, an OpenCode database or storage folder; several are the
    parts of one session, such as those of its sub-agents. Standard error says what the log cannot
    tell.
    """
    from fabricd.core.trajectory.sessions.document import Named, pieces
    from fabricd.core.trajectory.sessions.limitations import limitations

    if bool(names) == last:
        raise click.UsageError("Give either files or --last.")
    if agent is not None and not last:
        raise click.UsageError("--agent goes with --last: a file tells whose log it is.")
    if not arm or task == "":
        raise click.UsageError("An arm and a task have a name.")
    run = _found(names, agent, wanted)
    for piece in pieces(run, Named(arm, task)):
        out(piece)
    for sentence in () if quiet else limitations(run):
        say(sentence)
    return 0


def _found(names: tuple[str, ...], agent: AgentName | None, wanted: str | None) -> Run:
    from fabricd.core.trajectory.sessions.joining import NoRun
    from fabricd.daemon.cli.inputs import without_collections

    paths = tuple(map(os.fsencode, names))
    if not paths:
        found = _last(agent)
        paths, wanted = found.paths, wanted or found.session
    with without_collections():
        try:
            return _joined([_source(path, wanted) for path in paths], wanted)
        except NoRun as error:
            raise Complaint(printable(f"{error}; --session names one")) from None


def _last(agent: AgentName | None) -> Last:
    from fabricd.daemon.cli.trajectory.session_finding import last_session

    found = last_session(env(), agent)
    if found is None:
        raise Complaint(f"there is no session of {agent or 'any agent'} here", FAILED)
    return found


def _source(path: bytes, wanted: str | None) -> Source:
    from fabricd.daemon.cli.trajectory.session_reading import read_source
    from fabricd.store.durable import shown
    from fabricd.store.logs import NotALog

    try:
        return read_source(path, wanted)
    except NotALog as error:
        raise Complaint(printable(f"{shown(path)} cannot be used: {error}")) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(printable(f"{shown(path)} cannot be read: {reason}")) from None


def _joined(sources: list[Source], wanted: str | None) -> Run:
    from fabricd.core.trajectory.sessions.joining import run_of
    from fabricd.daemon.cli.trajectory.session_finding import log_of

    agents = {source.log.table.agent for source in sources}
    if len(agents) > 1:
        raise Complaint(f"these are logs of several agents: {', '.join(sorted(agents))}")
    run = run_of(sources, wanted)
    parent = log_of(run.parent, env())
    if parent is None:
        return run
    return run_of([*sources, _source(parent, None)], run.session)
