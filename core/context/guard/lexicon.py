"""The tables made ready: which kinds of words a word belongs to, in which languages.

Each language has sixteen bits, one a kind. Words are folded as texts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from fabricd.core.context.guard.folding import fold
from fabricd.core.context.guard.tables import (
    chinese,
    english,
    french,
    german,
    japanese,
    portuguese,
    russian,
    spanish,
)

LATIN = ("en", "de", "fr", "es", "pt")
PIECES = ("zh", "ja")
WIDTH = 16

_TABLES: dict[str, Mapping[str, str]] = {
    "en": english.WORDS,
    "de": german.WORDS,
    "fr": french.WORDS,
    "es": spanish.WORDS,
    "pt": portuguese.WORDS,
    "ru": russian.WORDS,
    "zh": chinese.WORDS,
    "ja": japanese.WORDS,
}
_KINDS = (
    "called",
    "weak",
    "round",
    "you",
    "rule",
    "earlier",
    "aside",
    "part",
    "not",
    "who",
    "tell",
    "secretly",
    "thing",
    "do",
    "loose",
    "common",
)
(
    CALLED,
    WEAK,
    ROUND,
    YOU,
    RULE,
    EARLIER,
    SET_ASIDE,
    NEW_PART,
    NOT,
    WHO,
    TELL,
    SECRETLY,
    THING,
    DO,
    LOOSE,
    COMMON,
) = range(len(_KINDS))
_SECRETS = frozenset("key keys token tokens secret secrets password passwords credentials".split())


# Words that programs are full of, the commonest first.
_FREQUENT = {
    word: rank
    for rank, word in enumerate(
        "if to of in is the for and not from as or be by a on true an it this that name are "
        "will with t when index have should given new context mode comment lines check read can "
        "only user you any all first file code text data out before log process between need "
        "operator here request window warn them report without system been point real what now "
        "above under task setup keep trace override configuration work take were language "
        "nothing show model normal let starting never helper your message actual still reading "
        "summary".split()
    )
}


class Phrase(NamedTuple):
    """Words in a row that mean something together: those behind the first."""

    rest: tuple[str, ...]
    bit: int


class Hint(NamedTuple):
    """A phrase at its rarest word: a piece of it without stems inside, and its bit."""

    piece: bytes
    bit: int


class Entry(NamedTuple):
    """What a word means by itself, the phrases it begins, and those it is the rarest word of."""

    bits: int = 0
    phrases: tuple[Phrase, ...] = ()
    hints: tuple[Hint, ...] = ()

    def __or__(self, other: object) -> Entry:
        """Both together."""
        if not isinstance(other, Entry):
            return NotImplemented
        return Entry(self.bits | other.bits, self.phrases + other.phrases, self.hints + other.hints)


_NOTHING = Entry()
_SHORTEST = 4  # letters of a stem
_LONG = 100  # letters of a word that is not remembered
_PASSED = 65_536  # words that mean nothing and are remembered


class Lexicon:
    """The words of some languages, the n-th in the bits from n times `WIDTH` on."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        self._words: dict[str, Entry] = {}
        self._stems: dict[str, Entry] = {}
        for number, language in enumerate(languages):
            for kind, name in enumerate(_KINDS):
                for entry in _TABLES[language].get(name, "").split():
                    self._take(fold(entry), 1 << (number * WIDTH + kind))
        self._beginnings = frozenset(stem[:_SHORTEST] for stem in self._stems)
        self._openings = frozenset(word[:3] for word in (*self._words, *self._stems))
        self._exact = frozenset(word.encode() for word in self._words)
        self._starts = frozenset(stem.encode() for stem in self._beginnings)
        self._void = set[bytes]()
        self._spelled = lru_cache(maxsize=32_768)(self._spell)
        self._longest = max(map(len, self._stems), default=0)
        self._things = sum(1 << (number * WIDTH + THING) for number in range(len(languages)))
        self.entry = lru_cache(maxsize=32_768)(self._entry)

    def known(self, words: Set[bytes]) -> dict[bytes, Entry]:
        """Those of a text's words that mean something. Most of them are known to mean nothing."""
        void = self._void
        if len(void) >= _PASSED:
            void.clear()
        known: dict[bytes, Entry] = {}
        for word in words - void:
            if word in self._exact or word[:_SHORTEST] in self._starts:
                entry = self._spelled(word)
                if entry is not _NOTHING:
                    known[word] = entry
                    continue
            if len(void) < _PASSED and len(word) <= _LONG:
                void.add(word)
        return known

    def _spell(self, word: bytes) -> Entry:
        return self.entry(word.strip(b"_").decode("ascii"))

    def _take(self, entry: str, bit: int) -> None:
        first, *rest = entry.split("_")
        if not rest:
            self._add(first, Entry(bit))
            return
        self._add(first, Entry(phrases=(Phrase(tuple(rest), bit),)))
        # A phrase is looked for where its rarest word stands: the first is often one like `you`.
        rarest = max((first, *rest), key=lambda word: (_FREQUENT.get(word, 999), len(word)))
        words = (first, *rest)
        stem_inside = any(word.endswith("*") for word in words[:-1])
        piece = rarest if stem_inside else " ".join(words)
        self._add(rarest, Entry(hints=(Hint(piece.removesuffix("*").encode(), bit),)))

    def _add(self, word: str, entry: Entry) -> None:
        table = self._stems if word.endswith("*") else self._words
        name = word.removesuffix("*")
        table[name] = table.get(name, _NOTHING) | entry

    def _entry(self, word: str) -> Entry:
        if "_" in word:
            # A name with a secret's word in it is a thing.
            bits = 0 if _SECRETS.isdisjoint(word.split("_")) else self._things
            return Entry(bits) if bits else _NOTHING
        found = self._words.get(word, _NOTHING)
        if word[:_SHORTEST] in self._beginnings:
            for size in range(_SHORTEST, min(len(word), self._longest) + 1):
                if stem := self._stems.get(word[:size]):
                    found |= stem
        return found

    def meanings(self, words: Sequence[str]) -> list[int]:
        """For each word of a text its bits; a phrase's bits stand at its first word."""
        found: list[int] = []
        for at, word in enumerate(words):
            entry = self.entry(word)
            bits = entry.bits
            for phrase in entry.phrases:
                if _follows(words, at + 1, phrase.rest):
                    bits |= phrase.bit
            found.append(bits)
        return found

    def may_begin(self, letters: str) -> bool:
        """Whether three letters begin a word of a table."""
        return letters in self._openings

    def knows(self, word: str) -> bool:
        """Whether a word stands in a table as it is, or as a stem."""
        return word in self._stems or self._words.get(word, _NOTHING).bits > 0


def _follows(words: Sequence[str], at: int, rest: tuple[str, ...]) -> bool:
    if at + len(rest) > len(words):
        return False
    for number, asked in enumerate(rest, at):
        word = words[number]
        if word != asked and not (asked.endswith("*") and word.startswith(asked[:-1])):
            return False
    return True


def pieces(language: str) -> Iterable[tuple[int, tuple[str, ...]]]:
    """For a language without blanks: each kind and its pieces of text."""
    for kind, name in enumerate(_KINDS):
        if entries := _TABLES[language].get(name, "").split():
            yield kind, tuple(fold(entry) for entry in entries)
