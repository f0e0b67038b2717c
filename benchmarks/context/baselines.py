"""Simple rankers that an engine has to beat: words over files, words over definitions, a grep.

They share nothing with the engine: their own words, their own pieces of a file.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks.context.golds import Definition, definitions
from benchmarks.context.scoring import Count, Part

_SUFFIXES = frozenset(
    """
    .py .pyi .ts .tsx .mts .js .mjs .jsx .cjs .md .rst .toml .json .yml .yaml .cfg .txt .sh
    """.split()
)
_LARGEST = 1_000_000
_STOP = frozenset(
    """
    a an and are as at be been but by can could do does for from had has have how if in into is it
    its no not of on only or should so that the their then there these they this to use used using
    was we when which while will with without would you add added allow fix fixed make support
    handle correctly now instead raise return more all any
    """.split()
)
_WORD = re.compile(r"[A-Za-z_$][\w$]*|\d+")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "ed", "es", "s")
_ASIDE = re.compile(
    r"(^|/)(tests?|testing|__tests__|docs?|examples?|bench(marks)?|runtime-tests|changelog"
    r"|deno_dist|scripts?)(/|$)|\.(test|spec)\.|(^|/)test_|CHANGE|\.(md|rst|json|ya?ml|toml|txt|cfg)$",
    re.IGNORECASE,
)
_LONGEST = 80
_AROUND = 5
_BIG_TYPE = 25
_BIG_FUNCTION = 150

Tree: TypeAlias = dict[str, str]


def read(tree: Path) -> Tree:
    """The text files of a git tree, as its index lists them."""
    listed = subprocess.run(
        ["git", "-C", str(tree), "ls-files", "-z"], check=True, capture_output=True
    ).stdout.decode("utf-8", "replace")
    found: Tree = {}
    for path in listed.split("\0"):
        file = tree / path
        if Path(path).suffix in _SUFFIXES and file.is_file() and not file.is_symlink():
            if file.stat().st_size <= _LARGEST:
                found[path] = file.read_text("utf-8", errors="replace")
    return found


def words(text: str) -> list[str]:
    """Lower-case words, those of several humps as a whole and in parts, without endings."""
    found: list[str] = []
    for word in _WORD.findall(text):
        whole = word.lower().strip("_$")
        if whole:
            found.append(_bare(whole))
            humps = _HUMP.findall(word.replace("_", " "))
            if len(humps) > 1:
                found += [_bare(hump.lower()) for hump in humps if len(hump) > 1]
    return found


def _bare(word: str) -> str:
    if len(word) > 5:
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word.removesuffix(ending)
    return word


def _asked(query: str) -> list[str]:
    found = words(query)
    return [word for word in found if word not in _STOP] or found


class _Bm25:
    """Okapi BM25 with k1 1.2 and b 0.75."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        self._places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for number, document in enumerate(documents):
            self._lengths.append(len(document))
            for word, count in Counter(document).items():
                self._places[word].append((number, count))
        self._usual = sum(self._lengths) / max(1, len(self._lengths)) or 1.0

    def scores(self, asked: Iterable[str]) -> dict[int, float]:
        """The documents that have a word of it."""
        found: defaultdict[int, float] = defaultdict(float)
        for word, times in Counter(asked).items():
            places = self._places.get(word, ())
            some = len(self._lengths) - len(places)
            rarity = log(1 + (some + 0.5) / (len(places) + 0.5)) * times
            for number, count in places:
                longer = 0.25 + 0.75 * self._lengths[number] / self._usual
                found[number] += rarity * count * 2.2 / (count + 1.2 * longer)
        return found


def _best(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda number: (-scores[number], number))


class Piece(NamedTuple):
    """Rows of a file, from 0, the last not included; and the definition they belong to."""

    path: str
    first: int
    last: int
    name: str
    text: str


def pieces(path: str, text: str) -> Iterator[Piece]:
    """A file in definitions, and what is between them, of at most 80 lines each."""
    lines = text.split("\n")
    owner = [""] * len(lines)
    for name, one in _outermost(path, text):
        for row in range(one.first, min(one.last + 1, len(lines))):
            owner[row] = name
    row = 0
    while row < len(lines):
        end = row
        while end < len(lines) and owner[end] == owner[row] and end - row < _LONGEST:
            end += 1
        if any(map(str.strip, lines[row:end])):
            yield Piece(path, row, end, owner[row], "\n".join(lines[row:end]))
        row = end


def _outermost(path: str, text: str) -> Iterator[tuple[str, Definition]]:
    """Definitions that stand in no other of moderate size. The members of a large type do."""
    lines = text.split("\n")
    types = ("class ", "interface ", "abstract class ", "export ")
    some = [
        (name, one)
        for name, one in definitions(path, text).items()
        if one.last - one.first <= _BIG_TYPE
        or not any(kind in lines[one.named] for kind in types[:3])
    ]
    for name, one in some:
        if not any(
            other is not one
            and other.first <= one.first
            and one.last <= other.last
            and other.last - other.first <= _BIG_FUNCTION
            for _, other in some
        ):
            yield name, one


def _filled(parts: Iterable[Part], budget: int, count: Count, cut_last: bool) -> list[Part]:
    """Parts until the budget is full. Files are cut where they end; pieces are left out."""
    kept: list[Part] = []
    left = budget
    for part in parts:
        size = count(f"\n## {part.path}\n{part.text}")
        if size <= left:
            kept.append(part)
            left -= size
        elif cut_last:
            return [*kept, part]
        elif left < 60:
            break
    return kept


Ranker: TypeAlias = Callable[[str, int], list[Part]]


def by_files(tree: Tree, count: Count) -> Ranker:
    """BM25 over whole files, best first."""
    paths = list(tree)
    index = _Bm25([words(path) * 3 + words(tree[path]) for path in paths])

    def ranked(query: str, budget: int) -> list[Part]:
        order = _best(index.scores(_asked(query)))[:60]
        parts = (Part(paths[number], tree[paths[number]]) for number in order)
        return _filled(parts, budget, count, cut_last=True)

    return ranked


def by_definitions(tree: Tree, count: Count, aside: float = 0.4) -> Ranker:
    """BM25 over definitions; of tests, documents and settings only `aside` of it counts."""
    units = [piece for path, text in tree.items() for piece in pieces(path, text)]
    index = _Bm25([words(one.path) * 2 + words(one.name) * 3 + words(one.text) for one in units])
    share = [aside if _ASIDE.search(one.path) else 1.0 for one in units]

    def ranked(query: str, budget: int) -> list[Part]:
        scores = index.scores(_asked(query))
        order = _best({number: value * share[number] for number, value in scores.items()})[:1500]
        parts = (
            Part(one.path, f"# L{one.first + 1}-{one.last} {one.name}\n{one.text}")
            for one in (units[number] for number in order)
        )
        return _filled(parts, budget, count, cut_last=False)

    return ranked


def by_grep(tree: Tree, count: Count) -> Ranker:
    """Files by how many different words of the query they have; of them the lines around."""

    def ranked(query: str, budget: int) -> list[Part]:
        asked = sorted(
            {word for word in re.findall(r"[A-Za-z_][\w.]{2,}", query) if word.lower() not in _STOP}
        )
        if not asked:
            return []
        pattern = re.compile("|".join(map(re.escape, asked)), re.IGNORECASE)
        found: list[tuple[int, int, str]] = []
        for path, text in tree.items():
            hits = Counter(match[0].lower() for match in pattern.finditer(text))
            if hits:
                found.append((-len(hits), -hits.total(), path))
        parts = (Part(path, _around(tree[path], pattern)) for _, _, path in sorted(found)[:60])
        return _filled(parts, budget, count, cut_last=True)

    return ranked


def _around(text: str, pattern: re.Pattern[str]) -> str:
    lines = text.split("\n")
    kept: set[int] = set()
    for row, line in enumerate(lines):
        if pattern.search(line):
            kept.update(range(max(0, row - _AROUND), min(len(lines), row + _AROUND + 1)))
    return "\n".join(lines[row] for row in sorted(kept))


BASELINES: dict[str, Callable[[Tree, Count], Ranker]] = {
    "bm25-files": by_files,
    "bm25-definitions": by_definitions,
    "grep": by_grep,
}
