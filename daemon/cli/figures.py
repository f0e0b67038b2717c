"""Tables of figures on a terminal: what has no room is left out, and names lose their middle."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from fabricd.core.history.merged import Row
from fabricd.core.history.phrases import middle
from fabricd.core.history.tables import Column, Table

_NAME = 24
_WORDS = 16
_BAR = 32
_GAP = "  "


class Figures:
    """A table; columns without room are left out from the right, then names are cut.

    Args:
        bars: a row of calls and errors for each row of the table, drawn at its end.
    """

    def __init__(self, table: Table, bars: Sequence[Row] = ()) -> None:
        self._table = table
        self._bars = bars

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names, *columns = self._table.columns
        longest = max(map(cell_len, (names.title, *names.cells)))
        least = min(longest, _NAME, options.max_width // 3)
        while columns and options.max_width - _total(columns) < least:
            columns.pop()
        room = options.max_width - _total(columns)
        name = max(1, min(longest, room))
        bar = min(_BAR, room - name - len(_GAP))
        top = max(1, *(row.calls for row in self._bars)) if self._bars else 1
        for index in range(-1, len(names.cells)):
            line = Text(_aligned(names, index, name), "dim" if index < 0 else "", no_wrap=True)
            for column in columns:
                line.append(_GAP + _aligned(column, index, _width(column)))
            if self._bars and index >= 0 and bar > 0:
                _draw(line, self._bars[index], bar / top)
            line.rstrip()
            yield line
        legend = "▒ failed" if self._bars and bar > 0 else ""
        if words := "; ".join(filter(None, (legend, self._table.more))):
            yield Text(words, "dim")


def _draw(line: Text, row: Row, scale: float) -> None:
    cells = max(1, round(row.calls * scale)) if row.calls else 0
    failed = min(cells, round(row.errors * scale))
    line.append(_GAP)
    line.append("█" * (cells - failed), "cyan")
    line.append("▒" * failed, "red")


def _width(column: Column) -> int:
    widest = max(map(cell_len, (column.title, *column.cells)))
    return min(widest, _WORDS) if column.is_words else widest


def _total(columns: Sequence[Column]) -> int:
    return sum(len(_GAP) + _width(column) for column in columns)


def _aligned(column: Column, index: int, width: int) -> str:
    cell = cut(column.title if index < 0 else column.cells[index], width)
    space = " " * (width - cell_len(cell))
    return cell + space if column.is_words else space + cell


def cut(text: str, width: int) -> str:
    """A text of at most `width` terminal cells: what is too long loses its middle."""
    # Marks that combine take no cell: a name of thousands of them is cut by its characters.
    text = middle(text, 4 * width)
    if cell_len(text) <= width:
        return text
    if width < 3:
        return "…"[:width]
    head = chop_cells(text, width // 2)[0]
    tail = chop_cells(text[::-1], width - width // 2 - 1)[0][::-1]
    return f"{head}…{tail}"
