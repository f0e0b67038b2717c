"""`fabricd measure`."""

from __future__ import annotations

from pathlib import Path

import click

from fabricd.daemon.cli.inputs import measured, surface_at
from fabricd.daemon.cli.talk import out

_DIRECTORY = click.Path(path_type=Path, readable=False)


@click.command("measure")
@click.option("--sessions", type=_DIRECTORY, required=True, help="A directory of session logs.")
@click.option("--surface", "surface_file", type=_DIRECTORY, help="The surface they ran on.")
@click.option("--window", type=click.IntRange(min=1), help="Only the newest N sessions.")
@click.option("--json", "as_json", is_flag=True, help="Print the metric-3 report as JSON.")
def command(sessions: Path, surface_file: Path | None, window: int | None, as_json: bool) -> int:
    """Measure every session log in a directory and one level below it."""
    from fabricd.core.entropy.meter import report_text
    from fabricd.daemon.offline import report_of

    surface = None if surface_file is None else surface_at(surface_file)
    found = measured(sessions, window)
    if as_json:
        out(report_text(report_of(found, surface)) + "\n")
        return 0
    from fabricd.daemon.cli.render import render_report
    from fabricd.daemon.cli.report import overview

    out(render_report(overview(found, surface)))
    return 0
