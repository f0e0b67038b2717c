"""The report over every agent's log as one HTML file: no script, no address, nothing to load."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabricd.core.history.charts import LEGEND, bars_chart, weeks_chart
from fabricd.core.history.markup import pairs, quiet, section, shown, table
from fabricd.core.history.merged import Merged, Row, merged, worst
from fabricd.core.history.phrases import name_words, rate
from fabricd.core.history.sentences import first_lines, headline, left_out, notes, where_logs_are
from fabricd.core.history.style import STYLE
from fabricd.core.history.tables import (
    ROWS,
    actions_table,
    agents_table,
    kinds_table,
    more_than_shown,
    rows_table,
    tools_table,
    weeks_table,
)
from fabricd.core.history.value import History, history_of
from fabricd.core.plain import counted

_WEEKS = 26


def page(value: dict[str, Any], title_time: str) -> str:
    """The page; `title_time` says in words when the report was made.

    Raises:
        msgspec.ValidationError: the value is no such report.
    """
    history = history_of(value)
    total = merged(history)
    head = shown(headline(history, total), 1_000)
    parts = [_first(history, total), *(section(*each) for each in _sections(history, total))]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>fabricd report, {shown(title_time)}</title>\n<style>\n{STYLE}</style>\n</head>\n"
        f'<body>\n<main>\n<header>\n<p class="quiet">fabricd report, {shown(title_time)}</p>\n'
        f"<h1>{head}</h1>\n</header>\n{''.join(parts)}</main>\n</body>\n</html>\n"
    )


def _first(history: History, total: Merged) -> str:
    if not total.calls:
        return f"<p>{shown(where_logs_are(history), 1_000)}</p>\n"
    judged = total.replayed.calls
    refused = (f"{total.replayed.rejected:,}", "refused", f"of {judged:,} checked")
    tiles = [
        (f"{total.calls:,}", "call" if total.calls == 1 else "calls", ""),
        (f"{total.errors:,}", "failed", rate(total.errors, total.calls)),
        refused if judged else ("-", "refused", "not checked"),
        (f"{total.retries:,}", "retried", "after a failure"),
    ]
    items = "".join(
        f"<li><b>{figure}</b> {word} <small>{shown(more)}</small></li>\n"
        for figure, word, more in tiles
    )
    return f'<ul class="tiles">\n{items}</ul>\n{pairs(first_lines(total), "first")}'


def _sections(history: History, total: Merged) -> Iterator[tuple[str, str]]:
    several = sum(1 for agent in history.agents if agent.calls) > 1
    if total.calls:
        yield "Most called tools", _called(total)
    if several:
        yield "By agent", table(agents_table(history))
    if tools := worst(total.tools):
        yield "Worst tools", table(tools_table(tools, several))
    if total.malformations:
        yield "What was wrong with the refused calls", table(kinds_table(total))
    if len(total.weeks) > 1:
        yield "Week by week", _weeks(total)
    for title, what, rows in (
        ("Models", "model", total.models),
        ("Projects", "project", total.projects),
    ):
        if len(rows) > 1:
            yield title, table(rows_table(total, rows, what))
    if (metric3 := history.metric3) is not None and metric3["totals"]["actionOperations"]:
        yield "Actions inside Fabric, in its newest sessions", _fabric(metric3)
    if lost := left_out(history):
        yield "Skipped or lost", pairs([(f"{count:,}", words) for count, words in lost], "lost")
    if said := notes(total):
        yield "How to read this", pairs(said, "notes")


def _called(total: Merged) -> str:
    rows = total.by_name[:ROWS]
    label = f"Calls of the {len(rows)} most called tools" if len(rows) > 1 else "Calls of the tool"
    chart = bars_chart(label, [(name_words(row.name, "tool"), row) for row in rows])
    more = more_than_shown(len(total.by_name), "more tool", "more tools")
    return f"<figure>\n{chart}<figcaption>{LEGEND}</figcaption>\n</figure>\n{quiet(more)}"


def _weeks(total: Merged) -> str:
    chart, content = weeks_chart(total.weeks[-_WEEKS:]), table(weeks_table(total, _WEEKS))
    return (
        f"<figure>\n{chart}<figcaption>{LEGEND}</figcaption>\n</figure>\n"
        f"<details>\n<summary>Figures</summary>\n{content}</details>\n"
    )


def _fabric(value: dict[str, Any]) -> str:
    totals, rejections = value["totals"], value["rejections"]
    rejected, calls = totals["invocationRejections"], totals["actionOperations"]
    words = f"{rejected:,} of {counted(calls, 'call', 'calls')} refused before taking effect"
    sessions = counted(len(value["sessions"]), "session", "sessions")
    words += f" ({rate(rejected, calls)}), in {sessions}"
    rows = [
        Row(row["ref"], row["calls"], row["failed"], rejections[row["ref"]])
        for row in value["refs"]
        if rejections.get(row["ref"])
    ]
    rows.sort(key=lambda row: (-row.rejected, row.name))
    body = table(actions_table(rows)) if rows else ""
    return f"<p>{shown(words)}</p>\n{body}"
