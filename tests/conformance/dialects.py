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
from typing import Any, TypeGuard

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
_OPERATORS = re.compile(r"&&|--|~~|\\[dwsDWS]-.|.-\\[dwsDWS]", re.S)
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACE}
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
# Not `<` and `>`, which are boundaries of words when escaped.
_IDENTITY = frozenset(" !\"#%&',-:;=@_`~")
_UNREPEATABLE = ("(", "|", "^", "$", r"\b", r"\B")
_NO_LINE_END = "[^\n\r\u2028\u2029]"
_CHARS: Mapping[str, str] = {".": _NO_LINE_END, "$": r"\Z", "^": "^", "|": "|", "(": "(", ")": ")"}


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
        # In older Pythons `\B` does not match an empty text.
        boundary = r"\b" if escape == "b" else r"(?!\b)"
        return f"(?a:{boundary})" if reference else boundary
    if escape in ("A", "z"):
        return _freedom(reference, rf"\{escape.upper()}" if escape == "A" else r"\Z")
    return re.escape(_literal(escape, reference))


def _members(text: str, reference: bool) -> Iterator[str]:
    """The members of a set as `re` has them; a class that is not, as a set of its own."""
    for token in _MEMBER.findall(text):
        if token == "[" and not reference:
            raise Unstated("a set within a set")
        if token[0] != "\\":
            yield token if token == "-" else re.escape(token)
        elif token[1:].lower() in _CLASSES:
            inner = _CLASSES[token[1].lower()]
            yield f"[^{inner}]" if token[1].isupper() else inner
        else:
            yield re.escape("-" if token == r"\-" else _literal(token[1:], reference))


def _set(text: str, negated: bool, reference: bool) -> str:
    if _OPERATORS.search(text):
        raise Unstated("a set with operators, or a range with a class at one end")
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
    if char in "{\\":
        raise Unstated("a brace that is never closed, or a backslash at the end")
    plain = _CHARS.get(char, re.escape(char))
    return _freedom(reference, plain) if char in "]}" else plain


def _piece(found: re.Match[str], reference: bool) -> str:
    kind, text = found.lastgroup, found[0]
    if kind == "escape":
        return _escape(text[1:], reference)
    if kind == "group":
        return _group(text, found.start(), reference)
    if kind == "quantifier":
        return _freedom(reference, text) if text[1:].endswith("+") else text
    return _char(text, reference)


def _pieces(pattern: str, reference: bool) -> Iterator[str]:
    place, unrepeatable = 0, True
    while place < len(pattern):
        found = _TOKEN.match(pattern, place)
        assert found is not None
        if found.lastgroup == "quantifier" and unrepeatable:
            raise Unstated("a quantifier of nothing")
        place = found.end()
        if found.lastgroup == "set":
            end = _set_end(pattern, place, reference)
            yield _set(pattern[place:end], found[0] == "[^", reference)
            place = end + 1
        else:
            yield _piece(found, reference)
        unrepeatable = found.lastgroup in ("quantifier", "group") or found[0] in _UNREPEATABLE


@cache
def matcher(pattern: str, reference: bool) -> re.Pattern[str]:
    """The pattern as Python has it.

    Raises:
        Refused: the reference throws at it.
        Unstated: it has something that is not written down here.
    """
    try:
        return re.compile("".join(_pieces(pattern, reference)))
    except re.error as error:
        raise Unstated(f"a pattern that Python refuses: {error}") from None


def dialects_differ(schema: Any, values: Any) -> bool:
    """Whether a pattern has what only our dialect has, or seeks words in more than ASCII."""
    texts = keys_of(values).union(inner for inner in walk(values) if isinstance(inner, str))
    wide = not all(map(str.isascii, texts))
    return any(_is_refused(text) or (wide and _seeks_words(text)) for text in _patterns(schema))


def _patterns(schema: Any) -> set[str]:
    found: set[str] = set()
    for members in objects_in(schema):
        found.update(filter(_is_text, [members.get("pattern")]))
        found.update(keys_of([members.get("patternProperties")]))
    return found


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_refused(pattern: str) -> bool:
    try:
        matcher(pattern, reference=True)
    except Refused:
        return True
    except Unstated:
        return False
    return False


def _seeks_words(pattern: str) -> bool:
    return not {"b", "B"}.isdisjoint(re.findall(r"\\(.)", pattern, re.S))
