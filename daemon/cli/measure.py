"""`fabricd measure`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.completing import directories
from fabricd.daemon.cli.inputs import measured, surface_at
from fabricd.daemon.cli.talk import Complaint, out

if TYPE_CHECKING:
    from fabricd.core.model import RepairRow

_PATH = click.Path(path_type=Path, readable=False)


@click.command("measure")
@click.option(
    "--sessions",
    type=_PATH,
    required=True,
    metavar="DIR",
    shell_complete=directories,
    help="A directory of session logs.",
)
@click.option(
    "--surface", "surface_file", type=_PATH, metavar="FILE", help="The surface they ran on."
)
@click.option(
    "--window", type=click.IntRange(min=1), metavar="N", help="Only the newest N sessions."
)
@click.option(
    "--repairs",
    "repairs_file",
    type=_PATH,
    metavar="FILE",
    help="The catalog repairs they ran with.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the metric-3 report as JSON.")
def command(
    sessions: Path,
    surface_file: Path | None,
    window: int | None,
    repairs_file: Path | None,
    as_json: bool,
) -> int:
    """Measure every session log in a directory and one level below it.

    Counts how often a call was refused before it took effect, by action and by model.
    """
    from fabricd.core.entropy.meter import report, report_text
    from fabricd.daemon.offline.measuring import catalog_of

    surface = None if surface_file is None else surface_at(surface_file)
    rows = () if repairs_file is None else _rows_at(repairs_file)
    found = measured(sessions, window)
    if as_json:
        out(report_text(report(found.evidence, catalog_of(surface, rows))) + "\n")
        return 0
    from fabricd.core.overview import Scope
    from fabricd.daemon.cli.render import render_report
    from fabricd.daemon.offline.overview import overview
    from fabricd.store.durable import shown

    scope = Scope(len(found.sessions), None, shown(sessions))
    out(render_report(overview(found, surface, rows, scope=scope)))
    if repairs_file is not None:
        called = sum(row.ref in found.evidence.refs for row in rows)
        out(f"\nCatalog repairs\n  rows: {len(rows)}, for actions that were called: {called}\n")
    return 0


def _rows_at(path: Path) -> tuple[RepairRow, ...]:
    """The rows of a repairs table that was named.

    Raises:
        Complaint: it is missing or unusable.
    """
    from fabricd.core.repairs import meter_row
    from fabricd.store import repairs
    from fabricd.store.durable import Damaged, Loaded, Missing, shown

    match repairs.load(path, pipes=True):
        case Loaded(value=table):
            return tuple(map(meter_row, table.rows))
        case Missing():
            raise Complaint(f"{printable(shown(path))} does not exist")
        case Damaged(reason=reason):
            raise Complaint(f"{printable(shown(path))} is no repairs table: {reason}")
