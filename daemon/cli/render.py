"""The report for people. Numbers first, counts beside every rate, no raw log text."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fabricd.core.overview import words_for
from fabricd.core.plain import counted, printable
from fabricd.daemon.cli.suggestions import sentence

_BARS = "▁▂▃▄▅▆▇█"
_WORST = 8
_MODELS = 6
_WITHOUT_PLAN = 5
_SUGGESTIONS = 10
_SAME_STORY = ("not-on-surface", "property-not-judged")


def sparkline(values: Sequence[float]) -> str:
    """One bar a value, scaled to the largest."""
    top = max(values, default=0.0)
    if top <= 0:
        return _BARS[0] * len(values)
    return "".join(_BARS[min(7, int(value / top * 7.999))] for value in values)


def render_report(value: dict[str, Any], to_terminal: bool | None = None) -> str:
    """The report as text; colour and width follow the terminal, 100 columns without one."""
    terminal = to_terminal
    if terminal is None:
        terminal = sys.stdout is not None and sys.stdout.isatty()
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=terminal,
        width=shutil.get_terminal_size((100, 24)).columns if terminal else 100,
        highlight=False,
        # Names come from logs: `[red]` and `:smile:` in them are text.
        markup=False,
        emoji=False,
    )
    console.print(report_body(value))
    # Padding to the full width is of use to nobody and breaks copied lines.
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def report_body(value: dict[str, Any]) -> RenderableType:
    """The report for any console."""
    return Group(*_sections(value))


def _sections(value: dict[str, Any]) -> list[RenderableType]:
    parts: list[RenderableType] = [_headline(value)]
    for title, body in (
        ("Trend", _trend(value)),
        ("Worst actions", _worst(value)),
        ("Models", _models(value)),
        ("Repairs", _coverage(value)),
        ("For the authors of these actions", _review(value)),
        ("Not counted", _skipped(value)),
    ):
        if body is not None:
            parts += [Text(), Text(title, style="bold"), Padding(body, (0, 0, 0, 2))]
    return parts


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "n/a"


def _headline(value: dict[str, Any]) -> RenderableType:
    totals = value["totals"]
    rejected, calls = totals["invocationRejections"], totals["actionOperations"]
    if not calls:
        return Text(f"No Fabric traces in {_scope(value)}: nothing to measure yet.")
    line = Text()
    of = f"{rejected:,} of {counted(calls, 'call', 'calls')}"
    was, they = ("was", "it") if rejected == 1 else ("were", "they")
    line.append(f"{of} {was} refused before {they} took effect", "bold")
    line.append(f" ({_percent(rejected, calls)}; lower is better)")
    rest = (
        f"{counted(totals['traces'], 'trace', 'traces')} · {totals['succeeded']:,} succeeded · "
        f"{totals['failed']:,} failed · {totals['aborted']:,} aborted · "
        f"{totals['timedOut']:,} timed out"
    )
    return Group(line, Text(rest, style="dim"))


def _trend(value: dict[str, Any]) -> RenderableType | None:
    sessions = list(reversed(value["sessions"]))
    if not sessions:
        return None
    scores = [session["score"] for session in sessions]
    slope = value["trend"]["slopePerStep"]
    direction = "falling" if slope < 0 else "rising" if slope > 0 else "level"
    clean = not scores[-1] and slope <= 0
    verdict = "no invocation rejections" if clean else "friction remains"
    line = Text(sparkline(scores), style="cyan")
    line.append(f"  {100 * scores[0]:.2f} % → {100 * scores[-1]:.2f} %; {verdict}", "default")
    count = "1 session" if len(scores) == 1 else f"{len(scores)} sessions, oldest to newest"
    by = f" by {100 * abs(slope):.2f} points a session" if slope else ""
    return Group(line, Text(f"{count}, {direction}{by}", style="dim"))


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, justify in columns:
        table.add_column(
            name,
            justify="right" if justify == "right" else "left",
            overflow="ellipsis" if justify == "left" else "fold",
            no_wrap=True,
        )
    return table


def _worst(value: dict[str, Any]) -> RenderableType | None:
    rejections = value["rejections"]
    rows = [row for row in value["refs"] if rejections.get(row["ref"])]
    if not rows:
        return None
    table = _table(
        ("action", "left"),
        ("refused", "right"),
        ("calls", "right"),
        ("rate", "right"),
        ("failed", "right"),
        ("shapes", "right"),
    )
    for row in rows[:_WORST]:
        count = rejections[row["ref"]]
        table.add_row(
            Text(printable(row["ref"])),
            f"{count:,}",
            f"{row['calls']:,}",
            _percent(count, row["calls"]),
            f"{row['failed']:,}",
            f"{len(row['shapeSignatures'])}{'+' if len(row['shapeSignatures']) == 8 else ''}",
        )
    more = len(rows) - _WORST
    return Group(table, Text(f"and {more} more with refusals", style="dim")) if more > 0 else table


def _models(value: dict[str, Any]) -> RenderableType | None:
    rows = sorted(value["byModel"], key=lambda row: -row["actionOperations"])
    if not rows:
        return None
    slopes = {row["model"]: row["slopePerSession"] for row in value["models"]}
    table = _table(
        ("model", "left"),
        ("refused", "right"),
        ("calls", "right"),
        ("rate", "right"),
        ("a session", "right"),
    )
    for row in rows[:_MODELS]:
        table.add_row(
            Text(printable(row["model"])),
            f"{row['invocationRejections']:,}",
            f"{row['actionOperations']:,}",
            _percent(row["invocationRejections"], row["actionOperations"]),
            f"{100 * slopes.get(row['model'], 0.0):+.2f} points",
        )
    return table


def _coverage(value: dict[str, Any]) -> RenderableType | None:
    coverage = value["coverage"]
    if coverage is None:
        named = value["scope"].get("directory") is not None
        missing = "no surface was named" if named else "no surface has been exported"
        return Text(f"{missing}: nothing can be derived", style="dim")
    lines = [_covered(coverage, value["totals"])]
    if not value["scope"].get("compiles", True):
        lines.append(Text("compiling is off (entropy.compile): no artifact is kept", style="dim"))
    if witnessed := value["normalizedCalls"]:
        verb = "carries" if witnessed == 1 else "carry"
        lines.append(Text(f"{counted(witnessed, 'call', 'calls')} {verb} a repair witness"))
    # What the authors' section tells of an action is not told twice.
    told = {signal.get("ref") for signal in value["review"] if signal["kind"] in _SAME_STORY}
    without = [row for row in coverage["withoutPlan"] if row["ref"] not in told]
    for row in without[:_WITHOUT_PLAN]:
        name = printable(row["ref"])
        reason = printable(row["reason"])
        count = counted(row["calls"], "call", "calls")
        lines.append(Text(f"no plan for {name} ({count}): {reason}", style="dim"))
    more = len(without) - _WITHOUT_PLAN
    if more > 0:
        others = counted(more, "more action", "more actions")
        lines.append(Text(f"and {others} without a plan", style="dim"))
    if beyond := coverage["beyondLimit"]:
        verb = "gets" if beyond == 1 else "get"
        others = counted(beyond, "action", "actions")
        lines.append(Text(f"{others} beyond the first 1,000 {verb} no plan"))
    return Group(*lines)


def _covered(coverage: dict[str, Any], totals: dict[str, Any]) -> Text:
    plans = counted(coverage["plans"], "plan", "plans")
    rules = counted(coverage["rules"], "proven rule", "proven rules")
    calls = counted(totals["actionOperations"], "call", "calls")
    refusals = counted(totals["invocationRejections"], "refusal", "refusals")
    return Text(
        f"{plans} ({rules}) {'stands' if coverage['plans'] == 1 else 'stand'} for the actions "
        f"behind {coverage['coveredCalls']:,} of {calls} and "
        f"{coverage['coveredRejections']:,} of {refusals}"
    )


def _review(value: dict[str, Any]) -> RenderableType | None:
    signals = value["review"]
    if not signals:
        return None
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(width=1)
    table.add_column(overflow="fold")
    for signal in signals[:_SUGGESTIONS]:
        table.add_row("·", Text(sentence(signal)))
    more = len(signals) - _SUGGESTIONS
    if more > 0:
        table.add_row("", Text(f"and {more} more (--json lists all of them)", style="dim"))
    return table


def _scope(value: dict[str, Any]) -> str:
    scope = value["scope"]
    count = (
        "the latest session"
        if scope["sessions"] == 1
        else f"the latest {scope['sessions']} sessions"
    )
    if (directory := scope.get("directory")) is not None:
        return printable(directory)
    where = "of this machine" if scope["project"] is None else f"of {printable(scope['project'])}"
    return f"{count} {where}"


def _skipped(value: dict[str, Any]) -> RenderableType | None:
    skipped = value["skipped"].items()
    glued = value["gluedLines"]
    if not skipped and not glued:
        return None
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right")
    table.add_column()
    for reason, count in skipped:
        table.add_row(f"{count:,}", words_for(reason))
    if glued:
        noun = "line" if glued == 1 else "lines"
        table.add_row(f"{glued:,}", f"{noun} held several records: all of those were counted")
    return table
