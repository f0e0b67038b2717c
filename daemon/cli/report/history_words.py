"""The report over every agent's log for people: sentences first, then tables of ten rows."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fabricd.core.history.merged import Merged, merged, worst
from fabricd.core.history.sentences import first_lines, headline, left_out, notes, where_logs_are
from fabricd.core.history.tables import (
    agents_table,
    kinds_table,
    rows_table,
    tools_table,
    weeks_table,
)
from fabricd.core.history.value import History, history_of
from fabricd.daemon.cli.figures import Figures
from fabricd.daemon.cli.render import report_body

_WEEKS = 12


def render_history(
    value: dict[str, Any], width: int | None = None, colour: bool | None = None
) -> str:
    """The report as text; colour and width follow the terminal, 100 columns without one.

    Raises:
        msgspec.ValidationError: the value is no such report.
    """
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
        # Names come from logs: `[red]` and `:smile:` in them are text.
        markup=False,
        emoji=False,
    )
    console.print(history_body(value))
    # Padding to the full width is of use to nobody and breaks copied lines.
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def history_body(value: dict[str, Any]) -> RenderableType:
    """The report for any console.

    Raises:
        msgspec.ValidationError: the value is no such report.
    """
    history = history_of(value)
    total = merged(history)
    parts: list[RenderableType] = [Text(headline(history, total), "bold")]
    if total.calls:
        parts.append(_pairs(first_lines(total), "bold"))
    else:
        parts.append(Text(where_logs_are(history)))
    for title, body in _sections(history, total):
        parts += [Text(), Text(title, "bold"), Padding(body, (0, 0, 0, 2))]
    return Group(*parts)


def _sections(history: History, total: Merged) -> Iterator[tuple[str, RenderableType]]:
    several = sum(1 for agent in history.agents if agent.calls) > 1
    if several:
        yield "By agent", Figures(agents_table(history))
    if tools := worst(total.tools):
        yield "Worst tools", Figures(tools_table(tools, several))
    if total.malformations:
        yield "What was wrong with the refused calls", Figures(kinds_table(total))
    if len(total.weeks) > 1:
        yield "Week by week", Figures(weeks_table(total, _WEEKS), total.weeks[-_WEEKS:])
    for title, what, rows in (
        ("Models", "model", total.models),
        ("Projects", "project", total.projects),
    ):
        if len(rows) > 1:
            yield title, Figures(rows_table(total, rows, what))
    if (metric3 := history.metric3) is not None and metric3["totals"]["actionOperations"]:
        yield "Actions inside Fabric, in its newest sessions", report_body(metric3)
    if lost := left_out(history):
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(justify="right")
        table.add_column(overflow="fold")
        for count, words in lost:
            table.add_row(f"{count:,}", Text(words))
        yield "Skipped or lost", table
    if said := notes(total):
        yield "How to read this", _pairs(said, "dim", "dim")


def _pairs(pairs: Sequence[tuple[str, str]], label: str, words: str = "") -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for term, sentence in pairs:
        table.add_row(Text(term, label), Text(sentence, words))
    return table
