from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.nesting import (
    TooDeep,
    deeper_than,
    depth_steps,
    may_exceed,
    require_depth,
    value_deeper_than,
)
from tests.core.strategies import json_values, texts
from tests.growth import grows_with_length


def naive_depth(data: bytes) -> int:
    """The deepest bracket outside strings, one byte at a time."""
    depth = deepest = 0
    inside = escaped = False
    for byte in data:
        if escaped:
            escaped = False
        elif byte == ord("\\"):
            escaped = inside
        elif byte == ord('"'):
            inside = not inside
        elif not inside and byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif not inside and byte in b"]}":
            depth -= 1
    return deepest


def value_depth(value: Any) -> int:
    """How deep a value nests, by itself."""
    if not isinstance(value, dict | list):
        return 0
    children = value.values() if isinstance(value, dict) else value
    return 1 + max(map(value_depth, children), default=0)


nested = st.integers(0, 9).flatmap(
    lambda depth: json_values(8).map(lambda value: _wrapped(value, depth))
)
quotes_and_brackets = st.lists(st.sampled_from(['"', "\\", "[", "}", "\\\\", "a"]), max_size=9)


def _wrapped(value: Any, depth: int) -> Any:
    for level in range(depth):
        value = [value] if level % 2 else {'k"[\\': value}
    return value


@given(nested, st.booleans())
def test_depth_of_json_is_the_depth_of_its_value(value: Any, escaped: bool) -> None:
    data = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    for levels in range(value_depth(value) + 2):
        assert deeper_than(data, levels) == (value_depth(value) > levels)


@given(nested)
def test_a_decoded_value_is_as_deep_as_its_text(value: Any) -> None:
    for levels in range(1, value_depth(value) + 2):
        assert value_deeper_than(value, levels) == (value_depth(value) > levels)


def test_the_depth_of_a_value_is_found_without_recursion() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value, {}]
    assert value_deeper_than(value, 64)
    assert value_deeper_than(value, 100_000)
    assert not value_deeper_than(value, 100_001)
    while value:
        # Taken apart by hand: letting go of it at once would recurse.
        value = value[0]


@given(quotes_and_brackets, st.integers(1, 4))
def test_brackets_in_strings_do_not_count(parts: list[str], depth: int) -> None:
    data = ("[" * depth + json.dumps("".join(parts)) + "]" * depth).encode()
    assert deeper_than(data, depth - 1)
    assert not deeper_than(data, depth)


@given(st.lists(st.sampled_from(['"x"', "[", "{", '"\\""', '"\\\\"', '"\\\\\\"["']), max_size=30))
def test_depth_agrees_with_a_byte_by_byte_reader(parts: list[str]) -> None:
    data = ",".join(parts).encode()
    depth = naive_depth(data)
    assert not deeper_than(data, depth)
    assert depth == 0 or deeper_than(data, depth - 1)


@given(texts, st.integers(0, 3))
def test_enough_brackets_are_never_overlooked(text: str, levels: int) -> None:
    data = text.encode("utf-8", "surrogatepass") + b"[{"
    assert may_exceed(data, levels) or not deeper_than(data, levels)


@given(st.text("[{]}x", max_size=40), st.integers(0, 8))
def test_all_opening_brackets_are_counted(text: str, levels: int) -> None:
    opening = text.count("[") + text.count("{")
    has_room = len(text) > 2 * levels
    assert may_exceed(text.encode(), levels) == (has_room and opening > levels)


def test_depth_is_counted_across_block_boundaries() -> None:
    filler = b'"' + b"x" * 300_000 + b'",'
    data = b"[" + filler + b"[" + filler + b'["]]]"' + filler + b"[0]]]]"
    assert deeper_than(data, 3)
    assert not deeper_than(data, 4)


def test_more_brackets_than_one_batch_holds_are_counted() -> None:
    data = b"[]," * 9000 + b"[" * 40 + b"]" * 40
    assert deeper_than(data, 39)
    assert not deeper_than(data, 40)


def test_the_refusal_names_the_limit() -> None:
    require_depth(b"[[0]]", 2)
    with pytest.raises(TooDeep, match="more than 2 levels") as caught:
        require_depth(b"[[[0]]]", 2)
    assert caught.value.levels == 2


@pytest.mark.parametrize(
    "hostile",
    [b"[", b"[]", b'"', b"\\", b'\\"['],
    ids=["openers", "pairs", "quotes", "backslashes", "escapes"],
)
def test_a_hostile_record_is_judged_in_time_by_its_length(hostile: bytes) -> None:
    assert grows_with_length(
        lambda length: (hostile * length)[:length],
        lambda record: deeper_than(record, 512),
        4_000_001,
    )


def test_a_long_record_holds_nobody_up() -> None:
    assert sum(1 for _ in depth_steps(b"[]" * 600_000, 512)) > 3
