"""The progress of `fabricd context index`, where somebody looks on."""

from __future__ import annotations

import sys
from typing import Any

from fabricd.daemon.cli.context.command import complaining
from fabricd.daemon.cli.talk import env, say
from fabricd.daemon.context.asking import Asking


def indexed(root: str) -> dict[str, Any]:
    """Have a tree indexed; draws a bar on standard error where that is a terminal."""
    asking = Asking(env(), say)
    params = {"root": root}
    if sys.stderr is None or not sys.stderr.isatty():
        return complaining(lambda: asking.ask("index", params))
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task("indexing", total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, refresh=True)

        return complaining(lambda: asking.index(params, advance))
