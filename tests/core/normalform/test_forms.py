from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.javascript import number_text
from fabricd.core.normalform.forms import form, number_of, unique_forms
from fabricd.core.plain import MAX_SAFE_INTEGER
from tests.core.normalform import oracle
from tests.core.schemas import oracle_form, oracle_unique
from tests.core.strategies import texts

spellings = st.one_of(texts, st.text("aAbB _-1\n", max_size=5))
digits = st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
ACCEPTED = """0 -1 1.5 0.5 1e+21 1e-7 5e-324 100000000000000000000 9007199254740992
1.7976931348623157e+308 6.02e+23 9007199254740991 -9007199254740991""".split()
REFUSED = """-0 01 1.0 1. .5 +1 1e3 1E+21 1e21 1000000000000000000000 0.0000001 1e-6 1e+309
9007199254740993 123456789012345678901 0x10 Infinity -Infinity NaN nan 1_000 \uff11 \u0661 --1 1e+
e5""".split()


@given(spellings)
def test_a_form_is_lower_case_without_separators(name: str) -> None:
    assert form(name) == oracle_form(name)


@given(st.lists(spellings, max_size=6))
def test_a_form_is_unique_where_one_listed_name_has_it(names: list[str]) -> None:
    assert unique_forms(names) == oracle_unique(names)


@pytest.mark.parametrize("name", ["", "1a", "_a", "-a", " a", "é", "aé", "a\n", "a.b", "a\t"])
def test_names_that_are_no_plain_words_have_no_form(name: str) -> None:
    assert form(name) is None


def test_a_name_listed_twice_is_ambiguous_with_itself() -> None:
    assert unique_forms(["a", "a", "b"]) == {"b": "b"}
    assert unique_forms(["a_b", "aB", "c"]) == {"c": "c"}


@pytest.mark.parametrize("text", ACCEPTED)
def test_the_exact_text_of_a_number_is_that_number(text: str) -> None:
    found = number_of(text)
    assert found is not None
    assert number_text(found) == text


@pytest.mark.parametrize("text", [*REFUSED, "", " ", " 1", "1 ", "1\n", "1" * 33])
def test_any_other_text_is_no_number(text: str) -> None:
    assert number_of(text) is None


@given(st.one_of(digits, texts))
def test_a_number_has_one_text(text: str) -> None:
    assert number_of(text) == oracle.number(text)


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**60), 2**60)))
def test_every_number_is_read_back_from_its_text(value: float) -> None:
    found = number_of(number_text(value))
    assert found == float(value)
    whole = float(value).is_integer() and abs(value) <= MAX_SAFE_INTEGER
    assert isinstance(found, int) == whole
