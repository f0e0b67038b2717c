"""`fabricd config`."""

from __future__ import annotations

import json

import click

from fabricd.daemon.cli.talk import Complaint, env, out
from fabricd.store.durable import shown


@click.group("config")
def command() -> None:
    """Show where the configuration is and what is in force."""


@command.command("path")
def path() -> int:
    """Print the path of the configuration file, whether it exists or not."""
    from fabricd.daemon.config import config_path

    out(shown(config_path(env())) + "\n")
    return 0


@command.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(as_json: bool) -> int:
    """Print the configuration in force, as TOML that could be saved."""
    from fabricd.daemon.config import BadConfig, config_path, load, rendered

    try:
        config = load(config_path(env()))
    except BadConfig as error:
        raise Complaint(str(error), 78) from None
    out(json.dumps(config.model_dump()) + "\n" if as_json else rendered(config))
    return 0
