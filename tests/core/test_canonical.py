from __future__ import annotations

import json
import random
import string
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.canonical import (
    as_given,
    collated,
    digest,
    digest_members,
    pretty,
    string_text,
    text,
    utf8,
)
from fabricd.core.javascript import NumberOutOfRange
from fabricd.core.steps import finish
from tests.core.making import Json
from tests.core.strategies import json_objects, json_values, names, texts
from tests.oracle import naive

COLLATION = Path(__file__).parents[2] / "fixtures" / "conformance" / "collation_ascii.json"
ascii_keys = st.lists(
    st.text(st.characters(min_codepoint=0, max_codepoint=127), max_size=4), unique=True, max_size=8
)


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same value with every object's members in another order."""
    if isinstance(value, dict):
        members = [(key, shuffled(item, rng)) for key, item in value.items()]
        rng.shuffle(members)
        return dict(members)
    return [shuffled(item, rng) for item in value] if isinstance(value, list) else value


def doubled(value: Any) -> Any:
    """The value as a reader holds it that knows only doubles."""
    if isinstance(value, dict):
        return {key: doubled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [doubled(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@given(json_values(), st.randoms(use_true_random=False))
def test_the_text_does_not_depend_on_insertion_order(value: Any, rng: random.Random) -> None:
    assert text(shuffled(value, rng)) == text(value)


@given(json_values())
def test_the_text_is_the_oracles(value: Any) -> None:
    assert text(value) == naive.canonical(doubled(value))


@given(json_values())
def test_the_text_reads_back_as_the_same_value(value: Any) -> None:
    assert doubled(json.loads(text(value))) == doubled(value)


@given(json_values())
def test_equal_values_have_one_digest_whatever_type_their_numbers_have(value: Any) -> None:
    assert digest(doubled(value)) == digest(value)


@given(json_values())
def test_a_digest_is_the_hash_of_the_utf8_text(value: Any) -> None:
    assert digest(value) == sha256(text(value).encode("utf-8")).hexdigest()


@given(ascii_keys)
def test_ascii_keys_follow_the_oracles_collation(keys: list[str]) -> None:
    assert collated(keys) == naive.key_order(keys)


@given(st.lists(names, unique=True, max_size=8), st.randoms(use_true_random=False))
def test_key_order_is_a_permutation_that_forgets_where_it_came_from(
    keys: list[str], rng: random.Random
) -> None:
    other = keys[:]
    rng.shuffle(other)
    assert collated(keys) == collated(other)
    assert sorted(collated(keys)) == sorted(keys)


def test_single_characters_follow_the_recorded_collation() -> None:
    recorded = json.loads(COLLATION.read_text())["order"]
    # Ignorable characters compare equal, and digits are array indices: neither has a place here.
    weighed = [char for char in recorded if char in naive.COLLATION or char.isalpha()]
    weighed = [char for char in weighed if char not in string.digits]
    assert len(weighed) > 80
    assert collated(weighed) == weighed


def test_letters_differ_by_case_only_where_nothing_else_does() -> None:
    keys = ["properties", "minLength", "maxItems", "minimum", "maxitems", "max_items"]
    ordered = ["max_items", "maxitems", "maxItems", "minimum", "minLength", "properties"]
    assert collated(keys) == ordered


def test_array_indices_come_first_in_numeric_order() -> None:
    assert collated(["b", "10", "9", "01", "-"]) == ["9", "10", "-", "01", "b"]
    assert collated(["é", "10", "9"]) == ["9", "10", "é"]


def test_one_key_beyond_ascii_puts_the_whole_object_in_unit_order() -> None:
    assert collated(["b", "A", "_"]) == ["_", "A", "b"]
    assert collated(["b", "A", "_", "é"]) == ["A", "_", "b", "é"]
    assert collated(["\uffff", "\U0001f600"]) == ["\U0001f600", "\uffff"]


def test_keys_that_collate_equal_are_ordered_all_the_same() -> None:
    assert collated(["a\x01", "a", "a\x00"]) == collated(["a", "a\x00", "a\x01"])


def test_other_orders_are_taken_as_asked() -> None:
    keys = ["b", "_", "A"]
    assert text(dict.fromkeys(keys), as_given) == '{"b":null,"_":null,"A":null}'


@given(texts)
def test_a_string_text_is_utf8_and_reads_back(value: str) -> None:
    quoted = string_text(value)
    quoted.encode()
    joined = json.loads(quoted).encode("utf-16-le", "surrogatepass")
    assert joined == value.encode("utf-16-le", "surrogatepass")


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("\ud800", '"\\ud800"'),
        ("a\udfffé", '"a\\udfffé"'),
        ("\ud83d\ude00", '"😀"'),
        ("\x00\x1f\x7f\u2028/", '"\\u0000\\u001f\x7f\u2028/"'),
        ('\b\f\n\r\t"\\', '"\\b\\f\\n\\r\\t\\"\\\\"'),
    ],
)
def test_string_escapes(value: str, quoted: str) -> None:
    assert string_text(value) == quoted
    assert utf8(quoted).decode() == quoted


def test_numbers_in_text_are_doubles() -> None:
    assert text([12345678901234567890, 1.0, -0.0, True]) == "[12345678901234567000,1,0,true]"


def test_what_json_cannot_say_has_no_text() -> None:
    with pytest.raises(TypeError, match="set has no JSON text"):
        text({"a": set[str]()})
    with pytest.raises(NumberOutOfRange):
        digest([10**400])


@given(st.lists(json_values(4), max_size=7), json_objects, st.integers(1, 4))
def test_the_digest_of_members_is_the_digest_of_the_object(
    items: list[Any], other: Json, every: int
) -> None:
    steps = digest_members([("actions", items), ("other", other), ("version", 1)], every)
    assert finish(steps) == digest({"version": 1, "other": other, "actions": items})


@given(st.integers(0, 20), st.integers(1, 5))
def test_hashing_members_pauses_after_every_few_items(count: int, every: int) -> None:
    pauses = sum(1 for _ in digest_members([("items", [0] * count)], every))
    assert pauses == count // every


def test_no_members_are_the_empty_object() -> None:
    assert finish(digest_members([], 1)) == digest({})


@given(json_values())
def test_the_layout_of_durable_files_is_two_spaces_and_keys_as_given(value: Any) -> None:
    printed = pretty(value)
    assert doubled(json.loads(printed)) == doubled(value)
    scalars = json.loads(printed, parse_float=str, parse_int=str)
    printed_again = json.dumps(json.loads(text(value, as_given), parse_float=str, parse_int=str))
    assert json.dumps(scalars) == printed_again


def test_the_layout_by_example() -> None:
    value = {"b": [1, {}, []], "a": {"x": None}}
    assert pretty(value) == json.dumps(value, indent=2)
