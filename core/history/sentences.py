"""What a report says in sentences: who called what, what failed, what was refused and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fabricd.core.history.merged import Merged, Row, worst
from fabricd.core.history.phrases import (
    ENOUGH,
    agent_name,
    kind_words,
    listed,
    middle,
    name_words,
    rate,
)
from fabricd.core.history.tables import ROWS
from fabricd.core.history.value import Filters, History
from fabricd.core.plain import counted, printable

_NAMED = 40
_PLACE = 80
_REASON = 160
_FIRST = 5
_KINDS = 3
_NO_LOGS = (
    "Logs are looked for where Pi, Claude Code, Codex, Copilot CLI, OpenCode and Gemini CLI keep "
    "them. `fabricd sources` lists these places and what was found there."
)


def headline(history: History, total: Merged) -> str:
    """Who called how often, in what was asked for."""
    scope = _scope(history.filters)
    if not total.calls:
        if not total.sessions:
            return f"No sessions of any agent were found{scope}"
        return f"No tool calls in {counted(total.sessions, 'session', 'sessions')}{scope}"
    called = sorted((a for a in history.agents if a.calls), key=lambda a: (-a.calls, a.agent))
    who = listed([agent_name(agent.agent) for agent in called])
    calls = counted(total.calls, "tool call", "tool calls")
    return f"{who} made {calls} in {counted(total.sessions, 'session', 'sessions')}{scope}"


def where_logs_are(history: History) -> str:
    """What to do where nothing was found."""
    asked = history.filters
    if asked.project or asked.model or asked.agent or asked.paths:
        return f"Without these conditions there may be more. {_NO_LOGS}"
    if asked.since is not None:
        return f"Older ones, if there are any: --all. {_NO_LOGS}"
    return _NO_LOGS


def _scope(filters: Filters) -> str:
    words = ""
    if filters.since is not None:
        words += f" since {printable(filters.since)[:10]}"
    elif filters.all:
        words += " of all time"
    if filters.project is not None:
        words += f", in the project {middle(printable(filters.project), _PLACE)}"
    if filters.model is not None:
        words += f", with {middle(printable(filters.model), _NAMED)}"
    if filters.paths is not None:
        words += ", in the places that were named"
    return words


def first_lines(total: Merged) -> list[tuple[str, str]]:
    """Labelled sentences: what was called, what failed, what was refused and why."""
    if not total.calls:
        return []
    lines = [
        ("Called", _tools([(row.name, row.calls) for row in total.by_name])),
        ("Failed", _failed(total)),
        ("Refused", _refused(total)),
    ]
    if total.recorded.calls:
        recorded = total.recorded
        of = f"{recorded.rejected:,} of {counted(recorded.calls, 'action', 'actions')}"
        lines.append(
            ("", f"{of} by a log's own record ({rate(recorded.rejected, recorded.calls)})")
        )
    if total.repaired:
        lines.append(("Repaired", _repaired(total)))
    if total.retries:
        lines.append(("Retried", _retried(total)))
    return lines + _alone(total)


def _tools(counts: Sequence[tuple[str, int]]) -> str:
    named = [
        f"{middle(name_words(name, 'tool'), _NAMED)} {count:,}" for name, count in counts[:_FIRST]
    ]
    if (more := len(counts) - _FIRST) > 0:
        named.append(f"and {counted(more, 'more tool', 'more tools')}")
    return " · ".join(named)


def _failed(total: Merged) -> str:
    ended = total.outcomes
    if total.errors:
        words = f"{total.errors:,} of {total.calls:,} ({rate(total.errors, total.calls)}): "
        words += _tools([(row.name, row.errors) for row in worst(total.by_name) if row.errors])
    else:
        words = f"none of {total.calls:,}"
    others = [
        f"{count:,} {one if count == 1 else many}"
        for count, one, many in (
            (ended.timed_out, "of these ran out of time", "of these ran out of time"),
            (ended.aborted, "was broken off", "were broken off"),
            (ended.unknown, "has no known end", "have no known end"),
        )
        if count
    ]
    return f"{words}; {listed(others)}" if others else words


def _refused(total: Merged) -> str:
    rejected, judged = total.replayed.rejected, total.replayed.calls
    if not rejected:
        if not judged:
            return "cannot be said: what these tools declare is not known here"
        return f"none of {counted(judged, 'call', 'calls')} that could be checked"
    if judged < rejected:
        words = counted(rejected, "call", "calls")
    else:
        words = f"{rejected:,} of {counted(judged, 'call', 'calls')} that could be checked"
        words += f" ({rate(rejected, judged)})"
    kinds = [
        f"{kind_words(slug)} ({found.calls:,})" for slug, found in total.malformations[:_KINDS]
    ]
    if (more := len(total.malformations) - _KINDS) > 0:
        kinds.append(f"and {counted(more, 'more kind', 'more kinds')}")
    return f"{words}: {', '.join(kinds)}" if kinds else words


def _repaired(total: Merged) -> str:
    calls = counted(total.repaired, "call", "calls")
    trips = counted(total.saved, "round trip", "round trips")
    of = _tools(sorted(total.repaired_tools, key=lambda row: (-row[1], row[0])))
    return f"{calls} on the way through the gateway, {trips} saved: {of}"


def _retried(total: Merged) -> str:
    calls = counted(total.retries, "call", "calls")
    words = f"{calls} to a tool whose previous call in that session had failed"
    if total.churn is None or total.retries < ENOUGH:
        return words
    return f"{words}; on average {100 * total.churn:.0f} % of the arguments' shape was another one"


def _alone(total: Merged) -> list[tuple[str, str]]:
    return [
        (label, middle(printable(rows[0].name), _PLACE))
        for label, rows in (("Model", total.models), ("Project", total.projects))
        if len(rows) == 1 and rows[0].name.strip()
    ]


def notes(total: Merged) -> list[tuple[str, str]]:
    """What the words of the report mean, and the words of its JSON; only those that it uses."""
    if not total.calls:
        return []
    found = [
        ("failed", "the log says that the call failed, or that its time ran out (errors)"),
        (
            "refused",
            "a failed call whose tool or arguments break what was declared at that time (replayed)",
        ),
    ]
    if total.recorded.calls:
        own = "Fabric's traces and the gateway's log say themselves what was refused (recorded)"
        found.append(("own record", own))
    if total.no_schema:
        unchecked = counted(total.no_schema, "call was", "calls were")
        why = "not checked: what the tool declared at that time is not known (noSchema)"
        found.append(("checked", f"{unchecked} {why}"))
    if total.repaired:
        found.append(("saved", "a repaired call that then succeeded: one error and retry less"))
    if total.malformations:
        repairable = "a proven repair of fabricd makes the arguments valid"
        if sum(kind.calls for _, kind in total.malformations) > total.replayed.rejected:
            repairable += "; one call may show several faults"
        found.append(("repairable", repairable))
    if total.calls < ENOUGH or any(0 < row.calls < ENOUGH for row in _rated(total)):
        found.append(("too few", f"under {ENOUGH} calls, which are too few to say how often"))
    if total.accepted_though_invalid:
        accepted = counted(total.accepted_though_invalid, "call", "calls")
        found.append(
            ("stricter", f"{accepted} succeeded with arguments that the declaration forbids")
        )
    if total.undated:
        undated = counted(total.undated, "call carries", "calls carry")
        found.append(("undated", f"{undated} no time, and so stand in no week"))
    return found


def _rated(total: Merged) -> Iterable[Row]:
    yield from worst(total.tools)[:ROWS]
    for rows in (total.models, total.projects, total.weeks):
        if len(rows) > 1:
            yield from rows[:ROWS]


def left_out(history: History) -> list[tuple[int, str]]:
    """What was skipped or lost: how many, and of what."""
    losses = history.losses
    rows = [
        (losses.bad_lines, "line that is not JSON", "lines that are not JSON"),
        (
            losses.overlong_lines,
            "line that is too long to be read",
            "lines that are too long to be read",
        ),
        (losses.cut_tails, "log that ends in mid-line", "logs that end in mid-line"),
        (
            losses.glued_lines,
            "line that held several records: all were read",
            "lines that held several records: all were read",
        ),
    ]
    found = [(count, one if count == 1 else many) for count, one, many in rows if count]
    return _skipped(history) + found


def _skipped(history: History) -> list[tuple[int, str]]:
    reasons = Counter(each.reason for each in history.skipped)
    example = {each.reason: each.path for each in reversed(history.skipped)}
    rows: list[tuple[int, str]] = []
    for reason, count in reasons.most_common(ROWS):
        place = middle(printable(example[reason]), _PLACE)
        such = "such as " if count > 1 else ""
        rows.append((count, f"{middle(printable(reason), _REASON)}: {such}{place}"))
    rest = sum(reasons.values()) - sum(count for count, _ in rows)
    return [*rows, *([(rest, "for other reasons")] if rest else [])]
