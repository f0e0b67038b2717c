"""The few JavaScript semantics that the file formats rest on.

The formats were fixed by a JavaScript host, so number text, rounding, string order and string
length follow its rules and not Python's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

import msgspec

from fabricd.core.plain import MAX_SAFE_INTEGER

# ECMAScript WhiteSpace and LineTerminator: what `String.prototype.trim` removes.
WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
# JSON bytes of a plain value; UnicodeEncodeError where some text in it has no UTF-8 form. Not our
# own canonical text: every call that a schema accepts passes through here.
written: Callable[[object], bytes] = msgspec.json.Encoder().encode
_ABOVE_BMP_ORDER = re.compile("[\ue000-\U0010ffff]")


class NumberOutOfRange(ValueError):
    """Raised by `as_double`: an integer that no double can hold."""

    def __init__(self, digits: int) -> None:
        super().__init__(f"a number of {digits} digits is beyond the range of a double")


def as_double(value: float) -> float:
    """The double a JavaScript reader makes of a JSON number.

    Raises:
        NumberOutOfRange: the integer is beyond ±1.8e308.
    """
    try:
        return float(value)
    except OverflowError:
        raise NumberOutOfRange(int(math.log10(abs(value))) + 1) from None


def number_text(value: float) -> str:
    """`String(value)` of a number: shortest round-trip digits, decimal in [1e-6, 1e21).

    Non-finite numbers give `null`, as `JSON.stringify` prints them.
    """
    if isinstance(value, int) and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return int.__repr__(value)
    number = as_double(value)
    if not math.isfinite(number):
        return "null"
    text = repr(number)
    if "e" not in text:
        return "0" if number == 0 else text.removesuffix(".0")
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa[0] == "-" else ""
    digits = mantissa.lstrip("-").replace(".", "")
    return sign + _place_point(digits, int(exponent) + 1)


def _place_point(digits: str, point: int) -> str:
    # Python too writes a point inside the digits without an exponent, so that case never comes.
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def round6(value: float) -> float:
    """Six decimals the way `Math.round(x * 1e6) / 1e6` gives them: ties go up, no negative zero."""
    scaled = value * 1e6
    low = math.floor(scaled)
    return (low + 1 if scaled - low >= 0.5 else low) / 1e6


def plain_sum(values: Iterable[float]) -> float:
    """Left to right, one rounding a step. `sum` of floats compensates from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total


def utf16_key(text: str) -> bytes:
    """A sort key that orders strings by UTF-16 code unit."""
    return text.encode("utf-16-be", "surrogatepass")


def sorted_by_units(texts: Iterable[str]) -> list[str]:
    """Strings in JavaScript's default order. Code point order is the same below U+E000."""
    found = list(texts)
    if len(found) < 2:
        return found
    if all(map(str.isascii, found)):
        return sorted(found)
    if any(_ABOVE_BMP_ORDER.search(text) for text in found):
        return sorted(found, key=utf16_key)
    return sorted(found)


def unit_length(text: str) -> int:
    """`text.length`: UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def trim(text: str) -> str:
    """`text.trim()`, which also removes U+FEFF and the two line separators."""
    return text.strip(WHITE_SPACE)


def join_surrogates(text: str) -> str:
    """The same UTF-16 text with surrogate pairs joined; lone surrogates stay as they are."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def has_lone_surrogate(value: object) -> bool:
    """Whether some text in a plain value, key or member, has no UTF-8 form."""
    try:
        written(value)
    except UnicodeEncodeError:
        return True
    return False


def is_array_index(key: str) -> bool:
    """Whether JavaScript lists this object key among the integer keys, ahead of all others."""
    if not key.isascii() or not key.isdigit() or len(key) > 10:
        return False
    return (key == "0" or key[0] != "0") and int(key) < 4294967295
