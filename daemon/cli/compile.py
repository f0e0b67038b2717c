"""`fabricd compile`: the very bytes that would be saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricd.daemon.cli.completing import directories
from fabricd.daemon.cli.inputs import artifact_at, measured, surface_at
from fabricd.daemon.cli.talk import out, say

if TYPE_CHECKING:
    from fabricd.core.model import Surface

_PATH = click.Path(path_type=Path, readable=False)


@click.command("compile")
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
    help="The declared surface to compile for.",
)
@click.option(
    "--artifact",
    "previous_file",
    type=_PATH,
    metavar="FILE",
    help="The artifact there was before.",
)
@click.option(
    "--window", type=click.IntRange(min=1), metavar="N", help="Only the newest N sessions."
)
@click.option(
    "--conventions",
    type=click.Choice(["classic", "extended"]),
    default="classic",
    show_default=True,
    help="Print the artifact, or the extended normal forms beside it.",
)
def command(
    sessions: Path,
    surface_file: Path,
    previous_file: Path | None,
    window: int | None,
    conventions: str,
) -> int:
    """Compile sessions and surface, and print the artifact.

    These are the very bytes that the daemon would save. Where the gate refuses, the artifact there
    was before is printed instead, if one is given, and the exit code is 1.
    """
    from fabricd.core.compiling.artifact import artifact_bytes, compile_digest_steps, fresh
    from fabricd.core.compiling.compile import compile_plans, plans_steps
    from fabricd.core.steps import finish
    from fabricd.daemon.offline.measuring import report_of
    from fabricd.daemon.offline.replaying import replay

    surface = surface_at(surface_file)
    previous = None if previous_file is None else artifact_at(previous_file)
    found = measured(sessions, window)
    score = report_of(found, surface).score
    plans = finish(plans_steps(surface))
    verdict = replay(found, surface, plans)
    if not verdict.passed:
        say("refused: " + "; ".join(verdict.reasons()))
        if previous is not None:
            out(artifact_bytes(previous).decode())
        return 1
    if plans.beyond_limit:
        say(f"{plans.beyond_limit} actions beyond the first 1,000 by ref get no plan")
    status = compile_plans(plans.plans, surface.digest, score, previous).status
    evidence_digest = finish(compile_digest_steps(surface.digest, plans.plans))
    artifact = fresh(plans.plans, evidence_digest, score)
    say(
        f"{status}: {len(plans.plans)} plans, {plans.rules} rules; "
        f"{verdict.replayed} audit calls replayed, {verdict.repaired} would be repaired"
    )
    out(normal_forms_of(surface) if conventions == "extended" else artifact_bytes(artifact))
    return 0


def normal_forms_of(surface: Surface) -> bytes:
    """The bytes of `normal-forms.json` for a surface."""
    from fabricd.core.normalform.extended.artifact import (
        fresh_normal_forms,
        normal_forms_bytes,
        normal_forms_steps,
    )
    from fabricd.core.steps import finish

    found = finish(normal_forms_steps(surface))
    say(f"{len(found.plans)} extended plans, {sum(len(p.rules) for p in found.plans)} rules")
    return normal_forms_bytes(fresh_normal_forms(found.plans, surface.digest))
