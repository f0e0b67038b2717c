"""`fabricd export`: the declared surface, as machines exchange it."""

from __future__ import annotations

from pathlib import Path

import click

from fabricd.core.plain import counted
from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.live import live_surface, require_harmless, write
from fabricd.daemon.cli.talk import env, out, say
from fabricd.store.durable import shown

_FILE = click.Path(path_type=Path, readable=False)


@click.command("export")
@click.argument("path", default="-", shell_complete=files)
@click.option(
    "--surface",
    "surface_file",
    type=_FILE,
    metavar="FILE",
    help="Another surface than the home's.",
)
def command(path: str, surface_file: Path | None) -> int:
    """Write the declared surface in its normal form to PATH, or to standard output.

    Actions stand by ref, the first of a name counts, and at most 1,000 are listed. Exits 1 where
    the home holds no surface yet, 2 where it is damaged.
    """
    from fabricd.core.snapshot import MAX_ACTIONS, snapshot_steps
    from fabricd.core.steps import finish
    from fabricd.core.surface import surface_steps
    from fabricd.store.homes import find

    if path != "-":
        require_harmless(Path(path), find(env()).surface)
    snapshot = finish(snapshot_steps(live_surface(surface_file)))
    if snapshot.beyond_limit:
        beyond = counted(snapshot.beyond_limit, "action", "actions")
        verb = "is" if snapshot.beyond_limit == 1 else "are"
        say(f"{beyond} beyond the first {MAX_ACTIONS:,} by ref {verb} left out")
    if path == "-":
        out(snapshot.data)
        return 0
    write(Path(path), snapshot.data)
    digest = finish(surface_steps(snapshot.data)).digest
    actions = counted(snapshot.actions, "action", "actions")
    say(f"exported {actions} to {shown(path)}, digest {digest}")
    return 0
