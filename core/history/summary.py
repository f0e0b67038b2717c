"""From an agent's calls to what a report says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from hashlib import sha256
from typing import Any

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


class Tally(Struct, gc=False):
    """Counts of some calls."""

    calls: int = 0
    errors: int = 0
    rejected: int = 0
    judged: int = 0
    retries: int = 0

    def add(self, call: Call) -> None:
        """Count a call."""
        self.calls += 1
        self.errors += call.outcome in (FAILED, TIMED_OUT)
        self.rejected += is_rejected(call)
        self.judged += call.verdict != NO_SCHEMA
        self.retries += call.is_retry


def is_rejected(call: Call) -> bool:
    """Whether a call ended in a typed failure that the schema of its time explains."""
    return call.outcome == FAILED and call.verdict in (INVALID, UNDECLARED)


class _Sums(Struct):
    """Everything that is counted of one agent."""

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

    def add(self, call: Call, day_of: DayOf) -> None:
        self.total.add(call)
        self.outcomes[call.outcome] = self.outcomes.get(call.outcome, 0) + 1
        self.results += call.answered
        self.recorded += call.recorded
        self.refused += call.refused
        self.churn += call.churn
        invalid = call.verdict in (INVALID, UNDECLARED)
        self.accepted_though_invalid += invalid and call.outcome == SUCCEEDED
        if is_rejected(call):
            self._add_kinds(call)
        self.tools.setdefault(call.tool, Tally()).add(call)
        self.models.setdefault(call.model, Tally()).add(call)
        self.projects.setdefault(call.project, Tally()).add(call)
        if call.at == UNDATED:
            self.undated += 1
        else:
            day = day_of(call.at)
            self.weeks.setdefault(day - timedelta(days=day.weekday()), Tally()).add(call)
        self.sessions.add(call.session)
        self.files.update(call.files)

    def _add_kinds(self, call: Call) -> None:
        for slug in slugs_in(call.kinds):
            counts = self.kinds.setdefault(slug, [0, 0])
            counts[0] += 1
            counts[1] += call.repairable


def agent_steps(
    agent: AgentName, tables: Sequence[CallTable], wanted: Wanted, day_of: DayOf
) -> Steps[dict[str, Any]]:
    """What a report says of one agent, from the tables of all its logs."""
    calls = yield from join_steps(tables)
    sums = _Sums()
    for index, call in enumerate(calls):
        if wanted.takes(call):
            sums.add(call, day_of)
        if index % OPERATIONS == OPERATIONS - 1:
            yield
    if wanted.is_everything:
        sums.files = set(range(len(tables)))
        sums.sessions = {table.names[each] for table in tables for each in table.sessions}
    return _value(agent, sums)


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


def _counts(tally: Tally) -> dict[str, int]:
    return {"calls": tally.calls, "errors": tally.errors, "rejected": tally.rejected}


def _ranked(tallies: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
    return sorted(tallies.items(), key=lambda pair: (-pair[1].calls, utf16_key(pair[0])))


def agents_steps(
    tables: Iterable[CallTable], wanted: Wanted, day_of: DayOf
) -> Steps[tuple[list[dict[str, Any]], Losses]]:
    """What a report says of every agent that has logs, in a fixed order, and what was lost."""
    by_agent: dict[str, list[CallTable]] = {}
    losses = Losses()
    for table in tables:
        if not wanted.agents or table.agent in wanted.agents:
            by_agent.setdefault(table.agent, []).append(table)
            losses.add(table.losses)
    found: list[dict[str, Any]] = []
    for agent in AGENTS:
        if agent in by_agent:
            value = yield from agent_steps(agent, by_agent[agent], wanted, day_of)
            if value["calls"] or wanted.is_everything:
                found.append(value)
    return found, losses
