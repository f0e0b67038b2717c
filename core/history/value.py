"""The report over every agent's log as others get it: the members of its JSON, typed."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class Filters(Struct, frozen=True):
    """What was asked for. `since` is RFC 3339 with an offset."""

    agent: tuple[str, ...] | None
    project: str | None
    model: str | None
    since: str | None
    all: bool
    paths: tuple[str, ...] | None


class Outcomes(Struct, frozen=True, rename="camel"):
    """How calls ended."""

    succeeded: int = 0
    failed: int = 0
    aborted: int = 0
    timed_out: int = 0
    unknown: int = 0


class Share(Struct, frozen=True):
    """Rejected calls of those that could have been."""

    rejected: int
    calls: int


class Rejections(Struct, frozen=True):
    """Rejections that a log typed itself, and those that its time's schemas explain."""

    recorded: Share
    replayed: Share


class Malformed(Struct, frozen=True):
    """Calls that show one kind of malformation; a normal form makes `repairable` of them valid."""

    calls: int
    repairable: int


class ToolLine(Struct, frozen=True):
    """One tool. `judged` calls had a schema."""

    tool: str
    calls: int
    errors: int
    rejected: int
    judged: int
    retries: int


class ModelLine(Struct, frozen=True):
    """One model."""

    model: str
    calls: int
    errors: int
    rejected: int


class ProjectLine(Struct, frozen=True):
    """One project."""

    project: str
    calls: int
    errors: int
    rejected: int


class WeekLine(Struct, frozen=True):
    """One week, named by its Monday in the user's zone."""

    week: str
    calls: int
    errors: int
    rejected: int


class Repairs(Struct, frozen=True):
    """Calls that were repaired on their way; `saved` of them succeeded: a round trip each."""

    calls: int
    saved: int


class RepairedTool(Struct, frozen=True):
    """The same of one tool."""

    tool: str
    calls: int
    saved: int


class AgentHistory(Struct, frozen=True, rename="camel"):
    """What one agent's logs hold.

    `errors` are failed and timed out calls, `retry_churn` the mean distance (0 to 1) between the
    shape of a retry's arguments and that of the failed call's.
    """

    agent: str
    sessions: int
    files: int
    calls: int
    results: int
    outcomes: Outcomes
    errors: int
    rejections: Rejections
    no_schema: int
    accepted_though_invalid: int
    retries: int
    retry_churn: float | None
    undated: int
    malformations: dict[str, Malformed]
    tools: tuple[ToolLine, ...]
    models: tuple[ModelLine, ...]
    projects: tuple[ProjectLine, ...]
    weeks: tuple[WeekLine, ...]
    repaired: Repairs | None = None
    repaired_tools: tuple[RepairedTool, ...] = ()


class Skipped(Struct, frozen=True):
    """A log that was not read, and why."""

    path: str
    reason: str


class LostLines(Struct, frozen=True, rename="camel"):
    """Damage in logs that were read."""

    bad_lines: int
    glued_lines: int
    cut_tails: int
    overlong_lines: int


class History(Struct, frozen=True):
    """The report. `metric3` is the overview of Fabric's newest sessions."""

    version: int
    filters: Filters
    agents: tuple[AgentHistory, ...]
    skipped: tuple[Skipped, ...]
    losses: LostLines
    metric3: dict[str, Any] | None


def history_of(value: object) -> History:
    """The report in decoded JSON; members of later versions are passed over.

    Raises:
        msgspec.ValidationError: it is none.
    """
    return msgspec.convert(value, History)
