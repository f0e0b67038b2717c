"""Small corpora for studies: calls with their outcomes, traces alone or with audits beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabricd.core.entropy.lab.study import Part
from fabricd.core.model import Action, Surface
from fabricd.core.sessions.samples import Recording, recordings
from tests.core.making import Json, everything, line, log, operation, record, trace

MODE: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["path"],
    "properties": {
        "path": {"type": "string"},
        "mode": {"type": "string", "enum": ["fast", "slow", "plain"]},
    },
}


def surface(**schemas: Any) -> Surface:
    """A surface of actions by name, `_` standing for a dot."""
    actions = [Action(name.replace("_", "."), schema) for name, schema in schemas.items()]
    return Surface(tuple(actions), "live")


def call(ref: str, args: Json, outcome: str = "succeeded", stage: str | None = None) -> Json:
    """One operation."""
    more: Json = {"args": args, "outcome": outcome}
    return operation(ref=ref, **more if stage is None else more | {"failureStage": stage})


def traced(*calls: Json) -> Json:
    """A record with these calls and no audits."""
    return record(trace(*[each | {"sequence": n} for n, each in enumerate(calls)]))


def audited(*calls: Json) -> Json:
    """A record in which audits hold the arguments and the trace holds none, as Fabric writes it."""
    bare = [each | {"sequence": n, "args": {}} for n, each in enumerate(calls)]
    return record(trace(*bare), [{"ref": each["ref"], "args": each["args"]} for each in calls])


def recorded(*records: Json) -> list[Recording]:
    """The recordings of records."""
    return [found for each in records for found in recordings(line(each))]


def part(*records: Json) -> Part:
    """Sessions that hold these records."""
    return Part(everything(log(*records)), recorded(*records))


def modes(ref: str, values: Sequence[object], outcome: str = "succeeded") -> list[Json]:
    """Calls that differ in their mode alone."""
    return [call(ref, {"path": "x", "mode": value}, outcome) for value in values]
