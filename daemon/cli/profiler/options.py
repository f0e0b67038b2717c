"""Options that the commands about trajectories and about value have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

pretty_option = click.option("--pretty", is_flag=True, help="Print the JSON indented.")
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing on standard error.")
max_bytes_option = click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=256 * 1024 * 1024,
    metavar="N",
    help="Refuse a larger file.  [default: 256 MiB]",
)


def without_effect(*names: str) -> Callable[[F], F]:
    """Take flags of the other command line, where they mean nothing, for nothing."""

    def taken(command: F) -> F:
        for name in names:
            command = click.option(name, is_flag=True, hidden=True, expose_value=False)(command)
        return command

    return taken
