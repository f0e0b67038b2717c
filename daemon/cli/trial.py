"""`fabricd trial`: what plans would have made of the calls that were recorded."""

from __future__ import annotations

from pathlib import Path

import click

from fabricd.daemon.cli.completing import directories
from fabricd.daemon.cli.inputs import artifact_at, recordings_in, surface_at, without_collections
from fabricd.daemon.cli.talk import FAILED, out

_PATH = click.Path(path_type=Path, readable=False)


@click.command("trial")
@click.option(
    "--sessions",
    type=_PATH,
    required=True,
    metavar="DIR",
    shell_complete=directories,
    help="A directory of session logs.",
)
@click.option(
    "--surface",
    "surface_file",
    type=_PATH,
    required=True,
    metavar="FILE",
    help="The declared surface to judge by.",
)
@click.option(
    "--artifact", "artifact_file", type=_PATH, metavar="FILE", help="The artifact on trial."
)
@click.option(
    "--window", type=click.IntRange(min=1), metavar="N", help="Only the newest N sessions."
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def command(
    sessions: Path,
    surface_file: Path,
    artifact_file: Path | None,
    window: int | None,
    as_json: bool,
) -> int:
    """Replay recorded calls through plans and let the declared schemas judge both.

    Tried are the proven plans of the artifact; without one, the plans that the surface derives.
    The exit code is 1 if anything speaks against a plan.
    """
    from fabricd.core.compiling.trial import trial_steps
    from fabricd.core.compiling.verdict import trial_text
    from fabricd.core.steps import finish

    surface = surface_at(surface_file)
    plans = None if artifact_file is None else artifact_at(artifact_file).plans
    with without_collections():
        trial = finish(trial_steps(recordings_in(sessions, window), surface, plans))
    if as_json:
        out(trial_text(trial) + "\n")
    else:
        from fabricd.daemon.cli.trial_words import trial_words

        out(trial_words(trial))
    return FAILED if trial.verdict == "costly" else 0
