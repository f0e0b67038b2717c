"""What texts and queries are compared by: words split as identifiers are, lower case, stemmed.

    getUserNames  →  getusernames get user name
    parse_http2   →  parsehttp2 pars http 2

A word longer than `LONGEST`, a long number and what looks like a digest or a key is no term, nor is
a single letter or a placeholder of the guard.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from fabricd.core.context.function_words import function_words

LONGEST = 64
_KEPT = 65_536  # words whose terms are remembered

_WORD = re.compile(r"\w+")
_ASCII_WORDS = "".join(chr(n) if chr(n).isalnum() or n == 0x5F else " " for n in range(128))
_PLACEHOLDER = re.compile("\u2039secret:[^\u203a\n]*\u203a")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WIDE_PART = re.compile(r"[^\W\d_]+|\d+")
_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]{16,}")
_VOWEL = re.compile("[aeiouy]")
# Scripts written without spaces: a word is not known by its edges, so its pairs are taken.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")

STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been before but by can could did do does
    doing done for from had has have having he her here hers him his how i if in into is it its
    just like me more most my no not now of off on once only or other our out over own please same
    she should so some such than that the their them then there these they this those through to
    too under until up us very was we were what when where whether which while who whom whose why
    will with would you your
    """.split()
)


class _Known(dict[str, tuple[str, ...]]):
    """The terms of words, computed once each."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(word) > LONGEST:
            # A file can be all words of a kilobyte: what is no term is not remembered.
            return ()
        if len(self) >= _KEPT:
            self.clear()
        terms = self[word] = _split(word)
        return terms


KNOWN = _Known()


def words_of(text: str) -> list[str]:
    """The words of a text as they stand, in order; a placeholder of the guard is none."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()  # twice as fast
    if "\u2039" in text:
        text = _PLACEHOLDER.sub(" ", text)
    return _WORD.findall(text)


def terms_of(text: str) -> list[str]:
    """The terms of a text, in order, as often as they occur."""
    known = KNOWN
    return [term for word in words_of(text) for term in known[word]]


def query_terms(query: str) -> list[str]:
    """The terms of a query, each once, in order, without stop words unless it has nothing else."""
    words = words_of(query)
    left_out = STOP_WORDS | function_words(map(str.lower, words))
    wanted = [word for word in words if word.lower() not in left_out] or words
    return _once(term for word in wanted for term in KNOWN[word])


def stem(word: str) -> str:
    """A lower-case word without the commonest endings: `parsing`, `parsed`, `parse` are one."""
    size = len(word)
    if size < 4:
        return word
    if word.endswith("s"):
        word = _singular(word)
    if word.endswith("ing") and len(word) > 5:
        word = _verb(word, 3)
    elif word.endswith("ed") and len(word) > 4:
        word = _verb(word, 2)
    elif word.endswith("e") and len(word) > 4:
        word = word[:-1]
    return word


def _once(terms: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(terms))


def _split(word: str) -> tuple[str, ...]:
    if len(word) > LONGEST or _is_noise(word):
        return ()
    if not word.isascii():
        return _wide(word)
    if word.isalpha() and word.islower():
        return (stem(word),) if len(word) > 1 else ()
    parts = _PART.findall(word)
    whole = "".join(parts).lower()
    if len(parts) == 1:
        return (stem(whole),) if len(whole) > 1 else ()
    kept = [stem(part.lower()) for part in parts if len(part) > 1 or part.isdigit()]
    return tuple(_once([whole, *kept])) if len(whole) > 1 else ()


def _wide(word: str) -> tuple[str, ...]:
    """Terms of a word with letters beyond ASCII."""
    word = unicodedata.normalize("NFKC", word)
    if word.isascii():
        return _split(word)
    terms: list[str] = []
    for part in _WIDE_PART.findall(word.lower()):
        rest = 0
        for run in _UNSPACED.finditer(part):
            terms += [part[rest : run.start()]] if run.start() > rest else []
            text = run[0]
            terms += [text[i : i + 2] for i in range(max(1, len(text) - 1))]
            rest = run.end()
        terms += [part[rest:]] if rest < len(part) else []
    return tuple(_once(terms))


def _is_noise(word: str) -> bool:
    """Long numbers, digests, encoded bytes: nobody asks for them by a part."""
    size = len(word)
    if size < 9 or word.isalpha() or not any(map(str.isdigit, word)):
        return False
    if word.isdigit():
        return True
    if _HEX.fullmatch(word):
        return True
    # Words have longer parts than bytes in letters.
    return size >= 24 and "_" not in word and len(_PART.findall(word)) * 3 > size


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def _verb(word: str, ending: int) -> str:
    base = word[:-ending]
    if not _VOWEL.search(base):
        return word
    if base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base[:-1] if base.endswith("e") else base
