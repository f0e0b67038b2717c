"""Ignore rules as git reads them, for trees that git does not list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_STAR = "*"
_ANY_WAY = "(?:.*/)?"
# Nobody writes more of `**/` in one pattern; each costs as much again as the others together.
_MOST_WAYS = 4


class Pattern(NamedTuple):
    """One line of a file of rules. It is matched with paths below that file's directory."""

    expression: re.Pattern[str]
    ignores: bool
    directories_only: bool


def patterns_of(text: str) -> tuple[Pattern, ...]:
    """The patterns of a file of rules, in order; what is none is passed over."""
    return tuple(pattern for line in text.split("\n") if (pattern := _pattern(line)) is not None)


def verdict(patterns: tuple[Pattern, ...], path: str, is_directory: bool) -> bool | None:
    """Whether a path is ignored; None where no pattern fits. The last that fits decides.

    A path below an ignored directory is never asked for: no pattern brings it back.
    """
    for expression, ignores, directories_only in reversed(patterns):
        if (is_directory or not directories_only) and expression.fullmatch(path):
            return ignores
    return None


def _pattern(line: str) -> Pattern | None:
    line = line.removesuffix("\r")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    line = line if ignores else line[1:]
    directories_only = line.endswith("/")
    line = line.removesuffix("/")
    # A slash elsewhere ties a pattern to the directory of its file.
    anywhere = "" if "/" in line else _ANY_WAY
    line = line.removeprefix("/")
    if not line:
        return None
    try:
        tokens = list(_tokens(line))
        if tokens.count(_ANY_WAY) > _MOST_WAYS:
            return None
        expression = re.compile(anywhere + _joined(tokens), re.DOTALL)
    except (re.error, _Unfinished):
        return None
    return Pattern(expression, ignores, directories_only)


class _Unfinished(Exception):
    """A pattern that ends too early fits nothing."""


def _joined(tokens: Iterable[str]) -> str:
    """One expression, in which only the last star of a segment is tried at more than one length.

    What follows a star that is not the last may as well be taken where it stands first.
    """
    parts: list[str] = []
    segment: list[str] = [""]
    for token in (*tokens, "/"):
        if token == _STAR:
            segment.append("")
        elif token in ("/", _ANY_WAY):
            first, *middle = segment
            last = f"[^/]*{middle.pop()}" if middle else ""
            parts += (first, *(f"(?>[^/]*?{piece})" for piece in middle), last, token)
            segment = [""]
        else:
            segment[-1] += token
    return "".join(parts[:-1])


def _tokens(glob: str) -> Iterator[str]:
    at = 0
    while at < len(glob):
        is_start = at == 0 or glob[at - 1] == "/"
        if is_start and glob.startswith("**/", at):
            yield _ANY_WAY
            while glob.startswith("**/", at):
                at += 3
        elif is_start and glob[at:] == "**":
            yield ".+" if at else ".*"
            at += 2
        elif glob[at] == "[":
            piece, at = _class(glob, at + 1)
            yield piece
        elif glob[at] == "\\":
            if at + 1 == len(glob):
                raise _Unfinished
            yield re.escape(glob[at + 1])
            at += 2
        else:
            yield {"*": _STAR, "?": "[^/]"}.get(glob[at], re.escape(glob[at]))
            at += 1


_NAMED = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "xdigit": "0-9a-fA-F",
}


def _class(glob: str, at: int) -> tuple[str, int]:
    """A class of characters from behind its bracket on, and where it ends."""
    is_not = glob[at : at + 1] in ("!", "^")
    at += is_not
    pieces: list[str] = []
    while at < len(glob) and (glob[at] != "]" or not pieces):
        if glob.startswith("[:", at) and (end := glob.find(":]", at)) > 0:
            pieces.append(_NAMED.get(glob[at + 2 : end], ""))
            at = end + 2
            continue
        first, at = _member(glob, at)
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("", "]"):
            last, at = _member(glob, at + 1)
            pieces.append(f"{re.escape(first)}-{re.escape(last)}" if first <= last else "")
        else:
            pieces.append(re.escape(first))
    if at >= len(glob):
        raise _Unfinished
    inside = "".join(pieces)
    if is_not:
        return f"[^/{inside}]", at + 1
    return f"(?!/)[{inside}]" if inside else "(?!)", at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    at += glob[at] == "\\"
    if at >= len(glob):
        raise _Unfinished
    return glob[at], at + 1
