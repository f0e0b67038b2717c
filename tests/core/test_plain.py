from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.plain import (
    MAX_SAFE_INTEGER,
    counted,
    is_count,
    is_list,
    is_number,
    is_object,
    printable,
)
from tests.core.strategies import json_values, texts


def test_a_count_is_a_safe_integer_of_either_number_type() -> None:
    assert all(map(is_count, [0, 0.0, -0.0, 1.0, 2**53 - 1]))
    assert not any(map(is_count, [-1, 0.5, 2**53, True, "1", None, float("nan"), float("inf")]))


def test_a_number_is_no_boolean_and_no_text() -> None:
    assert is_number(1.0, 1)
    assert not any(is_number(value, 1) for value in (True, "1", None, 1.5))


def test_safe_integers_end_where_doubles_skip_one() -> None:
    assert float(MAX_SAFE_INTEGER) != float(MAX_SAFE_INTEGER + 1)
    assert float(MAX_SAFE_INTEGER + 1) == float(MAX_SAFE_INTEGER + 2)


@given(json_values())
def test_every_json_value_is_an_object_a_list_or_neither(value: object) -> None:
    text = json.dumps(value)
    assert (is_object(value), is_list(value)) == (text[0] == "{", text[0] == "[")


@given(st.one_of(texts, st.text("\x1b[31m\r\n\t\u202e\x9b a\u00e9", max_size=8)))
def test_untrusted_text_is_spelt_out_for_a_terminal(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert "".join(char for char in text if char.isprintable() and char in shown) == "".join(
        char for char in text if char.isprintable()
    )


@pytest.mark.parametrize(
    ("text", "shown"), [("a é 😀", "a é 😀"), ("\x1b[1m", "\\x1b[1m"), ("\ud800\n", "\\ud800\\n")]
)
def test_text_for_a_terminal_by_example(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_count_stands_with_its_noun() -> None:
    assert counted(0, "plan", "plans") == "0 plans"
    assert counted(1, "plan", "plans") == "1 plan"
    assert counted(1234, "plan", "plans") == "1,234 plans"
