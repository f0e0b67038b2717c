"""`fabricd restart`."""

from __future__ import annotations

import json

import click

from fabricd.daemon.cli import start as starting
from fabricd.daemon.cli import stop as stopping
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out


@click.command("restart")
@click.option("--force", is_flag=True, help="Kill it where it neither answers nor ends.")
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON.")
def command(force: bool, as_json: bool) -> int:
    """Stop whatever daemon runs, of whatever version, and start one of this.

    Exits as start does; 1 where the old one goes on.
    """
    from fabricd import __version__
    from fabricd.daemon.exits import CannotStart
    from fabricd.daemon.service.lifecycle import restart
    from fabricd.daemon.service.stopping import CannotStop

    try:
        stopped, started = restart(env(), __version__, starting.log_path, force)
    except CannotStop as error:
        return starting.failed(error, FAILED, as_json)
    except (CannotStart, Complaint) as error:
        return starting.failed(error, error.code, as_json)
    if as_json:
        value = {**starting.value_of(started), "stopped": stopping.value_of(stopped)}
        out(json.dumps(value) + "\n")
        return 0
    if stopped.state == "stopped":
        out(stopping.words_of(stopped))
    out(starting.words_of(started, __version__))
    return 0
