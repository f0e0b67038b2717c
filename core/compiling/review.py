"""The author's review: every signal about a surface and how it is used, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fabricd.core.compiling.compile import Plans
from fabricd.core.entropy.meter import Report
from fabricd.core.entropy.observations import Observed
from fabricd.core.entropy.signals import (
    PropertyNotJudged,
    RulesCut,
    Signal,
    enum_steps,
    sequence_steps,
    split_steps,
    undeclared,
)
from fabricd.core.evidence import Evidence
from fabricd.core.model import Surface
from fabricd.core.plain import is_object
from fabricd.core.steps import Steps
from fabricd.core.validation import Unjudgeable, Validator


def notes_steps(surface: Surface, plans: Plans) -> Steps[tuple[Signal, ...]]:
    """What the surface alone says: rules that were cut, and properties that nobody can judge."""
    notes: list[Signal] = [RulesCut(found.ref, found.cut) for found in plans.cut]
    schemas = surface.schema_of()
    for found in plans.without:
        if found.not_judged:
            notes += yield from _blamed_steps(found.ref, schemas[found.ref], found.reason or "")
    return tuple(notes)


def _blamed_steps(ref: str, schema: object, reason: str) -> Steps[list[PropertyNotJudged]]:
    """The properties to blame; where none is, the whole schema."""
    whole = [PropertyNotJudged(ref, None, reason)]
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(schema) or not is_object(properties):
        return whole
    # Each beside everything else the document declares, as it may refer to it.
    others = dict.fromkeys(properties, True)
    yield
    if _fault(schema, others) is not None:
        return whole
    found: list[PropertyNotJudged] = []
    for name, declared in properties.items():
        yield
        if (fault := _fault(schema, {**others, name: declared})) is not None:
            found.append(PropertyNotJudged(ref, name, fault))
    return found or whole


def _fault(schema: dict[str, Any], properties: dict[str, Any]) -> str | None:
    try:
        Validator({**schema, "properties": properties})
    except Unjudgeable as error:
        return error.reason
    return None


def review_steps(
    report: Report,
    evidence: Evidence,
    surface: Surface | None,
    notes: tuple[Signal, ...],
    observed: Iterable[Observed],
) -> Steps[tuple[Signal, ...]]:
    """Every suggestion to the authors of a surface. Without one, only what the calls say."""
    signals: list[Signal] = []
    if surface is not None:
        signals += yield from enum_steps(observed, surface)
    signals += yield from split_steps(report, evidence)
    signals += yield from sequence_steps(evidence)
    signals += notes
    if surface is not None:
        signals += undeclared(report, surface)
    return tuple(signals)
