"""Questions asked of untrusted JSON: equality, truth and texts as the protocols mean them."""

from __future__ import annotations

import math
import re
from typing import Any, Final, TypeGuard

from fabricd.core.javascript import NumberOutOfRange, as_double, number_text, trim
from fabricd.core.plain import MAX_SAFE_INTEGER, is_list, is_object

# No sign stands before these.
_INTEGER = re.compile("0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_BASES = {"x": 16, "o": 8, "b": 2}
_INFINITIES = {"Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}


class Absent:
    """What a member is that is not there: equal to itself alone, and not null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


def members(value: object) -> dict[str, Any]:
    """The members of a value; whatever is no object has none."""
    return value if is_object(value) else {}


def is_text(value: object) -> TypeGuard[str]:
    """A text of at least one character; blanks count."""
    return isinstance(value, str) and value != ""


def count_of(value: object) -> int | None:
    """A safe non-negative integer, `1.0` too; None for anything else."""
    if type(value) is int:
        return value if 0 <= value <= MAX_SAFE_INTEGER else None
    if type(value) is float and value.is_integer() and 0 <= value <= MAX_SAFE_INTEGER:
        return int(value)
    return None


def safe_integer(value: object) -> int | None:
    """An integer within ±(2^53-1), `1.0` too; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number = double(value)
    return int(number) if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER else None


def double(value: float) -> float:
    """A number as a double; an integer beyond their range is infinite."""
    try:
        return as_double(value)
    except NumberOutOfRange:
        return math.inf if value > 0 else -math.inf


def key_of(value: object) -> object:
    """What two strictly equal values have in common, as a dictionary key.

    Types tell values apart, numbers are compared as doubles, no object or array equals another.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, (int, float)):
        return float, double(value)
    if value is None or value is ABSENT:
        return value
    return object()


def same(left: object, right: object) -> bool:
    """Strict equality."""
    if type(left) is str and type(right) is str:
        return left == right
    return key_of(left) == key_of(right)


def is_true(value: object) -> bool:
    """Whether a JavaScript condition takes the value for true."""
    if value is ABSENT or value is None:
        return False
    return True if isinstance(value, (dict, list)) else bool(value)


def text_of(value: object) -> str:
    """`String(value)`."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, (int, float)):
        return _number_text(double(value))
    if is_list(value):
        return _joined(value)
    return "undefined" if value is ABSENT else "[object Object]"


def _number_text(number: float) -> str:
    if math.isfinite(number):
        return number_text(number)
    return "Infinity" if number > 0 else "-Infinity"


def _joined(items: list[Any]) -> str:
    # A list of lists of lists could be nested deeper than we can call ourselves.
    parts: list[str] = []
    pending: list[Any] = [items]
    while pending:
        item = pending.pop()
        if is_list(item):
            for index, inner in enumerate(reversed(item)):
                pending.extend((",", inner) if index and item else (inner,))
        elif item is not None:
            parts.append(text_of(item))
    return "".join(parts)


def number_of(value: object) -> float | None:
    """The number a JavaScript comparison with a number makes of a value; None if it makes none."""
    if value is None or isinstance(value, bool):
        return float(bool(value))
    if isinstance(value, (int, float)):
        return double(value)
    if isinstance(value, str) or is_list(value):
        written = trim(text_of(value))
        return _read(written) if written else 0.0
    return None


def _read(written: str) -> float | None:
    if _INTEGER.fullmatch(written):
        return double(int(written[2:], _BASES[written[1].lower()]))
    return _INFINITIES[written] if written in _INFINITIES else _decimal(written)


def _decimal(written: str) -> float | None:
    # Python also reads 1_000, nan and digits of other scripts.
    if not written.isascii() or not set(written) <= set("0123456789.eE+-"):
        return None
    try:
        return float(written)
    except ValueError:
        return None
