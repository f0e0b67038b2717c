"""The one JSON text and the one SHA-256 behind every digest.

Objects are reordered recursively: array-index keys first, in numeric order, then the others. An
object whose keys are all ASCII follows the host's root collation; an object with any other key is
ordered by UTF-16 code unit, because a collation table would make digests depend on the machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any, TypeAlias, TypeGuard

from fabricd.core.javascript import (
    is_array_index,
    join_surrogates,
    number_text,
    sorted_by_units,
    utf16_key,
)

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
KeyOrder: TypeAlias = Callable[[Iterable[str]], list[str]]

_LEVELS = 64
_LONE = re.compile("[\ud800-\udfff]")
_PRIMARY_ORDER = (
    b"\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
)
_IGNORABLE = bytes([*range(0, 9), *range(14, 32), 127])


def _primary_table() -> bytes:
    table = bytearray(256)
    for weight, char in enumerate(_PRIMARY_ORDER, start=1):
        table[char] = weight
    for upper in range(ord("A"), ord("Z") + 1):
        table[upper] = table[upper + 32]
    return bytes(table)


_PRIMARY = _primary_table()
_CASE = bytes(1 if 65 <= char <= 90 else 0 for char in range(256))


@lru_cache(maxsize=8192)
def _collation_key(key: str) -> tuple[bytes, bytes, str]:
    raw = key.encode("ascii")
    return (
        raw.translate(_PRIMARY, _IGNORABLE),
        raw.translate(_CASE, _IGNORABLE),
        # Keys that collate equal would otherwise keep insertion order and hash differently.
        key,
    )


def collated(keys: Iterable[str]) -> list[str]:
    """Object keys in the order every digest uses."""
    names = list(keys)
    if len(names) < 2:
        return names
    indices = [key for key in names if is_array_index(key)]
    others = [key for key in names if not is_array_index(key)] if indices else names
    if all(key.isascii() for key in names):
        others.sort(key=_collation_key)
    else:
        others.sort(key=utf16_key)
    return sorted(indices, key=int) + others


def by_units(keys: Iterable[str]) -> list[str]:
    """Object keys with array indices first, in numeric order, the others by UTF-16 code unit."""
    names = list(keys)
    indices = [key for key in names if is_array_index(key)]
    if not indices:
        return sorted_by_units(names)
    others = [key for key in names if not is_array_index(key)]
    return sorted(indices, key=int) + sorted_by_units(others)


def as_given(keys: Iterable[str]) -> list[str]:
    """Object keys in insertion order."""
    return list(keys)


def string_text(text: str) -> str:
    """A JSON string: `\\udxxx` for lone surrogates, no other non-ASCII escapes."""
    quoted = encode_basestring(text)
    if quoted.isascii() or _LONE.search(quoted) is None:
        return quoted
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", join_surrogates(quoted))


def _is_members(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _is_items(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple))


class _Later:
    """A part that is yet to be written."""

    def __init__(self, value: object) -> None:
        self.value = value


def _write(
    value: object, put: Callable[[str | _Later], None], order: KeyOrder, levels: int = -1
) -> None:
    """Writes boxes down to so many levels, and what lies deeper later; -1: there is no limit."""
    if value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif isinstance(value, str):
        put(string_text(value))
    elif isinstance(value, (int, float)):
        put(number_text(value))
    elif levels == 0:
        put(_Later(value))
    elif _is_members(value):
        opener = "{"
        for key in order(value):
            put(f"{opener}{string_text(key)}:")
            _write(value[key], put, order, levels - 1)
            opener = ","
        put("{}" if opener == "{" else "}")
    elif _is_items(value):
        opener = "["
        for item in value:
            put(opener)
            _write(item, put, order, levels - 1)
            opener = ","
        put("[]" if opener == "[" else "]")
    else:
        raise TypeError(f"{type(value).__name__} has no JSON text")


def text(value: object, order: KeyOrder = collated) -> str:
    """Compact JSON. The nesting of `value` must have been bounded by the reader that made it.

    Raises:
        NumberOutOfRange: an integer is beyond the range of a double.
    """
    parts: list[Any] = []
    _write(value, parts.append, order)
    return "".join(parts)


def deep_text(value: object, order: KeyOrder = collated) -> str:
    """As `text`, of a value that may nest deeper than the interpreter can call itself."""
    written: list[str] = []
    pending: list[str | _Later] = [_Later(value)]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            written.append(part)
            continue
        parts: list[str | _Later] = []
        _write(part.value, parts.append, order, _LEVELS)
        pending.extend(reversed(parts))
    return "".join(written)


def pretty(value: object, indent: str = "") -> str:
    """JSON with two spaces of indent and keys as given: the layout of the durable files."""
    deeper = indent + "  "
    if _is_members(value) and value:
        rows = (f"{deeper}{string_text(k)}: {pretty(v, deeper)}" for k, v in value.items())
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if _is_items(value) and value:
        return "[\n" + ",\n".join(deeper + pretty(v, deeper) for v in value) + f"\n{indent}]"
    return text(value, as_given)


def utf8(json_text: str) -> bytes:
    """The bytes of a JSON text made here. Lone surrogates were escaped, so this cannot fail."""
    return json_text.encode("utf-8")


def digest(value: object) -> str:
    """Lower-case hex SHA-256 of the canonical text."""
    return sha256(utf8(text(value))).hexdigest()


def digest_members(
    members: Iterable[tuple[str, Iterable[object] | object]], every: int
) -> Generator[None, None, str]:
    """The digest of an object whose members come in canonical order, yielding between items.

    Args:
        members: name and value; a list or tuple is hashed item by item.
        every: how many list items are hashed between two yields.
    """
    state = sha256()
    opener = "{"
    for name, value in members:
        state.update(utf8(f"{opener}{string_text(name)}:"))
        opener = ","
        if not _is_items(value):
            state.update(utf8(text(value)))
            continue
        state.update(b"[")
        for index, item in enumerate(value):
            state.update(utf8(("," if index else "") + text(item)))
            if index % every == every - 1:
                yield
        state.update(b"]")
    state.update(b"}" if opener == "," else b"{}")
    return state.hexdigest()
