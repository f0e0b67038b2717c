"""`fabricd start`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.talk import Complaint, env, out, say

if TYPE_CHECKING:
    from fabricd.daemon.service.lifecycle import Started


@click.command("start")
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON.")
def command(as_json: bool) -> int:
    """Start the daemon in the background and wait until it is ready.

    Where the service is installed, its manager starts it; else it runs on by itself, and logs to a
    file. Exits 0 also where one runs already; 4 where a stale or silent one does; otherwise with
    the code of the daemon that did not start (see run).
    """
    from fabricd import __version__
    from fabricd.daemon.exits import CannotStart
    from fabricd.daemon.service.lifecycle import start

    try:
        started = start(env(), __version__, log_path)
    except (CannotStart, Complaint) as error:
        return failed(error, error.code, as_json)
    out(json.dumps(value_of(started)) + "\n" if as_json else words_of(started, __version__))
    return 0


def log_path() -> Path:
    """Where a daemon in the background logs: as configured, else in the state directory.

    Raises:
        Complaint: the configuration cannot be used.
    """
    from fabricd.daemon.cli.settings import configured_log, settled
    from fabricd.store.homes import find

    return configured_log(settled({}).config) or find(env()).log


def failed(error: Exception, code: int, as_json: bool) -> int:
    """Tell that nothing was started or stopped; gives the exit code."""
    if as_json:
        out(json.dumps({"state": "failed", "exitCode": code, "reason": str(error)}) + "\n")
    say(str(error))
    return code


def value_of(started: Started) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "state": started.state,
        "pid": started.pid,
        "socket": started.socket,
        "ready": started.ready,
        "through": started.through,
        "log": started.log,
    }


def words_of(started: Started, version: str) -> str:
    """The same for people."""
    what = "started" if started.state == "started" else "already running"
    through = f" by {started.through}" if started.through else ""
    lines = [
        f"{what}{through}: fabricd {version}, pid {started.pid}",
        f"socket    {printable(started.socket)}",
    ]
    if started.log is not None:
        lines.append(f"log       {printable(started.log)}")
    if not started.ready:
        lines.append("reading   the sessions of the window are still being read")
    return "\n".join(lines) + "\n"
