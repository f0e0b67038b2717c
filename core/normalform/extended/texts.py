"""What a text may be read as, and nothing that it does not say to the last digit."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from fabricd.core.nesting import SCHEMA_LEVELS, deeper_than
from fabricd.core.normalform.forms import number_of
from fabricd.core.plain import MAX_SAFE_INTEGER

MAX_BYTES = 1024 * 1024

_WHITE_SPACE = " \t\n\r"
_DIGITS = re.compile(r"-?[0-9]+\Z")
_NUMBER = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?\Z")
_LONG = 4000
_SAFE_DIGITS = 15


class _Refused(ValueError):
    """Raised while a text is decoded: it says something that its value would not."""


def boolean_of(text: str) -> bool | None:
    """The truth value that a text spells in any ASCII case, or None."""
    if len(text) not in (4, 5) or not text.isascii():
        return None
    return {"true": True, "false": False}.get(text.lower())


def exact_number_of(text: str) -> float | None:
    """The number whose JavaScript text is `text`, or None. Written in digits it is exact."""
    if len(text) <= _SAFE_DIGITS and text.isdigit() and text.isascii():
        # Nearly all of them, and every integer of so many digits is its own text.
        return int(text) if text[0] != "0" or text == "0" else None
    value = number_of(text)
    return int(text) if value is not None and _DIGITS.match(text) else value


def container_of(text: str) -> list[Any] | dict[str, Any] | None:
    """The array or object that a strict JSON text holds, or None.

    Refused are duplicate keys, more than 64 levels or 1 MiB, and a number that its double would
    not give back.
    """
    if text.lstrip(_WHITE_SPACE)[:1] not in ("[", "{") or len(text) > MAX_BYTES:
        return None
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BYTES or deeper_than(raw, SCHEMA_LEVELS):
        return None
    try:
        found: list[Any] | dict[str, Any] = _DECODER.decode(text)
    except ValueError:
        return None
    return found


def arguments_of(text: str) -> object:
    """The value of a JSON text with exact numbers; the text itself where it cannot be had so."""
    if deeper_than(text.encode("utf-8", "surrogatepass"), SCHEMA_LEVELS):
        return text
    try:
        return _EXACT.decode(text)
    except ValueError:
        return text


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused
    return found


def _integer(token: str) -> int:
    if len(token) > 15 and not _survives(token):
        raise _Refused
    return int(token)


def _real(token: str) -> float:
    if not _survives(token):
        raise _Refused
    return float(token)


def _exact_integer(token: str) -> int:
    if math.isinf(float(token)):
        raise _Refused
    return int(token)


def _constant(name: str) -> Any:
    raise _Refused


# Made once: `json.loads` makes one for each text.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_int=_integer,
    parse_float=_real,
    parse_constant=_constant,
)

_EXACT = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_int=_exact_integer,
    parse_float=_real,
    parse_constant=_constant,
)


def _survives(token: str) -> bool:
    """Whether a number is a safe integer, or exactly what the text of its double says."""
    value = float(token)
    if math.isinf(value):
        return False
    if _DIGITS.match(token) and abs(value) <= MAX_SAFE_INTEGER:
        return abs(int(token)) <= MAX_SAFE_INTEGER
    return _digits(token) == _digits(repr(value))


def _digits(token: str) -> tuple[str, int] | None:
    """Significant digits and the power of ten they stand at; zero has none. Without the sign."""
    found = _NUMBER.match(token)
    if found is None:
        return None
    whole, fraction, exponent = found[1], found[2] or "", found[3] or "0"
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "", 0
    if len(exponent) > _LONG:
        return None
    return significant, int(exponent) - len(fraction) + len(digits) - len(significant)
