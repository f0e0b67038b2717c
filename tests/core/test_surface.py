from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.canonical import digest
from fabricd.core.documents import BadDocument
from fabricd.core.model import Action, Surface
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps
from tests.core.strategies import json_objects, json_values, texts


def surface(data: bytes) -> Surface:
    return finish(surface_steps(data))


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


actions = st.lists(
    st.one_of(
        st.builds(lambda ref, schema: {"ref": ref, "inputSchema": schema}, texts, json_values(4)),
        json_objects,
        json_values(2),
    ),
    max_size=12,
)


@given(actions, st.sampled_from([1, 1.0]))
def test_actions_keep_their_order_and_those_without_a_ref_drop_out(
    listed: list[Any], version: float
) -> None:
    found = surface(written({"version": version, "actions": listed, "more": 1}))
    kept = [row for row in listed if isinstance(row, dict) and isinstance(row.get("ref"), str)]
    assert list(found.actions) == [Action(row["ref"], row.get("inputSchema")) for row in kept]
    assert found.digest == digest({"version": 1, "actions": kept})


@given(actions)
def test_members_in_another_order_are_the_same_surface(listed: list[Any]) -> None:
    turned = [dict(reversed(row.items())) if isinstance(row, dict) else row for row in listed]
    there = surface(written({"version": 1, "actions": listed}))
    assert surface(written({"actions": turned, "version": 1})).digest == there.digest


def test_the_order_of_actions_is_part_of_the_digest() -> None:
    rows = [{"ref": "a"}, {"ref": "b"}]
    there = surface(written({"version": 1, "actions": rows}))
    assert surface(written({"version": 1, "actions": rows[::-1]})).digest != there.digest


def test_the_first_action_of_a_name_speaks_for_it() -> None:
    rows = [{"ref": "a", "inputSchema": 1}, {"ref": "a", "inputSchema": 2}]
    assert surface(written({"version": 1, "actions": rows})).schema_of() == {"a": 1}


def test_no_actions_are_a_surface_too() -> None:
    assert surface(b'{"version":1,"actions":[]}').actions == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is not JSON: "),
        (b"\xff", "it is not UTF-8"),
        (b"null", "expected an object, found nothing"),
        (b"[]", "expected an object, found a list"),
        (b'"x"', "expected an object, found a text"),
        (b"true", "expected an object, found a boolean"),
        (b"5", "expected an object, found a number"),
        (b"{}", "expected version 1, found none"),
        (b'{"version":2,"actions":[]}', 'expected version 1, found "2"'),
        (b'{"version":true,"actions":[]}', "expected version 1"),
        (b'{"version":"1\\n2","actions":[]}', "expected version 1"),
        (b'{"version":"\\ud800","actions":[]}', "expected version 1"),
        (b'{"version":[[]],"actions":[]}', "expected version 1"),
        (b'{"version":1}', "expected an actions list, found nothing"),
        (b'{"version":1,"actions":{}}', "expected an actions list, found an object"),
        (b'{"version":1,"actions":[1e999]}', "beyond the range of a double"),
        (b'{"version":1,"actions":' + b"[" * 90 + b"]" * 90 + b"}", "levels deep"),
    ],
)
def test_a_bad_surface_is_refused_in_one_sentence(data: bytes, words: str) -> None:
    with pytest.raises(BadDocument) as caught:
        surface(data)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize(("levels", "sound"), [(64, True), (65, False)])
def test_a_schema_may_nest_64_levels_deep(levels: int, sound: bool) -> None:
    schema = "[" * levels + "]" * levels
    data = f'{{"version":1,"actions":[{{"ref":"a","inputSchema":{schema}}}]}}'.encode()
    if sound:
        assert len(surface(data).actions) == 1
    else:
        with pytest.raises(BadDocument, match="levels"):
            surface(data)


def test_hashing_a_surface_pauses_between_actions() -> None:
    data = written({"version": 1, "actions": [{"ref": str(n)} for n in range(33)]})
    assert sum(1 for _ in surface_steps(data)) >= 2 * (33 // 8)
