from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.javascript import utf16_key
from fabricd.core.model import Action, Surface
from fabricd.core.snapshot import Snapshot, snapshot_steps
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps
from tests.core.making import Json
from tests.core.strategies import json_values, names, texts

# As the host writes it, 39202824940015900, it would read back as an integer that is 4 less.
X = 39202824940015904.0
actions = st.lists(
    st.builds(Action, st.one_of(names, texts), st.one_of(st.none(), json_values(6))), max_size=6
)


def snapshot(*listed: Action) -> Snapshot:
    return finish(snapshot_steps(Surface(listed, "")))


def text(*listed: Action) -> str:
    return snapshot(*listed).data.decode()


@given(actions)
def test_it_reads_back_as_the_actions_by_ref_the_first_of_a_name(listed: list[Action]) -> None:
    first: dict[str, Any] = {}
    for action in listed:
        first.setdefault(action.ref, action.input_schema)
    found = snapshot(*listed)
    read = finish(surface_steps(found.data))
    assert [action.ref for action in read.actions] == sorted(first, key=utf16_key)
    assert read.schema_of() == first
    assert (found.actions, found.beyond_limit) == (len(first), 0)


@given(actions, st.randoms(use_true_random=False))
def test_it_is_a_function_of_the_actions_and_a_fixed_point(listed: list[Action], rng: Any) -> None:
    named = list({action.ref: action for action in listed}.values())
    there = snapshot(*named).data
    rng.shuffle(named)
    assert snapshot(*named).data == there
    assert finish(snapshot_steps(finish(surface_steps(there)))).data == there


def test_the_layout_is_that_of_the_durable_files() -> None:
    schema: Json = {"type": "object", "properties": {}, "required": [], "enum": ["é", 1.5, None]}
    value = {"version": 1, "actions": [{"ref": "a", "inputSchema": schema}, {"ref": "b"}]}
    assert text(Action("b"), Action("a", schema)) == (
        json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    )
    assert text() == '{\n  "version": 1,\n  "actions": []\n}\n'


def test_numbers_are_written_as_the_host_does_and_integers_digit_by_digit() -> None:
    written = text(Action("a", [1e21, 1e16, 1e-7, 1.0, -0.0, True, 2**63 - 1, 10**25, X]))
    rows = [row.strip().rstrip(",") for row in written.splitlines()[6:15]]
    assert rows == [
        "1e+21",
        "10000000000000000",
        "1e-7",
        "1",
        "0",
        "true",
        "9223372036854775807",
        "10000000000000000000000000",
        "3.92028249400159e+16",
    ]


def test_a_thousand_actions_are_listed_and_the_others_counted() -> None:
    found = snapshot(*(Action(f"r{number:04}", {}) for number in reversed(range(1003))))
    read = finish(surface_steps(found.data)).actions
    assert (found.actions, found.beyond_limit, len(read)) == (1000, 3, 1000)
    assert (read[0].ref, read[-1].ref) == ("r0000", "r0999")


def test_it_pauses_between_actions() -> None:
    listed = tuple(Action(str(number), {}) for number in range(33))
    assert sum(1 for _ in snapshot_steps(Surface(listed, ""))) == 4
