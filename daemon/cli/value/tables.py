"""Figures of value on a terminal."""

from __future__ import annotations

import io
import shutil
import sys
import textwrap

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from fabricd.core.value.showing import Shown
from fabricd.daemon.cli.figures import Figures


def render(shown: Shown, width: int | None = None, colour: bool | None = None) -> str:
    """Tables as text; colour and width follow the terminal, 100 columns without one."""
    if colour is None:
        colour = sys.stdout is not None and sys.stdout.isatty()
    if width is None:
        width = shutil.get_terminal_size((100, 24)).columns if colour else 100
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=colour,
        width=width,
        highlight=False,
        # Names come from documents: `[red]` and `:smile:` in them are text.
        markup=False,
        emoji=False,
    )
    console.print(_body(shown, width))
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def _body(shown: Shown, width: int) -> RenderableType:
    parts: list[RenderableType] = [Text(shown.headline, "bold")]
    for title, table in shown.tables:
        parts += [Text(), Text(title, "bold"), Padding(Figures(table), (0, 0, 0, 2))]
    if shown.notes:
        parts += [Text(), *(Text(_item(note, width), "dim") for note in shown.notes)]
    return Group(*parts)


def _item(note: str, width: int) -> str:
    return textwrap.fill(note, max(width, 20), initial_indent="- ", subsequent_indent="  ")
