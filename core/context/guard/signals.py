"""Places of a text that address an assistant, in clear or in disguise.

The text is read three ways: its Latin letters as they stand, at the speed of a translation table;
its lines in other scripts; and those of its lines that hide something, as a reader would see them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain, count, islice
from operator import add
from typing import TypeAlias

from fabricd.core.context.guard.folding import flat, fold
from fabricd.core.context.guard.judging import ANCHOR, judged, plausible, weighed
from fabricd.core.context.guard.lexicon import (
    CALLED,
    COMMON,
    LATIN,
    PIECES,
    WIDTH,
    Entry,
    Lexicon,
    pieces,
)
from fabricd.core.context.guard.unveiling import (
    Veiled,
    alone,
    hidden_lines,
    odd_characters,
    unveiled,
)
from fabricd.core.context.model import Signal

_LATIN = Lexicon(LATIN)
_RUSSIAN = Lexicon(("ru",))
_PIECES = {language: tuple(pieces(language)) for language in PIECES}
# Lines before and after a line that are read with it, and how long a line is read as one.
_BEFORE, _AFTER = 2, 2
_LONGEST = 320
_SPARSE = 70  # letters in five lines; below it they are words in a column
_SCRIPT_LINE = 4000  # characters of a line in another script
_SHORT = 4
_SHORT_BITS = sum((1 << CALLED | 1 << COMMON) << (number * WIDTH) for number in range(len(LATIN)))
_MOST = 1000  # signals of a text that is nothing but disguise
_PATIENCE = 500
_SENTENCE = 8  # shorter lines are words in a list
_WORDS = re.compile(r"[^\W\d_]+")
_CYRILLIC = re.compile("[\u0430-\u044f]{3}")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]{2}")
_OTHER_SCRIPTS = re.compile("[\u0430-\u044f\u3040-\u30ff\u4e00-\u9fff]{2}")
# A line or a piece of one: its number, where it begins in the text, its letters. There are too many
# of them for a class.
_Row: TypeAlias = tuple[int, int, bytes]
_COMMENT = re.compile(
    r"[ \t]*(?:#|//|/\*|\*|--|;|%|<!--|\"\"\"|'''|\{#)|[^\n]{0,200}(?:[ \t]#|//|/\*)[ \t]"
)


def signals_of(text: str, language: str | None) -> tuple[Signal, ...]:
    """The signals of a text, by line, each line and rule once."""
    odd = odd_characters(text)
    found: set[tuple[int, str]] = set(islice(alone(text, odd), _MOST))
    narrow = text.encode("latin-1", "replace")
    veiled = unveiled(text, odd, narrow)
    hidden = hidden_lines(text)
    found.update(_in_latin(flat(narrow), text, hidden, language))
    for one in veiled:
        found.update(_in_veiled(one))
    if _OTHER_SCRIPTS.search(odd):
        found.update(_in_other_scripts(text, hidden, 0))
    return tuple(Signal(rule, line) for line, rule in sorted(found))


def _in_latin(
    letters: bytes, text: str, hidden: dict[int, int], language: str | None
) -> Iterator[tuple[int, str]]:
    lines = letters.split(b"\n")
    spoken = [line.split() for line in lines]
    known = _LATIN.known(set(chain.from_iterable(spoken)))
    whole = 0
    for entry in known.values():
        whole |= _most(entry)
    possible = tuple(one for one in plausible(whole) if _is_written_in(one, known.values()))
    if not hidden and not possible:
        return
    asked = sum(ANCHOR[number] << (number * WIDTH) for number in possible)
    anchors = frozenset(word for word, entry in known.items() if _most(entry) & asked)
    rows = _rows(lines)
    if len(rows) > len(lines):
        spoken = [row.split() for _, _, row in rows]
    masks: dict[int, int] = {}

    def mask(at: int) -> int:
        if at not in masks:
            masks[at] = _meaning(spoken, at, known)
        return masks[at]

    silent, vain, told = -1, 0, 0
    for at in _asked(rows, spoken, anchors, hidden):
        number, start, _ = rows[at]
        if at <= silent or number == told:
            continue
        if number not in hidden and not mask(at) & asked:
            continue
        near = _window(rows, at)
        found = 0
        for one in near:
            found |= mask(one)
        veil = hidden.get(number, 0)
        languages = (
            tuple(range(len(LATIN)))
            if veil and found
            else tuple(one for one in plausible(found) if one in possible)
        )
        if not languages:
            continue
        veil = veil or (1 if _is_comment(text[start : start + _LONGEST], language) else 0)
        verdict = _verdict(text, [rows[one] for one in near], languages, veil)
        if verdict:
            yield verdict
            silent, told = at + _AFTER, number
        else:
            # Windows overlap; in a text made to be slow fewer of them are read.
            vain += 1
            silent = at + _AFTER if vain > _PATIENCE else at


def _window(rows: list[_Row], at: int) -> range:
    """The lines that are read with one; more of them where they hold a word or two each."""
    near = range(max(0, at - _BEFORE), min(len(rows), at + 1 + _AFTER))
    if sum(len(rows[one][2]) for one in near) >= _SPARSE:
        return near
    return range(max(0, at - 3 * _BEFORE), min(len(rows), at + 1 + 3 * _AFTER))


def _most(entry: Entry) -> int:
    """What a word can mean at most, with the phrases it may stand in."""
    bits = entry.bits
    for hint in entry.hints:
        bits |= hint.bit
    return bits


def _meaning(spoken: list[list[bytes]], at: int, known: Mapping[bytes, Entry]) -> int:
    """The kinds of words in a line; phrases are looked for in the next as well.

    Args:
        spoken: the words of each row.
    """
    words = spoken[at]
    found = 0
    joined = b""
    for word in words:
        entry = known.get(word)
        if entry is None:
            continue
        found |= entry.bits
        if entry.hints:
            joined = joined or b" ".join(
                [*(spoken[at - 1] if at else ()), *words]
                + (spoken[at + 1] if at + 1 < len(spoken) else [])
            )
            for hint in entry.hints:
                if hint.piece in joined:
                    found |= hint.bit
    return found


def _is_written_in(language: int, entries: Iterable[Entry]) -> bool:
    """Whether the commonest words of a language occur; English is taken for granted."""
    common = 1 << (language * WIDTH + COMMON)
    return language == 0 or sum(1 for entry in entries if entry.bits & common) >= 2


def _asked(
    rows: list[_Row],
    spoken: list[list[bytes]],
    words: frozenset[bytes],
    hidden: Mapping[int, int],
) -> list[int]:
    """The rows that hold one of some words or are hidden."""
    lacking = map(words.isdisjoint, spoken)
    if not hidden:
        return [at for at, lacks in enumerate(lacking) if not lacks]
    return [
        at
        for at, (row, lacks) in enumerate(zip(rows, lacking, strict=True))
        if not lacks or row[0] in hidden
    ]


def _rows(lines: list[bytes]) -> list[_Row]:
    """The lines; a long one in pieces."""
    starts = map(add, accumulate(map(len, lines), initial=0), count())
    rows: list[_Row] = list(zip(count(1), starts, lines, strict=False))
    if max(map(len, lines)) <= _LONGEST:
        return rows
    return [
        (number, start + at, row[at : at + _LONGEST])
        for number, start, row in rows
        for at in range(0, max(1, len(row)), _LONGEST)
    ]


def _verdict(
    text: str, rows: list[_Row], languages: tuple[int, ...], veil: int
) -> tuple[int, str] | None:
    words: list[str] = []
    numbers: list[int] = []
    for number, _, row in rows:
        some = [word.strip("_") for word in row.decode("ascii").split()]
        words += some
        numbers += [number] * len(some)
    meanings = _LATIN.meanings(words)
    for tongue in languages:
        verdict = judged(words, meanings, tongue, veil)
        if verdict and any(meaning & _SHORT_BITS for meaning in meanings):
            # Digits are read as letters: `a1` and `d3` are short words in disguise, or no words.
            shown = " ".join(text[start : start + len(row)] for _, start, row in rows)
            real = set(_WORDS.findall(fold(shown)))
            meanings = [
                meaning & ~_SHORT_BITS if len(word) <= _SHORT and word not in real else meaning
                for word, meaning in zip(words, meanings, strict=True)
            ]
            verdict = judged(words, meanings, tongue, veil)
        if verdict:
            return numbers[verdict[1]], f"{verdict[0]}-{LATIN[tongue]}"
    return None


def _is_comment(line: str, language: str | None) -> bool:
    if language in (None, "markdown", "rst"):
        return line.lstrip().startswith(("<!--", "[//]:", "[comment]:", "..", "#:"))
    return _COMMENT.match(line) is not None


def _in_other_scripts(
    text: str, hidden: dict[int, int], spoken_to: int
) -> Iterator[tuple[int, str]]:
    russian = _CYRILLIC.search(text) is not None
    eastern = _HAN.search(text) is not None or _KANA.search(text) is not None
    if not (russian or eastern):
        return
    rows = [
        (number, fold(line[:_SCRIPT_LINE]))
        for number, line in enumerate(text.split("\n"), 1)
        if not line.isascii() and len(line.strip()) >= _SENTENCE
    ]
    present = _present("\n".join(row for _, row in rows)) if eastern else {}
    silent, vain = -1, 0
    for at, (number, _) in enumerate(rows):
        if at <= silent:
            continue
        near = [
            one for one in rows[max(0, at - _BEFORE) : at + 1 + _AFTER] if abs(one[0] - number) <= 3
        ]
        veil = max(spoken_to, hidden.get(number, 0))
        rule = (_russian(near, veil) if russian else None) or (
            _eastern(near, veil, present) if eastern else None
        )
        if rule:
            yield number, rule
            silent = at + _AFTER
        else:
            vain += 1
            silent = at + _AFTER if vain > _PATIENCE else at


def _russian(rows: list[tuple[int, str]], veil: int) -> str | None:
    words = [word for _, row in rows for word in _WORDS.findall(row)][:400]
    verdict = judged(words, _RUSSIAN.meanings(words), 0, veil, english=False)
    return f"{verdict[0]}-ru" if verdict else None


_Pieces: TypeAlias = list[tuple[int, list[str]]]


def _present(text: str) -> dict[str, _Pieces]:
    """For each language without blanks the pieces that a text holds at all."""
    languages = PIECES if _KANA.search(text) else PIECES[:1]
    characters = set(text)
    return {
        language: [
            (kind, [part for part in parts if part[0] in characters and part in text])
            for kind, parts in _PIECES[language]
        ]
        for language in languages
    }


def _eastern(rows: list[tuple[int, str]], veil: int, present: dict[str, _Pieces]) -> str | None:
    text = "\n".join(row for _, row in rows)[:2000]
    for language, pieces_of in present.items():
        places: list[list[int]] = [[] for _ in range(WIDTH)]
        for kind, parts in pieces_of:
            for part in parts:
                at = text.find(part)
                while at >= 0:
                    places[kind].append(at)
                    at = text.find(part, at + len(part))
            places[kind].sort()
        verdict = weighed(places, 3, veil)
        if verdict:
            return f"{verdict[0]}-{language}"
    return None


def _in_veiled(one: Veiled) -> Iterator[tuple[int, str]]:
    """Signals of a line in disguise, read as it would be seen."""
    words = _WORDS.findall(one.text)
    meanings = _LATIN.meanings(words[:400])
    for tongue in range(len(LATIN)):
        verdict = judged(words[:400], meanings, tongue, one.weight)
        if verdict:
            yield one.line, f"disguised-{verdict[0]}-{LATIN[tongue]}"
            return
    for _, rule in _in_other_scripts(one.text, {}, one.weight):
        yield one.line, f"disguised-{rule}"
        return
