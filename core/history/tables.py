"""The tables of a report as plain text: at most ten rows each, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from fabricd.core.history.merged import Merged, Row
from fabricd.core.history.phrases import agent_name, kind_words, name_words, short_rate
from fabricd.core.history.value import History
from fabricd.core.plain import counted

ROWS = 10


class Column(Struct, frozen=True):
    """A column of a table; names stand on the left, figures on the right."""

    title: str
    cells: tuple[str, ...]
    is_words: bool = False


class Table(Struct, frozen=True):
    """Columns, the most important first: the first one names the rows. `more` is left out."""

    caption: str
    columns: tuple[Column, ...]
    more: str = ""


def more_than_shown(count: int, one: str, many: str) -> str:
    """`and 390 more tools`, or nothing."""
    return f"and {counted(count - ROWS, one, many)}" if count > ROWS else ""


def agents_table(history: History) -> Table:
    """Every agent."""
    agents = sorted(history.agents, key=lambda agent: (-agent.calls, agent.agent))
    rows = agents[:ROWS]
    replayed = [agent.rejections.replayed for agent in rows]
    return Table(
        "Agents, most calls first",
        (
            _names("agent", [agent_name(agent.agent) for agent in rows]),
            _figures("sessions", [agent.sessions for agent in rows]),
            *_counts([Row("", agent.calls, agent.errors, 0) for agent in rows]),
            Column("refused", tuple(_of(share.rejected, share.calls) for share in replayed)),
            _figures("retried", [agent.retries for agent in rows]),
            _figures("broken off", [agent.outcomes.aborted for agent in rows]),
            _figures("end unknown", [agent.outcomes.unknown for agent in rows]),
            _figures("logs", [agent.files for agent in rows]),
        ),
        more_than_shown(len(agents), "more agent", "more agents"),
    )


def tools_table(tools: Sequence[Row], with_agents: bool) -> Table:
    """The tools with failures, worst first."""
    rows = tools[:ROWS]
    agents = (_names("agent", [agent_name(row.agent) for row in rows]),) if with_agents else ()
    return Table(
        "Tools, most failures first",
        (
            _names("tool", [name_words(row.name, "tool") for row in rows]),
            *_counts(rows),
            Column("refused", tuple(_of(row.rejected, row.judged or 0) for row in rows)),
            *agents,
            _figures("retried", [row.retries for row in rows]),
        ),
        more_than_shown(len(tools), "more with failures", "more with failures"),
    )


def kinds_table(total: Merged) -> Table:
    """Kinds of malformation."""
    kinds = total.malformations[:ROWS]
    return Table(
        "Faults in refused calls, most frequent first",
        (
            _names("what", [kind_words(slug) for slug, _ in kinds]),
            _figures("calls", [found.calls for _, found in kinds]),
            _figures("repairable", [found.repairable for _, found in kinds]),
        ),
        more_than_shown(len(total.malformations), "more kind", "more kinds"),
    )


def weeks_table(total: Merged, limit: int) -> Table:
    """The latest weeks, at most `limit`, oldest first."""
    weeks = total.weeks
    rows = weeks[-limit:]
    earlier = sum(1 for week in weeks[:-limit] if week.calls)
    return Table(
        "Weeks, named by their Monday",
        (
            _names("week of", [name_words(row.name, "week") for row in rows]),
            *_counts(rows),
            *_refused(total, rows),
        ),
        f"{counted(earlier, 'earlier week', 'earlier weeks')} not shown" if earlier else "",
    )


def rows_table(total: Merged, rows: Sequence[Row], what: str) -> Table:
    """Models or projects."""
    first = rows[:ROWS]
    return Table(
        f"{what.capitalize()}s, most calls first",
        (
            _names(what, [name_words(row.name, what) for row in first]),
            *_counts(first),
            *_refused(total, first),
        ),
        more_than_shown(len(rows), f"more {what}", f"more {what}s"),
    )


def actions_table(rows: Sequence[Row]) -> Table:
    """Actions inside Fabric, in the order given."""
    first = rows[:ROWS]
    return Table(
        "Actions, most refusals first",
        (
            _names("action", [name_words(row.name, "action") for row in first]),
            *_counts(first),
            _figures("refused", [row.rejected for row in first]),
        ),
        more_than_shown(len(rows), "more with refusals", "more with refusals"),
    )


def _names(title: str, names: Sequence[str]) -> Column:
    return Column(title, tuple(names), True)


def _figures(title: str, figures: Sequence[int]) -> Column:
    return Column(title, tuple(f"{figure:,}" for figure in figures))


def _counts(rows: Sequence[Row]) -> tuple[Column, ...]:
    return (
        _figures("calls", [row.calls for row in rows]),
        _figures("failed", [row.errors for row in rows]),
        Column("rate", tuple(short_rate(row.errors, row.calls) for row in rows)),
    )


def _refused(total: Merged, rows: Sequence[Row]) -> tuple[Column, ...]:
    # A nought would say that none was refused, where none could be checked.
    is_checked = total.replayed.calls or total.replayed.rejected
    return (_figures("refused", [row.rejected for row in rows]),) if is_checked else ()


def _of(rejected: int, judged: int) -> str:
    return f"{rejected:,} of {judged:,}" if judged else "not checked"
