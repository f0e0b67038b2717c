"""Strict JSON documents: exact integers, bounded depth, nothing a double cannot hold."""

from __future__ import annotations

import json
from typing import Any

from fabricd.core.javascript import NumberOutOfRange, as_double
from fabricd.core.nesting import SCHEMA_LEVELS, TooDeep, require_depth

_DIGITS = 400


class BadDocument(ValueError):
    """Raised by the readers of documents. The message says what is wrong, and where."""


def _exact_int(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise NumberOutOfRange(len(digits))
    value = int(digits)
    as_double(value)
    return value


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise BadDocument(f"{text[:40]} is beyond the range of a double")
    return value


def _refuse(name: str) -> Any:
    raise BadDocument(f"{name} is not JSON")


def strict_json(data: bytes, levels: int = SCHEMA_LEVELS) -> Any:
    """A JSON document with exact integers: what schemas and arguments are judged by.

    Raises:
        BadDocument: not UTF-8, not JSON, nested too deep, or a number no double can hold.
    """
    try:
        require_depth(data, levels)
        return json.loads(
            data.decode("utf-8-sig"),
            parse_int=_exact_int,
            parse_float=_finite,
            parse_constant=_refuse,
        )
    except UnicodeDecodeError as error:
        raise BadDocument(f"it is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise BadDocument(f"it is not JSON: {error.msg} at {where}") from None
    except (TooDeep, NumberOutOfRange) as error:
        raise BadDocument(str(error)) from None
