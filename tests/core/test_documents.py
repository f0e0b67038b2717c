from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.documents import BadDocument, strict_json
from tests.core.strategies import json_values


@given(json_values(), st.booleans())
def test_a_document_is_read_exactly(value: Any, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    assert strict_json(data) == value
    assert strict_json(b"\xef\xbb\xbf" + data) == value


@given(st.binary(max_size=30))
def test_any_bytes_are_a_document_or_one_clear_refusal(data: bytes) -> None:
    try:
        strict_json(data)
    except BadDocument as refusal:
        assert str(refusal)
        assert "\n" not in str(refusal)


def test_integers_stay_exact_and_floats_stay_floats() -> None:
    assert strict_json(b"[9007199254740993, -0, 1.0]") == [9007199254740993, 0, 1.0]
    assert isinstance(strict_json(b"1.0"), float)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON: Expecting value at line 1 column 1"),
        (b'{"a":\n 1,}', "line 2 column"),
        (b"{} {}", "not JSON: Extra data"),
        (b"\xff", "not UTF-8 (byte 0)"),
        (b'"ab\xe2\x82"', "not UTF-8 (byte 3)"),
        (b"NaN", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"1e999", "1e999 is beyond the range of a double"),
        (b"1" + b"0" * 399, "a number of 400 digits is beyond"),
        (b"9" * 5000, "a number of 5000 digits is beyond"),
        (b"[" * 65 + b"]" * 65, "more than 64 levels"),
        (b"[" * 100_000, "more than 64 levels"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(data: bytes, words: str) -> None:
    with pytest.raises(BadDocument) as caught:
        strict_json(data)
    assert words in str(caught.value)


def test_64_levels_are_allowed_and_the_reader_may_allow_more() -> None:
    assert strict_json(b"[" * 64 + b"]" * 64)
    assert strict_json(b"[" * 70 + b"]" * 70, 70)
