"""What a surface alone says to its authors, and everything together in a fixed order."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.compiling.compile import plans_steps
from fabricd.core.compiling.review import notes_steps, review_steps
from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.entropy.observations import Observed
from fabricd.core.entropy.signals import (
    NotOnSurface,
    PropertyNotJudged,
    RulesCut,
    Signal,
    line_of,
)
from fabricd.core.evidence import Evidence
from fabricd.core.model import Action, Surface
from fabricd.core.steps import finish
from tests.core.making import log, operation, record, scanned, trace

BAD = {"type": "string", "pattern": "([a-z"}
GOOD = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def notes(*actions: tuple[str, Any]) -> tuple[Signal, ...]:
    surface = Surface(tuple(Action(ref, schema) for ref, schema in actions), "d")
    return finish(notes_steps(surface, finish(plans_steps(surface))))


@pytest.mark.parametrize(
    ("schema", "keys"),
    [
        (closed(a=GOOD, b=BAD, c=GOOD), ["b"]),
        (closed(a=BAD, b=BAD, c=GOOD), ["a", "b"]),
        (closed(a=BAD), ["a"]),
        (closed(a=BAD, b=BAD), ["a", "b"]),
        # Not a matter of a property.
        (closed(a=GOOD) | {"minProperties": "many"}, [None]),
        (closed(a=BAD, b=GOOD) | {"minProperties": "many"}, [None]),
        # A property may refer to what else the document declares.
        (closed(a={"$ref": "#/$defs/x"}, b=BAD) | {"$defs": {"x": GOOD}}, ["b"]),
        (closed(a={"$ref": "#/properties/c"}, b=BAD, c=GOOD), ["b"]),
    ],
)
def test_a_property_that_nobody_can_judge_is_named(schema: Any, keys: list[str | None]) -> None:
    found = notes(("r", schema), ("fine", closed(a=GOOD)))
    assert [row.key for row in found if isinstance(row, PropertyNotJudged)] == keys
    assert all(isinstance(row, PropertyNotJudged) and row.ref == "r" for row in found)
    assert all(isinstance(row, PropertyNotJudged) and row.reason for row in found)


def test_rules_that_fell_to_the_limit_are_counted() -> None:
    many = closed(**{f"k{n}": {"type": "integer"} for n in range(60)})
    assert notes(("r", many)) == (RulesCut("r", 52),)


def test_a_surface_without_faults_has_no_notes() -> None:
    assert notes(("r", closed(a=GOOD)), ("open", {"type": "object"}), ("odd", None)) == ()


def test_everything_comes_in_a_fixed_order() -> None:
    marked = {"type": "string", "x-fabric-enum-candidate": True}
    surface = Surface((Action("a", closed(k=marked)), Action("bad", closed(x=GOOD, y=BAD))), "d")
    plans = finish(plans_steps(surface))
    args = [{"x": 1}, {"x": 1}, {"y": 1}, {"y": 1}]
    calls = [operation(n, "a", args=each) for n, each in enumerate(args)]
    calls += [operation(4 + n, ref) for n, ref in enumerate("bcd")]
    evidence = scanned(log(*[record(trace(*calls))] * 3))[0]
    values = [Observed("a", "k", "v", 6), Observed("a", "k", "w", 2)]
    found = finish(
        review_steps(
            report(evidence, Catalog()),
            evidence,
            surface,
            finish(notes_steps(surface, plans)),
            values,
        )
    )
    assert [line_of(signal) for signal in found] == [
        "declare-enum a.k (v, w)",
        "overload-split a (2 key-set clusters)",
        "sequence-fuse a -> b -> c -> d",
        "property-not-judged bad.y",
        "not-on-surface b",
        "not-on-surface c",
        "not-on-surface d",
    ]


def test_without_a_surface_only_the_calls_speak() -> None:
    calls = [operation(n, ref) for n, ref in enumerate("abc")]
    evidence = scanned(log(*[record(trace(*calls))] * 3))[0]
    values = [Observed("a", "k", "v", 6), Observed("a", "k", "w", 2)]
    found = finish(review_steps(report(evidence, Catalog()), evidence, None, (), values))
    assert [line_of(signal) for signal in found] == ["sequence-fuse a -> b -> c"]
    assert not any(isinstance(signal, NotOnSurface) for signal in found)


def test_nothing_gives_no_suggestion() -> None:
    empty = Evidence()
    surface = Surface((), "d")
    assert finish(review_steps(report(empty, Catalog()), empty, surface, (), ())) == ()
