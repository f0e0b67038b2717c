"""`fabricd export-artifact`: the compiled artifact, as the home holds it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from fabricd.core.plain import counted
from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.live import require_harmless, write
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say
from fabricd.store.durable import Damaged, Loaded, Missing, shown


@click.command("export-artifact")
@click.argument("path", required=False, shell_complete=files)
def command(path: str | None) -> int:
    """Copy the compiled artifact, to share it.

    It goes to PATH, without one to artifact.json beside the original, for - to standard output.
    The copy is byte for byte what is stored. Exits 1 where nothing was compiled yet, 2 where the
    file is damaged.
    """
    from fabricd.store import artifacts
    from fabricd.store.homes import find

    homes = find(env())
    match artifacts.load(homes.compiled):
        case Loaded(value=artifact, raw=raw):
            pass
        case Missing():
            raise Complaint(
                f"nothing was compiled yet: {shown(homes.compiled)} does not exist; it is written "
                "by fabricd run once sessions and a surface are there",
                FAILED,
            )
        case Damaged() as damage:
            raise Complaint(f"{shown(damage.path)} is damaged: {damage.reason}; {damage.cure}")
    if artifact.version == 1:
        say("this artifact is of the legacy version 1: it has no effect where it is imported")
    if path == "-":
        out(raw)
        return 0
    target = homes.artifact if path is None else Path(path)
    if os.path.realpath(target) == os.path.realpath(homes.compiled):
        raise Complaint(f"{shown(target)} is the compiled artifact itself: choose another path")
    require_harmless(target, homes.artifact)
    write(target, raw)
    plans, digest = counted(len(artifact.plans), "plan", "plans"), artifact.evidence_digest
    say(f"exported {plans} to {shown(target)}, digest {digest}")
    return 0
