"""`fabricd status`, as the command line knows it."""

from __future__ import annotations

import click

from fabricd.daemon.cli.asking import status


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
def command(as_json: bool) -> int:
    """Ask the running daemon how it is.

    Exits 0 when it is ready, 3 when none runs, 4 when it is of another version, or does not answer
    or listen.
    """
    return status(as_json)
