"""Patterns in two dialects, each turned into one that Python's `re` understands.

Ours is ECMA-262 with the freedoms of its old grammar and of Perl: punctuation may be escaped, a
bracket or brace may stand alone, `\\A`, `\\z`, `(?i)`, `(?P<name>…)` and possessive quantifiers
work, and word boundaries know letters beyond ASCII. The reference reads patterns with the `u` flag
and throws at each of these; its word boundaries are those of ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tests.conformance.values import Unstated, keys_of, objects_in, walk

_TOKEN = re.compile(
    r"(?P<escape>\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|.))"
    r"|(?P<group>\(\?(?:[:=!]|<[=!]|P?<[A-Za-z_][A-Za-z0-9_]*>|i[):]))"
    r"|(?P<quantifier>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})[?+]?)"
    r"|(?P<set>\[\^?)"
    r"|(?P<char>.)",
    re.S,
)
_MEMBER = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|.)|.", re.S)
_SPACE = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACE}
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
# Not `<` and `>`, which are boundaries of words when escaped.
_IDENTITY = frozenset(" !\"#%&',-:;=@_`~")
_LINE_END = "[^\n\r\u2028\u2029]"
_CHARS: Mapping[str, str] = {".": _LINE_END, "$": r"\Z", "^": "^", "|": "|", "(": "(", ")": ")"}


class Refused(Exception):
    """Raised where the reference throws: the pattern is none with the `u` flag."""


def _freedom(reference: bool, ours: str) -> str:
    """A construct of our dialect alone."""
    if reference:
        raise Refused
    return ours


def _code_point(escape: str) -> str | None:
    digits = escape[1:].strip("{}")
    if escape[0] not in "xu" or not digits:
        return None
    code = int(digits, 16)
    if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        raise Unstated("half a character in a pattern")
    return chr(code)


def _literal(escape: str, reference: bool) -> str:
    """The character that an escape stands for, outside a set or in one."""
    char = _CONTROLS.get(escape) or _code_point(escape)
    if char is not None or escape in _SYNTAX:
        return char or escape
    if escape not in _IDENTITY:
        raise Unstated(f"the escape {escape!a}")
    return _freedom(reference, escape)


def _escape(escape: str, reference: bool) -> str:
    if escape.lower() in _CLASSES:
        return f"[{'^' if escape.isupper() else ''}{_CLASSES[escape.lower()]}]"
    if escape in ("b", "B"):
        return rf"(?a:\{escape})" if reference else rf"\{escape}"
    if escape in ("A", "z"):
        return _freedom(reference, rf"\{escape.upper()}" if escape == "A" else r"\Z")
    return re.escape(_literal(escape, reference))


def _members(text: str, reference: bool) -> Iterator[str]:
    """The members of a set as `re` has them; a class that is not, as a set of its own."""
    for token in _MEMBER.findall(text):
        if token in ("[", "&&") and not reference:
            raise Unstated("a set within a set")
        if token[0] != "\\":
            yield token if token == "-" else re.escape(token)
        elif token[1:].lower() in _CLASSES:
            inner = _CLASSES[token[1].lower()]
            yield f"[^{inner}]" if token[1].isupper() else inner
        else:
            yield re.escape("-" if token == r"\-" else _literal(token[1:], reference))


def _set(text: str, negated: bool, reference: bool) -> str:
    if not reference and re.search(r"&&|--|~~", text):
        raise Unstated("sets with operators")
    if re.search(r"\\[dwsDWS]-.|.-\\[dwsDWS]", text, re.S):
        raise Unstated("a range with a class at one end")
    members = list(_members(text, reference))
    parts = [member for member in members if member.startswith("[^")]
    plain = "".join(member for member in members if not member.startswith("[^"))
    either = "|".join([f"[{plain}]", *parts] if plain else parts) or "(?!)"
    return rf"(?:(?!{either})[\s\S])" if negated else f"(?:{either})"


def _set_end(pattern: str, start: int, reference: bool) -> int:
    """Where the members of a set end; with the `u` flag the very first bracket ends it."""
    place = start if reference or pattern[start : start + 1] != "]" else start + 1
    while place < len(pattern) and pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    if place >= len(pattern):
        raise Unstated("a set without an end")
    return place


def _group(text: str, place: int, reference: bool) -> str:
    if text.startswith("(?<") and text[3] not in "=!":
        return f"(?P<{text[3:]}"
    if text == "(?i)" and place:
        raise Unstated("flags in the middle of a pattern")
    return _freedom(reference, text) if text[2] in "iP" else text


def _char(char: str, reference: bool) -> str:
    if char == "{":
        raise Unstated("an open brace")
    return _freedom(reference, re.escape(char)) if char in "]}" else _CHARS.get(
        char, re.escape(char)
    )


def _pieces(pattern: str, reference: bool) -> Iterator[str]:
    place, repeated = 0, True
    while place < len(pattern):
        found = _TOKEN.match(pattern, place)
        if found is None:
            raise Unstated("a backslash at the end")
        kind, text = str(found.lastgroup), found[0]
        if kind == "quantifier" and repeated:
            raise Unstated("a quantifier of nothing")
        repeated = kind in ("quantifier", "group") or text in ("(", "|", "^", "$", r"\b", r"\B")
        place = found.end()
        if kind == "set":
            end = _set_end(pattern, place, reference)
            if end > place and pattern[place] == "]" and reference: 
                raise Refused
            yield _set(pattern[place:end], text == "[^", reference)
            place = end + 1
        elif kind == "escape":
            yield _escape(text[1:], reference)
        elif kind == "group":
            yield _group(text, found.start(), reference)
        elif kind == "quantifier":
            yield _freedom(reference, text) if text[1:].endswith("+") else text
        else:
            yield _char(text, reference)
