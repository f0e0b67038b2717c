"""Equality, truth and texts as a JavaScript reader of the same JSON has them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from fabricd.core.trajectory.values import ABSENT, count_of, is_true, number_of, same, text_of


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (2**53 + 1, 2.0**53, True),
        pytest.param(10**400, 10**401, True, id="huge"),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (None, ABSENT, False),
        (ABSENT, ABSENT, True),
        ({}, {}, False),
        ([], [], False),
    ],
)
def test_equality(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal
    assert same(right, left) is equal


@pytest.mark.parametrize(
    ("value", "count"),
    [(0, 0), (-0.0, 0), (1e2, 100), (2**53 - 1, 2**53 - 1), (9007199254740990.6, 2**53 - 1)]
    + [(value, None) for value in (2**53, -1, 1.5, True, "1", None, float("inf"))],
)
def test_counts(value: Any, count: int | None) -> None:
    assert count_of(value) == count


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (None, "null"),
        (True, "true"),
        (1e21, "1e+21"),
        pytest.param(-(10**400), "-Infinity", id="huge"),
        ({"a": 1}, "[object Object]"),
        ([1, [None, "x"], {}], "1,,x,[object Object]"),
        ([], ""),
        (ABSENT, "undefined"),
    ],
)
def test_texts(value: Any, text: str) -> None:
    assert text_of(value) == text


def test_truth() -> None:
    assert [is_true(value) for value in ([], {}, "x", 1, True)] == [True] * 5
    assert [is_true(value) for value in (ABSENT, None, "", 0, -0.0, False)] == [False] * 6


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("0x1F", 31.0),
        (" 0XfF\n", 255.0),
        ("0o17", 15.0),
        ("0B101", 5.0),
        ("0x" + "f" * 400, math.inf),
        ("+Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("-0x1", None),
        ("0x", None),
        ("0b2", None),
        ("0x1_0", None),
        ("infinity", None),
    ],
)
def test_numbers_as_a_loose_comparison_reads_them(written: str, number: float | None) -> None:
    assert number_of(written) == number
