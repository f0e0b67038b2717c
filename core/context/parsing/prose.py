"""Sections of Markdown and reStructuredText. Rows are 0-based."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fabricd.core.context.parsing.blocks import blocks_of, is_blank, trimmed
from fabricd.core.context.parsing.layout import LARGEST, NONE, Piece, Rows

LONG_SECTION = 120  # rows; a longer one is in parts
_LONGEST_TITLE = 120

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t\r]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t\r]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_HTML = re.compile(r"<[^>]*>")
_RULER = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t\r]*$")
# What a setext underline cannot stand under: a list, a quotation, a table, a heading, a tag.
_NO_TITLE = re.compile(r"\s*(?:[-*+>|#<=]|\d+[.)]|$)")


class Heading(NamedTuple):
    """A heading: its rows, its level (1 is the highest), its title."""

    first: int
    last: int
    level: int
    title: str


def sections_of(lines: Sequence[str], language: str) -> list[Piece]:
    """A text by its headings; what stands before the first is blocks."""
    headings = list(_HEADINGS[language](lines))
    start = headings[0].first if headings else len(lines)
    pieces = [
        Piece("block", "", "", first, last, None, first)
        for first, last in blocks_of(lines, 0, start - 1, LARGEST)
    ]
    path: list[tuple[int, Piece]] = []
    for number, heading in enumerate(headings):
        after = headings[number + 1] if number + 1 < len(headings) else None
        while path and path[-1][0] >= heading.level:
            path.pop()
        until = (after.first if after else len(lines)) - 1
        opens = after is not None and after.level > heading.level
        made = _section(lines, heading, until, [piece for _, piece in path], opens)
        pieces += made
        path.append((heading.level, made[0]))
    return pieces


def _section(
    lines: Sequence[str], heading: Heading, until: int, above: Sequence[Piece], opens: bool
) -> list[Piece]:
    first, last = trimmed(lines, heading.first, until)
    shown: Rows = (heading.first, heading.last)
    cuts = [(first, last)]
    if last - first >= LONG_SECTION or sum(map(len, lines[first : last + 1])) > LARGEST:
        cuts = list(blocks_of(lines, first, last, LARGEST))
    container = ".".join(piece.name for piece in above)
    parent = above[-1] if above else None
    parts = len(cuts)
    return [
        Piece(
            "section", heading.title, container, start, end, parent, start,
            opening=shown if opens and not k else NONE,
            signature=shown if not k else NONE,
            documented=_opening_line(lines, heading.last + 1, end) if not k else NONE,
            part=(k + 1, parts) if parts > 1 else (0, 0),
        )
        for k, (start, end) in enumerate(cuts)
    ]  # fmt: skip


def _opening_line(lines: Sequence[str], first: int, last: int) -> Rows:
    first, _ = trimmed(lines, first, last)
    return (first, first) if first <= last else NONE


def _markdown(lines: Sequence[str]) -> Iterator[Heading]:
    fence = ""
    before = _behind_front_matter(lines)  # a setext title stands below this row
    for row in range(before, len(lines)):
        line = lines[row]
        mark = line.lstrip(" ")[:1]
        if mark in ("`", "~"):
            found = _FENCE.match(line)
            if found is None:
                continue
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
                before = row + 1
        elif fence:
            continue
        elif mark == "#":
            found = _ATX.match(line)
            if found is not None:
                yield Heading(row, row, len(found[1]), _title(found[2] or ""))
                before = row + 1
        elif mark in ("=", "-") and row > before and _SETEXT.match(line):
            if not _NO_TITLE.match(lines[row - 1]) and (
                row - 1 == before or is_blank(lines[row - 2])
            ):
                yield Heading(row - 1, row, 1 if mark == "=" else 2, _title(lines[row - 1]))
                before = row + 1


def _behind_front_matter(lines: Sequence[str]) -> int:
    if not lines or lines[0].strip("\ufeff \r") != "---":
        return 0
    for row in range(1, min(len(lines), 200)):
        if lines[row].rstrip() in ("---", "..."):
            return row + 1
    return 0


def _rst(lines: Sequence[str]) -> Iterator[Heading]:
    levels: dict[tuple[str, bool], int] = {}
    behind = -1
    for row in range(1, len(lines)):
        line = lines[row]
        if not line or row - 1 <= behind or line[0].isalnum() or not _RULER.match(line):
            continue
        title = lines[row - 1]
        size = len(title.rstrip())
        if is_blank(title) or _RULER.match(title) or len(line.rstrip()) < size - 1:
            continue
        over = row >= 2 and row - 2 > behind and lines[row - 2].rstrip() == line.rstrip()
        if not over and (title[0].isspace() or not _stands_alone(lines, row - 2)):
            continue
        level = levels.setdefault((line[0], over), len(levels) + 1)
        yield Heading(row - 2 if over else row - 1, row, level, _title(title))
        behind = row


def _stands_alone(lines: Sequence[str], above: int) -> bool:
    return above < 0 or is_blank(lines[above]) or lines[above].startswith("..")


def _title(text: str) -> str:
    plain = _HTML.sub("", _LINK.sub(r"\1", text)).replace("`", "").replace("*", "")
    return " ".join((plain if plain.strip() else text).split())[:_LONGEST_TITLE]


_HEADINGS: dict[str, Callable[[Sequence[str]], Iterator[Heading]]] = {
    "markdown": _markdown,
    "rst": _rst,
}
PROSE = frozenset(_HEADINGS)
