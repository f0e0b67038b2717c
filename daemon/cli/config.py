"""`fabricd config`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from fabricd.daemon.cli.settings import BAD_CONFIG, flags_of, setting_options, settled
from fabricd.daemon.cli.talk import Complaint, env, out, say
from fabricd.daemon.settings.keys import mistaken
from fabricd.store.durable import shown


@click.group("config")
def command() -> None:
    """Show, check and explain the configuration.

    An option of `run` overrides an environment variable, a variable overrides the file, the file
    overrides the default.
    """


@command.command("path")
def path() -> int:
    """Print the path of the configuration file.

    It is printed whether the file exists or not.
    """
    from fabricd.daemon.config import config_path

    out(shown(config_path(env())) + "\n")
    return 0


@command.command("show")
@click.option("--origin", is_flag=True, help="Say of each value where it comes from.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@setting_options
def show(origin: bool, as_json: bool, **options: Any) -> int:
    """Print the configuration in force, as TOML that could be saved.

    The options that set something are those of `run`: shown is what a daemon started with them
    would use. Exits 78 where file, environment or options cannot be used.
    """
    from fabricd.daemon.cli import config_words

    found = settled(flags_of(options))
    out(config_words.as_json(found, origin) if as_json else config_words.toml(found, origin))
    return 0


@command.command("schema")
def schema() -> int:
    """Print the JSON Schema of the configuration file, for editors."""
    from fabricd.daemon import config

    out(json.dumps(config.schema(), indent=2) + "\n")
    return 0


@command.command("check")
@click.argument("file", required=False, type=click.Path(path_type=Path, readable=False))
def check(file: Path | None) -> int:
    """Check FILE, or without one what `run` would use.

    That is the configuration file and the environment. Tells everything that is wrong, one line
    each. Exits 0 where all is well, else 78.
    """
    from fabricd.daemon.config import BadConfig, config_path, in_force, load, log_file

    target = config_path(env()) if file is None else file
    if file is not None and not file.exists():
        raise Complaint(f"{shown(file)} does not exist", BAD_CONFIG)
    try:
        if file is None:
            for sentence in mistaken(env()):
                say(sentence)
        log_file(in_force(env(), {}).config if file is None else load(file), env())
    except BadConfig as error:
        for problem in error.problems:
            say(problem)
        return BAD_CONFIG
    say(f"{shown(target)} is sound" if target.exists() else _absent(target))
    return 0


def _absent(path: Path) -> str:
    return f"{shown(path)} does not exist: the defaults and the environment are in force"
