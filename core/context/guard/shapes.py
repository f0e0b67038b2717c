"""Finding makers' tokens: long runs are taken out of the text first, and searched alone.

A run is at least `_SHORTEST` letters, digits and `_.~|-` in a row. Those that no maker would draw
(words without a digit) left out, runs are a fiftieth of ordinary source, so that two hundred
literals can be looked for in them at the cost of a few in the whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from fabricd.core.context.guard.checksums import ends_in_crc32
from fabricd.core.context.guard.finding import Found
from fabricd.core.context.guard.plausibility import classes, drawn, entropy, filled
from fabricd.core.context.guard.vendors import SHAPES, Shape

_SHORTEST = 20
_RANK = 1
_RANK_PREFIXED = 3
_RUN = b"r" * _SHORTEST
_KINDS = bytes(
    ord("r") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_.~-|") else ord(" ")
    for code in range(256)
)
_TAIL = re.compile(r"[A-Za-z0-9_.+/=%-]{0,2000}")


class Runs(NamedTuple):
    """The long runs of a text, joined by line ends; where each begins, there and in the text."""

    text: str
    begins: list[int]
    places: list[int]

    def place(self, at: int) -> int:
        """Where in the text a character of `self.text` stands."""
        number = bisect_right(self.begins, at) - 1
        return self.places[number] + at - self.begins[number]


def runs_of(text: str, narrow: bytes) -> Runs:
    """The runs of a text, whose Latin-1 form (a byte a character) is `narrow`."""
    marked = narrow.translate(_KINDS)
    pieces: list[str] = []
    begins: list[int] = []
    places: list[int] = []
    size = 0
    at = marked.find(_RUN)
    while at >= 0:
        end = marked.find(b" ", at + _SHORTEST)
        end = len(marked) if end < 0 else end
        for start in _starts(narrow, at):
            if _may_be_drawn(narrow[max(start, at) : end]):
                # With the sign of an escape before it only a maker's literal tells a token.
                pieces.append(text[start:end] if start >= at else "/" + text[at:end])
                begins.append(size)
                places.append(start)
                size += end - start + 1
        at = marked.find(_RUN, end)
    return Runs("\n".join(pieces), begins, places)


# What an escape leaves in the run behind it, by the sign before the run.
_ESCAPED = {
    0x25: re.compile(rb"(?:25){0,2}[0-9A-Fa-f]{2}"),  # a%3D
    0x5C: re.compile(
        rb"u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|U[0-9A-Fa-f]{8}|[0-3]?[0-7]{1,2}|[a-z]"  # \u0027
    ),
    0x5B: re.compile(rb"(?:[0-9]{1,3}|(?<=[\x1b3bBe\[]\[))[mKJHG]"),  # a terminal's [31m
    0x3B: re.compile(rb"[0-9]{1,3}m"),  # its [1;31m
}


def _starts(narrow: bytes, at: int) -> tuple[int, ...]:
    """Where a run may start: at its first character or the sign before it, behind an escape."""
    escaped = _ESCAPED.get(narrow[at - 1]) if at else None
    match = escaped.match(narrow, at) if escaped else None
    if match is None:
        return (at,)
    if narrow[at - 1] != 0x5C:
        return at - 1, match.end()
    # The n of a written line end is no part of what follows it; a d may be a directory's.
    if narrow[at] in b"nrt":
        return (at + 1,)
    return at if narrow[at] in _LETTERS else at - 1, match.end()


_LETTERS = b"cdghijklmopqswyz"
_HEADS = frozenset(literal[:3].encode() for shape in SHAPES for literal in shape.literals)
_DIGIT = re.compile(rb"[0-9]")


def _may_be_drawn(run: bytes) -> bool:
    return _DIGIT.search(run) is not None or run[:3] in _HEADS


def _pattern(shape: Shape) -> re.Pattern[str]:
    literals = "|".join(map(re.escape, shape.literals))
    before = "" if shape.literals[0][0] in "Q." else "(?<![A-Za-z0-9])"
    return re.compile(
        f"{before}(?:{literals}){shape.body}" + ("" if shape.tail else "(?![A-Za-z0-9])")
    )


_COMPILED = tuple(
    (literal, shape, pattern)
    for shape, pattern in ((shape, _pattern(shape)) for shape in SHAPES)
    for literal in shape.literals
)


def vendor_tokens(text: str, runs: Runs) -> Iterator[Found]:
    """Makers' tokens in a text."""
    packed = runs.text
    for literal, shape, pattern in _COMPILED:
        if literal not in packed:
            continue
        for match in pattern.finditer(packed):
            start = runs.place(match.start())
            end = start + match.end() - match.start()
            if shape.tail:
                tail = _TAIL.match(text, end)
                end = tail.end() if tail else end
            if _genuine(shape, match.group()):
                context = _CONTEXTS.get(shape.kind)
                found = context(text, start, end) if context else (start, end)
                if found:
                    yield Found(*found, shape.kind, _RANK)


# Makers prefix their tokens so that they can be found; those of no maker above are told by that.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9._/-])[A-Za-z][A-Za-z0-9]{1,11}[_-](?:[A-Za-z0-9]{1,10}[_-]){0,3}"
    r"([A-Za-z0-9]{24,200})(?![A-Za-z0-9._/-])"
)
_CHECKED = tuple(literal for shape in SHAPES if shape.check for literal in shape.literals)
_DIGESTS = ("sha", "md5", "blake", "rev", "commit", "cache", "chunk")


def prefixed_tokens(runs: Runs) -> Iterator[Found]:
    """Drawn letters and digits behind a short prefix: a token of a maker that is not known."""
    for match in _PREFIXED.finditer(runs.text):
        body = match.group(1)
        token = match.group()
        if classes(body) < 3 or token.lower().startswith(_DIGESTS) or token.startswith(_CHECKED):
            continue
        if entropy(body) >= 3.8 and drawn(body, strict=True) and not filled(body):
            start = runs.place(match.start())
            yield Found(start, start + len(token), "token", _RANK_PREFIXED)


def _genuine(shape: Shape, token: str) -> bool:
    if shape.check == "crc32" and not ends_in_crc32(token):
        return False
    literal = next((one for one in shape.literals if token.startswith(one)), "")
    body = token[len(literal) :]
    return not filled(body) and entropy(body) >= 2.5


def _telegram(text: str, start: int, end: int) -> tuple[int, int] | None:
    digits = start - 1
    while digits > max(0, start - 13) and text[digits - 1].isdigit():
        digits -= 1
    if start > 0 and text[start - 1] == ":" and 6 <= start - 1 - digits <= 12:
        return digits, end
    return None


def _azure(text: str, start: int, end: int) -> tuple[int, int] | None:
    head = text[max(0, start - 4) : start]
    if re.fullmatch(r"[A-Za-z0-9_.~-]{3}[0-9]", head):
        return start - 4, end
    return None


def _terraform(text: str, start: int, end: int) -> tuple[int, int] | None:
    return (
        (start - 14, end)
        if re.fullmatch("[A-Za-z0-9]{14}", text[max(0, start - 14) : start])
        else None
    )


_CONTEXTS: dict[str, Callable[[str, int, int], tuple[int, int] | None]] = {
    "telegram": _telegram,
    "azure-client-secret": _azure,
    "terraform-cloud": _terraform,
}
