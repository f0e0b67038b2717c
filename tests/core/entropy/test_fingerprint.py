from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.canonical import digest
from fabricd.core.entropy.fingerprint import (
    any_containers,
    distance_millionths,
    has_containers,
    known_signature,
    known_signatures,
    shannon,
    shannon_of_ranks,
    shape_digest,
    signature,
    signature_distance,
)
from tests.core.making import Json
from tests.core.strategies import json_objects, texts
from tests.growth import grows_with_length
from tests.oracle import naive

# One key and one letter make collisions of a memo as likely as they can be.
TINY: st.SearchStrategy[Json] = st.dictionaries(
    st.sampled_from("ab"),
    st.sampled_from([None, True, 1, 1.0, "", "a", [], {}, {"a": 1}]),
    max_size=2,
)
VALUES: list[Any] = [None, True, 1, 2.5, "x", [], {}]
TAGS = ["null", "bool", "num", "num", "str", "arr", "{}"]


def oracle_signature(args: Json) -> str:
    as_doubles = {key: _doubled(value) for key, value in args.items()}
    return f"({naive.members(as_doubles)})"


def _doubled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _doubled(item) for key, item in value.items()}
    return float(value) if type(value) is int else value


@given(json_objects)
def test_a_signature_is_the_oracles(args: Json) -> None:
    assert signature(args) == oracle_signature(args)


@given(st.lists(TINY, max_size=6))
def test_what_was_asked_before_changes_no_signature(asked: list[Json]) -> None:
    for args in asked * 2:
        assert signature(args) == oracle_signature(args)


@given(TINY)
def test_only_shapes_without_containers_are_remembered(args: Json) -> None:
    signature(args)
    known = known_signature(args)
    assert known == (None if has_containers(args) else signature(args))
    assert has_containers(args) == any(isinstance(v, dict | list) for v in args.values())


@given(st.lists(TINY, max_size=4))
def test_several_calls_are_known_together_or_not_at_all(calls: list[Json]) -> None:
    for args in calls:
        signature(args)
    known = [known_signature(args) for args in calls]
    assert known_signatures(calls) == (None if None in known else known)
    assert any_containers(calls) == any(map(has_containers, calls))


@pytest.mark.parametrize(("value", "tag"), list(zip(VALUES, TAGS, strict=True)))
def test_tags(value: Any, tag: str) -> None:
    assert signature({"k": value}) == f"(k:{tag})"


def test_two_nested_levels_are_opened() -> None:
    assert signature({"a": {"b": {"c": {"d": 1}}}}) == "(a:{b:{c:obj}})"
    assert signature({"a": [{"b": 1}]}) == "(a:arr)"
    assert signature({}) == "()"


def test_keys_are_in_unit_order_and_bounded() -> None:
    assert signature({"\uffff": 1, "\U0001f600": 1, "B": 1, "a": 1}) == (
        "(B:num,a:num,\U0001f600:num,\uffff:num)"
    )
    many = signature({f"k{n:02}": {f"i{m:02}": 1 for m in range(33)} for n in range(40)})
    assert many.endswith(",…+8)")
    assert many.count("…+1}") == 32


def test_a_shape_digest_hashes_the_signature() -> None:
    assert shape_digest({"b": 1, "a": "x"}) == digest("(a:str,b:num)")


@settings(max_examples=100)
@given(texts, texts)
def test_distance_is_the_oracles(left: str, right: str) -> None:
    assert signature_distance(left, right) == naive.distance(left, right)
    assert distance_millionths(left, right) == distance_millionths(right, left)
    assert (distance_millionths(left, right) == 0) == (naive.units(left) == naive.units(right))


def test_distance_counts_utf16_units() -> None:
    assert distance_millionths("\U0001f600", "\U0001f601") == 500_000
    assert distance_millionths("\U0001f600", "") == 1_000_000
    assert distance_millionths("", "") == 0


def test_distance_is_rounded_to_millionths() -> None:
    assert distance_millionths("abc", "abd") == 333_333
    assert distance_millionths("abc", "xyd") == 1_000_000
    assert distance_millionths("abcdef", "xbcdef") == 166_667


def test_beyond_8192_units_only_the_first_8192_count() -> None:
    same = "x" * 8192
    assert distance_millionths(same + "a" * 50, same + "b" * 900) == 0
    assert distance_millionths("y" + same, same) == round(1 / 8192 * 1e6)
    assert distance_millionths(same[1:] + "a", same) == round(1 / 8192 * 1e6)
    astral = "\U0001f600" * 4096
    assert distance_millionths(astral + "a", astral + "b") == 0
    assert distance_millionths(astral[1:] + "a", astral[1:] + "b") > 0


def test_a_hostile_pair_of_signatures_takes_no_square_of_its_length() -> None:
    def act(count: int) -> None:
        distance_millionths("ab" * count, "ba" * (count - 10_000))

    assert grows_with_length(lambda length: length, act, 260_000)


@given(st.lists(st.integers(0, 50), max_size=8))
def test_entropy_is_the_oracles(counts: list[int]) -> None:
    listed = [f"value {n}" for n, count in enumerate(counts) for _ in range(count)]
    assert shannon(counts) == naive.bits(listed)


@given(st.lists(st.integers(0, 50), max_size=8), st.randoms(use_true_random=False))
def test_entropy_does_not_depend_on_the_order_of_discovery(counts: list[int], rng: Any) -> None:
    other = counts[:]
    rng.shuffle(other)
    assert shannon(counts) == shannon(other) == shannon_of_ranks(Counter(other))


@pytest.mark.parametrize(
    ("counts", "bits"), [([], 0), ([0], 0), ([7], 0), ([5, 5], 1), ([1] * 8, 3), ([0, 3, 3], 1)]
)
def test_entropy_examples(counts: list[int], bits: float) -> None:
    assert shannon(counts) == bits
    assert math.copysign(1, shannon(counts)) == 1
