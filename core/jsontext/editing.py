"""Edits of JSON text: every byte that an edit is not about stays, comments and layout too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fabricd.core.jsontext.reading import Box, Document, Node

Plain: TypeAlias = "bool | int | str | Sequence[Plain] | Mapping[str, Plain] | None"

INDENT = "  "
_WHITE = " \t\n\r"
_MARGIN = re.compile(r"[ \t]*")
_COMMENT = re.compile(r"//[^\n\r]*|/\*.*?\*/", re.DOTALL)
_LOOSE = re.compile(r'":\s')


def add(document: Document, box: Box, value: Plain, name: str | None = None) -> str:
    """The text with one more entry at the end of a box, laid out as its neighbours are.

    Args:
        name: of the member, for an object.
    """
    text = document.text
    if not box.entries:
        return _first(document, box, value, name)
    last = box.entries[-1]
    tail = text[last.end : box.end - 1].rstrip(_WHITE)
    margin, at = _margin(text, last.start), last.end + len(tail)
    if "\n" in text[box.start : box.entries[0].start] or _ends_in_line_comment(tail):
        entry = _newline(text) + margin + _spread(document, margin, value, name)
    else:
        entry = _short(text, value, name) if _is_tight(text) else " " + _short(text, value, name)
    return text[: last.end] + "," + tail + entry + text[at:]


def remove(document: Document, box: Box, index: int) -> str:
    """The text without one entry of a box; comments around it stay."""
    text, entry = document.text, box.entries[index]
    if len(box.entries) == 1:
        before = text[box.start + 1 : entry.start].rstrip(_WHITE)
        after = text[entry.end : box.end - 1]
        inside = _joined(before, after) if before or after.strip(_WHITE) else ""
        return text[: box.start + 1] + inside + text[box.end - 1 :]
    if index == len(box.entries) - 1:
        comma = box.commas[-1]
        kept = text[comma + 1 : entry.start].rstrip(_WHITE)
        return text[:comma] + _joined(kept, text[entry.end :])
    comma, following = box.commas[index], box.entries[index + 1]
    kept = text[entry.end : comma].lstrip(_WHITE)
    gap = text[comma + 1 : following.start].lstrip(_WHITE)
    return text[: entry.start] + kept + gap + text[following.start :]


def replace(document: Document, node: Node, value: Plain) -> str:
    """The text with another value in the place of a node."""
    text = document.text
    return text[: node.start] + _short(text, value, None) + text[node.end :]


def _first(document: Document, box: Box, value: Plain, name: str | None) -> str:
    text = document.text
    inside = text[box.start + 1 : box.end - 1]
    kept = text[: box.start + 1] + inside.rstrip(_WHITE)
    if _unit(document) is None and "\n" not in inside:
        return kept + _short(text, value, name) + text[box.end - 1 :]
    outer = _margin(text, box.start)
    margin = outer + (_unit(document) or INDENT)
    entry = _spread(document, margin, value, name)
    newline = _newline(text)
    return kept + newline + margin + entry + newline + outer + text[box.end - 1 :]


def _unit(document: Document) -> str | None:
    """By how much a level is indented; None where the whole document stands on one line."""
    root, text = document.root, document.text
    if not isinstance(root, Box) or not root.entries:
        return INDENT
    first = root.entries[0].start
    return _margin(text, first) if "\n" in text[root.start : first] else None


def _spread(document: Document, margin: str, value: Plain, name: str | None) -> str:
    body = json.dumps(value, ensure_ascii=False, indent=_unit(document) or INDENT)
    newline = _newline(document.text)
    return _named(name, ": ") + body.replace("\n", newline + margin)


def _short(text: str, value: Plain, name: str | None) -> str:
    comma, colon = (",", ":") if _is_tight(text) else (", ", ": ")
    return _named(name, colon) + json.dumps(value, ensure_ascii=False, separators=(comma, colon))


def _named(name: str | None, colon: str) -> str:
    return "" if name is None else json.dumps(name, ensure_ascii=False) + colon


def _is_tight(text: str) -> bool:
    return _LOOSE.search(text) is None


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _margin(text: str, at: int) -> str:
    """What the line that holds an offset is indented by."""
    match = _MARGIN.match(text, text.rfind("\n", 0, at) + 1)
    return "" if match is None else match.group()


def _ends_in_line_comment(trivia: str) -> bool:
    comments = [match.group() for match in _COMMENT.finditer(trivia)]
    return bool(comments) and comments[-1].startswith("//") and trivia.endswith(comments[-1])


def _joined(kept: str, rest: str) -> str:
    """What follows a line comment must not become a part of it."""
    starts_line = rest.lstrip(" \t").startswith(("\n", "\r"))
    if _ends_in_line_comment(kept) and not starts_line:
        return kept + "\n" + rest
    return kept + rest
