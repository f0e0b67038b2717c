"""From an agent's calls to what a report says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from hashlib import sha256
from operator import attrgetter
from typing import Any, TypeAlias

from msgspec import Struct, field

from fabricd.core.history.calls import (
    ABORTED,
    AGENTS,
    FAILED,
    INVALID,
    NO_SCHEMA,
    SUCCEEDED,
    TIMED_OUT,
    UNDATED,
    UNDECLARED,
    UNKNOWN,
    AgentName,
    CallTable,
    Losses,
)
from fabricd.core.history.joining import Call, join_steps
from fabricd.core.history.malformation import slugs_in
from fabricd.core.javascript import utf16_key
from fabricd.core.steps import OPERATIONS, Steps

DayOf = Callable[[int], date]

# No zone's midnight falls inside a quarter of an hour.
_STRETCH = 15 * 60 * 1000
_ERRORS = (FAILED, TIMED_OUT)
_REFUSING = (INVALID, UNDECLARED)
_Kind: TypeAlias = tuple[str, str, str, int, int, int, bool, bool, bool]


class Wanted(Struct, frozen=True):
    """Which calls a report is about.

    Attributes:
        since: only calls at this moment or later, in milliseconds since the epoch; calls without a
            date are then left out.
        project: an absolute path, or a name without a slash: the last part of a project's path.
    """

    agents: tuple[str, ...] = ()
    project: str | None = None
    model: str | None = None
    since: int | None = None

    @property
    def is_everything(self) -> bool:
        """Whether nothing an agent did is left out."""
        return self.project is None and self.model is None and self.since is None

    def takes(self, call: Call) -> bool:
        """Whether the report is about this call."""
        if self.since is not None and (call.at == UNDATED or call.at < self.since):
            return False
        if self.model is not None and not _is_model(call.model, self.model):
            return False
        return self.project is None or _is_project(call.project, self.project)


def _is_model(model: str, wanted: str) -> bool:
    return wanted in (model, model.rpartition("/")[2])


def _is_project(project: str, wanted: str) -> bool:
    plain = project.replace("\\", "/").rstrip("/")
    if "/" not in wanted:
        return plain.rpartition("/")[2] == wanted
    path = wanted.rstrip("/")
    # Gemini CLI names a project by the hash of its path.
    return plain == path or plain.startswith(path + "/") or project == _hash(path)


def _hash(path: str) -> str:
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()


class _Alike(Struct, frozen=True, gc=False):
    """What calls share that count alike."""

    tool: str
    model: str
    project: str
    outcome: int
    verdict: int
    kinds: int
    repairable: bool
    is_retry: bool
    repaired: bool

    @property
    def is_error(self) -> bool:
        """Whether they failed or ran out of time."""
        return self.outcome in _ERRORS

    @property
    def is_invalid(self) -> bool:
        """Whether the schema of their time rejects them."""
        return self.verdict in _REFUSING

    @property
    def is_rejected(self) -> bool:
        """Whether they ended in a typed failure that the schema of their time explains."""
        return self.outcome == FAILED and self.is_invalid


_KIND: Callable[[Call], _Kind] = attrgetter(*_Alike.__struct_fields__)


class Tally(Struct, gc=False):
    """Counts of some calls."""

    calls: int = 0
    errors: int = 0
    rejected: int = 0
    judged: int = 0
    retries: int = 0
    repaired: int = 0
    saved: int = 0

    def add(self, alike: _Alike, times: int) -> None:
        """Count calls."""
        self.calls += times
        self.errors += alike.is_error * times
        self.rejected += alike.is_rejected * times
        self.judged += (alike.verdict != NO_SCHEMA) * times
        self.retries += alike.is_retry * times
        self.repaired += alike.repaired * times
        self.saved += (alike.repaired and alike.outcome == SUCCEEDED) * times


class _Sums(Struct):
    """Everything that is counted of one agent.

    Attributes:
        alike: calls by what `_Alike` holds.
        stretches: calls by quarters of an hour.
        failures: errors by quarters of an hour, and whether they were refused.
    """

    total: Tally = field(default_factory=Tally)
    outcomes: dict[int, int] = field(default_factory=dict[int, int])
    results: int = 0
    recorded: int = 0
    refused: int = 0
    accepted_though_invalid: int = 0
    churn: int = 0
    undated: int = 0
    kinds: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    tools: dict[str, Tally] = field(default_factory=dict[str, Tally])
    models: dict[str, Tally] = field(default_factory=dict[str, Tally])
    projects: dict[str, Tally] = field(default_factory=dict[str, Tally])
    weeks: dict[date, Tally] = field(default_factory=dict[date, Tally])
    sessions: set[str] = field(default_factory=set[str])
    files: set[int] = field(default_factory=set[int])
    alike: Counter[_Kind] = field(default_factory=Counter[_Kind])
    stretches: Counter[int] = field(default_factory=Counter[int])
    failures: Counter[tuple[int, bool]] = field(default_factory=Counter[tuple[int, bool]])

    def add(self, calls: Sequence[Call]) -> None:
        """Count calls. Most that is said of them is counted by `settle`, with others of a kind."""
        # Counted by what goes through them in one go: there may be hundreds of thousands.
        self.alike.update(map(_KIND, calls))
        self.stretches.update(call.at // _STRETCH for call in calls)
        self.failures.update(
            (call.at // _STRETCH, call.outcome == FAILED and call.verdict in _REFUSING)
            for call in calls
            if call.outcome in _ERRORS
        )
        self.results += sum(call.answered for call in calls)
        self.recorded += sum(call.recorded for call in calls)
        self.refused += sum(call.refused for call in calls)
        self.churn += sum(call.churn for call in calls)
        self.sessions.update(call.session for call in calls)
        self.files.update(*(call.files for call in calls))

    def settle(self, day_of: DayOf) -> None:
        """Enter the calls that count alike, each kind once."""
        for kind, times in self.alike.items():
            self._enter(_Alike(*kind), times)
        for stretch, calls in self.stretches.items():
            if stretch == UNDATED:
                self.undated = calls
            else:
                day = day_of(stretch * _STRETCH)
                week = self.weeks.setdefault(day - timedelta(days=day.weekday()), Tally())
                rejected = self.failures[stretch, True]
                week.calls += calls
                week.errors += self.failures[stretch, False] + rejected
                week.rejected += rejected

    def _enter(self, alike: _Alike, times: int) -> None:
        self.total.add(alike, times)
        self.outcomes[alike.outcome] = self.outcomes.get(alike.outcome, 0) + times
        if alike.is_invalid and alike.outcome == SUCCEEDED:
            self.accepted_though_invalid += times
        if alike.is_rejected:
            for slug in slugs_in(alike.kinds):
                counts = self.kinds.setdefault(slug, [0, 0])
                counts[0] += times
                counts[1] += alike.repairable * times
        self.tools.setdefault(alike.tool, Tally()).add(alike, times)
        self.models.setdefault(alike.model, Tally()).add(alike, times)
        self.projects.setdefault(alike.project, Tally()).add(alike, times)


def agent_steps(
    agent: AgentName, tables: Sequence[CallTable], wanted: Wanted, day_of: DayOf
) -> Steps[dict[str, Any]]:
    """What a report says of one agent, from the tables of all its logs."""
    calls = yield from join_steps(tables)
    sums = _Sums()
    for start in range(0, len(calls), OPERATIONS):
        some = calls[start : start + OPERATIONS]
        sums.add(some if wanted.is_everything else [call for call in some if wanted.takes(call)])
        yield
    sums.settle(day_of)
    if wanted.is_everything:
        sums.files = set(range(len(tables)))
        sums.sessions = {table.names[each] for table in tables for each in table.sessions}
    value = _value(agent, sums)
    return {**value, **_repairs(sums)} if agent == "gateway" else value


def _value(agent: str, sums: _Sums) -> dict[str, Any]:
    total, count = sums.total, sums.outcomes.get
    return {
        "agent": agent,
        "sessions": len(sums.sessions),
        "files": len(sums.files),
        "calls": total.calls,
        "results": sums.results,
        "outcomes": {
            "succeeded": count(SUCCEEDED, 0),
            "failed": count(FAILED, 0),
            "aborted": count(ABORTED, 0),
            "timedOut": count(TIMED_OUT, 0),
            "unknown": count(UNKNOWN, 0),
        },
        "errors": total.errors,
        "rejections": {
            "recorded": {"rejected": sums.refused, "calls": sums.recorded},
            "replayed": {"rejected": total.rejected, "calls": total.judged},
        },
        "noSchema": total.calls - total.judged,
        "acceptedThoughInvalid": sums.accepted_though_invalid,
        "retries": total.retries,
        "retryChurn": round(sums.churn / total.retries / 1e6, 6) if total.retries else None,
        "undated": sums.undated,
        "malformations": {
            slug: {"calls": calls, "repairable": repairable}
            for slug, (calls, repairable) in sorted(sums.kinds.items())
        },
        "tools": [
            {"tool": name, **_counts(tally), "judged": tally.judged, "retries": tally.retries}
            for name, tally in _ranked(sums.tools)
        ],
        "models": [{"model": name, **_counts(tally)} for name, tally in _ranked(sums.models)],
        "projects": [{"project": name, **_counts(tally)} for name, tally in _ranked(sums.projects)],
        "weeks": [
            {"week": week.isoformat(), **_counts(tally)}
            for week, tally in sorted(sums.weeks.items())
        ],
    }


def _repairs(sums: _Sums) -> dict[str, Any]:
    """What only the gateway's log tells: calls repaired on their way, and those that then worked.

    Without the repair each of these would have come back as an error, to be tried again.
    """
    return {
        "repaired": {"calls": sums.total.repaired, "saved": sums.total.saved},
        "repairedTools": [
            {"tool": name, "calls": tally.repaired, "saved": tally.saved}
            for name, tally in _ranked(sums.tools)
            if tally.repaired
        ],
    }


def _counts(tally: Tally) -> dict[str, int]:
    return {"calls": tally.calls, "errors": tally.errors, "rejected": tally.rejected}


def _ranked(tallies: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
    return sorted(tallies.items(), key=lambda pair: (-pair[1].calls, utf16_key(pair[0])))


def by_agent(
    tables: Iterable[CallTable], wanted: Wanted
) -> tuple[dict[AgentName, list[CallTable]], Losses]:
    """The tables of each agent that a report is about, in a fixed order, and what was lost."""
    found: dict[AgentName, list[CallTable]] = {agent: [] for agent in AGENTS}
    losses = Losses()
    for table in tables:
        if not wanted.agents or table.agent in wanted.agents:
            found[table.agent].append(table)
            losses.add(table.losses)
    return {agent: each for agent, each in found.items() if each}, losses


def told(values: Iterable[dict[str, Any]], wanted: Wanted) -> list[dict[str, Any]]:
    """The agents that a report tells of: those of which nothing was asked for are left out."""
    return [value for value in values if value["calls"] or wanted.is_everything]


def agents_steps(
    tables: Iterable[CallTable], wanted: Wanted, day_of: DayOf
) -> Steps[tuple[list[dict[str, Any]], Losses]]:
    """What a report says of every agent that has logs, in a fixed order, and what was lost."""
    agents, losses = by_agent(tables, wanted)
    values: list[dict[str, Any]] = []
    for agent, each in agents.items():
        values.append((yield from agent_steps(agent, each, wanted, day_of)))
    return told(values, wanted), losses
