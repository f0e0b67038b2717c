"""Disguises: what a text hides from a reader, and what it would say without."""

from __future__ import annotations

import binascii
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from html import unescape
from typing import NamedTuple

from fabricd.core.context.guard.folding import UNSEEN, cyrillic, fold, latin
from fabricd.core.context.guard.lexicon import LATIN, Lexicon

_CHUNK = 2000  # characters that are read as one
_SEEN = 2  # the weight of a proven disguise: as if the text had spoken to an assistant
_LETTER = "A-Za-z\u00c0-\u024f\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff"
# Marks that plain accents are made of prove nothing.
_PROOF = UNSEEN.replace("\u0300-\u036f", "\u0305\u030d-\u0326\u0329-\u036f").replace(
    "\u3099\u309a", ""
)
_FOREIGN = (
    "\u0370-\u03ff\u0400-\u052f\u0531-\u0589\u13a0-\u13fd\u2c80-\u2cff\ua4d0-\ua4ff\uab70-\uabbf"
)
_STYLED = (
    "\uff21-\uff3a\uff41-\uff5a\u249c-\u24e9\u1d00-\u1d7f\u02b0-\u02e1\u2070-\u209c\u2100-\u214f"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f189"
)
_STRANGE = re.compile(f"[{UNSEEN}{_STYLED}]|[A-Za-z][{_FOREIGN}]|[{_FOREIGN}][A-Za-z]")
_UNSEEN_INSIDE = re.compile(f"(?<=[{_LETTER}])[{_PROOF}]{{1,8}}(?=[{_LETTER}])")
_MIXED = re.compile(f"[A-Za-z][{_FOREIGN}]|[{_FOREIGN}][A-Za-z]")
_OTHER_SCRIPT = re.compile("[\u0430-\u044f\u3040-\u30ff\u4e00-\u9fff]{2}")
_STYLE = re.compile(f"[{_STYLED}]")
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = "\U0001f3f4"
_OVERRIDES = re.compile("[\u202d\u202e]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_REVERSED = re.compile("\u202e([^\u202c\n]{1,2000})")


class Veiled(NamedTuple):
    """A piece of text without its disguise.

    Attributes:
        weight: 2 where the disguise is beyond chance, else 0.
    """

    line: int
    text: str
    weight: int


class Lines:
    """Where each line of a text begins; found out when it is first asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: list[int] = []

    def number(self, at: int) -> int:
        """The line of a character, from 1."""
        if not self._ends:
            self._ends = [match.start() for match in re.finditer("\n", self._text)]
            self._ends.append(len(self._text))
        return bisect_left(self._ends, at) + 1

    def text(self, number: int) -> str:
        """A line."""
        self.number(0)
        start = self._ends[number - 2] + 1 if number > 1 else 0
        return self._text[start : self._ends[number - 1]]

    def between(self, first: int, last: int) -> str:
        """Some lines with what ends them."""
        self.number(0)
        start = self._ends[first - 2] + 1 if first > 1 else 0
        return self._text[start : self._ends[last - 1]]

    def end(self, number: int) -> int:
        """Where a line ends."""
        self.number(0)
        return self._ends[number - 1]

    def __len__(self) -> int:
        self.number(0)
        return len(self._ends)


_ODD = re.compile("[^\x00-\x7f]+")


def odd_characters(text: str) -> str:
    """The characters beyond ASCII, in order."""
    return "" if text.isascii() else "".join(_ODD.findall(text))


def alone(text: str, odd: str) -> Iterator[tuple[int, str]]:
    """Lines whose disguise is a signal by itself: tag characters, directions turned round."""
    if not (_TAGS.search(odd) or _OVERRIDES.search(odd)):
        return
    lines = Lines(text)
    for match in _TAGS.finditer(text):
        if match.start() == 0 or text[match.start() - 1] != _FLAG:
            yield lines.number(match.start()), "tag-characters"
    last = 0
    for match in _OVERRIDES.finditer(text):
        number = lines.number(match.start())
        if number != last and not _RIGHT_TO_LEFT.search(lines.text(number)):
            yield number, "direction-override"
        last = number


_UNUSUAL = re.compile(f"[{UNSEEN}{_STYLED}{_FOREIGN}]")
_BEYOND_LATIN = re.compile("[\u0370-\u1fff\u3040-\U0003ffff]")


def unveiled(text: str, odd: str, narrow: bytes) -> list[Veiled]:
    """What stands in a text in disguise, piece by piece."""
    lines = Lines(text)
    found: list[Veiled] = []
    if _UNUSUAL.search(odd):
        found += _strange(lines, text, _STRANGE, str)
    if "\\u" in text:
        found += _strange(lines, text, _ESCAPED, _without_escapes)
    if "&#" in text or "&amp;#" in text:
        found += _entities(lines, text)
    found += _spaced(lines, text, odd, narrow)
    found += _encoded(lines, text, narrow)
    return found


_ESCAPED = re.compile(r"\\u[0-9A-Fa-f]{4}")


def _without_escapes(line: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match.group()[2:], 16)), line)


def _blocks(lines: Lines, numbers: list[int]) -> Iterator[tuple[int, str]]:
    """Lines with the two before and after, in chunks; lines near each other together."""
    at = 0
    while at < len(numbers):
        number = numbers[at]
        first, last = max(1, number - 2), number
        size = 0
        while at < len(numbers) and numbers[at] <= last + 3 and size < _CHUNK:
            last = numbers[at]
            size = lines.end(last) - lines.end(first)
            at += 1
        last = min(len(lines), last + 2)
        block = lines.between(first, last).replace("\n", " ")
        for start in range(0, len(block), _CHUNK):
            yield number, block[start : start + _CHUNK + 200]


def _numbers(lines: Lines, text: str, pattern: re.Pattern[str]) -> list[int]:
    found: list[int] = []
    at = 0
    while match := pattern.search(text, at):
        number = lines.number(match.start())
        found.append(number)
        end = text.find("\n", match.end())
        if end < 0:
            break
        at = end + 1
    return found


def _strange(
    lines: Lines, text: str, pattern: re.Pattern[str], read: Callable[[str], str]
) -> Iterator[Veiled]:
    for number, block in _blocks(lines, _numbers(lines, text, pattern)):
        shown = read(block)
        proven = (
            len(_UNSEEN_INSIDE.findall(shown)) >= 3
            or len(_MIXED.findall(shown)) >= 3
            or len(_STYLE.findall(shown)) >= 12
        )
        if not (
            proven or _STRANGE.search(shown) or (read is not str and _OTHER_SCRIPT.search(shown))
        ):
            continue
        weight = _SEEN if proven else 0
        plain = fold(shown)
        yield Veiled(number, plain, weight)
        if _MIXED.search(shown):
            yield Veiled(number, latin(plain), weight)
            yield Veiled(number, cyrillic(plain), weight)
        for match in _REVERSED.finditer(shown):
            yield Veiled(number, fold(match.group(1)[::-1]), _SEEN)


_ENTITY = re.compile(r"&(?:amp;)?#(?:[0-9]{2,6}|[xX][0-9A-Fa-f]{2,5});?")


def _entities(lines: Lines, text: str) -> Iterator[Veiled]:
    for number, block in _blocks(lines, _numbers(lines, text, _ENTITY)):
        proven = sum(unescape(unescape(one)).isalpha() for one in _ENTITY.findall(block)) >= 8
        # Twice: an entity may stand for the sign that begins another.
        yield Veiled(number, fold(unescape(unescape(block))), _SEEN if proven else 0)


_SPARSE = bytes(
    0x61 if chr(code).isalpha() else 0x20 if chr(code) in " ._-*|\xb7" else 0x23
    for code in range(256)
)
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W_][ ._*|·-])+[^\W_](?![^\W_])")
_KNOWN = Lexicon(LATIN)


_VARIED = 10  # different characters that a sentence has at least
_SINGLE = re.compile(r"(?<![^\W_])(?:[^\W_][ ._*|·-]){5}[^\W_](?![^\W_])")


def _spaced(lines: Lines, text: str, odd: str, narrow: bytes) -> Iterator[Veiled]:
    numbers = (
        _numbers(lines, text, _SINGLE)
        if _BEYOND_LATIN.search(odd)
        else _rows_of(lines, narrow.translate(_SPARSE), b"a a a a a a")
    )
    for number, block in _blocks(lines, numbers):
        if len(set(block)) < _VARIED:
            continue
        letters = sum(len(match.group()) // 2 for match in _SPACED.finditer(block))
        if letters >= 12:
            joined = _SPACED.sub(lambda match: " ".join(_segments(match.group()[::2])), block)
            yield Veiled(number, fold(joined), _SEEN)


def _rows_of(lines: Lines, marked: bytes, piece: bytes) -> list[int]:
    """The lines that hold a piece."""
    found: list[int] = []
    at = marked.find(piece)
    while at >= 0:
        found.append(lines.number(at))
        at = marked.find(piece, lines.end(found[-1]))
    return found


def _segments(letters: str) -> list[str]:
    """Known words in letters without blanks; alone if they are one word."""
    folded = fold(letters)
    if len(folded) < 12 or (len(folded) < 18 and _KNOWN.entry(folded).bits):
        return [folded]
    words: list[str] = []
    at = 0
    while at < len(folded):
        size = _known_at(folded, at) if _KNOWN.may_begin(folded[at : at + 3]) else 0
        if size:
            words.append(folded[at : at + size])
        at += size or 1
    return words


def _known_at(letters: str, at: int) -> int:
    for size in range(min(14, len(letters) - at), 2, -1):
        if _KNOWN.knows(letters[at : at + size]):
            return size
    return 0


_BASE64 = bytes(
    0x72 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "+/-_") else 0x20
    for code in range(256)
)
_SHORTEST = 40
_ENCODED = b"r" * _SHORTEST


def _encoded(lines: Lines, text: str, narrow: bytes) -> Iterator[Veiled]:
    """Base 64 of a sentence. Binary data does not decode to words, and is passed by quickly."""
    marked = narrow.translate(_BASE64)
    at = marked.find(_ENCODED)
    joined, first, last = "", 0, -_GAP
    while at >= 0:
        end = marked.find(b" ", at)
        end = len(marked) if end < 0 else end
        run = text[at : min(end, at + 4000)]
        if joined and (at - last > _GAP or len(joined) > 4000):
            yield from _sentence(joined, lines.number(first))
            joined = ""
        if joined or _decoded(run[:24]):
            first = first if joined else at
            joined += run
            # The last piece of a folded one is short.
            if tail := _CONTINUED.match(text, end):
                joined += tail.group(1)
        last = end
        at = marked.find(_ENCODED, end)
    if joined:
        yield from _sentence(joined, lines.number(first))


_GAP = 24  # characters between two lines of a folded one
_CONTINUED = re.compile(r"[^A-Za-z0-9+/\w]{1,24}([A-Za-z0-9+/_-]{4,39}={0,2})(?![A-Za-z0-9+/=])")


def _sentence(run: str, line: int) -> Iterator[Veiled]:
    size = len(run) // 4 * 4
    words = _decoded(run[:size])
    if words:
        yield Veiled(line, fold(words + _decoded(run[size:] + "=" * (size + 4 - len(run)))), _SEEN)


_URL_SAFE = str.maketrans("-_", "+/")


def _decoded(run: str) -> str:
    """The words that a run stands for; empty where it is not words."""
    try:
        raw = binascii.a2b_base64(run.translate(_URL_SAFE))
    except binascii.Error:
        return ""
    words = raw.decode("utf-8", "replace")
    clear = sum(char.isalpha() or char in " ,.:;!?'\n" for char in words)
    return words if clear >= 0.85 * len(words) else ""


_CONCEALED = re.compile(
    r"display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0(?![.][1-9])|"
    r"(?<![-\w])color\s?:\s?(?:white|#fff(?:fff)?|transparent)|left\s?:\s?-\d{3,}px|"
    r"(?:height|width)\s?:\s?0(?!\d)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"[^<>\n]{0,300}")
_LARGEST = 20_000


def hidden_lines(text: str) -> dict[int, int]:
    """Lines that a browser does not show, each with the weight of a proven disguise."""
    found: dict[int, int] = {}
    lines = Lines(text)
    for start, end in (*_comments(text), *_concealed(text)):
        for number in range(lines.number(start), lines.number(end) + 1):
            found[number] = _SEEN
    return found


def _comments(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("<!--")
    closed = text.find("-->", at) if at >= 0 else -1
    while at >= 0:
        if 0 <= closed < at:
            closed = text.find("-->", at)
        # What is never closed hides nothing but its line.
        end = closed if at <= closed <= at + _LARGEST else at
        yield at, end
        at = text.find("<!--", end + 4)
    for mark in ("[//]: ", "[comment]: "):
        at = text.find(mark)
        while at >= 0:
            yield at, at
            at = text.find(mark, at + len(mark))


def _concealed(text: str) -> Iterator[tuple[int, int]]:
    """Elements with a style or an attribute that keeps them from sight."""
    if "<" not in text:
        return
    for mark in ("style=", " hidden", "aria-hidden="):
        done = 0
        at = text.find(mark)
        while at >= 0:
            opened = text.rfind("<", max(done, at - 300), at)
            rest = _ATTRIBUTE.match(text, at)
            if (
                _is_tag(text, opened, at)
                and rest
                and (mark != "style=" or _CONCEALED.search(rest.group()))
            ):
                end = text.find("</", rest.end(), rest.end() + 4000)
                if end >= 0:
                    yield opened, end
                    done = end
            at = text.find(mark, at + len(mark))


def _is_tag(text: str, opened: int, at: int) -> bool:
    """Whether a place is inside a tag that opens at another."""
    return opened >= 0 and ">" not in text[opened:at] and text[opened + 1 : opened + 2].isalpha()
