"""Words that a preprocessor would take away, hidden from a parser that has none."""

from __future__ import annotations

import re

# `class API_EXPORT Name : public Base {`: a grammar takes the word for a type and the rest for a
# function. Written in capitals it is no type of a variable; else only what follows can tell.
_HEAD = r"""
    {word}(?<![\w(]{word})\s++
    (?:
        ((?:(?:[A-Z_][A-Z0-9_]++|__\w++)(?:\([^(){{}};]{{0,200}}\))?\s++){{1,3}}?)
        {name}(?::(?!:)|\{{)
      |
        ([A-Za-z_]\w*+\s++)
        {name}(?::\s*+(?:public|protected|private|virtual)\b|\{{[ \t\r]*+\n(?!\s*+\.))
    )
"""
_NAME = r"""
    (?!(?:final|sealed|abstract|\w*FINAL)\b)
    [A-Za-z_]\w*+(?:::\w++)*+(?:<[^{};\n]{0,200}>)?\s*+(?:final\b\s*+)?
"""
# One of each, as what begins with plain letters is found many times faster.
_HEADS = [
    re.compile(_HEAD.format(word=word, name=_NAME).encode(), re.VERBOSE)
    for word in ("class", "struct")
]
_SHOWN = re.compile(rb"[^\r\n]")


def without_macros(source: bytes) -> bytes:
    """C or C++ with spaces for the macros between `class` or `struct` and a name.

    All bytes keep their places, and all lines their ends.
    """
    for head in _HEADS:
        source = head.sub(_blanked, source)
    return source


def _blanked(found: re.Match[bytes]) -> bytes:
    text, number = found[0], found.lastindex or 0
    first, last = (place - found.start() for place in found.span(number))
    return text[:first] + _SHOWN.sub(b" ", text[first:last]) + text[last:]
