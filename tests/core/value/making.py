"""Receipts and records made up: sound ones, strategies over them, and what breaks them."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
from hypothesis import strategies as st

from fabricd.core.model import Witness
from fabricd.core.value.own import Repair, Turn
from fabricd.core.value.receipt import SCHEMA
from fabricd.core.value.record import PROTOCOL

HASH = "sha256:" + "8b" * 32
NOT_ADDED: dict[str, Any] = {"method": None, "safe": False}
DERIVED: dict[str, Any] = {
    "assumptions": ["all calls alike"],
    "comparability": "NOT_COMPARABLE",
    "experiment_id": None,
    "input_measurement_ids": [],
    "method": "a method",
}


def measurement(name: str = "bytes_seen", result: Any = 100, **more: Any) -> dict[str, Any]:
    """A sound measurement that may be added."""
    return {
        "aggregation": {"method": "SUM", "safe": True},
        "baseline": None,
        "class": "OBSERVED",
        "delta": None,
        "derivation": None,
        "direction": "NEUTRAL",
        "evidence_refs": ["e1"],
        "id": name,
        "limitations": [],
        "operator_display": True,
        "result": result,
        "source_verification": "OBSERVED",
        "unit": "byte",
        **more,
    }


def receipt(*measurements: dict[str, Any], run: str | None = "run-1", **more: Any) -> Any:
    """A sound receipt."""
    return {
        "evidence": [
            {"id": "e1", "kind": "CONTENT_HASH", "locator": HASH, "trust": "VERIFIED"},
            {"id": "e2", "kind": "URI", "locator": "https://x.test/", "trust": "UNVERIFIED"},
        ],
        "limitations": ["made up"],
        "measurements": list(measurements) or [measurement()],
        "mechanism": {"id": "opsle.demo", "name": "Demo", "revision": None, "version": "1"},
        "operation": {
            "configuration_id": "cfg",
            "id": "op-1",
            "name": "do-thing",
            "policy_id": None,
        },
        "run": {"id": run},
        "schema": SCHEMA,
        **more,
    }


def numbered(number: int, *measurements: dict[str, Any], run: str | None = "run-1") -> Any:
    """A sound receipt of an operation of its own."""
    made = receipt(*measurements, run=run)
    made["operation"]["id"] = f"op-{number}"
    return made


def record(*receipts: Any, run: str = "run-1", **more: Any) -> dict[str, Any]:
    """A record."""
    return {
        "protocol_version": PROTOCOL,
        "run": {"id": run},
        "value_receipts": list(receipts),
        **more,
    }


def turn(session: str = "s-1", first: str = "c-1", calls: int = 1, at: str | None = None) -> Turn:
    """A turn with so many repairs."""
    digest = "ab" * 32
    witness = msgspec.to_builtins(Witness(1, digest, digest, digest, ()))
    repairs = tuple(Repair(f"{first}.{number}", witness) for number in range(calls))
    return Turn(session, first, "log.jsonl", repairs, at)


NAMES = st.sampled_from(["a", "bytes_seen", "b_2", "tokens"])
VERIFICATIONS = st.sampled_from(["VERIFIED", "OBSERVED", "UNVERIFIED"])


@st.composite
def measurements(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Sound measurements with ids of their own, of one shape for each unit."""
    made: list[dict[str, Any]] = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        result = draw(st.integers(0, 1000))
        more: dict[str, Any] = {"source_verification": draw(VERIFICATIONS)}
        if draw(st.booleans()):
            more["aggregation"] = NOT_ADDED
            baseline = draw(st.integers(0, 1000))
            more |= {"baseline": baseline, "delta": result - baseline}
        if draw(st.booleans()):
            more["evidence_refs"] = ["e2", "e1"]
        made.append(measurement(name, result, operator_display=draw(st.booleans()), **more))
    return made


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Sound records of different runs, of receipts that are all different."""
    made: list[dict[str, Any]] = []
    number = 0
    for run in draw(st.lists(st.sampled_from(["a", "b", "é", "10"]), min_size=1, unique=True)):
        receipts: list[Any] = []
        for figures in draw(st.lists(measurements(), max_size=3)):
            number += 1
            receipts.append(numbered(number, *figures, run=run))
        made.append(record(*receipts, run=run))
    return made


BAD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [None, -1, 0, 1, 2**53, 10**400, 1.5, float("inf"), "", "x", "\ud800", True, False]
    ),
    st.sampled_from([[], {}, [[]], {"a": 1}, ["e1", None], {"id": 7}, [{"id": {}}]]),
).map(copy.deepcopy)


@st.composite
def broken(draw: st.DrawFn, sound: Any) -> Any:
    """A document with some members replaced, removed or added, anywhere."""
    value = copy.deepcopy(sound)
    for _ in range(draw(st.integers(1, 4))):
        boxes = _boxes(value)
        if not boxes:
            return draw(BAD)
        place = draw(st.sampled_from(boxes))
        if isinstance(place, list):
            _break_list(draw, place)
        else:
            _break_object(draw, place)
    return value


def _boxes(value: Any) -> list[Any]:
    found: list[Any] = []
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, (dict, list)):
            found.append(one)
            pending.extend(one.values() if isinstance(one, dict) else one)
    return found


def _break_object(draw: st.DrawFn, place: dict[str, Any]) -> None:
    name = draw(st.sampled_from([*sorted(place), "new", "a/b", ""]))
    is_removed: bool = draw(st.booleans())
    if is_removed:
        place.pop(name, None)
    else:
        place[name] = draw(BAD)


def _break_list(draw: st.DrawFn, place: list[Any]) -> None:
    is_replaced: bool = draw(st.booleans())
    if place and is_replaced:
        place[draw(st.integers(0, len(place) - 1))] = draw(BAD)
    else:
        place.append(copy.deepcopy(place[0]) if place else draw(BAD))
