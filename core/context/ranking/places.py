"""Files and lines that a query tells, as people and tools write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST_PLACES = 12
# Of names that may be files; most are none.
MOST_NAMES = 48

# A path begins where no other character of one stands before it: each is read once.
_BEGIN = r"(?<![\w.@+~$/-])"
_LINE = r"""(?:["']?,?\ (?:on\ )?line\ (?P<told>\d{1,7})|:(?P<line>\d{1,7})|\#L(?P<hash>\d{1,7})"""
_PLACE = re.compile(
    rf"""{_BEGIN}(?P<path>(?:[\w.@+~$-]*/)*[\w@+~$-][\w.@+~$-]*\.[A-Za-z][\w+]{{0,9}}){_LINE}|\b)""",
    re.VERBOSE,
)
_NAME = re.compile(rf"{_BEGIN}(?P<path>[\w.@+~$/-]*[\w@+~$-]){_LINE})?", re.VERBOSE)
_FOLDER = re.compile(r"(?<![\w.@+~$/-])(?:[\w.@+~$-]+/)+[\w.@+~$-]*")
# A lower-case word is a file's name only if something else says so.
_TELLING = re.compile(r"[A-Z./]")
_SUFFIXES = frozenset(
    """
    bash c cc cfg cjs conf cpp cs css cts cxx go gradle h hh hpp htm html ini java js json jsx kt
    less lock lua md mdx mjs mts php pl proto py pyi rb rs rst scss sh sql svelte swift toml ts tsx
    txt vue xml yaml yml zsh
    """.split()
)


class Place(NamedTuple):
    """A file that was named, by the end of its path, and perhaps a line in it (else 0)."""

    path: str
    line: int = 0

    @property
    def suffix(self) -> str:
        """In lower case, if it is one that files have, else empty."""
        suffix = self.path.rpartition(".")[2].lower()
        return suffix if suffix in _SUFFIXES else ""


def places(query: str) -> tuple[Place, ...]:
    """Files with a suffix, in the query's order."""
    return tuple(dict.fromkeys(map(_place, _PLACE.finditer(query))))[:MOST_PLACES]


def names(query: str, is_alone: bool) -> tuple[Place, ...]:
    """Names without a usual suffix that are files if the tree has such: `bin/x:6`, `Makefile`.

    Args:
        is_alone: whether the query has but one word, which then is a name however it is written.
    """
    known = set(places(query))
    found = (place for place in _names(query, is_alone) if place not in known)
    return tuple(dict.fromkeys(found))[:MOST_NAMES]


def folders(query: str) -> tuple[str, ...]:
    """What may be folders, or begin with them."""
    return tuple(dict.fromkeys(found[0] for found in _FOLDER.finditer(query)))[:MOST_PLACES]


def _names(query: str, is_alone: bool) -> Iterator[Place]:
    for match in _NAME.finditer(query):
        place = _place(match)
        if is_alone or place.line or _TELLING.search(place.path):
            yield place


def _place(match: re.Match[str]) -> Place:
    line = match["told"] or match["line"] or match["hash"] or "0"
    return Place(match["path"].removeprefix("./").lstrip("/"), int(line))
