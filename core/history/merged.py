"""The report's agents taken together: sums, the rows of all of them, and weeks without a gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from msgspec import Struct

from fabricd.core.history.value import AgentHistory, History, Malformed, Outcomes, Share

GAP = "…"
_WEEK = timedelta(days=7)
_SHOWN_IDLE = 2


class Row(Struct, frozen=True):
    """A tool, model, project or week of one or several agents; without `judged`, nobody asked."""

    name: str
    calls: int
    errors: int
    rejected: int
    judged: int | None = None
    retries: int = 0
    agent: str = ""


class Merged(Struct, frozen=True):
    """Every agent's history as one.

    Attributes:
        churn: the mean of the agents' retry churn, each weighted by its retries.
        tools: one row for each agent and tool, most calls first; `by_name` has one for each name.
        weeks: oldest first; weeks without calls have a row each, or one together (it starts with
            `GAP`) where they are more than two.
    """

    sessions: int
    files: int
    calls: int
    outcomes: Outcomes
    errors: int
    recorded: Share
    replayed: Share
    no_schema: int
    accepted_though_invalid: int
    retries: int
    churn: float | None
    undated: int
    malformations: tuple[tuple[str, Malformed], ...]
    tools: tuple[Row, ...]
    by_name: tuple[Row, ...]
    models: tuple[Row, ...]
    projects: tuple[Row, ...]
    weeks: tuple[Row, ...]
    repaired: int = 0
    saved: int = 0
    repaired_tools: tuple[tuple[str, int], ...] = ()


def merged(history: History) -> Merged:
    """All agents of a report together."""
    agents = history.agents
    tools = [
        Row(each.tool, each.calls, each.errors, each.rejected, each.judged, each.retries, a.agent)
        for a in agents
        for each in a.tools
    ]
    weeks = _together(
        Row(e.week, e.calls, e.errors, e.rejected) for agent in agents for e in agent.weeks
    )
    return Merged(
        sessions=sum(agent.sessions for agent in agents),
        files=sum(agent.files for agent in agents),
        calls=sum(agent.calls for agent in agents),
        outcomes=_outcomes(agents),
        errors=sum(agent.errors for agent in agents),
        recorded=_shares(agent.rejections.recorded for agent in agents),
        replayed=_shares(agent.rejections.replayed for agent in agents),
        no_schema=sum(agent.no_schema for agent in agents),
        accepted_though_invalid=sum(agent.accepted_though_invalid for agent in agents),
        retries=sum(agent.retries for agent in agents),
        churn=_churn(agents),
        undated=sum(agent.undated for agent in agents),
        malformations=_malformations(agents),
        tools=_most_called(tools),
        by_name=_most_called(_together(tools)),
        models=_most_called(
            _together(Row(e.model, e.calls, e.errors, e.rejected) for a in agents for e in a.models)
        ),
        projects=_most_called(
            _together(
                Row(e.project, e.calls, e.errors, e.rejected) for a in agents for e in a.projects
            )
        ),
        weeks=_filled({row.name: row for row in weeks}),
        repaired=sum(a.repaired.calls for a in agents if a.repaired is not None),
        saved=sum(a.repaired.saved for a in agents if a.repaired is not None),
        repaired_tools=tuple((each.tool, each.calls) for a in agents for each in a.repaired_tools),
    )


def worst(rows: Iterable[Row]) -> list[Row]:
    """Those with errors or rejections, most errors first, then most rejections."""
    found = [row for row in rows if row.errors or row.rejected]
    return sorted(found, key=lambda row: (-row.errors, -row.rejected, row.name, row.agent))


def _most_called(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.calls, row.name, row.agent)))


def _together(rows: Iterable[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        had = found.get(row.name)
        found[row.name] = row if had is None else _sum(had, row)
    return list(found.values())


def _sum(left: Row, right: Row) -> Row:
    return Row(
        left.name,
        left.calls + right.calls,
        left.errors + right.errors,
        left.rejected + right.rejected,
        None if left.judged is None else left.judged + (right.judged or 0),
        left.retries + right.retries,
    )


def _shares(shares: Iterable[Share]) -> Share:
    each = list(shares)
    return Share(sum(share.rejected for share in each), sum(share.calls for share in each))


def _outcomes(agents: Sequence[AgentHistory]) -> Outcomes:
    each = [agent.outcomes for agent in agents]
    return Outcomes(
        sum(outcomes.succeeded for outcomes in each),
        sum(outcomes.failed for outcomes in each),
        sum(outcomes.aborted for outcomes in each),
        sum(outcomes.timed_out for outcomes in each),
        sum(outcomes.unknown for outcomes in each),
    )


def _churn(agents: Sequence[AgentHistory]) -> float | None:
    known = [(a.retry_churn, a.retries) for a in agents if a.retry_churn is not None and a.retries]
    retries = sum(count for _, count in known)
    return sum(churn * count for churn, count in known) / retries if retries else None


def _malformations(agents: Sequence[AgentHistory]) -> tuple[tuple[str, Malformed], ...]:
    calls, repairable = Counter[str](), Counter[str]()
    for agent in agents:
        for slug, found in agent.malformations.items():
            calls[slug] += found.calls
            repairable[slug] += found.repairable
    slugs = sorted((slug for slug in calls if calls[slug]), key=lambda slug: (-calls[slug], slug))
    return tuple((slug, Malformed(calls[slug], repairable[slug])) for slug in slugs)


def _filled(weeks: Mapping[str, Row]) -> tuple[Row, ...]:
    rows: list[Row] = []
    before: date | None = None
    for name in sorted(weeks):
        monday = _monday(name)
        if before is not None and monday is not None:
            rows += _idle(before + _WEEK, (monday - before).days // 7 - 1)
        rows.append(weeks[name])
        # A week that is none cannot be placed: nothing is filled in beside it.
        before = monday
    return tuple(rows)


def _idle(first: date, count: int) -> list[Row]:
    if count > _SHOWN_IDLE:
        return [Row(f"{GAP} {count:,} weeks", 0, 0, 0)]
    return [Row((first + n * _WEEK).isoformat(), 0, 0, 0) for n in range(count)]


def _monday(name: str) -> date | None:
    try:
        day = date.fromisoformat(name)
    except ValueError:
        return None
    return day if day.weekday() == 0 and day.isoformat() == name else None
