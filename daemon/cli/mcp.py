"""`fabricd mcp` as `--help` and shells know it; agents start it ahead of click."""

from __future__ import annotations

import click


@click.command("mcp")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="The tree in question; the current directory where it is left out.",
)
def command(root: str | None) -> int:
    """Serve an agent over MCP: six tools that select, show, recover and explain context.

    Agents start it and talk to it on standard input and output. It hands on to the daemon, and
    starts that where none runs.
    """
    from fabricd.ipc.context.relay import main

    return main(root)
