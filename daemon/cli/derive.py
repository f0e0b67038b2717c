"""`fabricd derive`."""

from __future__ import annotations

from pathlib import Path

import click

from fabricd.daemon.cli.inputs import surface_at
from fabricd.daemon.cli.talk import out, say


@click.command("derive")
@click.argument("surface", type=click.Path(path_type=Path, readable=False))
@click.option("--json", "as_json", is_flag=True, help="The default: plans are always JSON.")
def command(surface: Path, as_json: bool) -> int:
    """Derive the normal-form plans of a declared surface and print them as JSON.

    Actions without a plan are listed with the reason.
    """
    import msgspec

    from fabricd.core.canonical import pretty
    from fabricd.core.compiling.artifact import plan_values
    from fabricd.core.compiling.compile import plans_steps
    from fabricd.core.entropy.freedom import freedom_steps, surface_freedom
    from fabricd.core.steps import finish

    declared = surface_at(surface)
    found = finish(plans_steps(declared))
    value = {
        "surfaceDigest": declared.digest,
        "freedom": msgspec.to_builtins(surface_freedom(finish(freedom_steps(declared)))),
        "plans": plan_values(found.plans),
        "withoutPlan": [{"ref": row.ref, "reason": row.reason} for row in found.without],
        "cutRules": [{"ref": row.ref, "rules": row.cut} for row in found.cut],
        "beyondLimit": found.beyond_limit,
    }
    out(pretty(value) + "\n")
    if found.beyond_limit:
        say(f"{found.beyond_limit} actions beyond the first 1,000 by ref get no plan")
    return 0
