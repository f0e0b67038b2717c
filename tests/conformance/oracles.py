"""Small implementations beside the product's own: what the rules of difference are measured by.

They share no code with the core. Verdicts come from another validator, texts and digests from the
naive measurement of the tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any

import jsonschema_rs

from tests.conformance.values import Case, is_list, is_object
from tests.oracle import naive

# Imported by name: the package carries no types.
_JSONSCHEMA: Any = import_module("jsonschema")
_DRAFTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
)
_KNOWN = re.compile(r"https?://json-schema\.org/draft(-0[467]|/2019-09|/2020-12)/schema#?")
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


def _bound(too_far: Callable[[int, float], bool], keyword: str) -> Callable[..., Iterator[Any]]:
    def check(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, str) and too_far(graphemes(instance), bound):
            yield _JSONSCHEMA.ValidationError(f"{keyword} in graphemes")

    return check


@cache
def _judges(count_graphemes: bool) -> Any:
    plain = _JSONSCHEMA.Draft202012Validator
    if not count_graphemes:
        return plain
    lengths = {
        "minLength": _bound(lambda length, bound: length < bound, "minLength"),
        "maxLength": _bound(lambda length, bound: length > bound, "maxLength"),
    }
    return _JSONSCHEMA.validators.extend(plain, lengths)


def judge(schema: Any, count_graphemes: bool = False) -> Any:
    """Another validator of a schema; its `evolve(schema=…)` judges a part inside the whole."""
    kind = _judges(count_graphemes)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def compiles(schema: Any) -> bool:
    """Whether a draft that may speak for the schema compiles it."""
    if not is_object(schema):
        return False
    declared = schema.get("$schema")
    known = isinstance(declared, str) and _KNOWN.fullmatch(declared)
    return any(_compiles_as(schema, draft) for draft in ([declared] if known else _DRAFTS))


def _compiles_as(schema: Case, draft: Any) -> bool:
    try:
        jsonschema_rs.validator_for({**schema, "$schema": draft}, offline=True)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return False
    return True


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
    return value if naive.number_text(value) == text else None


def shape(args: Mapping[str, Any]) -> str:
    """The digest of the shape of arguments."""
    return hashed(naive.canonical(f"({naive.members(doubled(args))})"))
