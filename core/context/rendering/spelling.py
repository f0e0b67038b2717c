"""Names and paths as one word of a header line, whatever characters they have."""

from __future__ import annotations

import re

# White space, what a terminal or an editor obeys, what nobody sees, and halves of surrogate pairs.
# By number, so that no edition of Unicode changes an answer.
_ODD = (
    "\0-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U000e0000-\U000e0fff"
)
_ESCAPED = re.compile(rf'[{_ODD}"\\]')
# What the grammar of headers itself says is quoted where it is a name.
_PLAIN = re.compile(rf'(?!(?:skeleton|in|same)\Z)[^{_ODD}"#!\[][^{_ODD}]*\Z')
_ESCAPE = re.compile(r'\\(?:u\{([0-9a-f]{1,6})\}|(["\\]))')
QUOTED = r'"(?:[^"\\\n]|\\u\{[0-9a-f]{1,6}\}|\\["\\])*"'


def spelled(name: str) -> str:
    r"""A name as one word: itself, or quoted with `\u{202e}` for each odd character but a space."""
    if _PLAIN.match(name):
        return name
    return f'"{_ESCAPED.sub(_escape, name)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char == " ":
        return char
    return f"\\{char}" if char in '"\\' else f"\\u{{{ord(char):x}}}"


def unspelled(word: str) -> str:
    """The name that is spelled so."""
    if not word.startswith('"'):
        return word
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], word[1:-1])
