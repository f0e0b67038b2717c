"""The canonical text of trajectories and value receipts, and the identities made of it.

It is the writer of `core.canonical` with keys by UTF-16 code unit throughout; a number that is not
finite has no text here. Most documents hold nothing but safe integers and texts, and those are
written natively.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, TypeGuard

import msgspec

from fabricd.core.canonical import by_units, deep_text, string_text, utf8
from fabricd.core.javascript import NumberOutOfRange, as_double
from fabricd.core.plain import MAX_SAFE_INTEGER, is_list, is_object

_ENCODE = msgspec.json.Encoder(order="sorted").encode
_INDEX_KEY = re.compile(rb'"[0-9]+":')
_ABOVE_BMP = re.compile(rb"[\xf0-\xf4]")
# The native writer calls itself; what nests deeper is written by ours.
_NATIVE_LEVELS = 100
_CHUNK = 256


class NotCanonical(ValueError):
    """Raised where a value has no canonical text: a number in it is not finite."""

    def __init__(self) -> None:
        super().__init__("a number is beyond the range of a double")


def canonical_text(value: object) -> str:
    """The canonical JSON of a value, without a line feed.

    Raises:
        NotCanonical: a number in it is not finite.
    """
    return b"".join(_pieces(value)).decode()


def canonical_line(value: object) -> bytes:
    """The canonical bytes of a value: its text as UTF-8 and one line feed.

    Raises:
        NotCanonical: a number in it is not finite.
    """
    return b"".join((*_pieces(value), b"\n"))


def identity(value: object) -> str:
    """`sha256:` and the lower-case hex digest of the canonical bytes.

    Raises:
        NotCanonical: a number in it is not finite.
    """
    state = sha256()
    for piece in _pieces(value):
        state.update(piece)
    state.update(b"\n")
    return f"sha256:{state.hexdigest()}"


def is_canonical(value: object) -> bool:
    """Whether a value has a canonical text: whether all its numbers are finite."""
    try:
        _is_simple(value)
    except NotCanonical:
        return False
    return True


def _pieces(value: object) -> Iterator[bytes]:
    """The text in pieces: a long list of a document is never held a second time."""
    if not is_object(value) or not any(map(_is_long, value.values())):
        yield _written(value)
        return
    opener = "{"
    for key in by_units(value):
        yield utf8(f"{opener}{string_text(key)}:")
        opener = ","
        item = value[key]
        if _is_long(item):
            yield from _chunks(item)
        else:
            yield _written(item)
    yield b"}"


def _is_long(value: object) -> TypeGuard[list[object]]:
    return is_list(value) and len(value) > _CHUNK


def _chunks(items: list[object]) -> Iterator[bytes]:
    for first in range(0, len(items), _CHUNK):
        written = _written(items[first : first + _CHUNK])
        yield (b"," if first else b"[") + written[1:-1]
    yield b"]"


def _written(value: object) -> bytes:
    if _is_simple(value):
        try:
            raw = _ENCODE(value)
        except UnicodeEncodeError:
            # A lone surrogate, which has no bytes and is escaped.
            return _slowly(value)
        if _INDEX_KEY.search(raw) is None and (raw.isascii() or not _ABOVE_BMP.search(raw)):
            return raw
    return _slowly(value)


def _slowly(value: object) -> bytes:
    return utf8(deep_text(value, by_units))


def _is_simple(value: object) -> bool:
    """Whether the native writer would write every number and level of this as we do."""
    simple, level = True, 0
    layer: list[Any] = [value]
    while layer:
        inner: list[Any] = []
        for item in layer:
            kind = item.__class__
            if kind is str:
                continue
            if kind is dict:
                inner.extend(item.values())
            elif kind is int:
                if not -MAX_SAFE_INTEGER <= item <= MAX_SAFE_INTEGER:
                    _require_double(item)
                    simple = False
            elif kind is list or kind is tuple:
                inner.extend(item)
            elif kind is float:
                if not math.isfinite(item):
                    raise NotCanonical
                simple = False
        layer, level = inner, level + 1
    return simple and level <= _NATIVE_LEVELS


def _require_double(number: int) -> None:
    try:
        as_double(number)
    except NumberOutOfRange:
        raise NotCanonical from None
