"""Small implementations beside the product's own: what the rules of difference are measured by.

They share no code with the core. Texts and digests come from the naive measurement of the tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from tests.conformance.values import is_list, is_object
from tests.oracle import naive

_EXTENDS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe00-\ufe0f\ufe20-\ufe2f]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
_JOINER = "\u200d"

INHERITED = frozenset(
    {
        "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
        "__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
        "toLocaleString", "toString", "valueOf",
    }
)  # fmt: skip


def doubled(value: Any) -> Any:
    """The value with every number a double, as the naive measurement takes it."""
    return json.loads(json.dumps(value), parse_int=float)


def hashed(text: str) -> str:
    """Lower-case hex SHA-256."""
    return sha256(text.encode("utf-8")).hexdigest()


def digest(value: Any) -> str:
    """The digest of a value under our key order."""
    return hashed(naive.canonical(doubled(value)))


def compact(value: Any, order: Callable[[list[str]], list[str]]) -> str:
    """Compact JSON with the members of each object in a given order."""
    if is_object(value):
        pairs = (f"{naive.canonical(key)}:{compact(value[key], order)}" for key in order([*value]))
        return "{" + ",".join(pairs) + "}"
    if is_list(value):
        return "[" + ",".join(compact(item, order) for item in value) + "]"
    return naive.canonical(value)


def graphemes(text: str) -> int:
    """The host's approximate count: marks attach, a joiner takes the next, flags pair up."""
    count, position = 0, 0
    while position < len(text):
        count += 1
        flag = _FLAG.match(text, position) and _FLAG.match(text, position + 1)
        position += 2 if flag else 1
        while position < len(text):
            if text[position] == _JOINER:
                position += 2
            elif _EXTENDS.match(text, position):
                position += 1
            else:
                break
    return count


def form(name: str) -> str | None:
    """The form of a name, or None where it is not plain ASCII words."""
    if not re.fullmatch("[A-Za-z][A-Za-z0-9 _-]*", name):
        return None
    return re.sub("[ _-]", "", name).lower()


def single_forms(names: list[str]) -> dict[str, str]:
    """Names by form, where no other listed name shares it."""
    forms = [form(name) for name in names]
    return {f: n for f, n in zip(forms, names, strict=True) if f and forms.count(f) == 1}


def number_of(text: str) -> float | None:
    """The number that is written exactly so, or None."""
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-][0-9]+)?", text):
        return None
    value = float(text)
    if naive.number_text(value) != text:
        return None
    # Draft 4 takes no double for an integer.
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def shape(args: Mapping[str, Any]) -> str:
    """The digest of the shape of arguments."""
    return hashed(naive.canonical(f"({naive.members(doubled(args))})"))
