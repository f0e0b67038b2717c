"""Text as somebody reads it, whatever it is written with: forms, marks, look-alikes."""

from __future__ import annotations

import re
from unicodedata import normalize

from fabricd.core.context.guard.confusables import TO_CYRILLIC, TO_LATIN

# What takes no room or only decorates: marks above and through letters, format characters,
# variation selectors, fillers, tags.
UNSEEN = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u3099\u309a\u3164"
    "\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_NARROW = bytes.maketrans(
    bytes(range(256)),
    bytes(
        ord(normalize("NFKD", chr(code))[0].lower())
        if chr(code).isalpha() and normalize("NFKD", chr(code))[0].isascii()
        else {0xC6: ord("a"), 0xE6: ord("a"), 0xD8: ord("o"), 0xF8: ord("o"), 0xDF: ord("s")}.get(
            code, code if chr(code) in "\n_" else ord(" ")
        )
        for code in range(256)
    ),
)
# What digits and signs stand for in words that are spelled with them.
_SPELLED = bytes.maketrans(b"013457@$", b"oieastas")


def fold(text: str) -> str:
    """The text without case, marks, unseen characters and compatibility forms."""
    return _UNSEEN.sub("", normalize("NFKD", text)).casefold()


def flat(narrow: bytes) -> bytes:
    """Of a text in Latin-1 its letters a-z, `_`, blanks and line ends, a byte a character."""
    return narrow.translate(_FLAT)


def latin(folded: str) -> str:
    """Folded text with look-alikes of Latin letters as those."""
    return folded.translate(TO_LATIN)


def cyrillic(folded: str) -> str:
    """Folded text with look-alikes of Cyrillic letters as those."""
    return folded.translate(TO_CYRILLIC)


_FLAT = bytes(
    _NARROW[_SPELLED[code]] if chr(code) in "013457@$" else _NARROW[code] for code in range(256)
)
