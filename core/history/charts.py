"""Two charts as inline SVG. Widths are per cent and letters keep their size on every screen."""

from __future__ import annotations

from collections.abc import Sequence

from fabricd.core.history.markup import shown
from fabricd.core.history.merged import GAP, Row

_HEIGHT = 150.0
_HEAD = 22
_FOOT = 24
_ROW = 40
_WIDEST = 12.0
_NAME = 28
_LABELS = 7
LEGEND = (
    '<p class="legend" aria-hidden="true"><span class="fine"></span>calls '
    '<span class="failed"></span>failed <span class="refused"></span>refused</p>\n'
)


def _parts(row: Row) -> tuple[tuple[str, int], ...]:
    """What a bar is stacked of: a refused call is also a failed one."""
    refused = min(row.rejected, row.errors, row.calls)
    failed = min(row.errors, row.calls) - refused
    return ("fine", row.calls - failed - refused), ("failed", failed), ("refused", refused)


def _words(row: Row) -> str:
    return f"{row.calls:,} calls, {row.errors:,} failed, {row.rejected:,} refused"


def weeks_chart(weeks: Sequence[Row]) -> str:
    """A stacked bar for each week, oldest first."""
    top = max(1, *(week.calls for week in weeks))
    step = 100 / len(weeks)
    width = min(_WIDEST, step * 0.8)
    bars = "".join(
        _week(week, (index + 0.5) * step, width, top, _is_labelled(weeks, index))
        for index, week in enumerate(weeks)
    )
    first = next((week for week in weeks if not week.name.startswith(GAP)), weeks[0])
    label = f"Calls in each week from {first.name} to {weeks[-1].name}, at most {top:,}"
    floor = _HEAD + _HEIGHT
    return (
        f'<svg class="weeks" role="img" aria-label="{shown(label)}" width="100%" '
        f'height="{floor + _FOOT:g}">\n'
        f'<text x="0" y="12" class="quiet">{top:,} calls</text>\n'
        f'<line x1="0" x2="100%" y1="{_HEAD}" y2="{_HEAD}"/>\n{bars}'
        f'<line x1="0" x2="100%" y1="{floor:g}" y2="{floor:g}"/>\n</svg>\n'
    )


def _is_labelled(weeks: Sequence[Row], index: int) -> bool:
    every = -(-len(weeks) // _LABELS)
    return weeks[index].name.startswith(GAP) or (len(weeks) - 1 - index) % every == 0


def _week(week: Row, centre: float, width: float, top: int, is_labelled: bool) -> str:
    base = _HEAD + _HEIGHT
    rects = ""
    for style, count in _parts(week):
        if count:
            # What happened once in a thousand calls is still to be seen.
            height = max(1.5, _HEIGHT * count / top)
            base -= height
            rects += (
                f'<rect class="{style}" x="{centre - width / 2:.3f}%" y="{base:.2f}" '
                f'width="{width:.3f}%" height="{height:.2f}"/>'
            )
    name = shown(_day(week.name), 10)
    label = (
        f'<text x="{centre:.3f}%" y="{_HEAD + _HEIGHT + 16:g}" class="middle">{name}</text>'
        if is_labelled
        else ""
    )
    return f"<g><title>{shown(week.name)}: {_words(week)}</title>{rects}{label}</g>\n"


def _day(week: str) -> str:
    if week.startswith(GAP):
        return GAP
    return week[5:] if week[:4].isdigit() else week


def bars_chart(label: str, rows: Sequence[tuple[str, Row]]) -> str:
    """A bar for each named row, with its name and figures above it."""
    top = max(1, *(row.calls for _, row in rows))
    bars = "".join(_bar(name, row, index * _ROW, top) for index, (name, row) in enumerate(rows))
    return (
        f'<svg class="bars" role="img" aria-label="{shown(label)}" width="100%" '
        f'height="{len(rows) * _ROW}">\n{bars}</svg>\n'
    )


def _bar(name: str, row: Row, y: int, top: int) -> str:
    rects, x = "", 0.0
    for style, count in _parts(row):
        if count:
            width = 100 * count / top
            rects += (
                f'<rect class="{style}" x="{x:.3f}%" y="{y + 20}" '
                f'width="{width:.3f}%" height="10"/>'
            )
            x += width
    return (
        f"<g><title>{shown(name)}: {_words(row)}</title>"
        f'<text x="0" y="{y + 14}" class="name">{shown(name, _NAME)}</text>'
        f'<text x="100%" y="{y + 14}" class="end">{row.calls:,} · {row.errors:,} failed</text>'
        f"{rects}</g>\n"
    )
