"""`fabricd report`."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.core.history.calls import AGENTS
from fabricd.daemon.cli.completing import directories
from fabricd.daemon.cli.moments import since as moment_given
from fabricd.daemon.cli.talk import Complaint, out, say

if TYPE_CHECKING:
    from fabricd.core.history.summary import Wanted

_DAYS = 30
_PAGE = b"<!doctype html>"
_PATH = click.Path(path_type=Path, readable=False)


@click.command("report")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice(AGENTS),
    help="Only this agent's calls. May be given several times.",
)
@click.option(
    "--project",
    is_flag=False,
    flag_value=".",
    metavar="[DIR]",
    shell_complete=directories,
    help="Only calls made in DIR or below, or in the current directory; a name without a slash "
    "means projects of that name.",
)
@click.option(
    "--model", metavar="M", help="Only calls of this model, with or without its provider."
)
@click.option(
    "--since",
    callback=moment_given,
    metavar="WHEN",
    help="Only calls since then: 7d, 12h, 2w, or a date.  [default: 30d]",
)
@click.option("--all", "whole", is_flag=True, help="All of the history.")
@click.option(
    "--path",
    "paths",
    multiple=True,
    type=_PATH,
    metavar="DIR",
    help="Read this folder, whatever agents' logs it holds, instead of the agents' own.",
)
@click.option(
    "--window",
    type=click.IntRange(min=1),
    metavar="N",
    help="The newest N Pi sessions instead of 8.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--html",
    type=_PATH,
    metavar="FILE",
    help="Also write the report as a page; - for standard output instead of the text.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    metavar="N",
    help="How many processes read a long history.  [default: one a core, at most 4]",
)
def command(
    agents: tuple[str, ...],
    project: str | None,
    model: str | None,
    since: datetime | None,
    whole: bool,
    paths: tuple[Path, ...],
    window: int | None,
    as_json: bool,
    html: Path | None,
    processes: int | None,
) -> int:
    """Show what your agents' logs say: calls, errors, refused calls and why, by tool and model.

    Reads the logs of all agents that are found (`fabricd sources` lists them), the last 30 days
    unless told otherwise. What was read is kept, so that the next report reads only what is new.
    The newest Pi sessions have a section of their own: the daemon's window, where one runs.
    """
    from fabricd.daemon.cli.report.history import history_value

    for option, given in (("--project", project), ("--model", model)):
        if given is not None and not given.strip():
            raise Complaint(f"{option} is empty: name one, or leave it out")
    if html is not None and str(html) != "-":
        _require_page(html)
    if html is not None and str(html) == "-" and as_json:
        raise Complaint("--json and --html - both want standard output")
    if whole and since is not None:
        raise Complaint("--all and --since exclude each other")
    if since is None and not whole:
        # Whole days, so that the report of a minute later is about the same calls.
        first = datetime.now().date() - timedelta(days=_DAYS)
        since = datetime.combine(first, datetime.min.time()).astimezone()
    wanted = _wanted(agents, project, model, since)
    value: dict[str, Any] = {
        "version": 1,
        "filters": {
            "agent": list(agents) or None,
            "project": wanted.project,
            "model": model,
            "since": None if since is None else since.isoformat(timespec="seconds"),
            "all": whole,
            "paths": [os.fspath(path) for path in paths] or None,
        },
        **history_value(wanted, paths, processes),
        "metric3": None,
    }
    if not paths and (not agents or "pi" in agents):
        from fabricd.daemon.cli.report.window import window_value

        value["metric3"] = window_value(project, window)
    if html is not None:
        _write_page(html, value)
        if str(html) == "-":
            return 0
    if as_json:
        from fabricd.core.canonical import as_given, text

        out(text(value, as_given) + "\n")
    else:
        from fabricd.daemon.cli.report.history_words import render_history

        out(render_history(value))
    return 0


def _wanted(
    agents: tuple[str, ...], project: str | None, model: str | None, since: datetime | None
) -> Wanted:
    from fabricd.core.history.summary import Wanted

    if project is not None and (os.sep in project or project in (".", "..", "~")):
        project = os.path.abspath(os.path.expanduser(project))
    at = None if since is None else int(since.timestamp() * 1000)
    return Wanted(agents, project, model, at)


def _require_page(path: Path) -> None:
    """A page may take the place of a page, and of nothing else: not of a log, say."""
    from fabricd.store.durable import shown

    try:
        if not path.is_file() or not path.stat().st_size:
            return
        with path.open("rb") as file:
            start = file.read(len(_PAGE))
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{shown(path)} cannot be written: {reason}", 1) from None
    if start.lower() != _PAGE:
        raise Complaint(f"{shown(path)} is there and is no page: choose another file for --html")


def _write_page(path: Path, value: dict[str, Any]) -> None:
    from fabricd.core.history.page import page
    from fabricd.daemon.cli.live import write
    from fabricd.store.durable import shown

    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    data = page(value, made).encode("utf-8", "backslashreplace")
    if str(path) == "-":
        out(data)
        return
    write(path, data)
    say(f"wrote {shown(path)}")
