"""`fabricd doctor`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.talk import FAILED, env, out

if TYPE_CHECKING:
    from fabricd.daemon.doctor.checks import Check

_STYLES = {"ok": "green", "warning": "yellow", "wrong": "red", "unknown": "magenta"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def command(as_json: bool) -> int:
    """Check what the daemon rests on, and name what cures it.

    Changes nothing. Exits 1 where something is wrong; warnings alone do not count.
    """
    from fabricd import __version__
    from fabricd.daemon.doctor.examine import examine

    checks = examine(env(), __version__)
    out(_as_json(checks) if as_json else _in_words(checks))
    return FAILED if any(check.state == "wrong" for check in checks) else 0


def _counts(checks: list[Check]) -> dict[str, int]:
    return {state: sum(check.state == state for check in checks) for state in _STYLES}


def _as_json(checks: list[Check]) -> str:
    rows = [
        {"id": check.id, "state": check.state, "found": check.found, "cure": check.cure}
        for check in checks
    ]
    return json.dumps({"checks": rows, "counts": _counts(checks)}) + "\n"


def _in_words(checks: list[Check]) -> str:
    import io
    import sys

    from rich.console import Console
    from rich.text import Text

    buffer = io.StringIO()
    terminal = sys.stdout is not None and sys.stdout.isatty()
    # Never wrapped: what a cure says is meant to be copied.
    console = Console(file=buffer, force_terminal=terminal, highlight=False, soft_wrap=True)
    room = max(len(check.id) for check in checks)
    for check in checks:
        line = Text()
        line.append(f"{check.state:<8}", _STYLES[check.state])
        line.append(f" {check.id:<{room}}  {printable(check.found)}")
        console.print(line)
        if check.cure is not None:
            console.print(Text(f"{'':<{9 + room}}  cure: {printable(check.cure)}", "bold"))
    counts = _counts(checks)
    console.print(
        f"\n{len(checks)} checks: {counts['ok']} ok, {counts['warning']} warnings, "
        f"{counts['wrong']} wrong, {counts['unknown']} could not be made"
    )
    return buffer.getvalue()
