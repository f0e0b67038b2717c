"""JSON values as the vectors hold them: equality, `undefined`, and short texts for a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeGuard

Case: TypeAlias = dict[str, Any]

_WIDTH = 120
_HALF = re.compile("[\ud800-\udfff]")


class Marker:
    """A value that no JSON text can hold."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


ABSENT = Marker("(absent)")
# Stands in a result for what the product does not keep, and so equals whatever is expected.
ANYTHING = Marker("(anything)")


class Unstated(Exception):
    """Raised where no independent statement says what a verdict must be."""


class Check(NamedTuple):
    """What a case expects and what we found."""

    expected: Any
    found: Any


class Difference(NamedTuple):
    """The first place where two values differ."""

    path: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"expected{where} {shown(self.expected)}, found {shown(self.found)}"


def shown(value: object) -> str:
    """A bounded ASCII text of any value: failures are read on a terminal."""
    text = value.name if isinstance(value, Marker) else json.dumps(value, default=repr)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}... ({len(text)} characters)"


def is_object(value: Any) -> TypeGuard[Case]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a JSON array. Structs turned into plain values keep their tuples."""
    return isinstance(value, (list, tuple))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _equal_scalars(expected: Any, found: Any) -> bool:
    if _is_number(expected) and _is_number(found):
        return float(expected) == float(found)
    return type(expected) is type(found) and bool(expected == found)


def _children(value: Any) -> dict[str, Any] | None:
    if is_object(value):
        return value
    return {str(index): item for index, item in enumerate(value)} if is_list(value) else None


def difference(expected: Any, found: Any, path: str = "") -> Difference | None:
    """Where two JSON values differ, numbers compared as doubles and member order ignored."""
    if expected is ANYTHING or found is ANYTHING:
        return None
    left, right = _children(expected), _children(found)
    if left is None or right is None or is_object(expected) != is_object(found):
        equal = left is None and right is None and _equal_scalars(expected, found)
        return None if equal else Difference(path, expected, found)
    for name in {**left, **right}:
        inner = difference(left.get(name, ABSENT), right.get(name, ABSENT), f"{path}/{name}")
        if inner is not None:
            return inner
    return None


def same(expected: Any, found: Any) -> bool:
    """Whether two JSON values are equal."""
    return difference(expected, found) is None


def walk(value: Any) -> Iterator[Any]:
    """A value and everything inside it."""
    yield value
    for child in (_children(value) or {}).values():
        yield from walk(child)


def objects_in(value: Any) -> Iterator[Case]:
    """All objects in a value."""
    return filter(is_object, walk(value))


def keys_of(value: Any) -> set[str]:
    """All object keys in a value."""
    return {key for members in objects_in(value) for key in members}


def has_undefined(value: Any) -> bool:
    """Whether JavaScript's undefined stands anywhere: JSON has none, so nobody can send it."""
    return "$undefined" in keys_of(value)


def has_half_characters(value: Any) -> bool:
    """Whether some text or key holds a surrogate without its other half."""
    texts = keys_of(value).union(inner for inner in walk(value) if isinstance(inner, str))
    return any(_HALF.search(text) for text in texts)
