"""Members of a JSON object with their places in the text: one pass, no tree.

Texts are read as Latin-1, so that a place in the text is a place in the bytes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from fabricd.core.documents import BadDocument
from fabricd.core.javascript import NumberOutOfRange, as_double

_SPACE = re.compile(r"[ \t\n\r]*").match
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*").match
# A name without escapes, of ASCII, and its colon: nearly all of them in one step.
_NAME = re.compile(r'("([ !#-\[\]-~]*)")[ \t\n\r]*:[ \t\n\r]*').match
# Behind a comma white space may follow, behind the brace it is somebody else's.
_NEXT = re.compile(r"[ \t\n\r]*(?:,[ \t\n\r]*|\})").match
_DIGITS = 400


class NotRead(ValueError):
    """Raised where a text is not JSON, or is JSON that its reader leaves alone."""


def _integer(digits: str) -> int:
    if len(digits) > 15:
        if len(digits) > _DIGITS:
            raise NotRead("a number of too many digits")
        as_double(int(digits))
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise NotRead("a number beyond the range of a double")
    return value


def _refused(name: str) -> Any:
    raise NotRead(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_finite, parse_constant=_refused)
_scan = _DECODER.raw_decode
REFUSALS = (NotRead, BadDocument, NumberOutOfRange, ValueError, RecursionError)


class Member(Struct, frozen=True, gc=False):
    """One member: its name, where its key and its value stand, and the value as Latin-1 told it.

    Attributes:
        value: right as it stands where the bytes from `start` to `end` are ASCII.
        within: the members of one that was descended into; it has no value.
    """

    name: str
    key: tuple[int, int]
    start: int
    end: int
    value: Any
    within: tuple[Member, ...] | None = None


def skip(text: str, at: int) -> int:
    """The first place at or after `at` that holds no white space."""
    found = _SPACE(text, at)
    return at if found is None else found.end()


def scan(text: str, at: int) -> tuple[Any, int]:
    """The value that stands at a place, and where it ends.

    Raises:
        NotRead: there is none.
    """
    try:
        return _scan(text, at)
    except REFUSALS as error:
        raise NotRead(str(error)) from None


def name_at(text: str, at: int) -> tuple[str, int]:
    """The name that stands at a place in quotes, and where it ends.

    Raises:
        NotRead: there is none.
    """
    if not text.startswith('"', at):
        raise NotRead("a name is missing")
    value, end = scan(text, at)
    if not text[at:end].isascii():
        # Escapes give characters, the rest gave bytes.
        value = value_of(text[at:end].encode("latin-1"))
    return str(value), end


def members(text: str, at: int, descend: str | None = None) -> tuple[list[Member], int]:
    """The members of the object that starts at a place, and where it ends.

    Args:
        descend: the name of a member whose own members are given in the place of its value.

    Raises:
        NotRead: it is no JSON object.
    """
    if not text.startswith("{", at):
        raise NotRead("not an object")
    found: list[Member] = []
    at = skip(text, at + 1)
    if text.startswith("}", at):
        return found, at + 1
    while True:
        plain = _NAME(text, at)
        if plain is not None:
            name, key, start = plain[2], plain.span(1), plain.end()
        else:
            name, key, start = _odd_name(text, at)
        if name == descend and text.startswith("{", start):
            inner, stop = members(text, start)
            found.append(Member(name, key, start, stop, None, tuple(inner)))
        else:
            try:
                value, stop = _scan(text, start)
            except REFUSALS as error:
                raise NotRead(str(error)) from None
            found.append(Member(name, key, start, stop, value))
        mark = _NEXT(text, stop)
        if mark is None:
            raise NotRead("a comma is missing")
        at = mark.end()
        if text[at - 1] == "}":
            return found, at


def _odd_name(text: str, at: int) -> tuple[str, tuple[int, int], int]:
    name, end = name_at(text, at)
    colon = _COLON(text, end)
    if colon is None:
        raise NotRead("a colon is missing")
    return name, (at, end), colon.end()


def are_unique(found: list[Member] | tuple[Member, ...]) -> bool:
    """Whether no name stands twice."""
    return len({member.name for member in found}) == len(found)


def value_of(raw: bytes) -> Any:
    """The value of a JSON text in UTF-8: exact integers, no number beyond a double.

    Raises:
        NotRead: it is none.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise NotRead(str(error)) from None
    value, end = scan(text, skip(text, 0))
    if skip(text, end) != len(text):
        raise NotRead("text behind the end")
    return value


def _unique(found: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(found)
    if len(names) != len(found):
        raise NotRead("a name stands twice")
    return names


_UNIQUE = json.JSONDecoder(object_pairs_hook=_unique)


def require_unique(raw: bytes) -> None:
    """Read a JSON text once more, for names that stand twice in an object, however spelled.

    Raises:
        NotRead: there is one, or it is no JSON text in UTF-8.
    """
    try:
        text = raw.decode()
        # A long one must not stand there twice while it is read.
        del raw
        _UNIQUE.decode(text)
    except REFUSALS as error:
        raise NotRead(str(error)) from None
