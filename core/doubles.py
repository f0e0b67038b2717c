"""JSON as a JavaScript reader takes it: numbers are doubles, bad UTF-8 is replaced.

Integers come as integers or as floats; whoever compares or adds them treats both as doubles. The
last of doubled names wins, lone surrogates stay, an infinite number is kept for others to refuse.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec

from fabricd.core.documents import BadDocument
from fabricd.core.nesting import TooDeep, deeper_than, require_depth

LEVELS = 2000
# The native readers call themselves; what nests deeper is read by ours.
_NATIVE_LEVELS = 100
_TOKEN = re.compile(
    r"[ \t\n\r]*(?:"
    r'(?P<text>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*")|'
    r"(?P<mark>[\[\]{},:])|"
    r"(?P<plain>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))"
)
_SPACE = " \t\n\r"


def read_doubles(data: bytes, levels: int = LEVELS) -> Any:
    """The value of a JSON text.

    Raises:
        BadDocument: it is not JSON, or nested more than `levels` deep.
    """
    if deeper_than(data, _NATIVE_LEVELS):
        return _deep(data, levels)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # It is wrong, or it holds what only the other reader takes.
        return _loads(data.decode("utf-8", "replace"))


def _loads(text: str) -> Any:
    try:
        return json.loads(text, parse_int=float, parse_float=float, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise BadDocument(f"it is not JSON: {error.msg} at {where}") from None


def _refuse(name: str) -> NoReturn:
    raise BadDocument(f"{name} is not JSON")


def _deep(data: bytes, levels: int) -> Any:
    try:
        require_depth(data, levels)
    except TooDeep as error:
        raise BadDocument(str(error)) from None
    return _Deep(data.decode("utf-8", "replace")).value()


class _Deep:
    """Reads without calling itself: the boxes that are open stand in a list."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._boxes: list[dict[str, Any] | list[Any]] = []
        self._names: list[str] = []

    def value(self) -> Any:
        """The one value of the text."""
        while True:
            value, is_open = self._begun()
            if is_open:
                self._boxes.append(value)
                if not self._closes():
                    self._name()
                    continue
                value = self._boxes.pop()
            while self._boxes:
                self._put(value)
                if self._mark() == ",":
                    self._name()
                    break
                value = self._boxes.pop()
            else:
                return self._ended(value)

    def _begun(self) -> tuple[Any, bool]:
        """A scalar, or the box that begins here."""
        found = self._token()
        if mark := found["mark"]:
            if mark not in "[{":
                self._fail()
            return ({} if mark == "{" else []), True
        return _loads(found["text"] or found["plain"]), False

    def _closes(self) -> bool:
        """Whether the box that has just begun holds nothing; passes over its end."""
        found = _TOKEN.match(self._text, self._at)
        if found is None or found["mark"] != self._closer():
            return False
        self._at = found.end()
        return True

    def _closer(self) -> str:
        return "}" if isinstance(self._boxes[-1], dict) else "]"

    def _name(self) -> None:
        """The name of the next member, where the box is an object."""
        if isinstance(self._boxes[-1], list):
            return
        name = self._token()["text"] or self._fail()
        if self._token()["mark"] != ":":
            self._fail()
        self._names.append(_loads(name))

    def _put(self, value: Any) -> None:
        box = self._boxes[-1]
        if isinstance(box, dict):
            box[self._names.pop()] = value
        else:
            box.append(value)

    def _mark(self) -> str:
        mark: str = self._token()["mark"] or ""
        if mark not in (",", self._closer()):
            self._fail()
        return mark

    def _ended(self, value: Any) -> Any:
        if self._text[self._at :].strip(_SPACE):
            self._fail()
        return value

    def _token(self) -> re.Match[str]:
        found = _TOKEN.match(self._text, self._at) or self._fail()
        self._at = found.end()
        return found

    def _fail(self) -> NoReturn:
        raise BadDocument(f"it is not JSON at character {self._at}")
