"""`fabricd stop`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.start import failed
from fabricd.daemon.cli.talk import FAILED, env, out, say

if TYPE_CHECKING:
    from fabricd.daemon.service.stopping import Stopped

NOT_RUNNING = 3


@click.command("stop")
@click.option("--force", is_flag=True, help="Kill it where it neither answers nor ends.")
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON.")
def command(force: bool, as_json: bool) -> int:
    """Stop the daemon, of whatever version, and wait until it is gone.

    It is asked first, and signalled where it does not end within 15 s. Exits 3 where none runs, 1
    where it goes on.
    """
    from fabricd.daemon.service.stopping import CannotStop, stop

    try:
        stopped = stop(env(), force)
    except CannotStop as error:
        return failed(error, FAILED, as_json)
    if as_json:
        out(json.dumps(value_of(stopped)) + "\n")
    if stopped.state == "already_stopped":
        say("no daemon runs for this home" + (f"; {stopped.note}" if stopped.note else ""))
        return NOT_RUNNING
    if not as_json:
        out(words_of(stopped))
    return 0


def value_of(stopped: Stopped) -> dict[str, Any]:
    """What `--json` prints."""
    return {"state": stopped.state, "pid": stopped.pid, "how": stopped.how}


def words_of(stopped: Stopped) -> str:
    """The same for people, where one ran."""
    how = {"terminated": " (by SIGTERM: it did not answer)", "killed": " (by SIGKILL)"}
    pid = "" if stopped.pid is None else f", pid {stopped.pid}"
    return f"stopped: fabricd{pid}{how.get(stopped.how or '', '')}\n"
