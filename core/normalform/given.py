"""What callers of the library give: schemas to be copied, arguments to be looked at first.

Both come from other people's programs: nothing says that they are JSON, nor that they end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from fabricd.core.javascript import NumberOutOfRange, as_double
from fabricd.core.nesting import SCHEMA_LEVELS
from fabricd.core.plain import is_list, is_object
from fabricd.core.validation import Unjudgeable

LEVELS = 256
# As many as a line of 32 MiB could hold well. A value that stands in two places counts twice, and
# may stand in more places than anyone can visit.
MOST = 1_000_000

_SCALARS = frozenset({str, int, float, bool, type(None)})
_TEXTS = frozenset({str})
# So far a call is looked into by recursion, which is the quickest and bounded by no one else.
_SHALLOW = 8
_SAFE_BITS = 1000


def is_plain(args: object) -> bool:
    """Whether these are JSON values alone, at most 256 levels and a million values of them.

    Numbers may still be some that no JSON holds: `has_doubles`.
    """
    return _left(args, MOST, _SHALLOW) >= 0


def _left(value: Any, left: int, levels: int) -> int:
    """How many values may still be looked at after this one; below zero where it is not plain."""
    # Not by `is_object`: what every call passes through is worth a name more.
    inside = value
    if isinstance(value, dict):
        left -= len(inside)
        if left < 0 or not levels:
            return _left_below(inside, left)
        for key, item in inside.items():
            if type(key) is not str:
                return -1
            if type(item) not in _SCALARS:
                left = _left(item, left, levels - 1)
                if left < 0:
                    return -1
        return left
    if isinstance(value, list):
        left -= len(inside)
        if left < 0 or not levels:
            return _left_below(inside, left)
        for item in inside:
            if type(item) not in _SCALARS:
                left = _left(item, left, levels - 1)
                if left < 0:
                    return -1
        return left
    return left if type(value) in _SCALARS else -1


def _left_below(value: object, left: int) -> int:
    """As `_left`, level by level, of a container whose own members were counted."""
    layer = [value]
    for _ in range(LEVELS - _SHALLOW):
        inner: list[Any] = []
        for each in layer:
            if left < 0:
                return -1
            if is_object(each):
                if not _TEXTS.issuperset(map(type, each)):
                    return -1
                members: Any = each.values()
            else:
                members = each
            for item in members:
                if is_object(item) or is_list(item):
                    left -= len(item)
                    inner.append(item)
                elif type(item) not in _SCALARS:
                    return -1
        if not inner:
            return left
        layer = inner
    return -1


def has_doubles(args: object) -> bool:
    """Whether each number of plain values is one that a JSON text could give a double for."""
    pending: list[Iterable[Any]] = [(args,)]
    while pending:
        for value in pending.pop():
            if value is None or isinstance(value, (str, bool)):
                continue
            if is_object(value):
                pending.append(value.values())
            elif is_list(value):
                pending.append(value)
            elif not is_double(value):
                return False
    return True


def is_double(value: float) -> bool:
    """Whether a double can hold a number, were it rounded."""
    if isinstance(value, float):
        return value - value == 0
    if value.bit_length() <= _SAFE_BITS:
        return True
    try:
        as_double(value)
    except NumberOutOfRange:
        return False
    return True


def copied(schema: object) -> Any:
    """A schema as plain JSON values of its own, so that nobody changes it later.

    Tuples become arrays, and mappings objects.

    Raises:
        Unjudgeable: it holds what is no JSON, or more than 64 levels or a million values.
    """
    return _Copying().of(schema, 1)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _is_row(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, (list, tuple))


class _Copying:
    """One copy under way."""

    def __init__(self) -> None:
        self._left = MOST

    def of(self, value: object, level: int) -> Any:
        """The copy of a value that stands so many levels deep.

        Raises:
            Unjudgeable: there is none.
        """
        if _is_row(value):
            self._count(len(value), level)
            return [self.of(item, level + 1) for item in value]
        if _is_mapping(value):
            self._count(len(value), level)
            return {_name(key): self.of(item, level + 1) for key, item in value.items()}
        return _scalar(value)

    def _count(self, size: int, level: int) -> None:
        self._left -= size
        if level > SCHEMA_LEVELS:
            raise Unjudgeable(f"it nests more than {SCHEMA_LEVELS} levels deep")
        if self._left < 0:
            raise Unjudgeable("it holds more than a million values")


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise Unjudgeable(f"a name in it is no text but {type(key).__name__}")
    return str.__str__(key)


def _scalar(value: object) -> object:
    if value is None or value is True or value is False:
        return value
    # Members of an enumeration are texts and numbers too; what they are is what JSON would say.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        if not is_double(value):
            raise Unjudgeable("it holds a number that no double can")
        return int.__int__(value) if isinstance(value, int) else float.__float__(value)
    raise Unjudgeable(f"it holds {type(value).__name__}, which is no JSON value")
