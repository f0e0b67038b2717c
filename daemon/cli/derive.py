"""`fabricd derive`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.inputs import surface_at
from fabricd.daemon.cli.talk import out, say

if TYPE_CHECKING:
    from fabricd.core.model import Surface


@click.command("derive")
@click.argument("surface", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--conventions",
    type=click.Choice(["classic", "extended"]),
    default="classic",
    show_default=True,
    help="Which conventions to derive by.",
)
@click.option("--json", "as_json", is_flag=True, help="The default: plans are always JSON.")
def command(surface: Path, conventions: str, as_json: bool) -> int:
    """Derive the normal-form plans of a declared surface and print them as JSON.

    Actions without a plan are listed with the reason.
    """
    import msgspec

    from fabricd.core.canonical import pretty
    from fabricd.core.entropy.freedom import freedom_steps, surface_freedom
    from fabricd.core.steps import finish

    declared = surface_at(surface)
    value = {
        "surfaceDigest": declared.digest,
        "freedom": msgspec.to_builtins(surface_freedom(finish(freedom_steps(declared)))),
        **(_extended(declared) if conventions == "extended" else _classic(declared)),
    }
    out(pretty(value) + "\n")
    return 0


def _classic(declared: Surface) -> dict[str, Any]:
    from fabricd.core.compiling.artifact import plan_values
    from fabricd.core.compiling.compile import plans_steps
    from fabricd.core.steps import finish

    found = finish(plans_steps(declared))
    if found.beyond_limit:
        say(f"{found.beyond_limit} actions beyond the first 1,000 by ref get no plan")
    return {
        "plans": plan_values(found.plans),
        "withoutPlan": [{"ref": row.ref, "reason": row.reason} for row in found.without],
        "cutRules": [{"ref": row.ref, "rules": row.cut} for row in found.cut],
        "beyondLimit": found.beyond_limit,
    }


def _extended(declared: Surface) -> dict[str, Any]:
    from fabricd.core.normalform.extended.artifact import normal_forms_steps
    from fabricd.core.normalform.extended.plan import extended_plan_value
    from fabricd.core.steps import finish

    found = finish(normal_forms_steps(declared))
    if found.beyond_limit:
        say(f"{found.beyond_limit} actions beyond the first 5,000 by ref get no plan")
    return {
        "conventions": "extended",
        "plans": [extended_plan_value(plan) for plan in found.plans],
        "withoutPlan": [{"ref": row.ref, "reason": row.reason} for row in found.without],
        "beyondLimit": found.beyond_limit,
    }
