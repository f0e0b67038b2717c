from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.identity import (
    NotCanonical,
    canonical_line,
    canonical_text,
    identity,
    is_canonical,
)
from fabricd.core.javascript import number_text, utf16_key

_TEXTS = st.text(st.sampled_from('ab0129"\\\n\x00\x7fé\u2028\ue000\uffff😀\ud800'), max_size=4)
_NUMBERS = st.one_of(
    st.integers(-(2**80), 2**80),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -0.0, 1e21, 1e-7, 100.0]),
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), _TEXTS, _NUMBERS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)


def plainly(value: Any) -> str:
    """The canonical text, written as the rule says it."""
    if isinstance(value, dict):
        indices = [key for key in value if is_index(key)]
        others = sorted((key for key in value if not is_index(key)), key=utf16_key)
        keys = sorted(indices, key=int) + others
        return "{" + ",".join(f"{plainly(key)}:{plainly(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(plainly, value)) + "]"
    if isinstance(value, str):
        return escaped(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return number_text(float(value))


def is_index(key: str) -> bool:
    """Whether a key is an array index."""
    return re.fullmatch("0|[1-9][0-9]{0,9}", key) is not None and int(key) < 2**32 - 1


def escaped(text: str) -> str:
    """A text in quotes."""
    units = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
    return json.dumps(units, ensure_ascii=False).replace("\ud800", "\\ud800")


@settings(max_examples=200)
@given(_VALUES)
def test_it_is_the_text_that_the_rule_says(value: Any) -> None:
    text = plainly(value)
    assert canonical_text(value) == text
    line = f"{text}\n".encode()
    assert canonical_line(value) == line
    assert identity(value) == f"sha256:{sha256(line).hexdigest()}"


@given(st.lists(_VALUES, max_size=3), st.integers(0, 600))
def test_long_lists_are_written_in_pieces(values: list[Any], count: int) -> None:
    items = (values * (count // len(values) + 1))[:count] if values else [1] * count
    value = {"items": items, "9": items[:2], "after": []}
    assert canonical_text(value) == plainly(value)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), 10**400])
@pytest.mark.parametrize("levels", [0, 3, 150])
def test_a_number_that_is_not_finite_has_no_text(number: float, levels: int) -> None:
    value: Any = {"a": number}
    for _ in range(levels):
        value = [value]
    assert not is_canonical(value)
    for ask in (canonical_text, canonical_line, identity):
        with pytest.raises(NotCanonical):
            ask(value)
    assert is_canonical({"a": 2**60})


@pytest.mark.parametrize("levels", [99, 100, 101, 1999])
def test_depth_is_no_matter(levels: int) -> None:
    value: Any = {"b": 1, "a": "é"}
    for number in range(levels):
        value = [value] if number % 2 else {"k": value}
    text = canonical_text(value)
    assert '{"a":"é","b":1}' in text
    assert len(text) == len('{"a":"é","b":1}') + 6 * ((levels + 1) // 2) + 2 * (levels // 2)


def test_tuples_are_arrays() -> None:
    assert canonical_text({"a": (1, "2")}) == '{"a":[1,"2"]}'
