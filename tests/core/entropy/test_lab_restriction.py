"""The rewrite changes what it names, nothing else, and never its input."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec import structs

from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import Artifact, Gate, Overlay, Quarantine
from fabricd.core.entropy.lab.proposals import EnumTighten, NoiseQuarantine
from fabricd.core.entropy.lab.restriction import (
    effective_steps,
    overlays_of,
    quarantined_of,
    tightened,
)
from fabricd.core.javascript import utf16_key
from fabricd.core.model import Action, Surface
from fabricd.core.steps import finish
from tests.core.entropy.studied import MODE, surface
from tests.core.making import Json
from tests.core.strategies import json_objects, names

FAST = EnumTighten("a", "mode", ("fast",), 3, 8, 2, 0.5)
NOISE = NoiseQuarantine("b", 3, 0, 3, 1.0)


def artifact(live: Surface, *proposals: EnumTighten | NoiseQuarantine) -> Artifact:
    enums = [row for row in proposals if isinstance(row, EnumTighten)]
    noise = [row for row in proposals if isinstance(row, NoiseQuarantine)]
    overlays, quarantined = overlays_of(live, enums), quarantined_of(live, noise)
    return Artifact(1, 2, (), (), Gate(True, 0, 0), "e", overlays, quarantined)


def effective(live: Surface, entries: Artifact) -> Surface:
    return finish(effective_steps(live, entries))


def test_the_enum_is_injected_and_everything_else_stays() -> None:
    schema = MODE | {"$defs": {"x": {"enum": [1, 2]}}}
    found = tightened(schema, [FAST])
    assert found["properties"]["mode"] == {"type": "string", "enum": ["fast"]}
    assert list(found) == list(schema)
    assert found | {"properties": 0} == schema | {"properties": 0}
    assert found["properties"]["path"] is schema["properties"]["path"]


def test_an_overlay_holds_the_rewritten_schema_and_the_digest_of_the_live_one() -> None:
    live = surface(a=MODE, b=MODE)
    entries = artifact(live, FAST, NOISE)
    assert entries.overlays == (Overlay("a", tightened(MODE, [FAST]), digest(MODE)),)
    assert entries.quarantined == (Quarantine("b", digest(MODE)),)


def test_several_enums_of_an_action_share_an_overlay() -> None:
    schema: Json = {"properties": {k: {"enum": [1, 2, 3]} for k in "xyz"}}
    proposals = [structs.replace(FAST, key=key, values=(1,)) for key in "xz"]
    [overlay] = artifact(surface(a=schema), *proposals).overlays
    assert [overlay.input_schema["properties"][k]["enum"] for k in "xyz"] == [[1], [1, 2, 3], [1]]


def test_the_effective_surface_is_sorted_by_ref_and_named_by_its_own_digest() -> None:
    live = surface(c=MODE, b=MODE, a=MODE)
    found = effective(live, artifact(live, FAST, NOISE))
    listed: list[Json] = [
        {"ref": row.ref, "inputSchema": row.input_schema} for row in found.actions
    ]
    assert [row["ref"] for row in listed] == ["a", "c"]
    assert listed[0]["inputSchema"]["properties"]["mode"]["enum"] == ["fast"]
    assert found.digest == digest({"version": 1, "actions": listed})


def test_an_action_that_is_tightened_and_removed_is_removed() -> None:
    live = surface(a=MODE)
    entries = artifact(live, FAST, structs.replace(NOISE, ref="a"))
    assert effective(live, entries).actions == ()


def test_the_first_action_of_a_name_speaks_for_it() -> None:
    live = Surface((Action("a", MODE), Action("a", None)), "live")
    assert [row.input_schema for row in effective(live, artifact(live)).actions] == [MODE]


@st.composite
def cases(draw: DrawFn) -> tuple[Surface, Artifact]:
    """A surface of odd schemas, with restrictions wherever one is possible."""
    refs = draw(st.lists(names, unique=True, max_size=5))
    actions: list[Action] = []
    proposals: list[EnumTighten | NoiseQuarantine] = []
    for ref in refs:
        schema: Any = draw(st.one_of(st.none(), json_objects, st.just(MODE)))
        actions.append(Action(ref, schema))
        if schema == MODE and draw(st.booleans()):
            proposals.append(structs.replace(FAST, ref=ref))
        if draw(st.booleans()):
            proposals.append(structs.replace(NOISE, ref=ref))
    live = Surface(tuple(actions), "live")
    return live, artifact(live, *proposals)


@settings(max_examples=30)
@given(cases())
def test_a_rewrite_never_changes_its_input(case: tuple[Surface, Artifact]) -> None:
    live, entries = case
    before = copy.deepcopy((live, entries))
    found = effective(live, entries)
    assert (live, entries) == before
    refs = [action.ref for action in found.actions]
    assert refs == sorted(refs, key=utf16_key)
    gone = {row.ref for row in entries.quarantined}
    assert set(refs) == set(live.schema_of()) - gone


@settings(max_examples=30)
@given(cases(), json_objects)
def test_the_effective_surface_of_a_drifted_schema_is_the_live_one(
    case: tuple[Surface, Artifact], other: Json
) -> None:
    live, entries = case
    drifted = tuple(Action(row.ref, {"drifted": other}) for row in live.actions)
    found = effective(Surface(drifted, "live"), entries)
    assert list(found.actions) == sorted(drifted, key=lambda row: utf16_key(row.ref))


@settings(max_examples=30)
@given(cases())
def test_without_entries_nothing_is_rewritten(case: tuple[Surface, Artifact]) -> None:
    live, _ = case
    assert effective(live, artifact(live)).schema_of() == live.schema_of()
