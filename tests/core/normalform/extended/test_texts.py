"""What a text may be read as, to the last digit."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.normalform.extended.texts import (
    arguments_of,
    boolean_of,
    container_of,
    exact_number_of,
)
from tests.core.strategies import json_values


@pytest.mark.parametrize("text", ["true", "True", "TRUE", "tRuE", "false", "FALSE"])
def test_a_truth_value_in_any_case(text: str) -> None:
    assert boolean_of(text) is (text.lower() == "true")


@pytest.mark.parametrize(
    "text", ["", "1", "yes", " true", "true ", "tru\u0435", "fal\u017fe", "nottrue"]
)
def test_nothing_else_is_a_truth_value(text: str) -> None:
    assert boolean_of(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("-3", -3), ("0.5", 0.5), ("1e+21", 1e21), ("100000000000000000000", 10**20)],
)
def test_a_number_is_read_exactly(text: str, value: float) -> None:
    found = exact_number_of(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    ["", "5.0", "05", "+5", " 5", "-0", "1e3", "9007199254740993", "1e+400", "0x1", "\u0665"],
)
def test_a_number_in_another_spelling_is_none(text: str) -> None:
    assert exact_number_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        ' \t\r\n{"a": [1, "x", null, true]}\n ',
        "[9007199254740991, -9007199254740991]",
        "[9007199254740992, 100000000000000000000]",
        "[1.0, 1.10, 1e5, 0.1, 5e-324, -0, -0.0, 0e99999, 1E+2, 12300e-2]",
        '{"a": {"a": 1}}',
        '"\\ud800"'.join("[]"),
        "[" * 64 + "]" * 64,
        "[" + "0.1," * 10 + "0.1]",
    ],
)
def test_a_strict_json_text_is_read(text: str) -> None:
    assert container_of(text) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "null",
        '"[]"',
        "[1,]",
        "['a']",
        "[True]",
        "[NaN]",
        "[Infinity]",
        "[] []",
        "[1] x",
        "[01]",
        "[1.]",
        "[",
        "\ufeff[]",
        "\u00a0[]",
        "[\u00a01]",
        '["\n"]',
        '{"a": 1, "a": 1}',
        '[{"a": {"b": 1, "b": 2}}]',
        '{"a": 1, "\\u0061": 1}',
        "[9007199254740993]",
        "[-9007199254740993]",
        "[123456789012345678901]",
        "[0.1000000000000000055511151231257827]",
        "[3.14159265358979323846]",
        "[1e400]",
        "[-1e400]",
        "[1e-400]",
        "[2e-324]",
        f"[1e{'9' * 5000}]",
        f"[1e-{'9' * 5000}]",
        f"[{'9' * 5000}]",
        "[" * 65 + "]" * 65,
        "[" * 100_000,
        "{" * 100 + "}" * 100,
        f'["{"x" * 2**20}"]',
        f'["{"é" * 2**19}"]',
    ],
)
def test_anything_less_is_left_a_text(text: str) -> None:
    assert container_of(text) is None


tokens = st.from_regex(
    r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)


@given(tokens)
def test_a_number_is_kept_if_its_double_gives_it_back(token: str) -> None:
    double = float(token)
    is_whole = token.lstrip("-").isdigit()
    if double in (float("inf"), float("-inf")):
        survives = False
    else:
        is_safe = is_whole and abs(int(token)) < 2**53
        survives = is_safe or Fraction(token) == Fraction(repr(double))
    assert (container_of(f"[{token}]") is not None) == survives


@given(json_values())
def test_what_was_written_from_doubles_is_read_back(value: Any) -> None:
    text = json.dumps([value], ensure_ascii=False)
    found = container_of(text)
    if found is not None:
        assert json.dumps(found) == json.dumps(json.loads(text))


@pytest.mark.parametrize(
    "text", ["{", '{"a": 1, "a": 2}', "[1e400]", "NaN", "[0.10000000000000000555]"]
)
def test_arguments_that_cannot_be_had_exactly_stay_a_text(text: str) -> None:
    assert arguments_of(text) is text


def test_arguments_keep_integers_of_any_length() -> None:
    assert arguments_of('{"id": 1234567890123456789}') == {"id": 1234567890123456789}
    assert arguments_of('"{}"') == "{}"
    assert arguments_of("[" * 100 + "]" * 100) == "[" * 100 + "]" * 100
