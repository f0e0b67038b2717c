"""What units refer to by name, and what a file imports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tree_sitter import Node

from fabricd.core.context.model import Mentions
from fabricd.core.context.terms import STOP_WORDS

_MOST = 400  # names of a unit, of each sort: tables of constants mention thousands
_LONGEST = 100
_REMEMBERED = 65_536
_JUDGED: set[str] = set()  # words
_TOLD: set[str] = set()  # those of them that are telling
# A capital first and then a small letter or another capital: a type or a constant.
_TELLING = re.compile(r"_*[A-Z][A-Za-z0-9_]+")
_WORDS = STOP_WORDS | {"none", "true", "false", "null", "return", "returns", "todo", "note"}
_STRING = re.compile(r"""["'`<]([^"'`<>\n]{1,200})["'`>]""")
# Imports that are calls, by text: a query for them costs more than all others together.
_JAVASCRIPT = re.compile(rb"""\b(?:require|import)\(\s*["']([^"'\n]{1,200})["']""")
_LOADED = {
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "ruby": re.compile(
        rb"""^[ \t]*(?:require|require_relative|load)[ \t(]+["']([^"'\n]{1,200})""", re.M
    ),
    "bash": re.compile(rb"""^[ \t]*(?:source|\.)[ \t]+["']?([^\s"';&|]{1,200})""", re.M),
}
_PATH = re.compile(r"[.\w$\\:/]+")
_NOISE = frozenset(
    """
    import from as use using namespace require require_once include include_once static type
    typeof default export pub crate mod extern global function const require_relative load autoload
    source
    """.split()
)


def calls_in(
    nodes: Iterable[Node], source: bytes, owner: Sequence[int], units: int
) -> list[set[str]]:
    """For each unit the names called in it.

    Args:
        owner: for each row its unit, or -1.
    """
    raw: list[set[bytes]] = [set() for _ in range(units)]
    for node in nodes:
        unit = owner[node.start_point[0]]
        if unit >= 0:
            raw[unit].add(source[node.start_byte : node.end_byte])
    return [
        {name for one in names if 1 < len(name := one.decode(errors="replace")) <= _LONGEST}
        for names in raw
    ]


def is_mentioned(name: str) -> bool:
    """Whether a name is of a length that is remembered."""
    return 1 < len(name) <= _LONGEST


def telling(words: set[str]) -> set[str]:
    """Those of some words that look like somebody's definition."""
    if len(_JUDGED) >= _REMEMBERED:
        _JUDGED.clear()
        _TOLD.clear()
    # Few words of a file stand in none that was read lately.
    for word in words - _JUDGED:
        if len(word) > _LONGEST:
            continue
        _JUDGED.add(word)
        if _is_telling(word):
            _TOLD.add(word)
    return words & _TOLD


def _is_telling(word: str) -> bool:
    return (
        _TELLING.fullmatch(word) is not None
        and len(word) <= _LONGEST
        and word.lower() not in _WORDS
    )


def forget() -> None:
    """Let go of what is remembered of words."""
    _JUDGED.clear()
    _TOLD.clear()


def mentions_of(named: set[str], called: set[str], own: str) -> Mentions:
    """A unit's mentions.

    Args:
        named: words of its code that are `telling`, or that its file defines or imports.
        called: as `calls_in` gives them.
        own: its own name, which is no mention.
    """
    names = named - called
    names.discard(own)
    # A word of a shell may go over several lines: it names nothing, and lines part names.
    called = {name for name in called if "\n" not in name}
    return Mentions(
        "\n".join(sorted(called - {own})[:_MOST]),
        "\n".join(sorted(names)[:_MOST]),
    )


def imports_of(nodes: Iterable[Node], source: bytes, language: str) -> tuple[str, ...]:
    """Modules and names in import statements, as written, each once, sorted."""
    found: set[str] = set()
    if language in _LOADED:
        paths = _LOADED[language].findall(source)
        found.update(path.decode(errors="replace") for path in paths)
    for node in nodes:
        text = source[node.start_byte : node.end_byte].decode(errors="replace")
        for string in _STRING.findall(text):
            found.add(string)
        for path in _PATH.findall(_STRING.sub(" ", text)):
            found.add(path.strip(":\\/") if path.strip(".") else path)
    return tuple(sorted(name for name in found - _NOISE if 0 < len(name) <= 200))
