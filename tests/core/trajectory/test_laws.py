"""Laws of trajectories, over generated ones."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.canonical import by_units, deep_text
from fabricd.core.identity import canonical_text, identity
from fabricd.core.trajectory.explanations import EXPLANATIONS
from fabricd.core.trajectory.violations import MESSAGES
from tests.core.trajectory.making import (
    Part,
    found,
    interleaved,
    measured,
    read,
    several_parts,
    trajectory,
    written,
)

_LISTS = ("operations", "escalations")


def sound_events() -> st.SearchStrategy[list[dict[str, Any]]]:
    """The events of a sound trajectory."""
    return several_parts().flatmap(interleaved)


@settings(max_examples=40)
@given(several_parts().flatmap(lambda given: st.tuples(interleaved(given), interleaved(given))))
def test_the_order_of_independent_operations_does_not_change_a_total(
    orders: tuple[list[Any], list[Any]],
) -> None:
    left, right = (measured(trajectory(*events)).value()["measurements"] for events in orders)
    for name in _LISTS:
        assert sorted(map(canonical_text, left.pop(name))) == sorted(
            map(canonical_text, right.pop(name))
        )
    assert left == right


@settings(max_examples=40)
@given(sound_events(), st.data())
def test_any_prefix_is_valid(events: list[Any], data: st.DataObject) -> None:
    prefix = events[: data.draw(st.integers(0, len(events)))]
    assert found(trajectory(*prefix)) == []


_PLACES = st.sampled_from(
    "bytes content_identity operation_id event_id status exposure type trust suppression "
    "raw_evidence payload validation escalation_id disposition suppressed_evidence_count "
    "ceiling_bytes reason_category arm_id valid".split()
)
_BAD = st.sampled_from([None, -1, 0, 1, 2**53, 1.5, "", "x", True, False, [], {}, [[]], {"a": 1}])


def _spoilt(value: Any, name: str, bad: Any) -> None:
    """Put a bad value wherever the name stands."""
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, (dict, list)):
            _spoilt(inner, name, bad)
    if isinstance(value, dict) and name in value:
        value[name] = bad


@settings(max_examples=100)
@given(sound_events(), st.lists(st.tuples(_PLACES, _BAD), max_size=3), st.data())
def test_whatever_is_wrong_has_a_code_in_the_table(
    events: list[Any], spoils: list[tuple[str, Any]], data: st.DataObject
) -> None:
    value = trajectory(*copy.deepcopy(events))
    for name, bad in spoils:
        target = data.draw(st.sampled_from([value, *value["events"]]))
        _spoilt(target, name, copy.deepcopy(bad))
    result = measured(value)
    codes = {violation["code"] for violation in result.head["violations"]}
    assert codes <= set(MESSAGES)
    assert result.is_measured is not bool(codes)
    # The short way and the checks one by one say the same, and so do bytes and values.
    direct = read(written(value))
    assert direct.value() == json.loads(json.dumps(result.value()))
    assert b"".join(direct.pieces()).decode() == deep_text(result.value(), by_units)


@settings(max_examples=30)
@given(sound_events())
def test_an_identity_is_that_of_the_whole_document(events: list[Any]) -> None:
    value = trajectory(*events, zz={"10": 1.0, "9": [1e21, "\ud83d\ude00"]}, aa=None)
    result = read(written(value))
    assert result.head["trajectory_identity"] == identity(value)
    assert measured({**value, "aa": 0}).head["trajectory_identity"] != identity(value)


@given(several_parts())
@settings(max_examples=30)
def test_totals_are_sums_over_operations(given_parts: list[Part]) -> None:
    events = [event for part in given_parts for event in part.events]
    figures = measured(trajectory(*events)).value()["measurements"]
    shown = sum(
        one["exposure"]["model_visible_bytes"] for one in figures["escalations"] if one["exposure"]
    )
    initial = sum(row["initial_model_visible_bytes"] for row in figures["operations"])
    available = sum(row["raw_available_bytes"] for row in figures["operations"])
    assert figures["final_model_visible_bytes"] == initial + shown
    assert figures["raw_available_bytes"] == available
    assert figures["effective_reduction"]["bytes_avoided"] == available - initial - shown


def test_every_code_is_explained() -> None:
    assert set(EXPLANATIONS) == set(MESSAGES)
    assert all(text.endswith(".") for text in EXPLANATIONS.values())
