from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fabricd.core.javascript import (
    WHITE_SPACE,
    NumberOutOfRange,
    as_double,
    has_lone_surrogate,
    is_array_index,
    join_surrogates,
    number_text,
    plain_sum,
    round6,
    sorted_by_units,
    trim,
    unit_length,
)
from tests.core.strategies import characters, texts

EXACT = Context(prec=2000)
doubles = st.floats(allow_nan=False, allow_infinity=False)
# Both sides of every point where the layout of a number text changes.
EDGES = [1e-6, 1.5e-6, 9.99e-7, 1e-7, 1e-5, 1e15, 1e16, 1.5e16, 1.5e20, 1.2345678901234568e20, 1e21]
powers_of_two = st.integers(-1074, 1023).map(lambda exponent: 2.0**exponent)


def units(text: str) -> list[int]:
    """UTF-16 code units, by the definition of the encoding."""
    found: list[int] = []
    for char in text:
        point = ord(char)
        if point < 0x10000:
            found.append(point)
        else:
            found += [0xD800 + ((point - 0x10000) >> 10), 0xDC00 + ((point - 0x10000) & 0x3FF)]
    return found


def shortest(value: float) -> tuple[str, int]:
    """The fewest digits that read back as the same double, and the place of their point."""
    exact = Decimal(value)
    for size in range(1, 18):
        # Beside a power of two only one of the neighbours may read back, and not the nearer one.
        last = Decimal(1).scaleb(exact.adjusted() - size + 1)
        both = [exact.quantize(last, how, EXACT) for how in (ROUND_FLOOR, ROUND_CEILING)]
        if good := [near for near in both if float(near) == value]:
            best = min(good, key=lambda near: abs(near - exact))
            digits = "".join(map(str, best.as_tuple().digits))
            return digits.rstrip("0"), best.adjusted() + 1
    raise AssertionError(value)


def specified_text(value: float) -> str:
    """`Number::toString` of the language standard, step by step."""
    if value == 0:
        return "0"
    if value < 0:
        return "-" + specified_text(-value)
    digits, n = shortest(value)
    k = len(digits)
    if k <= n <= 21:
        return digits + "0" * (n - k)
    if 0 < n <= 21:
        return digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + digits
    exponent = f"e{'+' if n > 0 else '-'}{abs(n - 1)}"
    return digits + exponent if k == 1 else digits[0] + "." + digits[1:] + exponent


@settings(max_examples=150)
@example(2.0**-24)
@example(5e-324)
@example(9007199254740993.0)
@given(st.one_of(doubles, st.floats(1e-9, 1e23), powers_of_two))
def test_number_text_is_what_the_language_standard_specifies(value: float) -> None:
    assert number_text(value) == specified_text(value)


@pytest.mark.parametrize("value", EDGES)
@pytest.mark.parametrize("sign", [1, -1])
def test_number_text_changes_its_layout_where_the_standard_does(value: float, sign: int) -> None:
    assert number_text(sign * value) == specified_text(sign * value)


@given(st.integers(-(10**40), 10**40))
def test_an_integer_has_the_text_of_its_double(value: int) -> None:
    assert number_text(value) == specified_text(float(value))


@given(doubles)
def test_number_text_reads_back_as_the_same_double(value: float) -> None:
    assert float(number_text(value)) == value


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_number_that_is_not_finite_prints_as_null(value: float) -> None:
    assert number_text(value) == "null"


def test_an_integer_beyond_every_double_is_out_of_range() -> None:
    assert as_double(2**1023) == float(2**1023)
    with pytest.raises(NumberOutOfRange, match="400 digits"):
        as_double(10**399)


@given(st.floats(-1e12, 1e12))
def test_round6_rounds_to_the_nearest_millionth(value: float) -> None:
    scaled = Decimal(value * 1e6)
    assert round6(value) == int((scaled + Decimal("0.5")).to_integral_value(ROUND_FLOOR)) / 1e6


@given(st.integers(-(10**6), 10**6))
def test_round6_lets_ties_go_up_on_both_sides_of_zero(half: int) -> None:
    tie = (half + 0.5) / 1e6
    # Only those inputs are ties whose product with a million is exactly a half.
    if tie * 1e6 == half + 0.5:
        assert round6(tie) == (half + 1) / 1e6


@pytest.mark.parametrize(
    ("value", "rounded"), [(2.5e-6, 0.000003), (-1.5e-6, -0.000001), (-0.4e-6, 0.0), (-0.0, 0.0)]
)
def test_round6_examples(value: float, rounded: float) -> None:
    assert round6(value) == rounded
    assert math.copysign(1, round6(value)) == math.copysign(1, rounded)


@given(st.lists(st.text(characters, max_size=3), max_size=8))
def test_unit_order_is_the_order_of_the_code_units(found: list[str]) -> None:
    assert sorted_by_units(found) == sorted(found, key=units)


def test_unit_order_is_not_code_point_order() -> None:
    assert sorted_by_units(["\uffff", "\U0001f600"]) == ["\U0001f600", "\uffff"]


@given(texts)
def test_unit_length_counts_code_units(text: str) -> None:
    assert unit_length(text) == len(units(text))


@given(texts)
def test_joining_surrogates_keeps_the_code_units(text: str) -> None:
    joined = join_surrogates(text)
    assert units(joined) == units(text)
    pairs = zip(units(joined), units(joined)[1:], strict=False)
    adjacent = sum(0xD800 <= a < 0xDC00 <= b < 0xE000 for a, b in pairs)
    assert adjacent == sum(ord(char) > 0xFFFF for char in joined)


@given(texts)
def test_a_text_has_a_lone_surrogate_where_it_has_no_utf8_form(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        assert has_lone_surrogate(text)
    else:
        assert not has_lone_surrogate(text)


@given(st.text(st.sampled_from(WHITE_SPACE + "\x85\u200b\x1c\x1fx"), max_size=6))
def test_trim_removes_javascript_blanks_and_no_others(text: str) -> None:
    trimmed = trim(text)
    assert trimmed in text
    assert not trimmed or (trimmed[0] not in WHITE_SPACE and trimmed[-1] not in WHITE_SPACE)
    cut = text.find(trimmed)
    assert set(text[:cut] + text[cut + len(trimmed) :]) <= set(WHITE_SPACE)


@pytest.mark.parametrize("blank", ["\x85", "\u200b", "\x1c", "\u180e"])
def test_blanks_of_other_languages_stay(blank: str) -> None:
    assert trim(f"{blank}x{blank}") == f"{blank}x{blank}"


@given(st.one_of(st.integers(0, 2**33).map(str), st.text("0123456789\u0661+- _", max_size=11)))
def test_an_array_index_is_a_canonical_integer_below_the_length_limit(key: str) -> None:
    canonical = any(key == str(int(key)) for _ in [0] if key.isascii() and key.isdigit())
    assert is_array_index(key) == (canonical and int(key) < 2**32 - 1)


@pytest.mark.parametrize(
    ("key", "index"), [("0", True), ("00", False), ("4294967294", True), ("4294967295", False)]
)
def test_array_index_edges(key: str, index: bool) -> None:
    assert is_array_index(key) is index


def test_a_plain_sum_rounds_at_every_step() -> None:
    assert plain_sum([1e16, 1.0, 1.0]) == 1e16
    assert plain_sum([0.1] * 10) == 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1
    assert plain_sum([]) == 0.0
