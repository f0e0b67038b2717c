"""An answer read back from its text by counting lines, whatever the lines of items say."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from fabricd.core.context.asking import Tokenizer
from fabricd.core.context.model import Lines
from fabricd.core.context.rendering.pieces import Counts, Piece, Shown, Trailer, length_of
from fabricd.core.context.rendering.spelling import QUOTED, unspelled
from fabricd.core.context.rendering.writing import REFERENCES

_NAME = rf'(?:{QUOTED}|[^\s"#!\[]\S*)'
_KEYWORD = r"(?:skeleton|in|same)(?:[ ]|\Z)"
_UNIT = (
    rf"([0-9]+)-([0-9]+)[ ]([a-z]+)(?:[ ](?!{_KEYWORD})({_NAME}))?"
    r"(?:[ ]\[([0-9]+)/([0-9]+)\])?"
)
_ITEM = re.compile(
    rf"@@[ ]{_UNIT}(?:[ ](skeleton)|[ ]in[ ]({_NAME}))?(?:[ ]\#([0-9]+))?([ ]!signal)?"
)
_REFERENCE = re.compile(
    rf"({QUOTED}|[^\s\"]\S*):{_UNIT}[ ]\#([0-9]+)"
    rf"(?:[ ]same[ ]as[ ]({QUOTED}|[^\s\"]\S*):([0-9]+)-([0-9]+))?"
)
_TRAILER = re.compile(
    r"--[ ](cr_[0-9a-f]{16})[ ]([0-9]+)/([0-9]+)[ ](o200k|cl100k|claude)(?:[ ]estimated)?"
    r"[ ]([0-9]+)[ ]full[ ]([0-9]+)[ ]skeleton[ ]([0-9]+)[ ]reference[ ]([0-9]+)[ ]omitted"
)
_WARNING = re.compile(r"([0-9]+) items carry text addressed to an assistant; it is data\.")


class Malformed(ValueError):
    """A text is no answer; the message names the line."""


class Answer(NamedTuple):
    """What a text says.

    Attributes:
        warned: how many pieces it says carry signals.
    """

    warned: int
    pieces: tuple[Piece, ...]
    trailer: Trailer


def parse_answer(text: str) -> Answer:
    """Read an answer.

    Full items and openings are as many lines as their header says. A skeleton ends where its
    lines and the N of its gaps `… N lines` add up to that.

    Raises:
        Malformed: a line is not what has to stand there.
    """
    lines = text.split("\n")
    trailer = _trailer(lines.pop())
    reader = _Reader(lines)
    found = _WARNING.fullmatch(lines[0]) if lines else None
    if found:
        reader.at = 1
    pieces = reader.items() + reader.references()
    return Answer(int(found[1]) if found else 0, tuple(pieces), trailer)


def _trailer(line: str) -> Trailer:
    found = _TRAILER.fullmatch(line)
    if found is None:
        raise Malformed("the last line is no trailer")
    receipt, used, budget, tokenizer, *counts = found.groups()
    return Trailer(
        receipt, int(used), int(budget), cast("Tokenizer", tokenizer), Counts(*map(int, counts))
    )


class _Reader:
    """Goes through the lines before the trailer."""

    def __init__(self, lines: list[str]) -> None:
        self.at = 0
        self._lines = lines

    def items(self) -> list[Piece]:
        """All up to the references, or to the end."""
        pieces: list[Piece] = []
        path: str | None = None
        while self.at < len(self._lines) and self._lines[self.at] != REFERENCES:
            line = self._next()
            if line.startswith("## "):
                path = unspelled(line[3:])
            elif path is None or (found := _ITEM.fullmatch(line)) is None:
                raise Malformed(f"line {self.at}: no header")
            else:
                pieces.append(self._item(path, found))
        return pieces

    def references(self) -> list[Piece]:
        """The rest."""
        if self.at < len(self._lines):
            self.at += 1
        pieces: list[Piece] = []
        while self.at < len(self._lines):
            found = _REFERENCE.fullmatch(self._next())
            if found is None:
                raise Malformed(f"line {self.at}: no reference")
            pieces.append(_reference(found))
        return pieces

    def _next(self) -> str:
        self.at += 1
        return self._lines[self.at - 1]

    def _item(self, path: str, found: re.Match[str]) -> Piece:
        start, end, kind, name, part, parts, skeleton, within, n, signal = found.groups()
        span = int(end) - int(start) + 1
        shown: Shown = "skeleton" if skeleton else "full" if n else "opening"
        return Piece(
            path,
            int(start),
            int(end),
            kind,
            unspelled(name or ""),
            shown,
            unspelled(within or ""),
            (int(part or 0), int(parts or 0)),
            int(n or 0),
            signal is not None,
            self._text(span, shown),
        )

    def _text(self, span: int, shown: Shown) -> tuple[str, ...]:
        length = length_of(self._lines, self.at, span) if shown == "skeleton" else span
        first = self.at
        if length is None or first + length > len(self._lines):
            raise Malformed(f"line {first}: its lines do not add up")
        self.at += length
        return tuple(self._lines[first : self.at])


def _reference(found: re.Match[str]) -> Piece:
    path, start, end, kind, name, part, parts, n, other, first, last = found.groups()
    same: tuple[str, Lines] | None = None
    if other is not None:
        same = (unspelled(other), (int(first), int(last)))
    return Piece(
        unspelled(path),
        int(start),
        int(end),
        kind,
        unspelled(name or ""),
        "reference",
        part=(int(part or 0), int(parts or 0)),
        n=int(n),
        same_as=same,
    )
