"""Reads TOML text into values that know where they stand.

The text must be TOML that the standard library reads: this reader only finds places, and checks
nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}\n\r#]*")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', re.DOTALL),
    re.compile(r"'''.*?'{3,5}(?!')", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


class BadToml(ValueError):
    """Raised by `read`: not TOML. The message says what is wrong, and where."""


class Value(Struct, frozen=True):
    """A value by its offsets into the text; of an array also its items, else None."""

    start: int
    end: int
    items: tuple[Value, ...] | None


class Member(Struct, frozen=True):
    """A value with the whole path of its keys.

    Tables of an array are told apart by a number in the path.

    Attributes:
        is_inline: it stands in an inline table, so that a line end cannot follow it.
    """

    path: tuple[str | int, ...]
    value: Value
    is_inline: bool


class Document(Struct, frozen=True):
    """A text, what the standard library reads in it, and its values in order."""

    text: str
    plain: dict[str, Any]
    members: tuple[Member, ...]

    def at(self, *path: str) -> Value | None:
        """The value at a path of keys."""
        member = self.member(*path)
        return None if member is None else member.value

    def member(self, *path: str) -> Member | None:
        """The member at a path of keys."""
        return next((each for each in self.members if each.path == path), None)

    def string(self, value: Value) -> object:
        """What a value without parts is."""
        found: object = tomllib.loads(f"v = {self.text[value.start : value.end]}")["v"]
        return found


def read(text: str) -> Document:
    """Read a text.

    Raises:
        BadToml: it is not TOML.
    """
    try:
        plain = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadToml(str(error) or "nested too deeply") from None
    return Document(text, plain, tuple(_Reader(text).members()))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._arrays: dict[tuple[str | int, ...], int] = {}

    def members(self) -> Iterator[Member]:
        table: tuple[str | int, ...] = ()
        while self._skipped(_BLANK) < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                yield from self._pair(table, is_inline=False)

    def _skipped(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return self._at

    def _header(self) -> tuple[str | int, ...]:
        is_array = self._text.startswith("[[", self._at)
        self._at += 2 if is_array else 1
        keys: tuple[str | int, ...] = self._keys()
        self._at += 2 if is_array else 1
        if is_array:
            self._arrays[keys] = self._arrays.get(keys, -1) + 1
            return (*keys, self._arrays[keys])
        return self._within(keys)

    def _within(self, keys: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """A table below the last one of an array is that one's."""
        for length in range(len(keys) - 1, 0, -1):
            if keys[:length] in self._arrays:
                return (*keys[:length], self._arrays[keys[:length]], *keys[length:])
        return keys

    def _keys(self) -> tuple[str, ...]:
        keys: list[str] = []
        while True:
            self._skipped(_SPACE)
            keys.append(self._key())
            self._skipped(_SPACE)
            if not self._text.startswith(".", self._at):
                return tuple(keys)
            self._at += 1

    def _key(self) -> str:
        start = self._at
        if self._text[start] in "\"'":
            self._string()
            found: str = tomllib.loads(f"v = {self._text[start : self._at]}")["v"]
            return found
        return self._text[start : self._skipped(_BARE_KEY)]

    def _string(self) -> None:
        for pattern in _STRINGS:
            found = pattern.match(self._text, self._at)
            if found is not None:
                self._at = found.end()
                return

    def _pair(self, table: tuple[str | int, ...], is_inline: bool) -> Iterator[Member]:
        path = (*table, *self._keys())
        # The equals sign.
        self._at += 1
        self._skipped(_SPACE)
        if self._text.startswith("{", self._at):
            yield from self._inline(path)
        else:
            yield Member(path, self._value(), is_inline)

    def _inline(self, table: tuple[str | int, ...]) -> Iterator[Member]:
        self._at += 1
        while not self._text.startswith("}", self._skipped(_BLANK)):
            yield from self._pair(table, is_inline=True)
            self._pass_comma()
        self._at += 1

    def _value(self) -> Value:
        start = self._at
        if self._text.startswith("[", start):
            return self._array(start)
        if self._text.startswith("{", start):
            # Inside an array: nobody asks for what stands in it.
            list(self._inline(()))
            return Value(start, self._at, None)
        if self._text[start : start + 1] in ('"', "'"):
            self._string()
            return Value(start, self._at, None)
        end = self._skipped(_PLAIN)
        return Value(start, start + len(self._text[start:end].rstrip(" \t")), None)

    def _array(self, start: int) -> Value:
        items: list[Value] = []
        self._at += 1
        while not self._text.startswith("]", self._skipped(_BLANK)):
            items.append(self._value())
            self._pass_comma()
        self._at += 1
        return Value(start, self._at, tuple(items))

    def _pass_comma(self) -> None:
        if self._text.startswith(",", self._skipped(_BLANK)):
            self._at += 1
