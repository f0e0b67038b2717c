"""Reads JSON text into a tree that knows where each value stands.

The grammar is that of strict JSON; comments are read where a program allows them in its own file.
Objects keep their members as written, doubled names too: the reader of the tree decides.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn, TypeAlias

from msgspec import Struct

from fabricd.core.nesting import SCHEMA_LEVELS

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_COMMENT = re.compile(r"//[^\n\r]*|/\*.*?\*/", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}
_BOM = "\ufeff"


class BadText(ValueError):
    """Raised by `read`: not JSON. The message says what is wrong, and where."""

    def __init__(self, text: str, at: int, what: str) -> None:
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        super().__init__(f"line {line} column {column}: {what}")


class Number(Struct, frozen=True):
    """A number as it is spelled."""

    text: str


class Scalar(Struct, frozen=True):
    """A value without parts. `start` and `end` are offsets into the text."""

    start: int
    end: int
    value: str | bool | Number | None


class Entry(Struct, frozen=True):
    """A member of an object, from its name on, or an item of an array, which has no name."""

    start: int
    name: str | None
    node: Node

    @property
    def end(self) -> int:
        """Behind the value."""
        return self.node.end


class Box(Struct, frozen=True):
    """An object or an array with its brackets; `commas` are the offsets of its commas."""

    start: int
    end: int
    is_object: bool
    entries: tuple[Entry, ...]
    commas: tuple[int, ...]


Node: TypeAlias = Scalar | Box


class Document(Struct, frozen=True):
    """A text, its one value, and its comments in order."""

    text: str
    root: Node
    comments: tuple[str, ...]


def is_blank(text: str) -> bool:
    """Whether there is nothing but white space."""
    return not text.removeprefix(_BOM).strip(" \t\n\r")


def read(text: str, comments: bool = False) -> Document:
    """Read a text; a byte order mark at its start is passed over.

    Args:
        comments: whether `//` and `/* */` comments may stand where white space may.

    Raises:
        BadText: it is not JSON, or nested more than 64 levels deep.
    """
    reader = _Reader(text, comments)
    root = reader.value(0)
    reader.skip()
    if reader.at != len(text):
        reader.fail("text behind the end of the document")
    return Document(text, root, tuple(reader.found))


class _Reader:
    def __init__(self, text: str, comments: bool) -> None:
        self._text = text
        self._comments = comments
        self.found: list[str] = []
        self.at = 0
        if text.startswith(_BOM):
            self.at = 1
        self.skip()

    def fail(self, what: str, at: int | None = None) -> NoReturn:
        raise BadText(self._text, self.at if at is None else at, what)

    def skip(self) -> None:
        """Pass over white space and comments."""
        while True:
            self._take(_SPACE)
            if not self._text.startswith(("//", "/*"), self.at):
                return
            if not self._comments:
                self.fail("a comment, which strict JSON does not have")
            comment = self._take(_COMMENT)
            if comment is None:
                self.fail("a comment that does not end")
            self.found.append(comment)

    def value(self, depth: int) -> Node:
        char = self._text[self.at : self.at + 1]
        if char in ("{", "["):
            if depth == SCHEMA_LEVELS:
                self.fail(f"nested more than {SCHEMA_LEVELS} levels deep")
            return self._box(char == "{", depth + 1)
        return self._scalar(char)

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self._text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def _scalar(self, char: str) -> Scalar:
        start = self.at
        value = self._plain(char)
        return Scalar(start, self.at, value)

    def _plain(self, char: str) -> str | bool | Number | None:
        if char == '"':
            return self._string()
        if (number := self._take(_NUMBER)) is not None:
            return Number(number)
        if (word := self._take(_WORD)) is not None:
            return _WORDS[word]
        self.fail(f"expected a value, not {char!r}" if char else "the text ends too early")

    def _string(self) -> str:
        token = self._take(_STRING)
        if token is None:
            self.fail("a string that does not end, or holds what a string must not hold")
        value: str = json.loads(token)
        return value

    def _box(self, is_object: bool, depth: int) -> Box:
        start, closing = self.at, "}" if is_object else "]"
        entries: list[Entry] = []
        commas: list[int] = []
        self.at += 1
        self.skip()
        while not self._closed(closing):
            if entries:
                commas.append(self._comma(closing))
            entries.append(self._entry(is_object, depth))
            self.skip()
        return Box(start, self.at, is_object, tuple(entries), tuple(commas))

    def _closed(self, closing: str) -> bool:
        if not self._text.startswith(closing, self.at):
            return False
        self.at += 1
        return True

    def _comma(self, closing: str) -> int:
        comma = self.at
        if not self._text.startswith(",", comma):
            self.fail(f'expected a comma or "{closing}"')
        self.at += 1
        self.skip()
        if self._text.startswith(closing, self.at):
            self.fail(f'a comma before "{closing}"', comma)
        return comma

    def _entry(self, is_object: bool, depth: int) -> Entry:
        start, name = self.at, None
        if is_object:
            if not self._text.startswith('"', start):
                self.fail("expected a name in double quotes")
            name = self._string()
            self.skip()
            if not self._text.startswith(":", self.at):
                self.fail("expected a colon")
            self.at += 1
            self.skip()
        return Entry(start, name, self.value(depth))
